-- The last known price of each offer, in US dollars per chip-hour, with its age and what it rests on. Rows that are not
-- ranked are older than the limit of age, or no price that anybody can have.
select
    o.accelerator_name,
    o.form_factor,
    o.service_provider_name,
    o.region_id,
    o.availability_zone_id,
    o.instance_type,
    o.accelerator_count,
    o.purchase_option,
    o.commitment_term_hours,
    decision.offer_terms(
        o.commitment_discount_type, o.offering_class, o.purchase_payment_model, o.tier, o.fabric, o.conditions,
        o.statistic
    ) as offer_terms,
    o.price_per_accelerator_hour_usd,
    o.age_days,
    o.is_ranked,
    o.evidence_kind,
    o.offer_id
from int.accelerator_hour_price as o
