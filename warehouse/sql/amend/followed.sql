-- Touched offers whose items up to the file before stay as they are: what the log has learnt came after them. They are
-- of one live source, none of whose scopes has a fetch of a moment that was passed; all their prices are of chains;
-- they are of no new market; and no move that was known is of another kind now.
with disturbed as (
    select f.source
    from new_scope_fetch as f
    left join former.core.scope_cover as u on f.source = u.source and f.scope = u.scope
    where f.archived or f.observed_at <= u.last_fetched_at
)

select o.offer_id
from core.offer as o
semi join touched_offer as x on o.offer_id = x.offer_id
inner join log.price_open as p on o.offer_no = p.offer_no
inner join core.source as s on p.source = s.source and s.kind = 'live'
semi join offer_tail as t on o.offer_id = t.offer_id
anti join wanted_offer as w on o.offer_id = w.offer_id
anti join new_market as m on o.offer_id = m.offer_id
anti join disturbed as d on p.source = d.source
anti join gone_kind as j on o.offer_no = j.offer_no
