-- monthly_spend(tokens_per_day > 0, usd_per_million > 0): USD a month for a daily load.
select decision.million_tokens_per_month(tokens_per_day) * usd_per_million as usd_per_month
