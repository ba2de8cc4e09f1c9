-- What training on 10^12 tokens costs: each measured training on each provider's terms, as it was measured. No overhead
-- and a goodput of 1: evaluation pauses are in the rates of MLPerf already, checkpoints and failures in none.
-- mart.training_run_cost takes numbers of one's own, and an assumed utilisation where nothing was measured. The cost
-- (median) is of the offer named and the middle of the submitters of equal runs, low of the fastest, high of the lowest
-- at the seller's dearest price; NULL where that is not known (price_range_basis). Commitments count as used in every
-- hour, AWS's Capacity Blocks in all but their last 30 minutes, spot as never interrupted (price_basis). Not included:
-- egress, storage, support, tax, cost of capital.
with costed as (
    select
        * exclude (task, chip_form_factor, network, usable_share),
        1e12 as tokens,
        0e0 as overhead_share,
        1e0 as goodput_share,
        usable_share as running_share,
        unnest(cost.training_costs(
            low_price_usd, price_usd, high_price_usd, high_rate, median_rate, low_rate, accelerator_count,
            working_share, tokens, overhead_share, goodput_share, usable_share
        )) as amounts
    from int.training_offer
)

select
    *, -- noqa: AM04
    case
        when is_ranked and is_price_ranked and usd_per_million_tokens_median is not null
            then rank() over (
                partition by
                    model_name, scenario, benchmark, precision, input_length, purchase_option, commitment_class,
                    is_ranked and is_price_ranked and usd_per_million_tokens_median is not null
                order by usd_per_million_tokens_median
            )
    end as cost_rank
from costed
