-- The last price that the log knows of the offer of each row of a dated history before the row's own time.
with dated as (
    select
        row_number,
        offer_id,
        source,
        observed_at
    from observed_row
    where is_archived and not is_past_gates
),

past as (
    select e.*
    from core.standing_event(TIMESTAMP '9999-01-01') as e
    semi join dated as d on e.offer_id = d.offer_id and e.source = d.source
    where e.unit_price is not null or e.upfront_price is not null
)

select
    d.row_number,
    p.unit_price,
    p.upfront_price
from dated as d
asof inner join past as p
    on d.offer_id = p.offer_id and d.source = p.source and d.observed_at >= p.valid_from
