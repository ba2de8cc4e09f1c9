-- The prices of int.price_history by numbers alone, for questions of one moment: neither offers nor documents are read
-- of prices that nobody asked for.
select
    l.*, -- noqa: AM04
    l.source as last_source
from log.chain_link as l
anti join core.price_history_replaced as r on l.offer_no = r.offer_no and l.fetch_no = r.fetch_no
union all by name
select
    o.offer_no,
    h.* exclude (h.offer_id, h.effective_hourly_price)
from core.price_history_other as h
inner join core.offer as o on h.offer_id = o.offer_id
