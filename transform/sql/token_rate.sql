-- How many output tokens per second a paid chip gives at each operating point, at the usual speeds for a user where a
-- benchmark has several: int.serving_rate as int.token_cost reads it, before any price.
--   reach  measured, between two runs, at most (slower than the slowest run, which is at least as fast: a cost from it
--          is the most that it can be), or unreachable
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
        r.*,
        cost.rates_at_speed(
            r.interactivity, r.interactivity_from, r.interactivity_to, r.is_clamped, r.high_output_rate,
            r.median_output_rate, r.low_output_rate, r.high_input_rate, r.median_input_rate, r.low_input_rate
        ) as rates
    from paced as r
)

select
    a.model_name,
    a.task,
    a.scenario,
    a.benchmark_family,
    a.benchmark,
    a.precision,
    a.input_length,
    a.output_length,
    a.decoding,
    a.interactivity,
    a.interactivity_statistic,
    a.accelerator_name,
    a.chip_form_factor,
    a.unit_accelerators,
    a.network,
    a.rates.median_output_rate as output_rate_per_paid_accelerator,
    a.rates.reach,
    a.evidence_grade,
    a.is_ranked,
    a.measured_on,
    a.throughput_id,
    a.source_url
from asked as a
