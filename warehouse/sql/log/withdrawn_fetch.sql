-- The fetches that somebody took back, and since when; of an archive or an import all that one document said
-- until then. Where nobody took anything back, the fetches are not read.
with f as (
    from log.scope_fetch as s
    semi join core.withdrawal as w on s.source = w.source and s.scope = w.scope
)

select
    f.fetch_no,
    min(w.recorded_at) as withdrawn_at
from core.withdrawal as w
left join log.document as d on w.document_sha256 = d.document_sha256
inner join f
    on
        w.source = f.source and w.scope = f.scope
        and coalesce(w.observed_at = f.observed_at, d.document_no = f.document_no and w.recorded_at >= f.recorded_at)
group by f.fetch_no
