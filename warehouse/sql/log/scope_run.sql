-- Each fetch of a scope with its document.
select
    f.* exclude (f.fetch_no, f.document_no), -- noqa: AM04
    d.document_sha256
from log.run as f
left join log.document as d on f.document_no = d.document_no
