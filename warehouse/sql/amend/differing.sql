-- From when on prices of int.price_history, or how long they are known to have held, differ from the file before's: of
-- offers in made_row beside old_row, and of all others, which are links of chains, by the covers of their scopes.
select
    case
        when
            h.offer_id is null
            or b.offer_id is null
            or h.source <> b.source
            or (h.unit_price is distinct from b.unit_price)
            or (h.upfront_price is distinct from b.upfront_price)
            then coalesce(h.valid_from, b.valid_from)
        when
            (h.valid_to is distinct from b.valid_to)
            or h.last_observed_at <> b.last_observed_at
            or h.last_source <> b.last_source
            then least(h.last_observed_at, b.last_observed_at)
    end as since
from made_row as h
full join old_row as b on h.offer_id = b.offer_id and h.valid_from = b.valid_from
union all
select b.covered_at as since
from former.core.scope_cover as b
inner join core.scope_cover as h on b.source = h.source and b.scope = h.scope and b.covered_at < h.covered_at
