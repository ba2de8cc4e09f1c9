-- What is new to the log, with the price that held just before: each new moment, and the first moment after it, before
-- the next known one, at which the old history was confirmed. At that one the old price is known to hold again.
with old_firm as (
    from old_point
    where not is_void
),

merged as (
    select
        o.offer_id,
        o.source,
        o.scope,
        o.valid_from as known_at,
        o.unit_price,
        o.upfront_price,
        null::VARCHAR as document_sha256,
        false as is_new,
        false as is_void
    from old_firm as o
    anti join fresh_point as f on o.offer_id = f.offer_id and o.source = f.source and o.valid_from = f.observed_at
    union all
    select
        offer_id,
        source,
        scope,
        observed_at as known_at,
        unit_price,
        upfront_price,
        document_sha256,
        true as is_new,
        is_void
    from fresh_point
),

next_known as (
    select
        *,
        lead(known_at) over (partition by offer_id, source order by known_at) as next_known_at
    from merged
),

firm as (
    from merged
    where not is_void
    union all by name
    select
        n.offer_id,
        n.source,
        n.scope,
        c.observed_at as known_at,
        o.unit_price,
        o.upfront_price,
        c.document_sha256,
        true as is_new
    from next_known as n
    asof inner join confirmation as c
        on n.offer_id = c.offer_id and n.source = c.source and n.known_at < c.observed_at
    asof left join old_firm as o
        on n.offer_id = o.offer_id and n.source = o.source and c.observed_at >= o.valid_from
    where n.is_new and (n.next_known_at is null or c.observed_at < n.next_known_at)
)

select
    offer_id,
    source,
    scope,
    known_at,
    unit_price,
    upfront_price,
    document_sha256,
    lag(unit_price) over w as unit_price_before,
    lag(upfront_price) over w as upfront_price_before
from firm
window w as (partition by offer_id, source order by known_at)
qualify is_new
