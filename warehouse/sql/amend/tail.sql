-- Of each offer that one source alone tells of: where its last interval begins (since), before which no fetch that
-- confirms it changes a row. What is still asked, and told by a chain alone, stands among the open prices.
with asked as (
    select offer_no
    from former.log.price_open
    where unit_price is null and upfront_price is null
    union
    select offer_no
    from wanted_offer
),

link as (
    from former.log.price_open
    union all by name
    select
        c.*,
        f.source,
        f.observed_at as valid_from
    from former.log.price_closed as c
    semi join asked as a on c.offer_no = a.offer_no
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
),

priced as (
    select
        o.offer_id,
        l.source,
        l.valid_from
    from link as l
    anti join former.core.sku_price_replaced as r on l.offer_no = r.offer_no and l.fetch_no = r.fetch_no
    inner join core.offer as o on l.offer_no = o.offer_no
    where l.unit_price is not null or l.upfront_price is not null
    union all by name
    from former.core.sku_price_other
)

select
    offer_id,
    max(valid_from) as since
from priced
group by offer_id
having min(source) = max(source)
