-- Offers of which more may be told than by one chain: late, contradicting, refused, seen alone, or of several sources.
with told as (
    select offer_no from log.price_open
    group by offer_no
    having min(source) < max(source)
    union all
    select offer_no from log.price_other
    union all
    select offer_no from log.sighting
    union all
    select o.offer_no
    from core.quarantine as q
    inner join core.offer as o on q.offer_id = o.offer_id
)

select
    o.offer_id,
    o.offer_no
from core.offer as o
semi join told as t on o.offer_no = t.offer_no
