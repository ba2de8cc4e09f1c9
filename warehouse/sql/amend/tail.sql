-- Of each offer that one source alone tells of: where its last interval begins (since), before which no fetch that
-- confirms it changes a row, and which price was in force as that day began (shown_since), as an index of days asks.
with last_interval as (
    select
        offer_id,
        max(valid_from) as since
    from former.core.sku_price
    group by offer_id
    having min(source) = max(source)
)

select
    l.offer_id,
    l.since,
    coalesce(max(h.valid_from) filter (where h.valid_from < l.since::DATE), l.since) as shown_since
from last_interval as l
inner join former.int.price_history as h on l.offer_id = h.offer_id
group by l.offer_id, l.since
