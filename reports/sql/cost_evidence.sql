-- What was measured in tokens: each model, operating point and chip, whether it has a cost or not.
select distinct
    model_name,
    task,
    scenario,
    benchmark,
    precision,
    input_length,
    output_length,
    decoding,
    accelerator_name
from int.throughput
where unit_of_work = 'token'
order by all
