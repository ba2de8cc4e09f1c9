-- The fetches that somebody took back, and since when; of an archive or an import all that one document said.
select
    f.fetch_no,
    min(w.recorded_at) as withdrawn_at
from core.withdrawal as w
inner join log.scope_fetch as f
    on w.source = f.source and w.scope = f.scope and coalesce(w.observed_at = f.observed_at, true)
left join log.document as d on f.document_no = d.document_no
where w.observed_at is not null or w.document_sha256 = d.document_sha256
group by f.fetch_no
