-- The last prices of int.price_history: what the mart has by now, and when each was confirmed last.
select
    o.offer_id,
    h.*, -- noqa: AM04
    a.effective_hourly_price,
    null::VARCHAR as document_sha256
from log.price_link as h
inner join core.offer as o on h.offer_no = o.offer_no
inner join int.accelerator_hour_price as a on o.offer_id = a.offer_id
where h.valid_to is null
