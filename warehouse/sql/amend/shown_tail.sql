-- Untouched offers of which more is to be made than how long a confirmed price has held, and from when on an index of
-- days asks for their prices: from that on which was in force as the day of the last one began.
select
    t.offer_id,
    t.since::DATE - interval 1 microsecond as since
from offer_tail as t
anti join touched_offer as x on t.offer_id = x.offer_id
anti join plain_offer as p on t.offer_id = p.offer_id
