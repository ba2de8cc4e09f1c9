-- Each fetch of a scope. A number of a moment or a document alone, which has no status, is none.
select
    f.run_id,
    f.source,
    f.scope,
    f.observed_at,
    f.complete,
    f.archived,
    f.status,
    f.n_rows,
    f.n_refused,
    d.document_sha256,
    f.error,
    f.recorded_at
from log.scope_fetch as f
left join log.document as d on f.document_no = d.document_no
where f.status is not null
