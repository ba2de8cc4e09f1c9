-- How many output tokens per second a paid chip gives at each operating point, at the usual speeds for a user where a
-- benchmark has several: int.serving_rate as int.token_cost reads it, before any price.
--   reach  measured, between two runs, at most (slower than the slowest run, which is at least as fast: a cost from it
--          is the most that it can be), or unreachable
with pace as (
    select unnest(cost.usual_speeds()) as speed
),

asked as (
    select
        r.*,
        coalesce(r.interactivity_limit, i.speed) as interactivity,
        cost.rates_at_speed(
            i.speed,
            r.interactivity_from,
            r.interactivity_to,
            r.is_clamped,
            r.high_output_rate,
            r.median_output_rate,
            r.low_output_rate,
            r.high_input_rate,
            r.median_input_rate,
            r.low_input_rate
        ) as rates
    from int.serving_rate as r
    left join pace as i
        on r.interactivity_from < i.speed and i.speed <= coalesce(r.interactivity_to, i.speed)
    where r.interactivity_from is null or i.speed is not null
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
