-- The last run and the one before it. An import is no run where any other look was ever made: it tells of the past.
with look as (
    select
        r.run_id,
        r.recorded_at,
        r.observed_at,
        coalesce(s.kind, 'import') <> 'import' as is_own
    from core.scope_run as r
    left join core.source as s on r.source = s.source
)

select
    run_id,
    max(recorded_at) as recorded_at,
    max(greatest(recorded_at, observed_at)) as ended_at
from look
where is_own or not (select bool_or(l.is_own) from look as l)
group by run_id
order by -epoch_us(max(recorded_at)), run_id
limit 2
