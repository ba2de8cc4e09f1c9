-- Offers with something new: absences so far (new_observation), and rows that do not repeat the last price of the log,
-- or come before it.
select
    r.offer_id,
    r.source
from observed_row as r
anti join repeated_row as s on r.row_number = s.row_number
union
select
    offer_id,
    source
from new_observation
