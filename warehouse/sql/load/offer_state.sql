-- The log's last word on each offer, by source. It is plain where it is one price, the only event of its moment, and
-- nothing of the offer was taken back: then it needs no more thought. (Where a moment has several events, or the last
-- is an absence, core.price_point says what holds.)
select
    offer_id,
    source,
    max(valid_from) as valid_from,
    arg_max_null(unit_price, valid_from) as unit_price,
    arg_max_null(upfront_price, valid_from) as upfront_price,
    arg_max_null(unit_price is not null or upfront_price is not null, valid_from)
    and max(retracts_recorded_at) is null
    and len(list_distinct(max(valid_from, 2))) = least(count(*), 2) as is_plain
from core.price_event
group by offer_id, source
