-- The last price that the log knows of each offer in observed_row, by source. Offers in `touched` are not plain.
select
    s.offer_id,
    s.source,
    s.unit_price,
    s.upfront_price
from offer_state as s
semi join observed_row as r on s.offer_id = r.offer_id and s.source = r.source
where s.is_plain
union all
select
    offer_id,
    source,
    arg_max(unit_price, valid_from) as unit_price,
    arg_max(upfront_price, valid_from) as upfront_price
from touched_point(TIMESTAMP '9999-01-01')
where not is_void and (unit_price is not null or upfront_price is not null)
group by offer_id, source
