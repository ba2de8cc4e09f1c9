-- Up to which moment the file knows each scope of each source: what a later fetch of it says comes after all else.
select
    source,
    scope,
    max(observed_at) as observed_at
from (
    select
        source,
        scope,
        observed_at
    from core.scope_run
    where status = 'ok'
    union all
    select
        source,
        scope,
        coalesce(valid_to, valid_from) as observed_at
    from core.sku_price
) as moment
group by source, scope
