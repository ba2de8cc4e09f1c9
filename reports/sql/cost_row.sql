-- What a million output tokens costs at full load, chip beside chip: of each model and scenario the operating points at
-- which at least two chips have a cost; of rounds of one benchmark the newest, of its speeds that with the most chips,
-- and of a model and task the two with the most chips.
-- At a point, of each chip, grade and way to buy the offer with the best cost_rank, or else the newest.
with costed as (
    select
        *,
        max(measured_on) over (
            partition by model_name, task, scenario, benchmark, precision, input_length, output_length, decoding
        ) as round_on
    from int.token_cost
    where utilisation = 1 and is_ranked and all_in_output_usd_median is not null and reach <> 'unreachable'
),

point as (
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
        round_on,
        count(distinct struct_pack(chip := accelerator_name, form := form_factor)) as n_chips,
        count(distinct struct_pack(chip := accelerator_name, form := form_factor)) filter (where cost_rank is not null)
            as n_ranked
    from costed
    group by all
),

newest as (
    select *
    from point
    where n_chips > 1
    qualify
        row_number() over (
            partition by
                model_name, task, scenario, benchmark_family, precision, input_length, output_length, decoding
            order by round_on desc, benchmark desc, n_ranked desc, n_chips desc, interactivity asc
        ) = 1
),

chosen as (
    select *
    from newest
    qualify
        row_number() over (
            partition by model_name, task
            order by
                n_ranked desc,
                n_chips desc,
                round_on desc,
                scenario asc,
                precision asc,
                input_length asc,
                output_length asc,
                decoding asc
        ) <= 2
)

select
    t.model_name,
    t.task,
    t.scenario,
    t.benchmark,
    t.precision,
    t.input_length,
    t.output_length,
    t.decoding,
    t.interactivity,
    t.interactivity_statistic,
    t.accelerator_name,
    t.form_factor,
    t.purchase_option,
    t.commitment_class,
    t.service_provider_name,
    t.instance_type,
    t.region_id,
    t.unit_accelerators,
    t.median_price_usd,
    t.all_in_output_usd_low,
    t.all_in_output_usd_median,
    t.all_in_output_usd_high,
    t.share_of_bound,
    t.cost_rank,
    t.evidence_grade,
    t.measured_on,
    t.source_url,
    t.is_price_ranked,
    t.reach,
    t.last_observed_at,
    c.n_chips
from costed as t
inner join chosen as c
    on
        t.model_name = c.model_name
        and t.task = c.task
        and t.scenario = c.scenario
        and t.benchmark = c.benchmark
        and t.precision is not distinct from c.precision
        and t.input_length is not distinct from c.input_length
        and t.output_length is not distinct from c.output_length
        and t.decoding is not distinct from c.decoding
        and t.interactivity is not distinct from c.interactivity
        and t.interactivity_statistic is not distinct from c.interactivity_statistic
qualify
    row_number() over (
        partition by
            t.model_name,
            t.task,
            t.scenario,
            t.benchmark,
            t.precision,
            t.input_length,
            t.output_length,
            t.decoding,
            t.interactivity,
            t.interactivity_statistic,
            t.accelerator_name,
            t.form_factor,
            t.evidence_grade,
            t.purchase_option,
            t.commitment_class
        order by t.cost_rank asc nulls last, t.last_observed_at desc, t.offer_id asc, t.throughput_id asc
    ) = 1
order by
    max(c.n_chips) over (partition by t.model_name) desc,
    t.model_name asc,
    t.task desc,
    c.n_chips desc,
    t.scenario asc,
    t.benchmark desc,
    t.precision asc,
    t.input_length asc,
    t.output_length asc,
    t.decoding asc,
    t.purchase_option asc,
    t.commitment_class asc nulls first,
    t.cost_rank asc nulls last,
    t.accelerator_name asc,
    t.form_factor asc
