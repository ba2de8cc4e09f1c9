-- What training on a million tokens costs: of each model the newest round on which at least two chips have a cost, and
-- on it of each chip, number of chips, grade and way to buy the offer with the best cost_rank, or else the newest.
with costed as (
    select
        *,
        max(measured_on) over (partition by model_name, benchmark, precision) as round_on
    from int.training_cost
    where is_ranked and usd_per_million_tokens_median is not null
),

chosen as (
    select
        model_name,
        benchmark,
        precision
    from costed
    group by model_name, benchmark, benchmark_family, precision, round_on
    having count(distinct struct_pack(chip := accelerator_name, form := form_factor)) > 1
    qualify
        row_number() over (
            partition by model_name, benchmark_family, precision
            order by round_on desc, benchmark desc
        ) = 1
)

select
    t.model_name,
    t.benchmark,
    t.precision,
    t.accelerator_count,
    t.accelerator_name,
    t.form_factor,
    t.purchase_option,
    t.commitment_class,
    t.service_provider_name,
    t.instance_type,
    t.region_id,
    t.median_price_usd,
    t.usd_per_million_tokens_low,
    t.usd_per_million_tokens_median,
    t.usd_per_million_tokens_high,
    t.share_of_bound,
    t.evidence_grade,
    t.measured_on,
    t.source_url,
    t.is_current,
    t.last_observed_at
from costed as t
inner join chosen as c
    on t.model_name = c.model_name and t.benchmark = c.benchmark and t.precision is not distinct from c.precision
qualify
    row_number() over (
        partition by
            t.model_name,
            t.benchmark,
            t.precision,
            t.accelerator_count,
            t.accelerator_name,
            t.form_factor,
            t.evidence_grade,
            t.purchase_option,
            t.commitment_class
        order by t.cost_rank asc nulls last, t.last_observed_at desc, t.offer_id asc, t.throughput_id asc
    ) = 1
order by
    t.model_name asc,
    t.benchmark desc,
    t.precision asc,
    t.purchase_option asc,
    t.commitment_class asc nulls first,
    t.cost_rank asc nulls last,
    t.accelerator_name asc,
    t.form_factor asc,
    t.accelerator_count asc
