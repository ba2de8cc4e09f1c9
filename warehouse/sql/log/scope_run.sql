-- Each fetch of a scope with its document.
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
    f.recorded_at,
    f.withdrawn_at
from log.run as f
left join log.document as d on f.document_no = d.document_no
