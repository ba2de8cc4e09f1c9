-- The last reference rate between the US dollar and each other currency: dollars for one unit of it.
select
    r.pricing_currency,
    arg_max(d.units_per_eur::DOUBLE / r.units_per_eur::DOUBLE, r.rate_date) as usd_per_currency_unit
from (
    from core.fx_rate
    union all by name
    select
        'EUR' as pricing_currency,
        rate_date,
        1 as units_per_eur
    from core.fx_rate
    where pricing_currency = 'USD'
) as r
inner join core.fx_rate as d on r.rate_date = d.rate_date and d.pricing_currency = 'USD'
where r.pricing_currency in ('EUR', 'GBP', 'CNY')
group by r.pricing_currency
