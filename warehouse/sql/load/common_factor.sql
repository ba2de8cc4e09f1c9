-- How the prices of each fetch moved together, as (fetch_number, pattern, factor, n_moved, n_compared):
--   one factor   the factor, rounded to three decimals, by which most of them moved
--   own count    how many of those with several chips moved by their own number of chips, up or down: a price of a
--                machine became one of a chip, or the reverse
with ratio as (
    select
        r.fetch_number,
        r.unit_price::DOUBLE / l.unit_price::DOUBLE as factor,
        coalesce(r.accelerator_count, t.accelerator_count)::DOUBLE as chips
    from observed_row as r
    inner join last_price as l on r.offer_id = l.offer_id and r.source = l.source
    left join core.instance_type as t
        on r.service_provider_name = 'AWS' and r.instance_type = t.instance_type and t.known_from is null
    where r.unit_price > 0 and l.unit_price > 0 and not r.is_past_gates
),

compared as (
    select
        fetch_number,
        count(*) as n_compared
    from ratio
    group by fetch_number
),

most as (
    select
        fetch_number,
        round(factor, 3) as factor,
        count(*) as n_moved
    from ratio
    where round(factor, 3) <> 1
    group by fetch_number, round(factor, 3)
)

select
    m.fetch_number,
    'one factor' as pattern,
    m.factor,
    m.n_moved,
    c.n_compared
from most as m
inner join compared as c on m.fetch_number = c.fetch_number
qualify row_number() over (partition by m.fetch_number order by m.n_moved desc, m.factor asc) = 1
union all
select
    fetch_number,
    'own count' as pattern,
    null as factor,
    count(*) filter (where abs(factor * chips - 1) < 0.02 or abs(factor / chips - 1) < 0.02) as n_moved,
    count(*) as n_compared
from ratio
where chips > 1
group by fetch_number
