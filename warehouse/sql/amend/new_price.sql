-- Offers and sources of which the log has learnt a price, or its end.
with learnt as (
    select * replace (end_fetch_no as fetch_no)
    from new_price_closed
    union all by name
    from new_price_other
    union all by name
    from log.price_open
)

select
    o.offer_id,
    e.source
from learnt as p
inner join new_scope_fetch as e on p.fetch_no = e.fetch_no
inner join core.offer as o on p.offer_no = o.offer_no
