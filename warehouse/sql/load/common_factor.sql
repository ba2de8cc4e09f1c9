-- How the prices of look number ? moved together, as (pattern, factor, n_moved, n_compared):
--   one factor   the factor, rounded to three decimals, by which most of them moved
--   own count    how many of those with several chips moved by their own number of chips, up or down: a price of a
--                machine became one of a chip, or the reverse
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
    select
        r.unit_price::DOUBLE / l.unit_price::DOUBLE as factor,
        coalesce(r.accelerator_count, t.accelerator_count)::DOUBLE as chips
    from observed_row as r
    inner join last_price as l on r.offer_id = l.offer_id and r.source = l.source
    left join core.instance_type as t
        on r.service_provider_name = 'AWS' and r.instance_type = t.instance_type and t.known_from is null
    where r.look_number = ? and r.unit_price > 0
),

most as (
    select
        round(factor, 3) as factor,
        count(*) as n_moved,
        sum(count(*)) over ()::BIGINT as n_compared
    from ratio
    group by round(factor, 3)
    qualify round(factor, 3) <> 1
    order by n_moved desc, factor asc
    limit 1
)

select
    'one factor' as pattern,
    factor,
    n_moved,
    n_compared
from most
union all
select
    'own count' as pattern,
    null as factor,
    count(*) filter (where abs(factor * chips - 1) < 0.02 or abs(factor / chips - 1) < 0.02) as n_moved,
    count(*) as n_compared
from ratio
where chips > 1
