-- What each series did over 7, 30, 90 and 365 days up to the file's own date, like for like: one row per series and
-- window. A series is one provider's offers of one chip under one purchase option (index_level provider), all providers
-- of a chip with equal weights (chip), or all chips with equal weights (all).
--   drift        chained: that of int.price_index, where one chain has both days and in between an offer was confirmed
--                or moved: prices that are only held tell of no day. matched: else, each offer compared
--                with itself in its own currency (mean of the logarithms), from the window's beginning, or from when it
--                was first seen in the window; a series needs an offer that was known when the window began
--   mix_effect   what the logarithm of the geometric mean price did beyond drift and rates of exchange: offers that
--                came and went, and weights. Unknown where an offer has no dollar price
--   sparkline    the index of drift over 90 days, ten days apart, in parts of today's level; NULL where nothing matches
-- Known on a day is a price in force then that was confirmed within the limit of age before that day, or later: the
-- rule of what is ranked today, asked of the past. A price that nobody confirmed since counts in no window. Which
-- offers count is in int.index_spell; those with a correction or a suspected error in a window are left out
-- of that window's matched drift.
with point as (
    select
        *,
        meta.built_at() - to_days(days_back) as moment,
        meta.built_at()::DATE - days_back as point_date
    from (
        values
        (1, 0), (2, 7), (3, 10), (4, 20), (5, 30), (6, 40), (7, 50), (8, 60), (9, 70), (10, 80), (11, 90), (12, 365)
    ) as p (point_no, days_back)
),

-- Offers that the index counts, with what a price needs to be one of an hour of a chip.
item as materialized (
    select
        o.offer_id,
        o.offer_no,
        o.service_provider_name,
        u.accelerator_name,
        o.purchase_option,
        -- by number, so that what is known of each offer has no texts
        hash(o.service_provider_name, u.accelerator_name, o.purchase_option) as series_id,
        o.pricing_currency,
        o.commitment_term_hours,
        u.hours_per_pricing_unit,
        u.accelerator_count::DOUBLE as accelerator_count,
        to_days(
            decision.ranked_days(
                k.service_provider_name is not null, o.purchase_option, o.commitment_term_hours, b.ranked_days,
                b.marketplace_days
            )
        ) as age_limit
    from core.offer as o
    semi join int.index_spell as i on o.offer_id = i.offer_id and i.is_link_start
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    left join core.market as k on o.service_provider_name = k.service_provider_name
    cross join meta.build as b
),

provider_series as (
    select distinct
        series_id,
        service_provider_name,
        accelerator_name,
        purchase_option
    from item
),

