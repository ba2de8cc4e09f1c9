-- The events to append so that the log tells of the new observations beside the old.
-- An observation is an event where it differs from what held before it. Where it lands in the middle of known history,
-- the next moment at which the old history was confirmed is an event too if the two differ: between those two moments
-- the new observation holds, and after them the old history again.
with old_firm as (
    select
        offer_id,
        source,
        valid_from,
        unit_price,
        upfront_price
    from old_point
    where not is_void
),

resumed as (
    select
        h.offer_id,
        h.source,
        h.scope,
        c.observed_at as valid_from,
        o.unit_price,
        o.upfront_price,
        c.document_sha256,
        h.unit_price as unit_price_held,
        h.upfront_price as upfront_price_held
    from held_point as h
    asof inner join confirmation as c
        on h.offer_id = c.offer_id and h.source = c.source and h.known_at < c.observed_at
    asof left join old_firm as o
        on h.offer_id = o.offer_id and h.source = o.source and c.observed_at >= o.valid_from
    where h.next_known_at is null or c.observed_at < h.next_known_at
),

fresh_void as (
    select
        offer_id,
        source,
        observed_at
    from fresh_point
    where is_void
)

select
    h.offer_id,
    h.source,
    h.scope,
    h.known_at as valid_from,
    h.unit_price,
    h.upfront_price,
    f.document_sha256
from held_point as h
inner join fresh_point as f on h.offer_id = f.offer_id and h.source = f.source and h.known_at = f.observed_at
left join old_point as o on h.offer_id = o.offer_id and h.source = o.source and h.known_at = o.valid_from
where
    not h.is_void
    and (
        h.unit_price is distinct from h.unit_price_before
        or h.upfront_price is distinct from h.upfront_price_before
        -- it overrules what the log says of the same moment
        or o.offer_id is not null
    )
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
semi join fresh_void as f
    on n.offer_id = f.offer_id and n.source = f.source and n.observed_at = f.observed_at
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
union
select
    offer_id,
    source,
    scope,
    valid_from,
    unit_price,
    upfront_price,
    document_sha256
from resumed
where unit_price is distinct from unit_price_held or upfront_price is distinct from upfront_price_held
