-- The prices of int.price_history of offers that one chain tells of, without their documents: of ten years a million.
select
    o.offer_id,
    l.* exclude (l.offer_no), -- noqa: AM04
    core.hourly_price(l.unit_price, l.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
        as effective_hourly_price
from log.price_link as l
inner join core.offer as o on l.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
anti join wanted_offer as w on l.offer_no = w.offer_no
