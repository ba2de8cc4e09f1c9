-- What the rule that counts makes of each offer, beside its list price; neither stands in for the other.
-- A discount makes contracted_unit_price = list_unit_price x (1 - discount), in the same currency and pricing unit, and
-- takes the same share off an upfront fee. A contracted rate is US dollars per hour of one capacity unit, all included:
-- as agreed, or per chip x its chips.
select
    p.offer_id,
    p.service_provider_name,
    p.instance_type,
    p.accelerator_name,
    p.form_factor,
    p.accelerator_count,
    p.capacity_unit,
    p.region_id,
    p.availability_zone_id,
    p.purchase_option,
    p.commitment_discount_type,
    p.commitment_term_hours,
    p.purchase_payment_model,
    p.offering_class,
    p.tier,
    p.pricing_currency,
    p.pricing_unit,
    p.unit_price as list_unit_price,
    p.upfront_price as list_upfront_price,
    case
        when r.kind = 'discount' then (p.unit_price * (1 - r.discount))::DECIMAL(18, 10)
        else coalesce(r.usd_per_hour, (r.usd_per_chip_hour * p.accelerator_count)::DECIMAL(18, 10))
    end as contracted_unit_price,
    case when r.kind = 'discount' then (p.upfront_price * (1 - r.discount))::DECIMAL(18, 10) end
        as contracted_upfront_price,
    p.effective_hourly_price * p.usd_per_currency_unit as list_usd_per_hour,
    case
        when r.kind = 'discount' then p.effective_hourly_price * p.usd_per_currency_unit * (1 - r.discount)::DOUBLE
        else coalesce(r.usd_per_hour::DOUBLE, r.usd_per_chip_hour::DOUBLE * p.accelerator_count::DOUBLE)
    end as contracted_usd_per_hour,
    r.contract_id,
    r.discount,
    r.valid_from,
    r.valid_to,
    r.rule,
    p.is_current,
    p.last_observed_at,
    p.document_sha256,
    b.prices_sha256
from rule_match as m
inner join price_rule as r on m.rule = r.rule
inner join prices.int.accelerator_hour_price as p on m.thing_id = p.offer_id
cross join build as b
where m.thing = 'offer'
