-- The one operating point that a front page speaks of: that at which most of the usual chips (cost/usual_chips.sql)
-- have a rate that was measured at the speed or on both sides of it, at least three; of equals the one measured last.
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
    count(distinct accelerator_name) as n_chips,
    max(measured_on) as measured_on
from int.token_rate
where
    task = 'serving'
    and is_ranked
    and reach in ('measured', 'between two runs')
    and list_contains(cost.usual_chips(), accelerator_name)
group by all
having count(distinct accelerator_name) >= 3
order by
    n_chips desc, measured_on desc, model_name asc, scenario asc, benchmark asc, precision asc, decoding asc,
    interactivity asc
limit 1
