-- What the log has of the scopes that are fetched: the last moments, by themselves and of complete fetches.
with named as (
    select
        source,
        scope
    from new_number
    group by source, scope
)

select
    f.source,
    f.scope,
    max(f.observed_at) as last_observed_at,
    max(f.recorded_at) as last_recorded_at,
    max(f.observed_at) filter (where f.complete and f.status = 'ok') as last_complete_at
from log.scope_fetch as f
semi join named as n on f.source = n.source and f.scope = n.scope
group by f.source, f.scope
