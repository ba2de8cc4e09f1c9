-- Untouched offers of which a fetch that covers their scope did no more than confirm the price, as the last one did
-- that the file knows of: their last rows follow without the whole SELECTs.
with cover as (
    select
        source,
        scope,
        max(observed_at) as confirmed_at
    from new_scope_fetch
    where complete and status = 'ok' and not archived
    group by source, scope
)

select
    t.offer_id,
    t.since,
    c.confirmed_at,
    b.built_at::DATE as built_on,
    a.built_at::DATE as was_built_on
from offer_tail as t
inner join core.sku_price as p on t.offer_id = p.offer_id and t.since = p.valid_from
inner join core.source as s on p.source = s.source and s.kind = 'live'
inner join known_until as u on p.source = u.source and p.scope = u.scope and p.last_observed_at = u.observed_at
inner join cover as c on p.source = c.source and p.scope = c.scope
inner join old_build as a on t.since::DATE < a.built_at::DATE
inner join meta.build as b on c.confirmed_at::DATE = b.built_at::DATE
left join int.price_index_item as i on t.offer_id = i.offer_id and i.index_date >= t.since::DATE and i.is_link_end
anti join core.sighting as g on t.offer_id = g.offer_id
anti join touched_offer as x on t.offer_id = x.offer_id
where
    p.valid_to is null
    and (i.offer_id is null or (i.held_to_date = a.built_at::DATE and i.carried_from_date is null))
