-- The fetches at and after the first of the new moments (parameter): those that may confirm what was observed. What was
-- taken back confirms nothing. What is loaded again counts as new, at each moment of a dated history.
select
    f.fetch_no,
    f.source,
    f.scope,
    f.observed_at,
    f.document_no,
    f.complete and f.status = 'ok' as is_covered
from log.scope_fetch as f
anti join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
left join log.document as d on f.document_no = d.document_no
anti join new_fetch as n
    on
        f.source = n.source
        and f.scope = n.scope
        and (f.observed_at = n.observed_at or f.status is null)
        and d.document_sha256 is not distinct from n.document_sha256
where f.observed_at >= ?
