-- Outliers among the moves of markets, and what the index has in their place. Of five moves or more on one day within
-- provider, chip and option those are cut that are more than 2.5 times their median absolute deviation from their
-- median. The price before is held for the comparison; what comes back within seven days has not moved.
--   bridged_log   0 where is_cut; on the next move, within eight days, the one from the last price that was not cut
with judged as (
    select
        offer_id,
        index_date,
        market_log,
        count(*) over w as n_moves,
        median(market_log) over w as middle,
        mad(market_log) over w as deviation
    from int.index_spell
    where market_log is not null
    window w as (partition by service_provider_name, accelerator_name, purchase_option, index_date)
),

cut as (
    select
        offer_id,
        index_date
    from judged
    where n_moves >= 5 and deviation > 1e-12 and abs(market_log - middle) > 2.5 * deviation + 1e-12
),

leveled as (
    select
        i.offer_id,
        i.link_number,
        i.index_date,
        i.held_to_date,
        c.offer_id is not null as is_cut,
        ln(i.price_per_accelerator_hour) - coalesce(
            -- of decimals: a sum of doubles depends on the order of rows
            sum(i.doubtful_log::DECIMAL(18, 15)) over (partition by i.offer_id, i.link_number order by i.index_date), 0
        )::DOUBLE as level_log
    from int.index_spell as i
    left join cut as c on i.offer_id = c.offer_id and i.index_date = c.index_date
    where i.offer_id in (select moved.offer_id from cut as moved)
),

based as (
    select
        *,
        lag(is_cut) over w as is_after_cut,
        lag(case when not is_cut then level_log end ignore nulls) over w as believed_before,
        lag(case when not is_cut then held_to_date end ignore nulls) over w as believed_until
    from leveled
    window w as (partition by offer_id, link_number order by index_date)
)

select
    offer_id,
    index_date,
    is_cut,
    case when is_cut then 0 else level_log - believed_before end as bridged_log
from based
where is_cut or (is_after_cut and index_date - believed_until <= 8)
