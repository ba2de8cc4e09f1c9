-- Of the prices in core.sku_price, for the first look at each scope, those that began at no look that went well.
with dated as not materialized (
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
    * exclude (observed_at),
    observed_at as valid_from
from dated
where fetch_no in (from begun)
union all by name
from core.sku_price_other
