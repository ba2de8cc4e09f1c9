-- The events to append so that the log tells of the new observations beside the old.
-- A point is an event where it differs from what held before it. Where an observation lands in the middle of known
-- history, the next moment at which the old history was confirmed is such a point too: between those two moments the
-- new observation holds, and after them the old history again.
select h.* exclude (h.unit_price_before, h.upfront_price_before) rename (h.known_at as valid_from) -- noqa: AM04
from held_point as h
left join old_point as o on h.offer_id = o.offer_id and h.source = o.source and h.known_at = o.valid_from
where
    h.unit_price is distinct from h.unit_price_before
    or h.upfront_price is distinct from h.upfront_price_before
    -- it overrules what the log says of the same moment
    or o.offer_id is not null
union by name
-- All prices of a void moment stand in the log, so that it stays void and can be settled.
select n.* rename (n.observed_at as valid_from)
from new_observation as n
semi join fresh_point as f
    on n.offer_id = f.offer_id and n.source = f.source and n.observed_at = f.observed_at and f.is_void
union by name
select
    offer_id,
    source,
    scope,
    observed_at as valid_from,
    unit_price_old as unit_price,
    upfront_price_old as upfront_price,
    document_sha256_old as document_sha256
from fresh_point
where is_void and (unit_price_old is not null or upfront_price_old is not null)
