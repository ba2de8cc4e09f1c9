-- The last known price of each offer, per instance, per chip and per NeuronCore, with its age.
-- An upfront fee is spread over the term: unit_price + upfront_price / commitment_term_hours (AWS's own convention of
-- 8760 hours a year). A type with no entry in core.instance_type keeps its price and has no price per chip; SageMaker's
-- machines (ml.p5.48xlarge) have the chips of EC2's (p5.48xlarge).
with known as (
    select
        o.*,
        h.valid_from,
        h.last_observed_at,
        h.unit_price,
        h.upfront_price,
        h.last_source as source,
        h.document_sha256,
        coalesce(o.accelerator_name, t.accelerator_name) as chip,
        coalesce(o.accelerator_count, t.accelerator_count) as chips,
        t.accelerator_vendor,
        t.accelerator_memory_gib,
        t.neuron_cores_per_accelerator,
        case
            when h.upfront_price > 0 then h.unit_price::DOUBLE + h.upfront_price::DOUBLE / o.commitment_term_hours
            else h.unit_price::DOUBLE
        end as hourly
    from mart.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    left join core.current_instance_type as t
        on o.service_provider_name = 'AWS' and regexp_replace(o.instance_type, '^ml[.]', '') = t.instance_type
    where h.valid_to is null and h.unit_price is not null
)

select
    k.service_provider_name,
    k.region_id,
    k.availability_zone_id,
    k.instance_type,
    k.chip as accelerator_name,
    k.chips as accelerator_count,
    k.accelerator_vendor,
    k.accelerator_memory_gib,
    k.capacity_unit,
    k.purchase_option,
    k.commitment_discount_type,
    k.commitment_term_hours,
    k.purchase_payment_model,
    k.offering_class,
    k.tier,
    k.statistic,
    k.conditions,
    k.pricing_currency,
    k.unit_price_type,
    k.contract_id,
    k.unit_price,
    k.upfront_price,
    k.hourly as effective_hourly_price,
    k.hourly / k.chips::DOUBLE as price_per_accelerator_hour,
    k.hourly / k.chips::DOUBLE / k.neuron_cores_per_accelerator as price_per_neuron_core_hour,
    case when k.pricing_currency = 'USD' then k.hourly / k.chips::DOUBLE end as price_per_accelerator_hour_usd,
    k.source,
    k.valid_from,
    k.last_observed_at,
    epoch(b.built_at - k.last_observed_at) / 86400 as age_days,
    coalesce(epoch(b.built_at - k.last_observed_at) / 3600 <= s.max_age_hours, false) as is_current,
    k.document_sha256,
    k.offer_id
from known as k
inner join core.source as s on k.source = s.source
cross join meta.build as b
