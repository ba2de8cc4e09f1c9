-- For each chip: the least number that runs `model` with `batch` sequences of `context_tokens` in flight, memory left,
-- bounds on output tokens per second of that number at that context, and a run as proof. Weights are in
-- `precision_name`, or else that of the chip's fastest dense peak; the cache is at 16 bits. Without a published peak in
-- the precision there is no compute bound, without a memory no number.
--   accelerators_needed  a size that is sold, or as many as a network joins: 2 or 4, or whole eights
--   accelerators_used    those that work: a layer is split over a divisor of the attention heads, and one or a multiple
--                        of the heads of keys and of the experts, within a machine of 8 or of the size that is sold;
--                        layers over machines. More parts than heads of keys hold copies, of a latent vector every part
--                        (https://docs.vllm.ai/en/v0.15.0/api/vllm/model_executor/models/llama/).
-- 0.9 of the vendor's GB of 10^9 bytes are used, the default of vLLM's gpu_memory_utilization, 0.92 in its newest
-- (https://unsloth.ai/docs/basics/inference-and-deployment/vllm-guide/vllm-engine-arguments, read 2026-11-23). A step
-- has 8,192 tokens at most, vLLM's default for a server of large chips.
with shape as (
    from ref.model
    where model_name = lower(model) or list_contains(string_split(aliases, '; '), lower(model))
),

asked as (
    select
        case
            when (select count(*) from shape) = 1 then (select s.model_name from shape as s)
            else error('fit: no model is named ' || coalesce(model, 'NULL') || ', see ref.model')
        end as model_name,
        case
            when context_tokens <= (select s.max_context_tokens from shape as s) then context_tokens::BIGINT
            else error('fit: context_tokens must be given, at most ' || (select s.max_context_tokens from shape as s))
        end as tokens,
        case when batch >= 1 then batch::BIGINT else error('fit: batch must be 1 or more')::BIGINT end as in_flight,
        case
            when precision_name is null or physics.bytes_per_value(lower(precision_name)) is not null
                then lower(precision_name)
            else
                error(
                    'fit: precision_name must be fp32, tf32, bf16, fp16, fp8, int8, mxfp8, mxfp6, fp6, nvfp4, mxfp4, '
                    || 'fp4 or int4'
                )
        end as named_precision
),

size as (
    select
        f.*,
        s.*,
        physics.fastest_tflops(f) as best_tflops, -- noqa: RF02
        a.tokens,
        a.in_flight,
        map {
            'fp4': f.dense_fp4_tflops, 'nvfp4': f.dense_fp4_tflops, 'mxfp4': f.dense_fp4_tflops,
            'fp8': f.dense_fp8_tflops, 'mxfp8': f.dense_fp8_tflops, 'int8': f.dense_int8_tops,
            'bf16': f.dense_bf16_tflops, 'fp16': f.dense_fp16_tflops
        } as peaks,
        coalesce(
            a.named_precision,
            list_filter(['fp4', 'fp8', 'int8', 'bf16', 'fp16'], lambda n: peaks[n] = best_tflops)[1] -- noqa: RF02
        ) as weight_precision,
        peaks[weight_precision] as peak_tflops,
        s.parameters_total * physics.bytes_per_value(weight_precision) as weight_bytes, -- noqa: RF02
        physics.weight_bytes_read(s, a.in_flight, weight_precision) as weight_bytes_read, -- noqa: RF02
        physics.cache_bytes(s, a.tokens, 'bf16') as kv_bytes -- noqa: RF02
    from ref.accelerator as f
    cross join asked as a
    left join shape as s on a.model_name = s.model_name
),

sold as (
    select distinct
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network is not null as is_joined
    from int.cost_option
    where price_usd is not null and unit_accelerators is not null
),

counted as (
    select
        z.*,
        o.unit_accelerators,
        coalesce(o.unit_accelerators, 1) as unit,
        unnest(generate_series(1, if(o.is_joined is false, 1, 64))) * unit as chips
    from size as z
    left join sold as o
        on z.accelerator_name = o.accelerator_name and z.form_factor is not distinct from o.chip_form_factor
),

laid as (
    select
        *,
        unnest(list_filter(
            generate_series(1, coalesce(attention_heads, 1)),
            lambda n: n <= greatest(least(chips, greatest(unit, 8)), 1) and coalesce(attention_heads % n = 0, true)
            and coalesce(kv_heads % n = 0 or n % kv_heads = 0, true)
            and coalesce(experts % n = 0 or n % experts = 0, true)
        )) as split,
        split * greatest(floor(chips / greatest(unit, 8)), 1) as used,
        case when kv_latent_size is not null then split else greatest(split / kv_heads, 1) end as copies
    from counted
    where chips = unit or chips % 8 = 0 or attention_heads % chips = 0
),

weighed as (
    select
        *,
        physics.memory_needed_gb(weight_bytes, in_flight, kv_bytes * copies) as held_gb,
        physics.activation_bytes(least(8192, in_flight * tokens), hidden_size, used) / 1e9 as activations_gb,
        least(chips, used) * memory_gb::DOUBLE * 0.9 as memory_usable,
        kv_bytes / (physics.bytes_per_value('bf16') * kv_values_per_layer * layers) as visible_tokens -- of windows
    from laid
),

needed as (
    select
        *,
        held_gb + activations_gb as memory_needed,
        coalesce(memory_needed <= memory_usable, false) as is_held,
        case
            when attention_heads is null then 'the heads of the model are not known'
            when memory_gb is null then 'the memory of the chip is not known'
            when memory_needed is null then 'the model keeps no keys and values'
            when not is_held then 'no size that is sold holds it'
            when unit_accelerators is null then 'nobody is known to sell it: by heads and memory alone'
        end as unknown_reason
    from weighed
    qualify
        row_number() over (
            partition by accelerator_name, form_factor order by is_held desc, chips asc, split desc, unit desc
        ) = 1
),

bound as (
    select
        *,
        case when is_held then used end as running,
        physics.decode_bandwidth_bound(running, memory_bandwidth_tb_s, weight_bytes_read, in_flight, kv_bytes)
            as bandwidth_bound,
        physics.forward_compute_bound(
            running, peak_tflops,
            physics.forward_flop_per_token(parameters_active, layers, attention_size, visible_tokens)
        ) as compute_bound
    from needed
)

select
    b.accelerator_name,
    b.form_factor,
    b.model_name,
    b.weight_precision,
    b.weight_bytes / 1e9 as weights_gb,
    b.in_flight * b.kv_bytes * b.copies / 1e9 as kv_cache_gb,
    b.activations_gb,
    b.memory_needed as memory_needed_gb,
    b.memory_gb,
    case when b.is_held then b.chips end as accelerators_needed,
    b.running as accelerators_used,
    b.unit_accelerators,
    case when b.is_held then b.memory_usable - b.memory_needed end as headroom_gb,
    b.peak_tflops::DOUBLE as peak_tflops,
    b.bandwidth_bound,
    b.compute_bound,
    case when b.bandwidth_bound + b.compute_bound is not null then least(b.bandwidth_bound, b.compute_bound) end
        as output_rate_bound,
    case
        when b.bandwidth_bound <= b.compute_bound then 'bandwidth'
        when b.bandwidth_bound > b.compute_bound then 'compute'
    end as binding_bound,
    b.unknown_reason,
    t.accelerator_count as measured_accelerators,
    t.precision as measured_precision,
    t.measured_on,
    t.source_url
from bound as b
left join int.throughput as t
    on
        b.model_name = t.model_name and b.accelerator_name = t.accelerator_name
        and b.form_factor is not distinct from t.chip_form_factor and t.task <> 'training' and t.is_ranked
qualify
    row_number() over (
        partition by b.accelerator_name, b.form_factor
        order by
            (decision.precision_class(t.precision) is distinct from decision.precision_class(b.weight_precision)) asc,
            abs(t.accelerator_count - b.running) asc, t.measured_on desc, t.throughput_id asc
    ) = 1
