-- What holds from each new moment on, until the next known one, with the old points and the new side by side.
with merged as (
    select
        o.offer_id,
        o.source,
        o.scope,
        o.valid_from as known_at,
        o.unit_price,
        o.upfront_price,
        false as is_new,
        false as is_void
    from old_point as o
    anti join fresh_point as f on o.offer_id = f.offer_id and o.source = f.source and o.valid_from = f.observed_at
    where not o.is_void
    union all
    select
        offer_id,
        source,
        scope,
        observed_at as known_at,
        unit_price,
        upfront_price,
        true as is_new,
        is_void
    from fresh_point
),

firm as (
    select * from merged
    where not is_void
),

next_known as (
    select
        *,
        lead(known_at) over (partition by offer_id, source order by known_at) as next_known_at
    from merged
)

select
    n.offer_id,
    n.source,
    n.scope,
    n.known_at,
    n.next_known_at,
    n.is_void,
    h.unit_price,
    h.upfront_price,
    b.unit_price as unit_price_before,
    b.upfront_price as upfront_price_before
from next_known as n
asof left join firm as h
    on n.offer_id = h.offer_id and n.source = h.source and n.known_at >= h.known_at
asof left join firm as b
    on n.offer_id = b.offer_id and n.source = b.source and n.known_at > b.known_at
where n.is_new
