-- When the scope of each fetch was last covered before it: up to then the prices that it ended were confirmed.
with covered as (
    select distinct
        source,
        scope,
        observed_at
    from core.scope_run
    where complete and status = 'ok'
)

select
    f.fetch_no,
    f.observed_at,
    c.observed_at as covered_at
from log.scope_fetch as f
asof left join covered as c on f.source = c.source and f.scope = c.scope and f.observed_at > c.observed_at
order by f.fetch_no
