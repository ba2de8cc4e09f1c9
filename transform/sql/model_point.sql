-- The one operating point at which each model's chips are compared: that at which most of the usual chips
-- (cost/usual_chips.sql) have a rate that was measured at the speed or on both sides of it; of equals the one of
-- serving, of the best grade, the one measured last. point_rank: models released within two years of the newest run's
-- before older ones, official and vendors' figures before others, then by chips and runs.
with point as (
    select distinct on (model_name) -- noqa: AM01
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
        max(measured_on) as measured_on,
        max(evidence_grade) as evidence_grade
    from int.token_rate
    where
        is_ranked
        and reach in ('measured', 'between two runs')
        and list_contains(cost.usual_chips(), accelerator_name)
    group by all
    order by
        model_name asc, n_chips desc, task desc, evidence_grade asc, measured_on desc nulls last,
        output_length desc nulls last, scenario asc, benchmark asc, precision asc, decoding asc, interactivity asc
),

model as (
    select
        t.model_name,
        count(*) as n_runs,
        coalesce(m.release_year >= year(max(max(t.measured_on)) over ()) - 2, true) as is_of_today
    from core.throughput as t
    left join ref.model as m on t.model_name = m.model_name
    group by t.model_name, m.release_year
)

select
    p.*, -- noqa: AM04
    row_number() over (
        order by m.is_of_today desc, p.evidence_grade > 'B' asc, p.n_chips desc, m.n_runs desc, p.model_name asc
    ) as point_rank
from point as p
inner join model as m on p.model_name = m.model_name
