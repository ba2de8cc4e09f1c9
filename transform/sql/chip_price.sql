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
)

select
    s.accelerator_name,
    s.form_factor,
    p.purchase_option,
    p.commitment_class,
    nullif(count(distinct p.service_provider_name) over same_way, 0) as n_providers,
    p.service_provider_name,
    p.region_id,
    p.cheapest_price_usd,
    s.best_dense_tflops,
    p.cheapest_price_usd / (s.best_dense_tflops / 1000) as price_per_pflop_hour,
    p.cheapest_price_usd / (s.dense_bf16_tflops::DOUBLE / 1000) as price_per_bf16_pflop_hour,
    p.cheapest_price_usd / s.memory_bandwidth_tb_s::DOUBLE as price_per_tb_s_hour,
    p.cheapest_price_usd / s.memory_gb::DOUBLE as price_per_gb_hour,
    s.best_dense_tflops / s.tdp_w::DOUBLE as tflops_per_watt,
    s.memory_bandwidth_tb_s::DOUBLE * 1000 / s.tdp_w::DOUBLE as gb_s_per_watt,
    p.last_observed_at,
    p.age_days,
    p.is_current,
    case when p.offer_id is not null then p.price_rank is not null end as is_ranked,
    p.document_sha256,
    p.offer_id
from spoken as s
left join int.provider_price as p
    on
        s.accelerator_name = p.accelerator_name
        and (s.form_factor = p.form_factor or s.form_factor is null or (s.n_forms = 1 and p.form_factor is null))
        and not p.is_floor
        and p.cheapest_price_usd is not null
window same_way as (partition by s.accelerator_name, s.form_factor, p.purchase_option, p.commitment_class)
qualify
    row_number() over (
        same_way
        order by
            p.price_rank is null,
            if(p.price_rank is null, -epoch(p.last_observed_at), p.cheapest_price_usd),
            p.service_provider_name,
            p.offer_id
    ) = 1
