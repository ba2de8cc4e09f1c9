-- The reference rate that counts on each day (rated_on) for prices in another currency: the last of the ten days up to
-- it. After ten days without one there is none.
select
    r.pricing_currency,
    r.rate_date + unnest(range(least(11, lead(r.rate_date) over w - r.rate_date)))::INTEGER as rated_on,
    r.rate_date,
    r.usd_per_currency_unit
from core.usd_rate as r
semi join core.offer as o on r.pricing_currency = o.pricing_currency
window w as (partition by r.pricing_currency order by r.rate_date)
