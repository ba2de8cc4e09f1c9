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
    model_name,
    task,
    scenario,
    benchmark_family,
    benchmark,
    precision,
    input_length,
    output_length,
    decoding,
    interactivity,
    interactivity_statistic,
    accelerator_name,
    chip_form_factor,
    unit_accelerators,
    network,
    rates.median_output_rate as output_rate_per_paid_accelerator,
    rates.reach,
    evidence_grade,
    is_ranked,
    measured_on,
    throughput_id,
    source_url
from asked
