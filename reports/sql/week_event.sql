-- The events from which a week's prices are made: all that were seen before its end ($as_of), except those that a newer
-- price had replaced a year before, of an offer with prices of one source alone until then. All events are read of an
-- import, of an offer with late or contradicting events, and those that were recorded in the week.
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
