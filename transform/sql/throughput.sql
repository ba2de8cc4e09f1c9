-- What was measured on which chip, per chip, and what physics allows the whole system.
-- One row per run of core.throughput. Figures of the chip are those of ref.accelerator of the same name, and the same
-- form or one for all forms; a chip that is sold in several forms has no bound where its form is not stated.
-- Both bounds are taken as loosely as can be, so that what is above them is impossible (grade X):
--   compute    the fastest dense peak of any precision / 2 x active parameters (training 6 x, LoRA 4 x), attention left
--              out; input counts only where the share of it that was cached is stated. Sparse peaks do not count.
--   bandwidth  of serving, where requests in flight, accepted tokens and precision are stated: weights are read once a
--              step for all of them, the cache of the input alone at 4 bits.
-- is_ranked: grades A to C that count tokens. D has no configuration, X cannot be.
-- input_weight is what an input token costs in output tokens, measured where prefill and decode had chips of their own.
with chip as (
    select
        *,
        physics.best_dense_tflops(
            dense_bf16_tflops, dense_fp16_tflops, dense_fp8_tflops, dense_fp4_tflops, dense_int8_tops
        )::DOUBLE as best_dense_tflops
    from ref.accelerator
),

run as (
    select
        t.*,
        c.accelerator_name is not null as has_chip_facts,
        c.form_factor as chip_form_factor,
        c.best_dense_tflops,
        c.memory_bandwidth_tb_s,
        m.parameters_active,
        m.layers,
        m.attention_size,
        case
            when t.unit_of_work <> 'token' then null
            when t.task = 'training' then t.total_rate
            else t.output_rate
        end as bounded_rate,
        physics.moe_weight_bytes_read(
            m.shared_parameters, coalesce(m.expert_parameters * m.moe_layers, 0), coalesce(m.experts, 1),
            coalesce(m.experts_per_token, 1), coalesce(t.concurrency, t.batch_size),
            physics.bytes_per_value(t.precision)
        ) as weight_bytes_read,
        physics.kv_cache_bytes(
            m.kv_values_per_layer, m.layers, coalesce(t.input_length, 0), physics.bytes_per_value('fp4'),
            m.windowed_layers, coalesce(m.window_tokens, 0)
        ) as kv_bytes,
        try_cast(regexp_extract(t.parallelism, 'prefill (\d+) GPU', 1) as INTEGER) as prefill_accelerators,
        try_cast(regexp_extract(t.parallelism, 'decode (\d+) GPU', 1) as INTEGER) as decode_accelerators
    from core.throughput as t
    left join chip as c
        on t.accelerator_name = c.accelerator_name and (t.form_factor = c.form_factor or c.form_factor is null)
    left join ref.model as m on t.model_name = m.model_name
),

limited as (
    select
        *,
        case
            when bounded_rate is null then null
            when task = 'training'
                then
                    physics.forward_compute_bound(
                        accelerator_count,
                        best_dense_tflops,
                        physics.training_flop_per_token(
                            parameters_active, layers, attention_size, 0, false,
                            coalesce(scenario ilike '%lora%', false)
                        )
                    )
            else coalesce(
                physics.serving_output_bound(
                    accelerator_count, best_dense_tflops,
                    physics.forward_flop_per_token(parameters_active, layers, attention_size, 0), input_length,
                    output_length, prefix_cache_hit_share
                ),
                physics.forward_compute_bound(
                    accelerator_count, best_dense_tflops,
                    physics.forward_flop_per_token(parameters_active, layers, attention_size, 0)
                )
            )
        end as compute_bound,
        case
            when bounded_rate is null or task = 'training' then null
            -- Without it stated, a step may yield any number of tokens.
            when acceptance_length is null then null
            else physics.decode_bandwidth_bound(
                accelerator_count, memory_bandwidth_tb_s, weight_bytes_read, coalesce(concurrency, batch_size),
                kv_bytes, acceptance_length
            )
        end as bandwidth_bound
    from run
),

graded as (
    select
        *,
        least(compute_bound, bandwidth_bound) as rate_bound,
        bounded_rate / least(compute_bound, bandwidth_bound) as share_of_bound
    from limited
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
    precision,
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
    compute_bound,
    bandwidth_bound,
    rate_bound,
    case
        when rate_bound is null then null
        when bandwidth_bound = rate_bound then 'bandwidth'
        else 'compute'
    end as binding_bound,
    share_of_bound,
    case when share_of_bound > 1 then 'X' else evidence_grade end as evidence_grade,
    coalesce(share_of_bound <= 1, true) and evidence_grade in ('A', 'B', 'C') and unit_of_work = 'token' as is_ranked,
    measured_by,
    measured_on,
    source_url,
    note,
    source,
    observed_at,
    document_sha256
from graded
