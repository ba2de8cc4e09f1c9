-- What a million output tokens costs on a chip beside the one that it followed, at one price per chip-hour: at an equal
-- point and topology the older chip's rate / the newer's. Above 1 the cost rises by more than the price.
with best as (
    select
        {
            'model': model_name, 'task': task, 'scenario': scenario, 'benchmark': benchmark, 'precision': precision,
            'input': input_length, 'output': output_length, 'decoding': decoding, 'topology': topology,
            'speed': interactivity, 'statistic': interactivity_statistic
        } as op,
        accelerator_name,
        max(output_rate_per_paid_accelerator) as output_rate,
        max(measured_on) as measured_on
    from int.token_rate
    where is_ranked and reach in ('measured', 'between two runs')
    group by all
)

select
    'generation' as check_name,
    g.newer || ' after ' || g.older as subject,
    o.output_rate / n.output_rate as ratio,
    greatest(n.measured_on, o.measured_on)::TIMESTAMP as began_at,
    concat_ws(
        ', ', n.op.model, n.op.scenario, n.op.benchmark, n.op.precision, n.op.decoding, n.op.topology,
        'at ' || n.op.speed || ' tokens/s for a user',
        format('{} {:,.1f} and {} {:,.1f} tokens/s a paid chip', g.newer, n.output_rate, g.older, o.output_rate)
    ) as example
from (
    values
    ('H100', 'H200'), ('H200', 'B200'), ('B200', 'B300'), ('GB200', 'GB300'), ('MI300X', 'MI325X'),
    ('MI325X', 'MI355X'), ('Trainium1', 'Trainium2'), ('Trainium2', 'Trainium3')
) as g (older, newer)
inner join best as n on g.newer = n.accelerator_name
inner join best as o on g.older = o.accelerator_name and n.op is not distinct from o.op
