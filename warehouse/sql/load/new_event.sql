-- The events to append so that the log tells of the new observations beside the old.
-- A point is an event where it differs from what held before it. Where an observation lands in the middle of known
-- history, the next moment at which the old history was confirmed is such a point too: between those two moments the
-- new observation holds, and after them the old history again.
select
    h.offer_id,
    h.source,
    h.scope,
    h.known_at as valid_from,
    h.unit_price,
    h.upfront_price,
    h.document_sha256
from held_point as h
left join old_point as o on h.offer_id = o.offer_id and h.source = o.source and h.known_at = o.valid_from
where
    h.unit_price is distinct from h.unit_price_before
    or h.upfront_price is distinct from h.upfront_price_before
    -- it overrules what the log says of the same moment
    or o.offer_id is not null
union
-- All prices of a void moment stand in the log, so that it stays void and can be settled.
select
    n.offer_id,
    n.source,
    n.scope,
    n.observed_at,
    n.unit_price,
    n.upfront_price,
    n.document_sha256
from new_observation as n
semi join fresh_point as f
    on n.offer_id = f.offer_id and n.source = f.source and n.observed_at = f.observed_at and f.is_void
union
select
    offer_id,
    source,
    scope,
    observed_at,
    unit_price_old,
    upfront_price_old,
    document_sha256_old
from fresh_point
where is_void and (unit_price_old is not null or upfront_price_old is not null)
