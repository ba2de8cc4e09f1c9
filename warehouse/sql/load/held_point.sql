-- What is new to the log, with the price that held just before: each new moment, and the first moment after it, before
-- the next known one, at which the old history was confirmed. At that one the old price is known to hold again.
with old_firm as (
    from old_point
    where not is_void
),

merged as (
    select
        o.* exclude (o.document_sha256, o.recorded_at) rename (o.valid_from as known_at),
        false as is_new
    from old_firm as o
    anti join fresh_point as f on o.offer_id = f.offer_id and o.source = f.source and o.valid_from = f.observed_at
    union all by name
    select
        * exclude (unit_price_old, upfront_price_old, document_sha256_old) rename (observed_at as known_at),
        true as is_new
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
    * exclude (is_new, is_void), -- noqa: AM04
    lag(unit_price) over w as unit_price_before,
    lag(upfront_price) over w as upfront_price_before
from firm
window w as (partition by offer_id, source order by known_at)
qualify is_new
