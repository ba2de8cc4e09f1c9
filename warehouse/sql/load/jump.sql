-- Live list prices that left the bounds (parameters: low, high, low, high) around the last price known of their offer.
with last_price as (
    select
        p.offer_id,
        p.source,
        arg_max(p.unit_price, p.valid_from) as unit_price,
        arg_max(p.upfront_price, p.valid_from) as upfront_price
    from core.price_point(TIMESTAMP '9999-01-01') as p
    semi join observed_row as r on p.offer_id = r.offer_id and p.source = r.source
    where not p.is_void and (p.unit_price is not null or p.upfront_price is not null)
    group by p.offer_id, p.source
),

ratio as (
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
