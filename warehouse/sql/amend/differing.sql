-- Prices of int.price_history, in made_row, that differ from the file before's, in old_row: from when on
-- (since), and from when on a price was held otherwise as far as confirmations tell (held_since). Before, every
-- comparison is as it was. All other prices are links of chains, of scopes that were confirmed up to then before.
with compared as (
    select
        coalesce(h.valid_from, b.valid_from) as valid_from,
        least(h.last_observed_at, b.last_observed_at) as confirmed_at,
        h.last_observed_at <> b.last_observed_at or h.last_source <> b.last_source as is_confirmed_otherwise,
        (h.valid_to is distinct from b.valid_to) as ends_otherwise,
        h.offer_id is null
        or b.offer_id is null
        or h.source <> b.source
        or (h.unit_price is distinct from b.unit_price)
        or (h.upfront_price is distinct from b.upfront_price) as is_another
    from made_row as h
    full join old_row as b on h.offer_id = b.offer_id and h.valid_from = b.valid_from
)

select
    case when c.is_another then c.valid_from when c.ends_otherwise or c.is_confirmed_otherwise then c.confirmed_at end
        as since,
    case
        when c.is_another then c.valid_from
        when c.ends_otherwise then c.confirmed_at
        when c.is_confirmed_otherwise then c.confirmed_at + to_days(least(m.ranked_days, m.marketplace_days))
    end as held_since
from compared as c
cross join meta.build as m
union all
select
    b.covered_at as since,
    b.covered_at + to_days(least(m.ranked_days, m.marketplace_days)) as held_since
from former.core.scope_cover as b
inner join core.scope_cover as h
    on b.source = h.source and b.scope = h.scope and b.covered_at < h.covered_at
cross join meta.build as m
