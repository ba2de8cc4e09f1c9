-- What a daily load costs in a month of 730 hours.
select decision.million_tokens_per_month(tokens_per_day) * usd_per_million as usd_per_month
