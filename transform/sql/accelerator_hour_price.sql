-- The last known price of each offer, per instance, per chip and per NeuronCore, with its age.
-- What a unit is stands in core.offer_unit, its price per hour in int.price_history. US dollars come by the rate of the
-- day on which the price was last confirmed (core.usd_rate_of_day); without one they are NULL.
-- last_changed_at is when the price last moved, or when the offer came or came back, as int.price_move tells it: a
-- correction or suspected error has not changed it. NULL: nobody saw it change since it was first seen.
-- is_ranked is the one rule of what may be called cheapest: a list price in US dollars per chip that anybody can have,
-- no "from" price, no confidential computing, confirmed within the limit of age before the file's own date
-- (is_too_old), of a machine that was not confirmed 30 days later in other words or by another collector
-- (is_replaced). A machine is of equal terms, region and zone, if it has one; where it has no name, any chip of equal
-- terms, named or not, whatever the region. Its conditions are left out: most are a collector's words.
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

rated_day as (
    select
        o.pricing_currency,
        h.last_observed_at::DATE as rated_on
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    where h.valid_to is null and o.pricing_currency <> 'USD'
),

-- Joined to all days, DuckDB would give rows in another order than offers have, and an update by it takes ten times as
-- long.
rate as (
    select r.*
    from core.usd_rate_of_day as r
    semi join rated_day as d on r.pricing_currency = d.pricing_currency and r.rated_on = d.rated_on
),

known as not materialized (
    select
        o.*,
        h.* exclude (h.offer_id, h.source),
        h.last_source as source,
        u.* exclude (u.offer_id, u.accelerator_count),
        u.accelerator_count as chips,
        if(o.pricing_currency = 'USD', 1, r.usd_per_currency_unit)::DOUBLE as usd_per_currency_unit,
        r.rate_date as fx_rate_date,
        epoch(b.built_at - h.last_observed_at) / 86400 as age_days,
        coalesce(
            o.unit_price_type = 'List'
            and o.restriction is null
            and o.statistic <> 'floor'
            and not decision.is_confidential(o.tier, o.instance_type)
            and (o.pricing_currency = 'USD' or r.rate_date is not null)
            and h.effective_hourly_price / u.accelerator_count::DOUBLE > 0
            and age_days >= 0,
            false
        ) as may_rank,
        coalesce(o.availability_zone_id, o.availability_zone) as zone,
        row(
            o.service_provider_name, coalesce(u.accelerator_name, o.accelerator_label),
            decision.sold_form(u.accelerator_name, u.form_factor), u.capacity_class, o.fabric,
            decision.sold_tier(o.tier), o.statistic, o.purchase_option, o.commitment_discount_type,
            o.commitment_term_hours, o.purchase_payment_model, o.offering_class
        ) as machine,
        if(o.instance_type is null, null, row(o.instance_type, o.region_id)) as name
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    left join rate as r
        on o.pricing_currency = r.pricing_currency and h.last_observed_at::DATE = r.rated_on
    cross join meta.build as b
    where h.valid_to is null and h.unit_price is not null
),

-- What was replaced, by groups of the few columns that tell: windows would carry all columns of all offers.
rankable as (
    select
        offer_id,
        machine,
        name,
        zone,
        last_observed_at
    from known
    where may_rank
),

unconfirmed as (
    from rankable
    where last_observed_at + interval 30 days < (select max(last_observed_at) from rankable)
),

confirmed as (
    select
        machine,
        name,
        zone,
        max(last_observed_at) as last_observed_at
    from rankable
    where machine in (select u.machine from unconfirmed as u)
    group by machine, name, zone
),

replaced as (
    select distinct u.offer_id
    from unconfirmed as u
    inner join confirmed as c
        on
            u.machine = c.machine
            and (u.name is null or u.name = c.name)
            and (u.zone is null or u.zone = c.zone)
            and u.last_observed_at + interval 30 days < c.last_observed_at
)

select
    k.service_provider_name,
    k.host_provider_name,
    k.region_id,
    coalesce(k.availability_zone_id, k.availability_zone) as availability_zone_id,
    k.instance_type,
    k.accelerator_name,
    k.form_factor,
    k.accelerator_label,
    k.chips as accelerator_count,
    k.accelerator_vendor,
    k.accelerator_memory_gib,
    k.capacity_unit,
    k.minimum_quantity,
    k.capacity_class,
    k.fabric,
    k.purchase_option,
    k.commitment_discount_type,
    k.commitment_term_hours,
    k.purchase_payment_model,
    k.offering_class,
    k.tier,
    k.restriction,
    k.statistic,
    k.conditions,
    k.pricing_currency,
    k.pricing_unit,
    k.unit_price_type,
    k.contract_id,
    k.unit_price,
    k.upfront_price,
    k.effective_hourly_price,
    k.effective_hourly_price / k.chips::DOUBLE as price_per_accelerator_hour,
    k.effective_hourly_price / k.chips::DOUBLE / k.neuron_cores_per_accelerator as price_per_neuron_core_hour,
    k.effective_hourly_price / k.chips::DOUBLE * k.usd_per_currency_unit as price_per_accelerator_hour_usd,
    k.usd_per_currency_unit,
    k.fx_rate_date,
    k.source,
    k.valid_from,
    d.last_changed_at,
    k.last_observed_at,
    k.age_days,
    coalesce(epoch(b.built_at - k.last_observed_at) / 3600 between 0 and s.max_age_hours, false) as is_current,
    r.offer_id is not null as is_replaced,
    k.age_days > decision.ranked_days(
        m.service_provider_name is not null, k.purchase_option, k.commitment_term_hours, b.ranked_days,
        b.marketplace_days
    ) as is_too_old,
    k.may_rank and not is_replaced and not is_too_old as is_ranked,
    (
        select e.evidence_kind
        from int.document_evidence as e
        where e.document_sha256 = k.document_sha256
    ) as evidence_kind,
    k.document_sha256,
    k.offer_id
from known as k
left join replaced as r on k.offer_id = r.offer_id
inner join core.source as s on k.source = s.source
left join changed as d on k.offer_id = d.offer_id
left join core.market as m on k.service_provider_name = m.service_provider_name
cross join meta.build as b
