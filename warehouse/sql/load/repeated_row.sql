-- Rows that repeat the log's last word on their offer, which is plain: they need no more thought.
select r.row_number
from observed_row as r
semi join offer_state as s
    on
        r.offer_id = s.offer_id
        and r.source = s.source
        and s.is_plain
        and r.observed_at >= s.valid_from
        and r.unit_price is not distinct from s.unit_price
        and r.upfront_price is not distinct from s.upfront_price
