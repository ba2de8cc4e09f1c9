-- What each series did over 7, 30, 90 and 365 days up to the file's own date, like for like: one row per series and
-- window. A series is one provider's offers of one chip under one purchase option (index_level provider), all providers
-- of a chip with equal weights (chip), or all chips with equal weights (all).
--   drift        chained: that of int.price_index, where one chain has both days. matched: else, each offer compared
--                with itself in its own currency (mean of the logarithms), from the window's beginning, or from when it
--                was first seen in the window; a series needs an offer that was known when the window began
--   mix_effect   what the logarithm of the geometric mean price did beyond drift and rates of exchange: offers that
--                came and went, and weights. Unknown where an offer has no dollar price
--   sparkline    matched index of 90 days, ten days apart, in parts of today's level; NULL where nothing matches
-- Known on a day is a price in force then that was confirmed within the limit of age before that day, or later: the
-- rule of what is ranked today, asked of the past. A price that nobody confirmed since counts in no window. Which
-- offers count is in int.index_spell; those with a correction or a suspected error in a window are left out
-- of that window's matched drift.
with point as (
    select
        p.days_back,
        b.built_at - to_days(p.days_back) as moment,
        b.built_at::DATE - p.days_back as point_date,
        b.ranked_days,
        b.marketplace_days
    from meta.build as b
    cross join (values (0), (7), (10), (20), (30), (40), (50), (60), (70), (80), (90), (365)) as p (days_back)
),

-- Offers by the number of their series: so what is known of each on twelve days has no texts.
item as (
    select
        o.offer_id,
        o.offer_no,
        o.pricing_currency,
        o.commitment_term_hours,
        u.hours_per_pricing_unit,
        o.service_provider_name,
        u.accelerator_name,
        o.purchase_option,
        dense_rank() over (order by o.service_provider_name, u.accelerator_name, o.purchase_option) as series_no,
        u.accelerator_count::DOUBLE as chips,
        coalesce(bool_or(o.tier ilike 'marketplace%') over (partition by o.service_provider_name), false) as is_market
    from core.offer as o
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    semi join int.index_spell as i on o.offer_id = i.offer_id and i.is_link_start
),

provider_series as (
    select distinct
        series_no,
        service_provider_name,
        accelerator_name,
        purchase_option
    from item
),

-- Prices of the year, and those with which it began.
price as (
    select
        i.offer_id,
        i.series_no,
        i.pricing_currency,
        i.is_market,
        h.valid_from,
        h.valid_to,
        h.last_observed_at,
        h.unit_price::DOUBLE / i.hours_per_pricing_unit
        + case when h.upfront_price > 0 then h.upfront_price::DOUBLE / i.commitment_term_hours else 0 end
            as hourly_price,
        ln(hourly_price / i.chips) as price_log
    from item as i
    inner join log.price_link as h on i.offer_no = h.offer_no
    where hourly_price > 0 and (h.valid_to > meta.built_at() - interval 365 days or h.valid_to is null)
),

rate as (
    select
        p.days_back,
        r.pricing_currency,
        r.usd_per_currency_unit
    from point as p
    inner join core.usd_rate as r on p.point_date >= r.rate_date and p.point_date - r.rate_date <= 10
    qualify row_number() over (partition by p.days_back, r.pricing_currency order by r.rate_date desc) = 1
),

known as (
    select
        h.* exclude (h.pricing_currency),
        p.days_back,
        p.moment,
        if(h.pricing_currency = 'USD', 0, ln(r.usd_per_currency_unit)) as rate_log
    from price as h
    inner join point as p
        on
            h.valid_from <= p.moment and (h.valid_to > p.moment or h.valid_to is null)
            and h.last_observed_at >= p.moment - to_days(if(h.is_market, p.marketplace_days, p.ranked_days))
    left join rate as r on h.pricing_currency = r.pricing_currency and p.days_back = r.days_back
),

doubtful as (
    select
        offer_id,
        min(epoch(meta.built_at() - observed_at) / 86400) as newest_days
    from int.price_move
    where
        change_kind in ('correction', 'suspected_error')
        and observed_at between meta.built_at() - interval 365 days and meta.built_at()
    group by offer_id
),

unseen as materialized (
    select
        a.offer_id,
        p.days_back,
        p.moment
    from known as a
    inner join point as p on p.days_back > 0
    anti join known as z on a.offer_id = z.offer_id and p.days_back = z.days_back
    where a.days_back = 0
),

-- What an offer is compared with: what was known when the window began, or else its first price in the window.
base as (
    select
        *,
        moment as seen_until
    from known
    where days_back > 0
    union all by name
    select
        a.offer_id,
        a.days_back,
        min(h.valid_from) + interval 1 microsecond as seen_until,
        arg_min(h.price_log, h.valid_from) as price_log
    from unseen as a
    inner join price as h on a.offer_id = h.offer_id and a.moment < h.valid_from
    where h.valid_from <= meta.built_at()
    group by a.offer_id, a.days_back
),

