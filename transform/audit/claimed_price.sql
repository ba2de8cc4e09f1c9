-- The prices of `queried_offer` that may have held on $since or later, with the first day on which each may have, the
-- last on which the price before it was seen, and the last such day (latest), some time after it was last seen
-- ($floor_gap, $max_gap).
select
    o.offer_id,
    o.offer_no,
    core.hourly_price(h.unit_price, h.upfront_price, o.hours_per_pricing_unit, o.commitment_term_hours) as hourly,
    h.valid_from::DATE as valid_from,
    h.valid_to::DATE as valid_to,
    h.last_observed_at::DATE as last_observed,
    if(lag(h.valid_to::DATE) over w = h.valid_from::DATE, lag(h.last_observed_at::DATE) over w, h.valid_from::DATE)
        as earliest,
    h.document_no,
    h.document_sha256,
    row_number() over w as place,
    coalesce(h.valid_to::DATE, h.last_observed_at::DATE + if(o.is_floor, $floor_gap, $max_gap)::INTEGER) as latest
from log.price_link_of('queried_offer') as h
inner join queried_offer as o on h.offer_no = o.offer_no
where hourly is not null and (h.valid_to >= $since::DATE or h.valid_to is null)
window w as (partition by h.offer_no order by h.valid_from)
