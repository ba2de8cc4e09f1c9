-- What training `model` on `training_tokens` tokens costs on each offer: from measured runs, and from an assumed share
-- of the peak, graded D and never ranked, on every chip that has a published dense peak in `precision_name`.
-- `overhead` is work beside the measured one as a share of it, `goodput` the share of running time that makes progress;
-- checkpoints are in one of overhead, goodput and `spot_running_share`, never in two. `commitment_use` is hours used /
-- hours committed, by whatever else runs there; NULL: by this training alone, which then pays for its whole term, or so
-- many of them, however fast it is, and for one whole Capacity Block (NULL: none is so long). With `assumed_mfu` NULL
-- nothing is assumed. Of an assumed run the chips are the fewest whole units whose memory holds 16 bytes a parameter,
-- and operations are 6 a parameter and token, attention left out. Columns are those of int.training_cost, its comment
-- holds here too.
with named as (
    select model_name
    from ref.model
    where model_name = lower(model) or list_contains(string_split(aliases, '; '), lower(model))
    union
    select model_name
    from int.training_rate
    where model_name = model
),

wanted as (
    select
        case
            when (select count(*) from named) = 1 then (select n.model_name from named as n)
            else error('training_run_cost: no model is named ' || coalesce(model, 'NULL') || ', see ref.model')
        end as model_wanted,
        assumed_mfu::DOUBLE as mfu,
        lower(precision_name) as peak_precision
),

peak as (
    select
        accelerator_name,
        form_factor,
        memory_gb,
        case lower(precision_name)
            when 'bf16' then dense_bf16_tflops
            when 'fp16' then dense_fp16_tflops
            when 'fp8' then dense_fp8_tflops
            when 'fp4' then dense_fp4_tflops
            else error('training_run_cost: precision_name must be bf16, fp16, fp8 or fp4')::DECIMAL(12, 6)
        end::DOUBLE as peak_tflops,
        physics.fastest_tflops(c) as best_dense_tflops
    from ref.accelerator as c -- noqa: AL05
),

sized as (
    select
        p.*,
        s.model_name,
        w.mfu,
        w.peak_precision,
        k.peak_tflops,
        k.best_dense_tflops,
        physics.training_flop_per_token(s.parameters_active, s.layers, s.attention_size, 0) as flop_per_token,
        physics.accelerators_needed(physics.training_memory_gb(s.parameters_total), k.memory_gb) as chips_needed
    from int.cost_price as p
    inner join peak as k
        on p.accelerator_name = k.accelerator_name and p.chip_form_factor is not distinct from k.form_factor
    cross join wanted as w
    inner join ref.model as s on w.model_wanted = s.model_name
    where w.mfu is not null and p.unit_accelerators >= 1 and k.peak_tflops is not null
),

every as (
    from int.training_offer
    where model_name = (select w.model_wanted from wanted as w)
    union all by name
    select
        * exclude (
            source, document_sha256, mfu, peak_precision, peak_tflops, best_dense_tflops, flop_per_token, chips_needed
        ),
        source as price_source,
        document_sha256 as price_document_sha256,
        'assumed' as scenario,
        'assumed' as benchmark_family,
        'MFU ' || mfu || ' of the dense ' || peak_precision || ' peak' as benchmark,
        peak_precision as precision,  -- noqa: RF04
        (ceil(chips_needed / unit_accelerators) * unit_accelerators)::DECIMAL(10, 4) as accelerator_count,
        1e0 as working_share,
        physics.training_rate_at_mfu(mfu, peak_tflops, flop_per_token) as median_rate,
        physics.training_rate_at_mfu(mfu, peak_tflops, flop_per_token) as high_rate,
        physics.training_rate_at_mfu(mfu, peak_tflops, flop_per_token) as low_rate,
        physics.forward_compute_bound(1, best_dense_tflops, flop_per_token) as rate_bound_per_accelerator,
        'compute' as binding_bound,
        mfu * peak_tflops / best_dense_tflops as share_of_bound,
        'D' as evidence_grade,
        false as is_ranked
    from sized
    where chips_needed <= unit_accelerators or network is not null
),

-- Hours of a training, and whether it alone pays for a whole term or block.
bound as (
    select
        *,
        commitment_use is null and (purchase_option in ('reserved', 'savings_plan') or usable_share < 1) as is_alone,
        cost.training_hours(
            training_tokens::DOUBLE, accelerator_count, median_rate, overhead::DOUBLE, goodput::DOUBLE
        ) as hours,
        case commitment_class
            when 'one_year' then 8760 when 'two_years' then 17520 when 'three_years' then 26280
        end as term
    from every
),

asked as (
    select
        * exclude (task, chip_form_factor, network, is_alone, hours, term, high_rate, low_rate, usable_share),
        training_tokens::DOUBLE as tokens,
        overhead::DOUBLE as overhead_share,
        goodput::DOUBLE as goodput_share,
        case when is_alone then median_rate else high_rate end as high_rate,
        case when is_alone then median_rate else low_rate end as low_rate,
        case
            when is_alone and purchase_option = 'capacity_block' then hours / cost.block_hours(hours, instance_type)
            when is_alone then hours / (ceil(hours / term) * term)
            when purchase_option = 'on_demand' then 1
            when purchase_option = 'spot' then spot_running_share
            else usable_share * coalesce(commitment_use, 1)
        end::DOUBLE as running_share
    from bound
),

costed as (
    select
        *,
        unnest(cost.training_costs(
            low_price_usd, price_usd, high_price_usd, high_rate, median_rate, low_rate, accelerator_count,
            working_share, tokens, overhead_share, goodput_share, running_share
        )) as amounts
    from asked
)

select
    *, -- noqa: AM04
    case
        when is_ranked and is_price_ranked and usd_per_million_tokens_median is not null
            then rank() over (
                partition by
                    scenario, benchmark, precision, input_length, purchase_option, commitment_class,
                    is_ranked and is_price_ranked and usd_per_million_tokens_median is not null
                order by usd_per_million_tokens_median
            )
    end as cost_rank
from costed
