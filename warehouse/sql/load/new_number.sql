-- What needs a number: each fetch, and each moment or document of an event or sighting that is none of them; in their
-- order (place), with the number of the document.
with moment as (
    select
        source,
        scope,
        valid_from as observed_at,
        document_sha256
    from new_event
    union
    select
        source,
        scope,
        observed_at,
        document_sha256
    from new_sighting
),

every as (
    from new_run
    union all by name
    select m.*
    from moment as m
    anti join new_run as r
        on
            m.source = r.source
            and m.scope = r.scope
            and m.observed_at = r.observed_at
            and m.document_sha256 is not distinct from r.document_sha256
)

select
    e.*,
    d.document_no,
    row_number() over (
        order by e.fetch_number nulls last, e.observed_at, e.source, e.scope, e.document_sha256
    )::INTEGER as place
from every as e
left join named_document as d on e.document_sha256 = d.document_sha256
