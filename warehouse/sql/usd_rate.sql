-- US dollars for one unit of each currency on each day that the ECB gives both rates for: a quotient of two of them.
with rate as (
    select
        pricing_currency,
        rate_date,
        arg_max(units_per_eur, recorded_at)::DOUBLE as units_per_eur
    from core.fx_rate
    group by pricing_currency, rate_date
),

every as (
    from rate
    union all
    select
        'EUR' as pricing_currency,
        rate_date,
        1 as units_per_eur
    from rate
    where pricing_currency = 'USD'
)

select
    e.pricing_currency,
    e.rate_date,
    d.units_per_eur / e.units_per_eur as usd_per_currency_unit
from every as e
inner join rate as d on e.rate_date = d.rate_date and d.pricing_currency = 'USD'
where e.pricing_currency <> 'USD'
