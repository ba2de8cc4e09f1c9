-- Offers of which a price moved, or one waits.
select
    r.offer_id,
    r.source
from observed_row as r
left join known_price as k on r.row_number = k.row_number
where
    r.is_archived
    or r.unit_price is distinct from k.unit_price
    or r.upfront_price is distinct from k.upfront_price
union
select
    offer_id,
    source
from held_key
