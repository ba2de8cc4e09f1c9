-- Runs that cannot have used the precision that they declare, by round and engine, with the one that shows it best.
select
    benchmark,
    split_part(software, ' ', 1) as engine,
    declared_precision,
    count(*) as n_runs,
    string_agg(distinct measured_by, ', ' order by measured_by) as measured_by,
    arg_max(
        {
            'chip': concat_ws(' ', accelerator_name, form_factor), 'accelerator_count': accelerator_count,
            'model_name': model_name, 'rate': output_rate_per_accelerator * accelerator_count::DOUBLE,
            'fitting_bound': fitting_bound, 'source_url': source_url
        },
        output_rate_per_accelerator * accelerator_count::DOUBLE / fitting_bound
    ) as shown_by
from int.throughput
where precision is null and declared_precision is not null
group by all
order by n_runs desc, benchmark asc, engine asc
