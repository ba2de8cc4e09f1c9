-- The new observations that the log does not hold yet, one row per offer, source and moment.
-- A moment is void where two prices were seen at it: then nothing is known of it.
with new_point as (
    select
        n.offer_id,
        n.source,
        n.observed_at,
        any_value(n.scope) as scope,
        max(n.unit_price) as unit_price,
        max(n.upfront_price) as upfront_price,
        min(n.document_sha256) as document_sha256,
        coalesce(min(n.unit_price) < max(n.unit_price), false)
        or coalesce(min(n.upfront_price) < max(n.upfront_price), false) as is_void
    from new_observation as n
    anti join touched_standing(TIMESTAMP '9999-01-01') as e
        on
            n.offer_id = e.offer_id
            and n.source = e.source
            and n.observed_at = e.valid_from
            and n.unit_price is not distinct from e.unit_price
            and n.upfront_price is not distinct from e.upfront_price
    group by n.offer_id, n.source, n.observed_at
),

old_firm as (
    from old_point
    where not is_void
),

beside_old as (
    select
        n.*,
        c.document_sha256 as document_sha256_old,
        case when c.offer_id is not null then o.unit_price end as unit_price_old,
        case when c.offer_id is not null then o.upfront_price end as upfront_price_old,
        v.offer_id is not null as is_denied
    from new_point as n
    left join confirmation as c on n.offer_id = c.offer_id and n.source = c.source and n.observed_at = c.observed_at
    left join old_point as v
        on
            n.offer_id = v.offer_id
            and n.source = v.source
            and n.observed_at = v.valid_from
            and (v.is_void or n.unit_price <> v.unit_price or n.upfront_price <> v.upfront_price)
    asof left join old_firm as o
        on n.offer_id = o.offer_id and n.source = o.source and n.observed_at >= o.valid_from
)

select
    * exclude (is_void, is_denied),
    is_void
    or is_denied
    or (
        (unit_price_old is not null or upfront_price_old is not null)
        and (
            unit_price is distinct from unit_price_old
            or upfront_price is distinct from upfront_price_old
        )
    ) as is_void
from beside_old
where
    -- a price seen at that moment beats its absence from another answer
    unit_price is not null
    or upfront_price is not null
    or (unit_price_old is null and upfront_price_old is null)
