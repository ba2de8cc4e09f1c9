-- The events that a week needs as they are known now: all that was seen before its end, but of an offer that one source
-- alone told of a year before, nothing from before its last price of then. What imports say and what was recorded in
-- the week stays whole, and so does an offer with late or contradicting events.
with last_before as (
    select
        offer_id,
        max(valid_from) as since
    from published.core.sku_price
    where valid_from <= $as_of::TIMESTAMP - interval 1 year
    group by offer_id
    having min(source) = max(source)
),

import as (
    select source
    from published.core.source
    where kind = 'import'
),

whole as (
    select o.offer_id
    from published.core.offer as o
    semi join published.log.price_other as p on o.offer_no = p.offer_no
)

select e.* -- noqa: AM04
from published.core.price_event as e
left join last_before as b on e.offer_id = b.offer_id and e.valid_from < b.since
where
    e.valid_from < $as_of
    and (
        b.since is null
        or e.recorded_at >= $as_of::TIMESTAMP - interval 7 days
        or e.offer_id in (from whole)
        or e.source in (from import)
    )
