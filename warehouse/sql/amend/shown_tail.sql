-- Untouched offers of which more is to be made than how long a confirmed price has held, and from when on an index of
-- days asks for their prices: from where that began at the latest which was in force as the day of the last one began.
select
    t.offer_id,
    coalesce(max(f.observed_at), TIMESTAMP '-infinity') as since
from offer_tail as t
anti join touched_offer as x on t.offer_id = x.offer_id
anti join plain_offer as p on t.offer_id = p.offer_id
inner join core.offer as o on t.offer_id = o.offer_id
left join (
    select c.*
    from log.price_closed as c
    anti join core.price_history_replaced as r on c.offer_no = r.offer_no and c.fetch_no = r.fetch_no
) as c on o.offer_no = c.offer_no
left join log.scope_fetch as f on c.fetch_no = f.fetch_no and f.observed_at < t.since::DATE
group by t.offer_id
