-- Cost of a million output tokens against the speed that one user gets, of the offers of $option at full load: the
-- charts of cost, one for each model, scenario, precision and way of decoding of one benchmark. All of the machine is
-- charged to output tokens. Only points that may be compared (is_ranked), of benchmarks with three speeds or more.
-- A chip that is too slow for a user has a row without a cost. rank counts the groups, the ones that most offers and
-- chips speak of first.
with point as (
    select
        row(model_name, scenario, benchmark_family, precision, decoding) as point_group,
        model_name,
        scenario,
        benchmark_family,
        precision,
        decoding,
        accelerator_name,
        service_provider_name,
        interactivity,
        arg_min(all_in_output_usd_median, cost_rank) as cost_usd,
        min(cost_rank) as cost_rank
    from int.token_cost
    where
        task = 'serving'
        and utilisation = 1
        and is_ranked
        and is_price_ranked
        and reach <> 'at most'
        and interactivity is not null
        and interactivity_statistic = 'median'
        and purchase_option = $option
    group by all
),

grouped as (
    select
        point_group,
        row_number() over (order by -count(distinct accelerator_name), -count(*), point_group) as group_rank
    from point
    group by point_group
    having count(distinct case when cost_usd is not null then interactivity end) >= 3
)

select
    p.* exclude (point_group), -- noqa: AM04, RF02
    g.group_rank
from point as p
inner join grouped as g on p.point_group = g.point_group
order by g.group_rank, p.accelerator_name, p.interactivity, p.cost_rank, p.service_provider_name
