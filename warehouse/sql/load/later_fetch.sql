-- The fetches at and after the first of the new moments (parameter): those that may confirm what was observed.
select
    fetch_no,
    source,
    scope,
    observed_at,
    document_no,
    complete and status = 'ok' as is_covered
from log.scope_fetch
where observed_at >= ?
