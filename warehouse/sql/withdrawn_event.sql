-- The events of the fetches in taken_back that nothing retracts yet, each with a number for its moment and document. A
-- fetch is all that was seen at its moment; of an archive or import (without a moment) all that its document says.
with document_number as (
    select
        document_sha256,
        min(document_no) as document_no
    from log.document
    group by document_sha256
)

select
    e.* exclude (e.recorded_at, e.retracts_recorded_at), -- noqa: AM04
    e.recorded_at as event_recorded_at,
    o.offer_no,
    d.document_no,
    dense_rank() over (order by e.source, e.scope, e.valid_from, d.document_no)::INTEGER as moment_no
from core.standing_event(TIMESTAMP '9999-01-01') as e
semi join taken_back as t
    on
        e.source = t.source
        and (
            (e.scope = t.scope and e.valid_from = t.observed_at)
            or (t.observed_at is null and e.document_sha256 = t.document_sha256)
        )
inner join core.offer as o on e.offer_id = o.offer_id
left join document_number as d on e.document_sha256 = d.document_sha256
