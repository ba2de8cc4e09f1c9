-- The drift index: what rents did like for like, day by day, whatever offers came and went. One row per day and
--   index_level 'provider'  one provider's offers of one chip under one purchase option: exp of the mean of the log
--                           relatives of the offers that were there, or held, on both days (matched-model Jevons)
--   index_level 'chip'      all providers of a chip: the mean of the providers' log drifts, each with equal weight
--   index_level 'all'       all chips: the mean of the chips' log drifts, each with equal weight
-- Purchase options are never put together. The chain starts at 100; where no offer was there on both days nothing is
-- known of the drift (NULL), and a new chain starts, which cannot be compared with the one before.
-- Which offers, days and moves count is in int.price_index_item. Beside the drift stands the level: US dollars per
-- chip-hour of all offers that were there, as rated by the ECB on that day or up to ten days before. mix_effect is what
-- the logarithm of their geometric mean did beyond drift and currency: offers that came and went, unequal weights, and
-- moves left out. It and the level are unknown on days on which an offer has no dollar price.
-- Volatility is the standard deviation of 30 days' log drifts, without administered spot (int.administered_spot).
-- Sums are of decimals, so that the order of rows does not matter; with 9 to 14 decimals results take half the room,
-- and in the order of series a third less.
with cell as (
    select
        service_provider_name,
        accelerator_name,
        purchase_option,
        row_number() over (order by service_provider_name, accelerator_name, purchase_option) as cell_id,
        dense_rank() over (order by accelerator_name, purchase_option) as basket_id,
        dense_rank() over (order by purchase_option) as option_id
    from int.index_spell
    group by service_provider_name, accelerator_name, purchase_option
),

placed as (
    select
        i.*,
        c.cell_id
    from int.price_index_item as i
    inner join cell as c
        on
            i.service_provider_name = c.service_provider_name
            and i.accelerator_name = c.accelerator_name
            and i.purchase_option = c.purchase_option
),

-- What began, moved or ended on a day.
moved as (
    select
        cell_id,
        index_date,
        count(*) filter (where is_link_start) as n_new,
        count(*) filter (where abs(log_relative) > 1e-12) as n_moved,
        count(*) filter (where is_cut) as n_cut,
        sum(n_doubtful) as n_doubtful,
        sum(log_relative::DECIMAL(18, 15)) as moves_log
    from placed
    group by cell_id, index_date
),

gone as (
    select
        cell_id,
        held_to_date + 1 as index_date,
        count(*) as n_gone
    from placed
    where is_link_end
    group by cell_id, held_to_date
),

of_provider as materialized (
    select
        n.* exclude (n.service_provider_name, n.accelerator_name, n.purchase_option),
        c.cell_id,
        c.basket_id,
        c.option_id,
        coalesce(m.n_new, 0) as n_new,
        coalesce(m.n_moved, 0) as n_moved,
        coalesce(m.n_cut, 0) as n_cut,
        coalesce(m.n_doubtful, 0) as n_doubtful,
        -- what was cut is left out of the mean; what is doubtful has not moved
        round(coalesce(m.moves_log, 0)::DOUBLE / nullif(n.n_items - coalesce(m.n_new, 0) - coalesce(m.n_cut, 0), 0), 14)
            as drift_log,
        coalesce(g.n_gone, 0) as n_gone,
        a.service_provider_name is not null as is_administered,
        case when not is_administered then drift_log end as free_log
    from int.price_level as n
    inner join cell as c
        on
            n.service_provider_name = c.service_provider_name
            and n.accelerator_name = c.accelerator_name
            and n.purchase_option = c.purchase_option
    left join moved as m on c.cell_id = m.cell_id and n.index_date = m.index_date
    left join gone as g on c.cell_id = g.cell_id and n.index_date = g.index_date
    left join int.administered_spot as a
        on c.service_provider_name = a.service_provider_name and c.purchase_option = 'spot'
),

of_chip as materialized (
    select
        basket_id,
        option_id,
        index_date,
        round(sum(drift_log::DECIMAL(18, 15))::DOUBLE / nullif(count(drift_log), 0), 14) as drift_log,
        sum(free_log::DECIMAL(18, 15))::DOUBLE / nullif(count(free_log), 0) as free_log,
        avg(currency_log::DECIMAL(18, 15)) filter (where drift_log is not null) as currency_log,
        count(drift_log) as n_series,
        bool_and(is_administered) as is_administered,
        any_value(median_log) as median_log,
        min(lowest_log) as lowest_log,
        max(highest_log) as highest_log,
        sum(columns('^(n|sum)_')) as '\0' -- noqa: RF05
    from of_provider
    group by basket_id, option_id, index_date
),

basket_median as (
    select distinct
        b.basket_id,
        n.index_date,
        n.median_log
    from int.price_level as n
    inner join cell as b on n.accelerator_name = b.accelerator_name and n.purchase_option = b.purchase_option
    where n.service_provider_name is null
),

of_all as (
    select
        option_id,
        index_date,
        round(sum(drift_log::DECIMAL(18, 15))::DOUBLE / nullif(count(drift_log), 0), 14) as drift_log,
        sum(free_log::DECIMAL(18, 15))::DOUBLE / nullif(count(free_log), 0) as free_log,
        avg(currency_log::DECIMAL(18, 15)) filter (where drift_log is not null) as currency_log,
        count(drift_log) as n_series,
        bool_and(is_administered) as is_administered,
        min(lowest_log) as lowest_log,
        max(highest_log) as highest_log,
        -- n_series counts chips, not their providers
        sum(columns('^(n|sum)_[^s]')) as '\0' -- noqa: RF05
    from of_chip
    group by option_id, index_date
),

