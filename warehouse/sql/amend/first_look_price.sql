-- The prices that core.first_look needs beside the fetches with status ok: those that began at other fetches.
with other_fetch as not materialized (
    from log.scope_fetch
    where status is distinct from 'ok'
),

begun as (
    select p.fetch_no
    from log.begun_link as p
    semi join other_fetch as d on p.fetch_no = d.fetch_no
    anti join core.sku_price_replaced as r on p.offer_no = r.offer_no and p.fetch_no = r.fetch_no
    where p.unit_price is not null or p.upfront_price is not null
)

select * rename (observed_at as valid_from)
from other_fetch
where fetch_no in (from begun)
union all by name
from core.sku_price_other