-- Prices of the year, and those with which it began, each with the last moment at which it is known.
price as (
    select
        o.offer_id,
        o.series_id,
        o.pricing_currency,
        h.valid_from,
        h.last_observed_at,
        least(h.valid_to - interval 1 microsecond, h.last_observed_at + o.age_limit) as known_until,
        core.hourly_price(h.unit_price, h.upfront_price, o.hours_per_pricing_unit, o.commitment_term_hours)
            as hourly_price,
        ln(hourly_price / o.accelerator_count) as price_log
    from item as o
    inner join log.price_link as h on o.offer_no = h.offer_no
    where hourly_price > 0 and (h.valid_to > meta.built_at() - interval 365 days or h.valid_to is null)
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

-- What is known of each offer on those days, and when the price of today was seen last.
known as (
    select
        offer_id,
        any_value(series_id) as series_id,
        any_value(pricing_currency) as pricing_currency,
        max(last_observed_at) filter (where meta.built_at() between valid_from and known_until) as last_observed_at,
        max(price_log) filter (where meta.built_at() - interval 0 days between valid_from and known_until) as log_1,
        max(price_log) filter (where meta.built_at() - interval 7 days between valid_from and known_until) as log_2,
        max(price_log) filter (where meta.built_at() - interval 10 days between valid_from and known_until) as log_3,
        max(price_log) filter (where meta.built_at() - interval 20 days between valid_from and known_until) as log_4,
        max(price_log) filter (where meta.built_at() - interval 30 days between valid_from and known_until) as log_5,
        max(price_log) filter (where meta.built_at() - interval 40 days between valid_from and known_until) as log_6,
        max(price_log) filter (where meta.built_at() - interval 50 days between valid_from and known_until) as log_7,
        max(price_log) filter (where meta.built_at() - interval 60 days between valid_from and known_until) as log_8,
        max(price_log) filter (where meta.built_at() - interval 70 days between valid_from and known_until) as log_9,
        max(price_log) filter (where meta.built_at() - interval 80 days between valid_from and known_until) as log_10,
        max(price_log) filter (where meta.built_at() - interval 90 days between valid_from and known_until) as log_11,
        max(price_log) filter (where meta.built_at() - interval 365 days between valid_from and known_until) as log_12
    from price
    group by offer_id
),

checked as materialized (
    select
        k.*, -- noqa: AM04
        d.newest_days,
        coalesce(
            d.newest_days is null
            and k.last_observed_at >= meta.built_at() - interval 7 days
            and k.log_1 + k.log_2 + k.log_3 + k.log_4 + k.log_5 + k.log_6
            + k.log_7 + k.log_8 + k.log_9 + k.log_10 + k.log_11 + k.log_12 is not null,
            false
        ) as is_whole
    from known as k
    left join doubtful as d on k.offer_id = d.offer_id
),

-- Of an offer that is known on all days sums say as much as twelve rows.
whole as (
    select
        series_id,
        pricing_currency,
        count(*) as n_items,
        sum(columns('^log_([0-9]+)$')::DECIMAL(18, 15)) as 'level_\1' -- noqa: RF05
    from checked
    where is_whole
    group by series_id, pricing_currency
),

of_whole as (
    select
        series_id,
        pricing_currency,
        n_items,
        level_1 - unnest([*columns('^level_')]) as drift_log,
        unnest([*columns('^level_')]) as level_log,
        generate_subscripts([*columns('^level_')], 1) as point_no
    from whole
),

-- Not materialized: twelve rows an offer take long to keep.
on_day as not materialized (
    select
        offer_id,
        series_id,
        pricing_currency,
        last_observed_at,
        newest_days,
        log_1 as log_after,
        unnest([*columns('^log_')]) as log_before,
        generate_subscripts([*columns('^log_')], 1) as point_no
    from checked
    where not is_whole
),

-- What each is compared with: what was known when the window began, or else its first price in the window.
base as (
    select
        k.*, -- noqa: AM04
        p.days_back,
        p.moment as seen_until,
        1 as is_known
    from on_day as k
    inner join point as p on k.point_no = p.point_no
    where k.log_before is not null
    union all by name
    select
        k.* exclude (k.log_before),
        p.days_back,
        arg_min(h.price_log, h.valid_from) as log_before,
        min(h.valid_from) + interval 1 microsecond as seen_until,
        0 as is_known
    from on_day as k
    inner join point as p on k.point_no = p.point_no
    inner join price as h on k.offer_id = h.offer_id and p.moment < h.valid_from
    where k.log_after is not null and k.log_before is null and h.valid_from <= meta.built_at()
    group by all
),

compared as (
    select
        a.series_id,
        a.pricing_currency,
        a.point_no,
        sum((a.log_after - a.log_before)::DECIMAL(18, 15)) as drift_log,
        count(*) as n_matched,
        sum(a.is_known) as n_known
    from base as a
    where
        a.days_back > 0
        and a.last_observed_at >= a.seen_until
        and (a.newest_days is null or a.newest_days > a.days_back)
    group by a.series_id, a.pricing_currency, a.point_no
    union all by name
    select
        * exclude (n_items, level_log),
        n_items as n_matched,
        n_items as n_known
    from of_whole
    where point_no > 1
),

provider_level as (
    select
        series_id,
        pricing_currency,
        point_no,
        count(*) as n_items,
        sum(log_before::DECIMAL(18, 15)) as level_log
    from on_day
    where log_before is not null
    group by series_id, pricing_currency, point_no
    union all by name
    select * exclude (drift_log)
    from of_whole
),

rate as (
    select
        p.point_no,
        r.pricing_currency,
        ln(r.usd_per_currency_unit)::DECIMAL(18, 15) as rate_log
    from point as p
    inner join core.usd_rate_of_day as r on p.point_date = r.rated_on
    union all
    select
        point_no,
        'USD' as pricing_currency,
        0 as rate_log
    from point
),

of_provider as (
    select
        s.* exclude (s.series_id),
        p.days_back,
        sum(c.drift_log)::DOUBLE / sum(c.n_matched) as drift_log,
        sum(c.n_known * (a.rate_log - z.rate_log))::DOUBLE
        / nullif(sum(c.n_known) filter (where a.rate_log - z.rate_log is not null), 0) as rate_change,
        sum(c.n_matched) as n_matched
    from compared as c
    inner join provider_series as s on c.series_id = s.series_id
    inner join point as p on c.point_no = p.point_no
    left join rate as a on c.pricing_currency = a.pricing_currency and a.point_no = 1
    left join rate as z on c.pricing_currency = z.pricing_currency and c.point_no = z.point_no
    group by s.service_provider_name, s.accelerator_name, s.purchase_option, p.days_back
),

of_chip as (
    select
        accelerator_name,
        purchase_option,
        days_back,
        avg(drift_log::DECIMAL(18, 15)) as drift_log,
        avg(rate_change::DECIMAL(18, 15)) as rate_change,
        sum(n_matched)::BIGINT as n_matched
    from of_provider
    group by accelerator_name, purchase_option, days_back
),

-- A series is of one provider, of one chip (no provider), or of all chips (neither).
matched as (
    select
        *,
        { 'provider': service_provider_name, 'chip': accelerator_name, 'option': purchase_option } as series
    from (
        from of_provider
        union all by name
        from of_chip
        union all by name
        select
            purchase_option,
            days_back,
            avg(drift_log::DECIMAL(18, 15)) as drift_log,
            avg(rate_change::DECIMAL(18, 15)) as rate_change,
            sum(n_matched)::BIGINT as n_matched
        from of_chip
        group by purchase_option, days_back
    ) as every
),

leveled as (
    select
        { 'provider': s.service_provider_name, 'chip': s.accelerator_name, 'option': s.purchase_option } as series,
        p.days_back,
        sum(k.n_items)::BIGINT as n_items,
        case
            when count(*) = count(r.rate_log)
                then sum(k.level_log + k.n_items * r.rate_log)::DOUBLE / sum(k.n_items)
        end as level_log
    from provider_level as k
    inner join provider_series as s on k.series_id = s.series_id
    inner join point as p on k.point_no = p.point_no
    left join rate as r on k.pricing_currency = r.pricing_currency and k.point_no = r.point_no
    -- of one provider, of one chip, of all chips
    group by s.purchase_option, p.days_back, rollup(s.accelerator_name, s.service_provider_name)
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
),

-- Where no offer was compared with itself, a chain that stands still was only carried on.
followed as (
    select c.*
    from chained as c
    left join matched as m on c.series = m.series and c.days_back = m.days_back
    where m.n_matched > 0 or abs(c.drift_log) > 1e-12
),

spark as (
    select
        series,
        list(exp(-drift_log) order by days_back desc) as sparkline,
        list(days_back order by days_back desc) as spark_days
    from (
        select c.*
        from chained as c
        semi join chained as n on c.series = n.series and n.days_back = 90
        union all
        select
            m.series,
            m.days_back,
            m.drift_log
        from matched as m
        anti join chained as n on m.series = n.series and n.days_back = 90
    ) as drawn
    where days_back not in (7, 365)
    group by series
)

select
    case when a.series.provider is not null then 'provider' when a.series.chip is not null then 'chip' else 'all' end
        as index_level,
    a.series.provider as service_provider_name,
    a.series.chip as accelerator_name,
    a.series.option as purchase_option,
    w.days_back as window_days,
    w.point_date as window_begins_on,
    meta.built_at()::DATE as window_ends_on,
    exp(coalesce(c.drift_log, case when z.n_items is not null then m.drift_log end)) - 1 as drift,
    case
        when c.drift_log is not null then 'chained'
        when m.drift_log is not null and z.n_items is not null then 'matched'
    end as drift_method,
    a.level_log - z.level_log - coalesce(c.drift_log, m.drift_log) - coalesce(m.rate_change, 0) as mix_effect,
    z.n_items as n_items_before,
    coalesce(m.n_matched, 0) as n_matched,
    case
        when c.drift_log is not null or (z.n_items is not null and m.drift_log is not null) then null
        when z.n_items is null then strftime(w.point_date, 'no price known on %Y-%m-%d')
        else 'no offer was confirmed since'
    end as unknown_reason,
    s.sparkline,
    s.spark_days
from leveled as a
inner join point as w on w.days_back in (7, 30, 90, 365)
left join leveled as z on a.series = z.series and w.days_back = z.days_back
left join matched as m on a.series = m.series and w.days_back = m.days_back
left join followed as c on a.series = c.series and w.days_back = c.days_back
left join spark as s on a.series = s.series
where a.days_back = 0
order by index_level, accelerator_name, service_provider_name, a.series.option, w.days_back
