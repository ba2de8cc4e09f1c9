-- Offers that a fetch showed that does not cover its scope, where the log has no such sighting yet.
with seen as (
    select
        r.offer_id,
        r.source,
        r.observed_at,
        r.document_sha256,
        any_value(r.scope) as scope
    from observed_row as r
    anti join new_fetch as l
        on r.source = l.source and r.scope = l.scope and r.observed_at = l.observed_at and l.complete
    group by r.offer_id, r.source, r.observed_at, r.document_sha256
),

seen_offer as (
    select
        o.offer_id,
        o.offer_no
    from core.offer as o
    semi join seen as s on o.offer_id = s.offer_id
),

old as (
    select
        o.offer_id,
        f.source,
        f.observed_at,
        d.document_sha256
    from log.sighting as s
    inner join seen_offer as o on s.offer_no = o.offer_no
    inner join log.scope_fetch as f on s.fetch_no = f.fetch_no
    left join log.document as d on f.document_no = d.document_no
)

select s.*
from seen as s
anti join old as o
    on
        s.offer_id = o.offer_id
        and s.source = o.source
        and s.observed_at = o.observed_at
        and s.document_sha256 is not distinct from o.document_sha256
