-- Each fetch of a scope; one that was taken back has the status withdrawn. A number of a moment or a document alone,
-- which has no status, is none.
select
    f.run_id,
    f.source,
    f.scope,
    f.observed_at,
    f.complete,
    f.archived,
    case when x.fetch_no is null then f.status else 'withdrawn' end as status,
    f.n_rows,
    f.n_refused,
    d.document_sha256,
    f.error,
    f.recorded_at,
    x.withdrawn_at
from log.scope_fetch as f
left join log.document as d on f.document_no = d.document_no
left join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
where f.status is not null
