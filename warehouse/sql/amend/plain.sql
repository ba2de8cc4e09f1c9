-- Untouched offers of which a fetch that covers their scope did no more than confirm the price, as the last one did
-- that the file knows of, at most a week before: their last rows follow without the whole SELECTs.
select
    o.offer_id,
    p.valid_from as since,
    b.built_at::DATE as built_on,
    a.built_at::DATE as was_built_on
from log.price_open as p
inner join core.offer as o on p.offer_no = o.offer_no
inner join core.source as s on p.source = s.source and s.kind = 'live'
inner join former.core.scope_cover as u
    on p.source = u.source and p.scope = u.scope and u.covered_at = u.last_fetched_at
inner join core.scope_cover as c
    on
        p.source = c.source and p.scope = c.scope and u.covered_at < c.covered_at
        and c.covered_at::DATE - u.covered_at::DATE <= 8
inner join former.meta.build as a on p.valid_from::DATE < a.built_at::DATE
inner join meta.build as b on c.covered_at::DATE = b.built_at::DATE
left join int.index_spell as i
    on o.offer_id = i.offer_id and i.index_date >= p.valid_from::DATE and i.is_link_end
anti join wanted_offer as w on o.offer_id = w.offer_id
anti join touched_offer as x on o.offer_id = x.offer_id
where
    (p.unit_price is not null or p.upfront_price is not null)
    and (i.offer_id is null or (i.held_to_date = a.built_at::DATE and i.carried_from_date is null))
