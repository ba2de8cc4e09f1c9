-- The last run and the one before it. An import is no run where any other look was ever made: it tells of the past.
with look as (
    select
        r.run_id,
        r.recorded_at,
        r.observed_at,
        coalesce(s.kind, 'import') <> 'import' as is_own
    from core.scope_run as r
    left join core.source as s on r.source = s.source
),

any_look as (
    select bool_or(is_own) as has_own
    from look
)

select
    l.run_id,
    max(l.recorded_at) as recorded_at,
    max(greatest(l.recorded_at, l.observed_at)) as ended_at
from look as l
cross join any_look as a
where l.is_own or not a.has_own
group by l.run_id
order by -epoch_us(max(l.recorded_at)), l.run_id
limit 2
