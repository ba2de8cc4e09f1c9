-- Like-for-like drift of each series of int.price_index from the end of `since` to that of `until`, and the change of
-- the level. Unknown where the series lacks one of the days, or where its chain broke in between.
-- Counts are of the days after `since`.
with framed as (
    select
        *,
        index_date = since::DATE as is_before,
        index_date = until::DATE as is_after
    from int.price_index
    where
        index_date between since::DATE and until::DATE
        or if(coalesce(since::DATE <= until::DATE, false), false, error('until must not be before since')::BOOLEAN)
),

summed as (
    select
        index_level,
        service_provider_name,
        accelerator_name,
        purchase_option,
        max(case when is_before then chain_number end) = max(case when is_after then chain_number end) as is_one_chain,
        max(case when is_before then price_index end) as index_before,
        max(case when is_after then price_index end) as index_after,
        max(case when is_before then geometric_mean_price_usd end) as level_before,
        max(case when is_after then geometric_mean_price_usd end) as level_after,
        case when is_one_chain then index_after / index_before - 1 end as drift,
        level_after / level_before - 1 as level_change,
        case
            when is_one_chain and bool_and(is_before or mix_effect is not null)
                then coalesce(sum(mix_effect::DECIMAL(18, 15)) filter (where not is_before), 0)::DOUBLE
        end as mix_effect,
        case
            when is_one_chain and bool_and(is_before or currency_effect is not null)
                then coalesce(sum(currency_effect::DECIMAL(18, 15)) filter (where not is_before), 0)::DOUBLE
        end as currency_effect,
        max(case when is_before then n_items end) as n_items_before,
        max(case when is_after then n_items end) as n_items_after,
        sum(case when is_before then 0 else n_new end)::BIGINT as n_new,
        sum(case when is_before then 0 else n_gone end)::BIGINT as n_gone,
        sum(case when is_before then 0 else n_moved end)::BIGINT as n_moved,
        sum(case when is_before then 0 else n_cut end)::BIGINT as n_cut,
        sum(case when is_before then 0 else n_doubtful end)::BIGINT as n_doubtful,
        bool_or(is_after and n_carried = n_items) as is_all_carried,
        bool_or(is_thin) as is_thin,
        bool_or(is_provisional) as is_provisional
    from framed
    group by index_level, service_provider_name, accelerator_name, purchase_option
)

select * exclude (is_one_chain, index_before, index_after, level_before, level_after) -- noqa: AM04
from summed
