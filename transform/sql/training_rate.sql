-- How fast each training runs on each kind of unit that is sold, per working chip: one row per model, scenario,
-- benchmark, precision, sequence length, number of chips and grade; runs of several submitters give low, median, high.
-- A training on n chips counts for units of at least n of that chip, and for more units than one only where a network
-- joins them, as in int.serving_rate; working_share is the share of the chips paid that work. Trainings on different
-- numbers of chips stay apart: scaling_efficiency is the median rate a chip over that on the fewest chips measured.
with host as (
    select distinct
        accelerator_name,
        chip_form_factor,
        unit_accelerators,
        network
    from int.cost_price
    where unit_accelerators >= 1
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
        evidence_grade,
        accelerator_name,
        form_factor,
        chip_form_factor,
        accelerator_count,
        max(total_rate_per_accelerator) as high_rate,
        median(total_rate_per_accelerator) as median_rate,
        min(total_rate_per_accelerator) as low_rate,
        count(*) as n_runs,
        max(rate_bound / accelerator_count::DOUBLE) as rate_bound_per_accelerator,
        any_value(binding_bound) as binding_bound,
        max(share_of_bound) as share_of_bound,
        bool_and(is_ranked) as is_ranked,
        string_agg(distinct measured_by, ', ' order by measured_by) as measured_by,
        min(measured_on) as measured_from,
        max(measured_on) as measured_on,
        arg_max(throughput_id, (total_rate_per_accelerator, throughput_id)) as throughput_id,
        arg_max(source_url, (total_rate_per_accelerator, throughput_id)) as source_url,
        arg_max(software, (total_rate_per_accelerator, throughput_id)) as software
    from int.throughput
    where
        task = 'training'
        and unit_of_work = 'token'
        and has_chip_facts
        and evidence_grade <> 'X'
        and total_rate_per_accelerator is not null
    group by all
)

select
    p.*,
    h.unit_accelerators,
    h.network,
    cost.working_share(p.accelerator_count, h.unit_accelerators) as working_share,
    p.median_rate / first_value(p.median_rate) over (
        partition by
            p.model_name, p.scenario, p.benchmark, p.precision, p.input_length, p.evidence_grade, p.accelerator_name,
            p.form_factor, h.unit_accelerators, h.network
        order by p.accelerator_count
    ) as scaling_efficiency
from point as p
inner join host as h
    on
        p.accelerator_name = h.accelerator_name and p.chip_form_factor is not distinct from h.chip_form_factor
        and cost.runs_on(p.accelerator_count, p.form_factor, h.unit_accelerators, h.network)
