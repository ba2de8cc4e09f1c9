-- What a unit of each chip's power costs: its cheapest ranked price, or else the last one confirmed, divided by its
-- peak, bandwidth and memory. One row per chip and form (ref.accelerator), purchase option and commitment class; one
-- without an option where nobody is known to sell it. Peaks are dense, in the fastest precision published (INT8 is no
-- FLOP) and in BF16; which, and who says so, is in ref.accelerator_fact. "From" prices and marketplace medians without
-- a lower quartile are left out. A seller that is silent about the form of a chip that has several is left out too.
with spoken as (
    select
        *,
        physics.best_dense_tflops(
            dense_bf16_tflops, dense_fp16_tflops, dense_fp8_tflops, dense_fp4_tflops, null
        )::DOUBLE as best_dense_tflops,
        count(*) over (partition by accelerator_name) as n_forms
    from ref.accelerator
),

cheapest as (
    select
        s.accelerator_name,
        s.form_factor,
        p.purchase_option,
        p.commitment_class,
        count(distinct p.service_provider_name) as n_providers,
        arg_min(
            {
                'price': p.cheapest_price_usd, 'provider': p.service_provider_name, 'region': p.region_id,
                'observed': p.last_observed_at, 'age': p.age_days, 'is_current': p.is_current,
                'is_ranked': p.price_rank is not null, 'offer': p.offer_id, 'document': p.document_sha256
            },
            (
                p.price_rank is null,
                case when p.price_rank is null then -epoch(p.last_observed_at) else p.cheapest_price_usd end,
                p.service_provider_name,
                p.offer_id
            )
        ) as best
    from spoken as s
    inner join int.provider_price as p
        on
            s.accelerator_name = p.accelerator_name
            and (s.form_factor = p.form_factor or s.form_factor is null or (s.n_forms = 1 and p.form_factor is null))
    where not p.is_floor and p.cheapest_price_usd is not null
    group by s.accelerator_name, s.form_factor, p.purchase_option, p.commitment_class
)

select
    s.accelerator_name,
    s.form_factor,
    c.purchase_option,
    c.commitment_class,
    c.n_providers,
    c.best.provider as service_provider_name,
    c.best.region as region_id,
    c.best.price as cheapest_price_usd,
    s.best_dense_tflops,
    c.best.price / (s.best_dense_tflops / 1000) as price_per_pflop_hour,
    c.best.price / (s.dense_bf16_tflops::DOUBLE / 1000) as price_per_bf16_pflop_hour,
    c.best.price / s.memory_bandwidth_tb_s::DOUBLE as price_per_tb_s_hour,
    c.best.price / s.memory_gb::DOUBLE as price_per_gb_hour,
    s.best_dense_tflops / s.tdp_w::DOUBLE as tflops_per_watt,
    s.memory_bandwidth_tb_s::DOUBLE * 1000 / s.tdp_w::DOUBLE as gb_s_per_watt,
    c.best.observed as last_observed_at,
    c.best.age as age_days,
    c.best.is_current,
    c.best.is_ranked,
    c.best.document as document_sha256,
    c.best.offer as offer_id
from spoken as s
left join cheapest as c
    on s.accelerator_name = c.accelerator_name and s.form_factor is not distinct from c.form_factor