name as (
    select
        case when service_provider_name is not null then 1 when accelerator_name is not null then 2 else 3 end as rung,
        [any_value(cell_id), any_value(basket_id), any_value(option_id)][rung] as series_id,
        ['provider', 'chip', 'all'][rung] as index_level,
        service_provider_name,
        accelerator_name,
        purchase_option
    from cell
    group by purchase_option, rollup(accelerator_name, service_provider_name)
),

series as materialized (
    select
        1 as rung,
        cell_id as series_id,
        (drift_log is not null)::BIGINT as n_series,
        * exclude (cell_id, basket_id, option_id)
    from of_provider
    union all by name
    select
        2 as rung,
        c.basket_id as series_id,
        -- of a chip that one provider alone had on that day, the middle is that provider's
        case when m.index_date is null then c.median_log else m.median_log end as median_log,
        c.* exclude (c.basket_id, c.option_id, c.median_log)
    from of_chip as c
    left join basket_median as m on c.basket_id = m.basket_id and c.index_date = m.index_date
    union all by name
    select
        3 as rung,
        option_id as series_id,
        * exclude (option_id)
    from of_all
),

-- A chain goes on from where it stood before the first day that is made here: in a whole file nowhere.
begun as (
    select
        n.rung,
        n.series_id,
        b.chain_number,
        b.index_log
    from meta.chain_before as b
    inner join name as n
        on
            b.index_level = n.index_level
            and (b.service_provider_name is not distinct from n.service_provider_name)
            and (b.accelerator_name is not distinct from n.accelerator_name)
            and b.purchase_option = n.purchase_option
),

-- Over few columns, as sorting wide rows takes long.
path as (
    select
        s.rung,
        s.series_id,
        s.index_date,
        s.drift_log,
        count(*) filter (where s.drift_log is null) over w as n_breaks,
        case when s.n_usd = s.n_items then s.sum_log / s.n_items end as mean_log,
        round(mean_log - lag(mean_log) over w - s.drift_log - s.currency_log, 9) as mix_effect,
        -- whole numbers, whose sums are exact however many rows there are
        (s.free_log * 1e14)::HUGEINT as free_unit,
        count(free_unit) over month as n_free,
        sum(free_unit) over month as free_sum,
        sum(free_unit * free_unit) over month as square_sum,
        -- no day is missing in the month, or the series began in it
        lag(s.index_date, 29) over w = s.index_date - 29
        or (s.index_date - first_value(s.index_date) over w < 30 and b.series_id is null) as is_month,
        case
            when n_free >= 20 and is_month
                then
                    round(
                        sqrt((n_free * square_sum - free_sum * free_sum)::DOUBLE / (n_free * (n_free - 1))) / 1e14, 10
                    )
        end as volatility_30d
    from series as s
    left join begun as b on s.rung = b.rung and s.series_id = b.series_id
    window
        w as (partition by s.rung, s.series_id order by s.index_date),
        month as (
            partition by s.rung, s.series_id order by s.index_date rows between 29 preceding and current row
        )
),

chained as (
    select
        *,
        coalesce(sum(drift_log::DECIMAL(18, 15)) over w, 0) as index_log
    from path
    window w as (partition by rung, series_id, n_breaks order by index_date)
)

select
    n.index_level,
    n.service_provider_name,
    n.accelerator_name,
    n.purchase_option,
    c.index_date,
    coalesce(b.chain_number, 0) + p.n_breaks as chain_number,
    round(100 * exp((case when p.n_breaks = 0 then b.index_log else 0 end + p.index_log)::DOUBLE), 11) as price_index,
    c.drift_log,
    c.n_series,
    c.n_items::BIGINT as n_items,
    (c.n_items - c.n_new)::BIGINT as n_matched,
    c.n_new::BIGINT as n_new,
    c.n_gone::BIGINT as n_gone,
    c.n_carried::BIGINT as n_carried,
    c.n_moved::BIGINT as n_moved,
    c.n_cut::BIGINT as n_cut,
    c.n_doubtful::BIGINT as n_doubtful,
    (c.n_items - c.n_usd)::BIGINT as n_without_usd,
    case when c.n_usd = c.n_items then exp(c.median_log) end as median_price_usd,
    case when c.n_usd = c.n_items then exp(c.lowest_log) end as lowest_price_usd,
    case when c.n_usd = c.n_items then exp(c.highest_log) end as highest_price_usd,
    case when c.n_usd = c.n_items then round(c.sum_usd::DOUBLE / c.n_items, 9) end as mean_price_usd,
    case when c.n_usd = c.n_items then round(exp(c.sum_log::DOUBLE / c.n_items), 9) end as geometric_mean_price_usd,
    c.currency_log as currency_effect,
    p.mix_effect,
    p.volatility_30d,
    c.is_administered,
    c.n_items < 3 as is_thin,
    c.index_date + interval 1 day > m.built_at - interval 24 hours as is_provisional
from series as c
inner join chained as p on c.rung = p.rung and c.series_id = p.series_id and c.index_date = p.index_date
inner join name as n on c.rung = n.rung and c.series_id = n.series_id
left join begun as b on c.rung = b.rung and c.series_id = b.series_id
cross join meta.build as m
order by c.rung, c.series_id, c.index_date
