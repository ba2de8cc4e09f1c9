-- What was measured on which chip, per chip, and what physics allows the whole system.
-- One row per run of core.throughput. Figures of the chip are those of ref.accelerator of the same name, and the same
-- form or one for all forms; a chip that is sold in several forms has no bound where its form is not stated.
-- Bounds are those of physics.rate_bounds, taken as loosely as can be (8 tokens accepted a step where that is untold):
--   compute, bandwidth  what is above one of them is impossible (grade X)
--   fitting             what is above it cannot have run in the precision that it declares: `precision` is NULL and
--                       declared_precision keeps the word; in MLPerf, where it may be that of the starting weights,
--                       for all runs of that round, engine and word. Such a run is never ranked, as costs compare at
--                       equal precision.
-- is_ranked: grades A to C that count tokens, in a known precision. D has no configuration, X cannot be. A round of
-- MLPerf that its submitter repeated later on that chip is superseded: it counts for the past alone.
with fitted as (
    select
        t.*,
        c, -- noqa: RF02
        m, -- noqa: RF02
        coalesce(t.concurrency, t.batch_size) as in_flight,
        physics.fitting_batch(
            c, m, t.accelerator_count, t.precision, in_flight, t.input_length, t.output_length -- noqa: RF02
        ) as fitting
    from core.throughput as t
    left join ref.accelerator as c
        on t.accelerator_name = c.accelerator_name and (t.form_factor = c.form_factor or c.form_factor is null)
    left join ref.model as m on t.model_name = m.model_name
),

bounded as (
    select
        * exclude (c, m),
        c['accelerator_name'] is not null as has_chip_facts,
        c['form_factor'] as chip_form_factor,
        physics.fastest_tflops(c) as best_dense_tflops,
        case when unit_of_work = 'token' then if(task = 'training', total_rate, output_rate) end as bounded_rate,
        case
            when bounded_rate is not null
                then
                    physics.rate_bounds(
                        c, m, task, coalesce(scenario ilike '%lora%', false), accelerator_count, precision, in_flight,
                        input_length, output_length, prefix_cache_hit_share, coalesce(acceptance_length, 8), fitting
                    )
        end as bounds,
        try_cast(regexp_extract(parallelism, 'prefill (\d+) GPU', 1) as INTEGER) as prefill_accelerators,
        try_cast(regexp_extract(parallelism, 'decode (\d+) GPU', 1) as INTEGER) as decode_accelerators
    from fitted
),

judged as (
    select
        *,
        least(bounds['compute'], bounds['bandwidth']) as hard_bound,
        coalesce(bounded_rate > hard_bound, false) as is_impossible,
        coalesce(bounded_rate > bounds['fitting'], false) and not is_impossible as is_too_fast,
        is_too_fast
        or (benchmark_family = 'mlperf_inference' and bool_or(is_too_fast) over same_stack) as is_misdeclared,
        benchmark_family = 'mlperf_inference' and benchmark < max(benchmark) over same_submitter as is_superseded
    from bounded
    window
        same_stack as (partition by benchmark, split_part(software, ' ', 1), precision),
        same_submitter as (
            partition by benchmark_family, measured_by, model_name, scenario, accelerator_name, form_factor
        )
)

select
    throughput_id,
    model_name,
    task,
    scenario,
    benchmark,
    benchmark_family,
    accelerator_name,
    form_factor,
    chip_form_factor,
    has_chip_facts,
    accelerator_count,
    case when not is_misdeclared then precision end as precision, -- noqa: RF04
    precision as declared_precision,
    unit_of_work,
    input_length,
    output_length,
    concurrency,
    batch_size,
    interactivity,
    interactivity_statistic,
    ttft_ms,
    ttft_statistic,
    acceptance_length,
    case
        when acceptance_length = 1 then 'one token a step'
        when acceptance_length > 1 or note ilike '%speculative decoding%' then 'speculative'
    end as decoding,
    prefix_cache_hit_share,
    error_share,
    is_disaggregated,
    case
        when is_disaggregated then 'disaggregated'
        when accelerator_count > case when form_factor = 'NVL72' then 72 else 8 end then 'several nodes'
        else 'one node'
    end as topology,
    parallelism,
    software,
    output_rate / accelerator_count::DOUBLE as output_rate_per_accelerator,
    input_rate / accelerator_count::DOUBLE as input_rate_per_accelerator,
    coalesce(total_rate, output_rate + input_rate) / accelerator_count::DOUBLE as total_rate_per_accelerator,
    case
        when is_disaggregated and prefill_accelerators + decode_accelerators = accelerator_count
            then cost.measured_input_weight(prefill_accelerators, input_rate, decode_accelerators, output_rate)
    end as input_weight,
    best_dense_tflops,
    bounds['compute'] as compute_bound,
    bounds['bandwidth'] as bandwidth_bound,
    bounds['fitting'] as fitting_bound,
    least(hard_bound, case when not is_misdeclared and not is_impossible then bounds['fitting'] end) as rate_bound,
    case
        when rate_bound is null then null
        when bounds['compute'] = rate_bound then 'compute'
        else 'bandwidth'
    end as binding_bound,
    bounded_rate / nullif(rate_bound, 0) as share_of_bound,
    case when is_impossible then 'X' else evidence_grade end as evidence_grade,
    not is_impossible
    and evidence_grade in ('A', 'B', 'C')
    and unit_of_work = 'token'
    and (task = 'training' or (precision is not null and not is_misdeclared)) as is_ranked,
    is_superseded,
    measured_by,
    measured_on,
    source_url,
    note,
    source,
    observed_at,
    document_sha256
from judged
