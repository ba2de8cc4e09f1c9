-- When each source first looked at each scope: at a look that went well, or as of a price that it dates earlier. Of the
-- chains' prices those alone are asked that began at no such look.
with dated as (
    from log.scope_fetch
    where status is distinct from 'ok'
),

begun as (
    select p.fetch_no
    from log.begun_link as p
    semi join dated as d on p.fetch_no = d.fetch_no
    anti join core.sku_price_replaced as r on p.offer_no = r.offer_no and p.fetch_no = r.fetch_no
    where p.unit_price is not null or p.upfront_price is not null
)

select
    source,
    scope,
    min(observed_at) as observed_at
from (
    select
        source,
        scope,
        observed_at
    from log.run
    where status = 'ok'
    union all
    select
        source,
        scope,
        observed_at
    from dated
    where fetch_no in (from begun)
    union all
    select
        source,
        scope,
        valid_from as observed_at
    from core.sku_price_other
) as looked
group by source, scope
