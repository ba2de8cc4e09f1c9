-- Every change of an offer's price, per chip-hour: last seen old at last_observed_before_at, first seen new at
-- observed_at. New and gone offers have one side only. A price that was withdrawn is
-- a correction with its reason: what was said before, and what holds at that moment now.
select
    c.observed_at,
    c.last_observed_before_at,
    c.accelerator_name,
    c.service_provider_name,
    c.region_id,
    c.instance_type,
    c.purchase_option,
    decision.offer_terms(
        o.commitment_discount_type, o.offering_class, o.purchase_payment_model, o.tier, o.fabric, o.conditions,
        o.statistic
    ) as offer_terms,
    c.effective_hourly_price_before / c.accelerator_count::DOUBLE as price_per_accelerator_hour_before,
    c.effective_hourly_price_after / c.accelerator_count::DOUBLE as price_per_accelerator_hour_after,
    c.pricing_currency,
    c.change_ratio,
    c.change_kind,
    c.reason,
    c.offer_id
from int.price_change as c
inner join core.offer as o on c.offer_id = o.offer_id
