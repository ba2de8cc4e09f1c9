-- Offers with something new: absences so far (new_observation), and rows that do not repeat the last price of the log,
-- or come before it.
select
    r.offer_id,
    r.source
from observed_row as r
left join offer_state as s on r.offer_id = s.offer_id and r.source = s.source
where
    not coalesce(s.is_plain, false)
    or s.valid_from > r.observed_at
    or r.unit_price is distinct from s.unit_price
    or r.upfront_price is distinct from s.upfront_price
union
select
    offer_id,
    source
from new_observation
