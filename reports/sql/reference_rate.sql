-- US dollars for one unit of a currency on a day: the newest reference rate of the European Central Bank of the ten
-- days before, as prices in other currencies are read by; no row where there is none.
select
    rate_date,
    usd_per_currency_unit as usd_per_unit
from core.usd_rate
where pricing_currency = $currency and rate_date between $day::DATE - 10 and $day::DATE
order by rate_date desc
limit 1
