-- The prices of core.sku_price by numbers alone: neither offers nor documents are read of prices that nobody asked for.
from log.chain_link as l
anti join core.sku_price_replaced as r on l.offer_no = r.offer_no and l.fetch_no = r.fetch_no
where l.unit_price is not null or l.upfront_price is not null
union all by name
select
    o.offer_no,
    p.* exclude (p.offer_id) -- noqa: AM04
from core.sku_price_other as p
inner join core.offer as o on p.offer_id = o.offer_id
