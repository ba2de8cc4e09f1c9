-- Every price of every offer from one moment to another, per chip-hour in the currency of the price, spliced from all
-- sources. The price is NULL while the offer was not sold; it ends where valid_to is NULL only by not being looked at.
select
    u.accelerator_name,
    o.service_provider_name,
    o.region_id,
    coalesce(o.availability_zone_id, o.availability_zone) as availability_zone_id,
    o.instance_type,
    o.purchase_option,
    o.commitment_term_hours,
    decision.offer_terms(
        o.commitment_discount_type, o.offering_class, o.purchase_payment_model, o.tier, o.fabric, o.conditions,
        o.statistic
    ) as offer_terms,
    h.effective_hourly_price / u.accelerator_count::DOUBLE as price_per_accelerator_hour,
    o.pricing_currency,
    h.valid_from,
    h.valid_to,
    h.last_observed_at,
    e.evidence_kind,
    h.offer_id
from int.price_history as h
inner join core.offer as o on h.offer_id = o.offer_id
inner join core.offer_unit as u on h.offer_id = u.offer_id
left join int.document_evidence as e on h.document_sha256 = e.document_sha256
