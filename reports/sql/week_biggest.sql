-- The biggest moves of a week on the reader's chips, of list prices per chip-hour: of each provider, chip and
-- purchase option the biggest one, five in all. A node has 8 chips, a month 730 hours.
select
    *, -- noqa: AM04
    case when pricing_currency = 'USD' then (price_after - price_before) * 8 * 730 end as node_month_usd,
    count(*) over () as n_biggest
from week.ranked
where is_first
order by place
limit 5
