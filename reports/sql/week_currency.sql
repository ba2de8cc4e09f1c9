-- What rates of exchange alone did in a week to dollar prices of what was seen in it: the rates of each currency on the
-- day before the week and on its last day (core.usd_rate_of_day). No price changed by that.
with asked as (
    select distinct
        pricing_currency,
        $since::DATE - 1 as day_before,
        ($until::TIMESTAMP - interval 1 microsecond)::DATE as last_day
    from int.accelerator_hour_price
    where pricing_currency <> 'USD' and last_observed_at >= $since
)

select
    a.pricing_currency,
    l.usd_per_currency_unit / b.usd_per_currency_unit - 1 as rate_change
from asked as a
inner join core.usd_rate_of_day as b on a.pricing_currency = b.pricing_currency and a.day_before = b.rated_on
inner join core.usd_rate_of_day as l on a.pricing_currency = l.pricing_currency and a.last_day = l.rated_on
order by a.pricing_currency
