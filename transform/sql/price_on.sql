-- What each offer cost at one moment (UTC; a date stands for its first instant), as far as is known today: offers that
-- were gone then, or not yet seen, have no row. What was known then stands in core.price_known_at.
-- A price is held from its last confirmation until another is seen: held_days says how long it had been, and
-- is_confirmed whether that was within the source's max_age and in no change's window. US dollars come by the last
-- reference rate of the ten days up to the day of the moment, or to that of the last confirmation where it was held.
-- Inside the window of a change (the old price was last seen before the moment, another first seen after it) nobody
-- knows which of both it was: an amount in which they differ is NULL, the lower and the higher one are in _low and
-- _high, and window_end is when the change was seen. An offer that was gone by then keeps its last price.
with asked as (
    select
        case when moment is not null then moment::TIMESTAMP else error('moment must not be NULL')::TIMESTAMP end
            as asked_at
),

standing as (
    select
        h.*,
        a.asked_at,
        greatest(epoch(a.asked_at - h.last_observed_at), 0) as held_seconds,
        least(a.asked_at, h.last_observed_at)::DATE as rated_on,
        case when a.asked_at > h.last_observed_at then h.valid_to end as window_end
    from int.price_history as h
    inner join asked as a on h.valid_from <= a.asked_at and coalesce(h.valid_to > a.asked_at, true)
    where h.unit_price is not null
),

-- `later` is the price seen at the end of the window; NULL outside of one, and where the offer was gone by then.
windowed as (
    select
        s.*,
        n.unit_price as later_unit_price,
        n.effective_hourly_price as later_hourly_price,
        case when coalesce(n.unit_price = s.unit_price, true) then s.unit_price end as sure_unit_price,
        case
            when n.offer_id is null or coalesce(n.upfront_price, 0) = coalesce(s.upfront_price, 0) then s.upfront_price
        end as sure_upfront_price,
        case when coalesce(n.effective_hourly_price = s.effective_hourly_price, true) then s.effective_hourly_price end
            as sure_hourly_price,
        n.offer_id is null as is_sure
    from standing as s
    left join int.price_history as n
        on s.offer_id = n.offer_id and s.window_end = n.valid_from and n.unit_price is not null
),

priced as (
    select
        s.*,
        o.* exclude (o.offer_id, o.accelerator_count),
        u.accelerator_name,
        u.form_factor,
        u.accelerator_count,
        u.capacity_class
    from windowed as s
    inner join core.offer as o on s.offer_id = o.offer_id
    inner join core.offer_unit as u on s.offer_id = u.offer_id
),

rated as (
    select
        p.*,
        case
            when p.pricing_currency = 'USD' then 1
            when p.rated_on - r.rate_date <= 10 then r.usd_per_currency_unit
        end::DOUBLE as usd_per_currency_unit,
        case when p.rated_on - r.rate_date <= 10 then r.rate_date end as fx_rate_date
    from priced as p
    asof left join core.usd_rate as r on p.pricing_currency = r.pricing_currency and p.rated_on >= r.rate_date
)

select
    p.service_provider_name,
    p.host_provider_name,
    p.region_id,
    p.availability_zone_id,
    p.instance_type,
    p.accelerator_name,
    p.form_factor,
    p.accelerator_count,
    p.capacity_unit,
    p.capacity_class,
    p.fabric,
    p.purchase_option,
    p.commitment_discount_type,
    p.commitment_term_hours,
    p.purchase_payment_model,
    p.offering_class,
    p.tier,
    p.restriction,
    p.statistic,
    p.conditions,
    p.pricing_currency,
    p.pricing_unit,
    p.unit_price_type,
    p.sure_unit_price as unit_price,
    least(p.unit_price, p.later_unit_price) as unit_price_low,
    greatest(p.unit_price, p.later_unit_price) as unit_price_high,
    p.sure_upfront_price as upfront_price,
    p.sure_hourly_price as effective_hourly_price,
    p.sure_hourly_price / p.accelerator_count::DOUBLE as price_per_accelerator_hour,
    p.sure_hourly_price / p.accelerator_count::DOUBLE * p.usd_per_currency_unit as price_per_accelerator_hour_usd,
    least(p.effective_hourly_price, p.later_hourly_price) / p.accelerator_count::DOUBLE * p.usd_per_currency_unit
        as price_per_accelerator_hour_usd_low,
    greatest(p.effective_hourly_price, p.later_hourly_price) / p.accelerator_count::DOUBLE * p.usd_per_currency_unit
        as price_per_accelerator_hour_usd_high,
    p.fx_rate_date,
    p.valid_from,
    p.last_observed_at,
    p.window_end,
    p.held_seconds / 86400 as held_days,
    p.held_seconds = 0
    or (p.is_sure and coalesce(p.held_seconds / 3600 <= s.max_age_hours, false)) as is_confirmed,
    p.last_source as source,
    p.document_sha256,
    p.offer_id
from rated as p
inner join core.source as s on p.last_source = s.source
