-- How many operating points of each model have a cost at full load, and how many of them for one chip alone.
with point as (
    select
        model_name,
        count(distinct row(accelerator_name, form_factor)) as n_chips
    from int.token_cost
    where utilisation = 1 and is_ranked and all_in_output_usd_median is not null
    group by
        model_name, task, scenario, benchmark, precision, input_length, output_length, decoding, interactivity,
        interactivity_statistic
)

select
    model_name,
    count(*) as n_points,
    count(*) filter (where n_chips = 1) as n_alone
from point
group by model_name
order by model_name
