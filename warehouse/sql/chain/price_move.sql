-- Moves of int.price_move from one link of a chain to the next, with the kinds that core.price_move_kind has of them.
select
    k.offer_no,
    k.fetch_no,
    a.offer_id,
    o.purchase_option,
    b.unit_price as unit_price_before,
    a.unit_price as unit_price_after,
    b.upfront_price as upfront_price_before,
    a.upfront_price as upfront_price_after,
    b.effective_hourly_price as effective_hourly_price_before,
    a.effective_hourly_price as effective_hourly_price_after,
    b.last_observed_at as last_observed_before_at,
    a.valid_from as observed_at,
    k.change_kind,
    a.source,
    b.source as source_before,
    a.document_sha256
from core.price_move_kind as k
inner join core.offer as o on k.offer_no = o.offer_no
inner join log.chain_price as a on k.offer_no = a.offer_no and k.fetch_no = a.fetch_no
left join log.chain_price as b on k.offer_no = b.offer_no and k.fetch_no = b.end_fetch_no
