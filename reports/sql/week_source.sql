-- Each source that looked in a week or in the five weeks before: on how many days of the week, how often in vain, and
-- when last. Of an import the looks are the moments at which it saw prices.
with look as (
    select
        source,
        observed_at,
        status <> 'ok' as is_failed
    from core.scope_run
    where not archived and status <> 'empty'
    union
    select
        source,
        observed_at,
        false as is_failed
    from core.sighting
)

select
    s.source,
    s.kind,
    count(distinct l.observed_at::DATE) filter (where not l.is_failed and l.observed_at >= $since) as n_days,
    count(*) filter (where l.is_failed and l.observed_at >= $since) as n_failed,
    max(l.observed_at) filter (where not l.is_failed) as last_good_at
from look as l
inner join core.source as s on l.source = s.source
where l.observed_at >= $since::TIMESTAMP - interval 35 days and l.observed_at < $until
group by s.source, s.kind
order by n_days > 0, s.kind <> 'live', s.source
