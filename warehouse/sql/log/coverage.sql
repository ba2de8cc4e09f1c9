-- Each fetch that covered its scope, as core.scope_run has it, without its document.
select
    f.* replace (case when x.fetch_no is null then f.status else 'withdrawn' end as status), -- noqa: AM04
    x.withdrawn_at
from log.scope_fetch as f
left join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
where f.complete and f.status = 'ok'
