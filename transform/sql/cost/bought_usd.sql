-- bought_usd(price, running_share, rate, utilisation): USD a million tokens of one chip at a price and a rate.
-- cost.usd_per_million_tokens at cost.paid_rate.
select cost.usd_per_million_tokens(cost.paid_rate(price, running_share), 1, rate, utilisation) as usd
