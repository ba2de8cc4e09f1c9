-- Offers whose kinds of change may be others than in the published file though nothing touched them: as what they are
-- judged beside differs. The rules of int.price_move look from the moment of a move at what other offers then cost and
-- had last cost, so that these are offers with a price that began since.
with since_then as (
    select fetch_no
    from log.scope_fetch
    where observed_at >= (select min(since) from differing_price)
),

begun as (
    select p.offer_no
    from log.price_closed as p
    semi join since_then as e on p.end_fetch_no = e.fetch_no
    semi join since_then as f on p.fetch_no = f.fetch_no
    union all
    select p.offer_no
    from log.price_open as p
    semi join since_then as f on p.fetch_no = f.fetch_no
)

select o.offer_id
from core.offer as o
semi join begun as p on o.offer_no = p.offer_no
union
select offer_id
from core.price_history_other
where valid_from >= (select min(since) from differing_price)
union
from new_market
