-- For each chip: the least number whose memory holds `model` with `batch` sequences of `context_tokens` in flight, what
-- memory is left, and the bounds on output tokens per second of that number, generating at that context.
-- Weights are in `precision_name`, or in the precision of the chip's fastest dense peak where none is named; the cache
-- is at 16 bits. Where a chip has no published peak in a named precision, its compute bound is NULL: what it computes
-- in instead is not ours to guess. A chip without a published memory keeps its row, with NULLs.
-- Vendors' GB are taken as 10^9 bytes, and nothing is set aside for activations and the runtime: fewer chips cannot
-- hold it, and the number is no advice on how to shard.
with shape as (
    select *
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
            else error('fit: context_tokens must be given, and no more than the model takes')::BIGINT
        end as tokens,
        case when batch >= 1 then batch::BIGINT else error('fit: batch must be 1 or more')::BIGINT end as in_flight,
        case
            when precision_name is null or physics.bytes_per_value(lower(precision_name)) is not null
                then lower(precision_name)
            else error('fit: precision_name must be fp32, bf16, fp16, fp8, int8, nvfp4, mxfp4, fp4 or int4')
        end as named_precision
),

fastest as (
    select
        *,
        physics.fastest_tflops(c) as best_tflops
    from ref.accelerator as c -- noqa: AL05
),

speed as (
    select
        f.*,
        a.model_name,
        a.tokens,
        a.in_flight,
        coalesce(
            a.named_precision,
            case f.best_tflops
                when f.dense_fp4_tflops then 'fp4'
                when f.dense_fp8_tflops then 'fp8'
                when f.dense_int8_tops then 'int8'
                when f.dense_bf16_tflops then 'bf16'
                when f.dense_fp16_tflops then 'fp16'
            end
        ) as weight_precision,
        case
            when a.named_precision is null then f.best_tflops
            when a.named_precision = 'bf16' then f.dense_bf16_tflops
            when a.named_precision = 'fp16' then f.dense_fp16_tflops
            when a.named_precision = 'fp8' then f.dense_fp8_tflops
            when a.named_precision in ('fp4', 'nvfp4', 'mxfp4') then f.dense_fp4_tflops
            when a.named_precision = 'int8' then f.dense_int8_tops
        end as peak_tflops
    from fastest as f
    cross join asked as a
),

size as (
    select
        p.*,
        s.parameters_active,
        s.layers,
        s.attention_size,
        s.kv_values_per_layer,
        s.parameters_total * physics.bytes_per_value(p.weight_precision) as weight_bytes,
        physics.weight_bytes_read(s, p.in_flight, p.weight_precision) as weight_bytes_read, -- noqa: RF02
        physics.cache_bytes(s, p.tokens, 'bf16') as kv_bytes -- noqa: RF02
    from speed as p
    left join shape as s on p.model_name = s.model_name
),

needed as (
    select
        *,
        physics.memory_needed_gb(weight_bytes, in_flight, kv_bytes) as memory_needed,
        physics.accelerators_needed(physics.memory_needed_gb(weight_bytes, in_flight, kv_bytes), memory_gb) as chips,
        -- Layers with a window compute with fewer tokens: as many as they keep, so the cache tells.
        kv_bytes / (physics.bytes_per_value('bf16') * kv_values_per_layer * layers) as visible_tokens
    from size
),

bound as (
    select
        *,
        physics.decode_bandwidth_bound(chips, memory_bandwidth_tb_s, weight_bytes_read, in_flight, kv_bytes)
            as bandwidth_bound,
        physics.forward_compute_bound(
            chips, peak_tflops,
            physics.forward_flop_per_token(parameters_active, layers, attention_size, visible_tokens)
        ) as compute_bound
    from needed
)

select
    accelerator_name,
    form_factor,
    model_name,
    weight_precision,
    weight_bytes / 1e9 as weights_gb,
    in_flight * kv_bytes / 1e9 as kv_cache_gb,
    memory_needed as memory_needed_gb,
    memory_gb,
    chips::BIGINT as accelerators_needed,
    chips * memory_gb::DOUBLE - memory_needed as headroom_gb,
    peak_tflops::DOUBLE as peak_tflops,
    bandwidth_bound,
    compute_bound,
    case
        when bandwidth_bound <= compute_bound then bandwidth_bound
        when bandwidth_bound > compute_bound then compute_bound
    end as output_rate_bound,
    case
        when bandwidth_bound <= compute_bound then 'bandwidth'
        when bandwidth_bound > compute_bound then 'compute'
    end as binding_bound
from bound
order by accelerator_name, form_factor
