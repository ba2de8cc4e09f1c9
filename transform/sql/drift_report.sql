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

item as (
    select distinct
        i.offer_id,
        i.service_provider_name,
        i.accelerator_name,
        i.purchase_option,
        i.pricing_currency,
        u.accelerator_count::DOUBLE as chips,
        coalesce(o.tier ilike 'marketplace%', false) as is_market
    from int.index_spell as i
    inner join core.offer as o on i.offer_id = o.offer_id
    inner join core.offer_unit as u on i.offer_id = u.offer_id
    where i.is_link_start
),

market as (
    select distinct service_provider_name
    from item
    where is_market
),

-- Prices of the year, and those with which it began.
price as (
    select
        offer_id,
        valid_from,
        valid_to,
        last_observed_at,
        effective_hourly_price
    from int.price_history
    where valid_to > meta.built_at() - interval 365 days or valid_to is null
),

dated as (
    select
        i.*,
        p.days_back,
        p.point_date,
        p.moment,
        h.last_observed_at,
        ln(h.effective_hourly_price / i.chips) as price_log
    from item as i
    inner join price as h on i.offer_id = h.offer_id
    left join market as m on i.service_provider_name = m.service_provider_name
    inner join point as p
        on
            h.valid_from <= p.moment and (h.valid_to > p.moment or h.valid_to is null)
            and h.last_observed_at >= p.moment
            - to_days(case when m.service_provider_name is null then p.ranked_days else p.marketplace_days end)
    where h.effective_hourly_price > 0
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
        d.*,
        if(d.pricing_currency = 'USD', 0, ln(r.usd_per_currency_unit)) as rate_log
    from dated as d
    left join rate as r on d.pricing_currency = r.pricing_currency and d.days_back = r.days_back
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

-- What an offer is compared with where its price when the window began is not known: its first one in the window.
first_seen as (
    select
        a.offer_id,
        p.days_back,
        min(h.valid_from) as base_at,
        arg_min(ln(h.effective_hourly_price / a.chips), h.valid_from) as price_log
    from known as a
    inner join point as p on p.days_back > 0
    anti join known as z on a.offer_id = z.offer_id and p.days_back = z.days_back
    inner join price as h on a.offer_id = h.offer_id and p.moment < h.valid_from
    inner join meta.build as b on h.valid_from <= b.built_at
    where a.days_back = 0 and h.effective_hourly_price > 0
    group by a.offer_id, p.days_back
),

compared as (
    select
        a.offer_id,
        a.service_provider_name,
        a.accelerator_name,
        a.purchase_option,
        p.days_back,
        a.price_log - coalesce(z.price_log, f.price_log) as drift_log,
        a.rate_log - z.rate_log as rate_change
    from known as a
    inner join point as p on p.days_back > 0
    left join known as z on a.offer_id = z.offer_id and p.days_back = z.days_back
    left join first_seen as f on a.offer_id = f.offer_id and p.days_back = f.days_back
    left join doubtful as d on a.offer_id = d.offer_id
    where
        a.days_back = 0
        and (d.newest_days is null or d.newest_days > p.days_back)
        and case when z.offer_id is not null then a.last_observed_at >= p.moment else a.last_observed_at > f.base_at end
),

of_provider as (
    select
        service_provider_name,
        accelerator_name,
        purchase_option,
        days_back,
        sum(drift_log::DECIMAL(18, 15))::DOUBLE / count(*) as drift_log,
        sum(rate_change::DECIMAL(18, 15))::DOUBLE / nullif(count(rate_change), 0) as rate_change,
        count(*) as n_matched,
        count(*) filter (where abs(drift_log) > 1e-12) as n_moved
    from compared
    group by service_provider_name, accelerator_name, purchase_option, days_back
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

leveled as (
    select
        { 'provider': service_provider_name, 'chip': accelerator_name, 'option': purchase_option } as series,
        days_back,
        count(*) as n_items,
        case when count(rate_log) = count(*) then avg((price_log + rate_log)::DECIMAL(18, 15)) end as level_log
    from known
    group by grouping sets (
        (service_provider_name, accelerator_name, purchase_option, days_back),
        (accelerator_name, purchase_option, days_back), (purchase_option, days_back)
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
