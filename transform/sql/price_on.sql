-- What each offer cost at one moment (UTC; a date stands for its first instant), as far as is known today: offers that
-- were gone then, or not yet seen, have no row. What was known then stands in core.price_known_at.
-- A price is held from its last confirmation until another is seen. US dollars come by the rate of the day of the
-- moment, or of the last confirmation where it was held, as core.usd_rate_of_day has it, which takes longer to ask for
-- few prices.
-- Inside the window of a change (the old price was last seen before the moment, another first seen after it) nobody
-- knows which of both it was: an amount in which they differ is NULL, the lower and the higher one are in _low and
-- _high, and window_end is when the change was seen. An offer that was gone by then keeps its last price.
-- Offers are joined to each table of links by itself, and the first number of a later fetch bounds what has ended
-- since: so DuckDB reads of all prices those of asked offers that ended after the moment.
with later as (
    select min(fetch_no) as first_no
    from core.fetch_cover
    where observed_at > moment::TIMESTAMP
),

asked as not materialized (
    select
        *,
        (from later) as first_no
    from core.offer
),

linked as (
    select
        o.* exclude (o.first_no),
        c.* exclude (c.offer_no, c.end_fetch_no),
        f.source as last_source,
        f.observed_at as valid_from,
        e.observed_at as valid_to,
        greatest(f.observed_at, e.covered_at) as last_observed_at,
        f.document_no
    from log.price_closed as c
    inner join asked as o on c.offer_no = o.offer_no and c.end_fetch_no >= o.first_no
    inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
    union all by name
    select
        o.*, -- noqa: AM04
        p.* exclude (p.offer_no, p.source, p.scope, p.recorded_at),
        p.source as last_source
    from log.last_link as p
    inner join core.offer as o on p.offer_no = o.offer_no
),

other as not materialized (
    select
        o.*, -- noqa: AM04
        h.* exclude (h.offer_id, h.source, h.effective_hourly_price)
    from core.price_history_other as h
    inner join core.offer as o on h.offer_id = o.offer_id
),

standing as (
    select
        *,
        greatest(epoch(moment::TIMESTAMP - last_observed_at), 0) as held_seconds,
        least(moment::TIMESTAMP, last_observed_at)::DATE as rated_on,
        case when moment::TIMESTAMP > last_observed_at then valid_to end as window_end
    from (
        from linked as l
        anti join core.price_history_replaced as r on l.offer_no = r.offer_no and l.fetch_no = r.fetch_no
        union all by name
        from other
    ) as known
    where
        unit_price is not null
        and case
            when moment is null then error('moment must not be NULL')
            else valid_from <= least(moment::TIMESTAMP, valid_to) and coalesce(valid_to > moment::TIMESTAMP, true)
        end
),

-- What each link and each price of no chain began with.
begun as (
    select
        b.*, -- noqa: AM04
        f.observed_at as valid_from
    from log.begun_link as b
    inner join log.scope_fetch as f on b.fetch_no = f.fetch_no
    anti join core.price_history_replaced as r on b.offer_no = r.offer_no and b.fetch_no = r.fetch_no
    union all by name
    from other
),

-- `later` is the price seen at the end of the window; NULL outside of one, and where the offer was gone by then.
priced as (
    select
        s.* exclude (s.accelerator_count),
        u.accelerator_name,
        u.form_factor,
        u.accelerator_count,
        u.capacity_class,
        n.unit_price as later_unit_price,
        n.unit_price is null as is_sure,
        core.hourly_price(s.unit_price, s.upfront_price, u.hours_per_pricing_unit, s.commitment_term_hours)
            as effective_hourly_price,
        core.hourly_price(n.unit_price, n.upfront_price, u.hours_per_pricing_unit, s.commitment_term_hours)
            as later_hourly_price,
        case when coalesce(n.unit_price = s.unit_price, true) then s.unit_price end as sure_unit_price,
        case
            when n.unit_price is null or coalesce(n.upfront_price, 0) = coalesce(s.upfront_price, 0)
                then s.upfront_price
        end as sure_upfront_price,
        case when coalesce(later_hourly_price = effective_hourly_price, true) then effective_hourly_price end
            as sure_hourly_price
    from standing as s
    inner join core.offer_unit as u on s.offer_id = u.offer_id
    left join begun as n
        -- so that DuckDB passes on which offers are asked, it must not pass on the moments, which another table has
        on
            s.offer_no = n.offer_no and epoch_us(s.window_end) = epoch_us(n.valid_from)
            and n.valid_from > moment::TIMESTAMP
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
    coalesce(p.availability_zone_id, p.availability_zone) as availability_zone_id,
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
    coalesce(p.document_sha256, d.document_sha256) as document_sha256,
    p.offer_id
from rated as p
inner join core.source as s on p.last_source = s.source
left join log.document as d on p.document_no = d.document_no
