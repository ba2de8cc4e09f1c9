-- How many output tokens per second a paid chip gives at each operating point, at the usual speeds for a user where a
-- benchmark has several: int.serving_rate as int.token_cost reads it, before any price.
with paced as (
    select
        *,
        unnest(
            cost.speeds_within(cost.usual_speeds(), interactivity_from, interactivity_to, interactivity_limit)
        ) as interactivity
    from int.serving_rate
),

asked as (
    select
        r.* exclude (r.rates),
        cost.rates_at_speed(
            r.interactivity, r.interactivity_from, r.interactivity_to, r.is_clamped, r.rates_from, r.rates
        ) as rates
    from paced as r
)

select
    a.* exclude ( -- noqa: AM04
        a.interactivity_limit, a.interactivity_from, a.interactivity_to, a.is_clamped, a.rates_from, a.rates,
        a.measured_weight, a.n_runs, a.fewest_accelerators, a.share_of_bound, a.measured_from, a.ttft_ms,
        a.ttft_statistic, a.rate_bound_per_accelerator, a.binding_bound, a.slower_throughput_id, a.slower_source_url
    ),
    a.rates.median_output_rate as output_rate_per_paid_accelerator,
    a.rates.low_output_rate,
    a.rates.high_output_rate,
    a.rates.reach
from asked as a
