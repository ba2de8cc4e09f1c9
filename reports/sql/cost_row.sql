-- What a million output tokens costs at full load, chip beside chip: of each model and scenario the operating points at
-- which at least two chips have a cost; of rounds of one benchmark the newest, of its speeds that with the most chips,
-- and of a model and task the two with the most chips.
-- At a point, of each chip, grade and way to buy the offer with the best cost_rank, or else the newest.
with costed as (
    select
        model_name,
        task,
        scenario,
        benchmark,
        benchmark_family,
        precision,
        input_length,
        output_length,
        decoding,
        interactivity,
        interactivity_statistic,
        accelerator_name,
        form_factor,
        purchase_option,
        commitment_class,
        service_provider_name,
        instance_type,
        region_id,
        median_price_usd,
        all_in_output_usd_low,
        all_in_output_usd_median,
        all_in_output_usd_high,
        share_of_bound,
        cost_rank,
        evidence_grade,
        measured_on,
        source_url,
        is_price_ranked,
        reach,
        last_observed_at,
        offer_id,
        throughput_id,
        hash(model_name, task, scenario, benchmark, precision, input_length, output_length, decoding) as measured_as,
        hash(accelerator_name, form_factor) as chip
    from int.token_cost
    where
        utilisation = 1 and is_ranked and all_in_output_usd_median is not null and reach <> 'unreachable'
        and model_name is not null and task is not null and scenario is not null and benchmark is not null
),

counted as (
    select
        *,
        max(measured_on) over (partition by measured_as) as round_on,
        count(distinct chip) over point as n_chips,
        count(distinct case when cost_rank is not null then chip end) over point as n_ranked
    from costed
    window point as (partition by measured_as, interactivity, interactivity_statistic)
),

newest as (
    select *
    from counted
    where n_chips > 1
    qualify
        dense_rank() over (
            partition by
                model_name, task, scenario, benchmark_family, precision, input_length, output_length, decoding
            order by
                round_on desc, benchmark desc, n_ranked desc, n_chips desc, interactivity asc,
                interactivity_statistic asc
        ) = 1
),

chosen as (
    select *
    from newest
    qualify
        dense_rank() over (
            partition by model_name, task
            order by
                n_ranked desc, n_chips desc, round_on desc, scenario asc, precision asc, input_length asc,
                output_length asc, decoding asc, benchmark desc
        ) <= 2
)

select * -- noqa: AM04
from chosen
qualify
    row_number() over (
        partition by measured_as, interactivity, chip, evidence_grade, purchase_option, commitment_class
        order by cost_rank asc nulls last, last_observed_at desc, offer_id asc, throughput_id asc
    ) = 1
order by
    max(n_chips) over (partition by model_name) desc,
    model_name asc,
    task desc,
    n_chips desc,
    scenario asc,
    benchmark desc,
    precision asc,
    input_length asc,
    output_length asc,
    decoding asc,
    purchase_option asc,
    commitment_class asc nulls first,
    cost_rank asc nulls last,
    accelerator_name asc,
    form_factor asc,
    evidence_grade asc,
    throughput_id asc
