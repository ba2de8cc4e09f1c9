-- A run and its repeats: the runs of its point and configuration (of MLPerf: the submitters at its limit) that count
-- for a unit that is sold, as int.serving_rate takes them together, with the rates of core.throughput.
with grouped as (
    select
        throughput_id,
        case
            when is_ranked and interactivity_statistic <> 'p99 limit' then 'curve'
            when benchmark_family = 'mlperf_inference' then 'limit'
            else 'best'
        end as known_as,
        row(
            model_name, task, scenario, benchmark_family, if(known_as = 'limit', 'MLPerf Inference', benchmark),
            precision, input_length, output_length, decoding, interactivity_statistic, accelerator_name,
            chip_form_factor, topology, known_as, if(known_as = 'curve', null, evidence_grade),
            if(known_as = 'limit', row(interactivity, ttft_ms, null), row(concurrency, accelerator_count, null)),
            if(known_as = 'limit', null, concat_ws('|', parallelism, software, batch_size))
        ) as setup
    from int.throughput
    where
        has_chip_facts and unit_of_work = 'token' and task <> 'training' and not is_superseded
        and output_rate_per_accelerator is not null
)

select t.* -- noqa: AM04
from core.throughput as t
inner join grouped as g on t.throughput_id = g.throughput_id
inner join grouped as n on g.setup is not distinct from n.setup
where n.throughput_id = $run and cost.runs_on(t.accelerator_count, t.form_factor, $unit, $network)
order by t.throughput_id
