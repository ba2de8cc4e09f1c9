-- The last prices of int.price_history: what the mart has by now, and when each was confirmed last. Asked of the last
-- links, as DuckDB would expect few prices without an end among all links, and join them by tables of the many.
with last_price as (
    select
        o.offer_id,
        l.* exclude (l.document_no),
        l.source as last_source
    from log.last_link as l
    anti join core.price_history_replaced as r on l.offer_no = r.offer_no and l.fetch_no = r.fetch_no
    inner join core.offer as o on l.offer_no = o.offer_no
    union all by name
    select * exclude (effective_hourly_price) from core.price_history_other
)

select
    h.* replace (null::VARCHAR as document_sha256), -- noqa: AM04
    a.effective_hourly_price
from last_price as h
inner join int.accelerator_hour_price as a on h.offer_id = a.offer_id
where h.valid_to is null
