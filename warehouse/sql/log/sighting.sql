-- Each offer that a fetch showed that did not cover its whole scope.
select
    o.offer_id,
    f.source,
    f.observed_at,
    d.document_sha256,
    f.recorded_at,
    x.withdrawn_at
from log.sighting as s
inner join log.scope_fetch as f on s.fetch_no = f.fetch_no
left join core.offer as o on s.offer_no = o.offer_no
left join log.document as d on f.document_no = d.document_no
left join log.withdrawn_fetch as x on s.fetch_no = x.fetch_no
