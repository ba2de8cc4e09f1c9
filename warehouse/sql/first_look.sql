-- When each source first looked at each scope: at a look that went well, or as of a price that it dates earlier.
select
    source,
    scope,
    min(observed_at) as observed_at
from (
    from core.scope_run
    where status = 'ok'
    union all by name
    select * rename (valid_from as observed_at)
    from core.sku_price
) as looked
group by source, scope
