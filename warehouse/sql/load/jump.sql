-- Live list prices that left the bounds (parameters: low, high, low, high) around the last price known of their offer.
with ratio as (
    select
        r.row_number,
        r.unit_price::DOUBLE / nullif(l.unit_price, 0)::DOUBLE as unit_price_ratio,
        r.upfront_price::DOUBLE / nullif(l.upfront_price, 0)::DOUBLE as upfront_price_ratio,
        l.unit_price as unit_price_before,
        l.upfront_price as upfront_price_before
    from observed_row as r
    inner join last_price as l on r.offer_id = l.offer_id and r.source = l.source
    where
        not r.is_past_gates
        and r.unit_price_type = 'List'
        and r.purchase_option <> 'spot'
        and r.statistic not in ('p25', 'median')
)

select *
from ratio
where unit_price_ratio not between ? and ? or upfront_price_ratio not between ? and ?
