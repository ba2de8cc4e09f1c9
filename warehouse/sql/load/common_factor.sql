-- The factor, rounded to three decimals, by which most prices of look number ? moved, how many moved so, and how many
-- were compared.
with last_price as (
    select
        offer_id,
        source,
        arg_max(unit_price, valid_from) as unit_price
    from core.price_point(TIMESTAMP '9999-01-01')
    where not is_void and unit_price > 0
    group by offer_id, source
),

ratio as (
    select round(r.unit_price::DOUBLE / l.unit_price::DOUBLE, 3) as factor
    from observed_row as r
    inner join last_price as l on r.offer_id = l.offer_id and r.source = l.source
    where r.look_number = ? and r.unit_price > 0
)

select
    factor,
    count(*) as n_moved,
    sum(count(*)) over ()::BIGINT as n_compared
from ratio
group by factor
qualify factor <> 1
order by n_moved desc, factor asc
limit 1
