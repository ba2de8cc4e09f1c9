-- When each scope was last fetched, and last covered.
select
    source,
    scope,
    max(observed_at) as last_fetched_at,
    max(observed_at) filter (where complete and status = 'ok') as covered_at
from core.scope_run
group by source, scope
