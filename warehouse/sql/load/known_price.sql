-- The last price that the log knows of the offer of each row of a live fetch in differing_row. Offers in `touched` are
-- not plain.
with last_price as (
    from offer_state
    where is_plain
    union all by name
    select
        offer_id,
        source,
        arg_max(unit_price, valid_from) as unit_price,
        arg_max(upfront_price, valid_from) as upfront_price
    from touched_point(TIMESTAMP '9999-01-01')
    where not is_void and (unit_price is not null or upfront_price is not null)
    group by offer_id, source
)

select
    r.row_number,
    l.unit_price,
    l.upfront_price
from differing_row as r
inner join last_price as l on r.offer_id = l.offer_id and r.source = l.source
where not r.is_archived and not r.is_past_gates
