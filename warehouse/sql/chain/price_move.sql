-- Moves of int.price_move from one link of a chain to the next, with the kinds that core.price_move_kind has of them.
select
    k.offer_no,
    k.fetch_no,
    o.offer_id,
    o.purchase_option,
    b.unit_price as unit_price_before,
    a.unit_price as unit_price_after,
    b.upfront_price as upfront_price_before,
    a.upfront_price as upfront_price_after,
    b.unit_price::DOUBLE / u.hours_per_pricing_unit
    + case when b.upfront_price > 0 then b.upfront_price::DOUBLE / o.commitment_term_hours else 0 end
        as effective_hourly_price_before,
    a.unit_price::DOUBLE / u.hours_per_pricing_unit
    + case when a.upfront_price > 0 then a.upfront_price::DOUBLE / o.commitment_term_hours else 0 end
        as effective_hourly_price_after,
    b.last_observed_at as last_observed_before_at,
    a.valid_from as observed_at,
    k.change_kind,
    a.source,
    b.source as source_before,
    d.document_sha256
from core.price_move_kind as k
inner join core.offer as o on k.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
inner join log.chain_link as a on k.offer_no = a.offer_no and k.fetch_no = a.fetch_no
left join log.chain_link as b on k.offer_no = b.offer_no and k.fetch_no = b.end_fetch_no
left join log.document as d on a.document_no = d.document_no
