-- Each fetch that covered its scope, as core.scope_run has it, without its document.
select
    f.source,
    f.scope,
    f.observed_at,
    f.complete,
    case when x.fetch_no is null then f.status else 'withdrawn' end as status,
    f.recorded_at,
    x.withdrawn_at
from log.scope_fetch as f
left join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
where f.complete and f.status = 'ok'
