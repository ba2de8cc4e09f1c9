-- What training on a million tokens costs: of each model the newest round on which at least two chips have a cost, and
-- on it of each chip, number of chips, grade and way to buy the offer with the best cost_rank, or else the newest.
with costed as (
    select
        *,
        max(measured_on) over round as round_on,
        count(distinct row(accelerator_name, form_factor)) over round as n_chips
    from int.training_cost
    where is_ranked and usd_per_million_tokens_median is not null and model_name is not null and benchmark is not null
    window round as (partition by model_name, benchmark, precision)
),

chosen as (
    from costed
    where n_chips > 1
    qualify
        dense_rank() over (
            partition by model_name, benchmark_family, precision
            order by round_on desc, benchmark desc
        ) = 1
)

select * -- noqa: AM04
from chosen
qualify
    row_number() over (
        partition by
            model_name, benchmark, precision, accelerator_count, accelerator_name, form_factor, evidence_grade,
            purchase_option, commitment_class
        order by cost_rank asc nulls last, last_observed_at desc, offer_id asc, throughput_id asc
    ) = 1
order by
    model_name asc,
    benchmark desc,
    precision asc,
    purchase_option asc,
    commitment_class asc nulls first,
    cost_rank asc nulls last,
    accelerator_name asc,
    form_factor asc,
    accelerator_count asc,
    evidence_grade asc
