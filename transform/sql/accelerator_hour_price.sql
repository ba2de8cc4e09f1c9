-- The last known price of each offer, per instance, per chip and per NeuronCore, with its age.
-- What a unit is stands in core.offer_unit, its price per hour in int.price_history. US dollars come by the last
-- reference rate of the ten days up to the day on which the price was last confirmed; without one they are NULL.
-- last_changed_at is when the price last moved, or when the offer came or came back, as int.price_move tells it: a
-- correction or suspected error has not changed it. NULL: nobody saw it change since it was first seen.
-- is_ranked is the one rule of what may be called cheapest: a list price in US dollars per chip that anybody can have,
-- no "from" price, confirmed within meta.build.ranked_days of the file's own date (marketplaces: marketplace_days).
-- What was observed after the file's own date, by a clock that was ahead, is neither current nor ranked.
with changed as (
    select
        c.offer_id,
        max(c.observed_at) as last_changed_at
    from int.price_move as c
    cross join meta.build as b
    where c.change_kind not in ('correction', 'suspected_error') and c.observed_at <= b.built_at
    group by c.offer_id
),

rate as (
    select
        d.*,
        r.rate_date,
        r.usd_per_currency_unit
    from (
        select distinct
            o.pricing_currency,
            h.last_observed_at::DATE as confirmed_on
        from int.price_history as h
        inner join core.offer as o on h.offer_id = o.offer_id
        where h.valid_to is null and o.pricing_currency <> 'USD'
    ) as d
    asof inner join core.usd_rate as r on d.pricing_currency = r.pricing_currency and d.confirmed_on >= r.rate_date
    where d.confirmed_on - r.rate_date <= 10
)

select
    o.service_provider_name,
    o.host_provider_name,
    o.region_id,
    o.availability_zone_id,
    o.instance_type,
    u.accelerator_name,
    u.form_factor,
    o.accelerator_label,
    u.accelerator_count,
    u.accelerator_vendor,
    u.accelerator_memory_gib,
    o.capacity_unit,
    o.minimum_quantity,
    u.capacity_class,
    o.fabric,
    o.purchase_option,
    o.commitment_discount_type,
    o.commitment_term_hours,
    o.purchase_payment_model,
    o.offering_class,
    o.tier,
    o.restriction,
    o.statistic,
    o.conditions,
    o.pricing_currency,
    o.pricing_unit,
    o.unit_price_type,
    o.contract_id,
    h.unit_price,
    h.upfront_price,
    h.effective_hourly_price,
    h.effective_hourly_price / u.accelerator_count::DOUBLE as price_per_accelerator_hour,
    price_per_accelerator_hour / u.neuron_cores_per_accelerator as price_per_neuron_core_hour,
    price_per_accelerator_hour * if(o.pricing_currency = 'USD', 1, r.usd_per_currency_unit)::DOUBLE
        as price_per_accelerator_hour_usd,
    if(o.pricing_currency = 'USD', 1, r.usd_per_currency_unit)::DOUBLE as usd_per_currency_unit,
    r.rate_date as fx_rate_date,
    h.last_source as source,
    h.valid_from,
    d.last_changed_at,
    h.last_observed_at,
    epoch(b.built_at - h.last_observed_at) / 86400 as age_days,
    coalesce(epoch(b.built_at - h.last_observed_at) / 3600 between 0 and s.max_age_hours, false) as is_current,
    coalesce(
        o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic <> 'floor'
        and price_per_accelerator_hour_usd > 0
        and age_days between 0 and if(m.service_provider_name is null, b.ranked_days, b.marketplace_days),
        false
    ) as is_ranked,
    (
        select e.evidence_kind
        from int.document_evidence as e
        where e.document_sha256 = h.document_sha256
    ) as evidence_kind,
    h.document_sha256,
    o.offer_id
from int.price_history as h
inner join core.offer as o on h.offer_id = o.offer_id
inner join core.offer_unit as u on h.offer_id = u.offer_id
inner join core.source as s on h.last_source = s.source
left join rate as r on o.pricing_currency = r.pricing_currency and h.last_observed_at::DATE = r.confirmed_on
left join core.market as m on o.service_provider_name = m.service_provider_name
left join changed as d on h.offer_id = d.offer_id
cross join meta.build as b
where h.valid_to is null and h.unit_price is not null