compared as (
    select
        a.series_no,
        z.days_back,
        sum((a.price_log - z.price_log)::DECIMAL(18, 15)) as drift_log,
        sum((a.rate_log - z.rate_log)::DECIMAL(18, 15)) as rate_change,
        count(a.rate_log - z.rate_log) as n_rated,
        count(*) as n_matched,
        count(*) filter (where abs(a.price_log - z.price_log) > 1e-12) as n_moved
    from known as a
    inner join base as z on a.offer_id = z.offer_id and a.last_observed_at >= z.seen_until
    left join doubtful as d on a.offer_id = d.offer_id
    where a.days_back = 0 and (d.newest_days is null or d.newest_days > z.days_back)
    group by a.series_no, z.days_back
),

of_provider as (
    select
        s.* exclude (s.series_no),
        c.days_back,
        c.drift_log::DOUBLE / c.n_matched as drift_log,
        c.rate_change::DOUBLE / nullif(c.n_rated, 0) as rate_change,
        c.n_matched,
        c.n_moved
    from compared as c
    inner join provider_series as s on c.series_no = s.series_no
),

of_chip as (
    select
        accelerator_name,
        purchase_option,
        days_back,
        avg(drift_log::DECIMAL(18, 15)) as drift_log,
        avg(rate_change::DECIMAL(18, 15)) as rate_change,
        sum(n_matched)::BIGINT as n_matched,
        sum(n_moved)::BIGINT as n_moved
    from of_provider
    group by accelerator_name, purchase_option, days_back
),

every_level as (
    from of_provider
    union all by name
    from of_chip
    union all by name
    select
        purchase_option,
        days_back,
        avg(drift_log::DECIMAL(18, 15)) as drift_log,
        avg(rate_change::DECIMAL(18, 15)) as rate_change,
        sum(n_matched)::BIGINT as n_matched,
        sum(n_moved)::BIGINT as n_moved
    from of_chip
    group by purchase_option, days_back
),

-- A series is of one provider, of one chip (no provider), or of all chips (neither).
matched as (
    select
        *,
        { 'provider': service_provider_name, 'chip': accelerator_name, 'option': purchase_option } as series
    from every_level
),

provider_level as (
    select
        series_no,
        days_back,
        count(*) as n_items,
        count(rate_log) as n_rated,
        count(price_log + rate_log) as n_leveled,
        sum((price_log + rate_log)::DECIMAL(18, 15)) as level_log
    from known
    group by series_no, days_back
),

leveled as (
    select
        { 'provider': s.service_provider_name, 'chip': s.accelerator_name, 'option': s.purchase_option } as series,
        p.days_back,
        sum(p.n_items)::BIGINT as n_items,
        case when sum(p.n_rated) = sum(p.n_items) then sum(p.level_log)::DOUBLE / sum(p.n_leveled) end as level_log
    from provider_level as p
    inner join provider_series as s on p.series_no = s.series_no
    group by grouping sets (
        (s.service_provider_name, s.accelerator_name, s.purchase_option, p.days_back),
        (s.accelerator_name, s.purchase_option, p.days_back), (s.purchase_option, p.days_back)
    )
),

spark as (
    select
        series,
        list(exp(-drift_log) order by days_back desc) as sparkline,
        list(days_back order by days_back desc) as spark_days
    from matched
    where days_back not in (7, 365)
    group by series
),

chain as (
    select
        { 'provider': i.service_provider_name, 'chip': i.accelerator_name, 'option': i.purchase_option } as series,
        p.days_back,
        i.chain_number,
        i.price_index
    from int.price_index as i
    inner join point as p on i.index_date = p.point_date
),

chained as (
    select
        z.series,
        z.days_back,
        ln(a.price_index / z.price_index) as drift_log
    from chain as a
    inner join chain as z
        on a.series = z.series and a.chain_number = z.chain_number and a.days_back = 0 and z.days_back > 0
)

select
    case when a.series.provider is not null then 'provider' when a.series.chip is not null then 'chip' else 'all' end
        as index_level,
    a.series.provider as service_provider_name,
    a.series.chip as accelerator_name,
    a.series.option as purchase_option,
    w.days_back as window_days,
    w.point_date as window_begins_on,
    b.built_at::DATE as window_ends_on,
    exp(coalesce(c.drift_log, case when z.n_items is not null then m.drift_log end)) - 1 as drift,
    case
        when c.drift_log is not null then 'chained'
        when m.drift_log is not null and z.n_items is not null then 'matched'
    end as drift_method,
    exp(a.level_log - z.level_log) - 1 as level_change,
    a.level_log - z.level_log - coalesce(c.drift_log, m.drift_log) - coalesce(m.rate_change, 0) as mix_effect,
    m.rate_change as currency_effect,
    z.n_items as n_items_before,
    a.n_items as n_items_after,
    coalesce(m.n_matched, 0) as n_matched,
    m.n_moved,
    case
        when c.drift_log is not null or (z.n_items is not null and m.drift_log is not null) then null
        when z.n_items is null then strftime(w.point_date, 'no price known on %Y-%m-%d')
        else 'no offer was confirmed since'
    end as unknown_reason,
    s.sparkline,
    s.spark_days
from leveled as a
cross join meta.build as b
inner join point as w on w.days_back in (7, 30, 90, 365)
left join leveled as z on a.series = z.series and w.days_back = z.days_back
left join matched as m on a.series = m.series and w.days_back = m.days_back
left join chained as c on a.series = c.series and w.days_back = c.days_back
left join spark as s on a.series = s.series
where a.days_back = 0
order by index_level, accelerator_name, service_provider_name, a.series.option, w.days_back
