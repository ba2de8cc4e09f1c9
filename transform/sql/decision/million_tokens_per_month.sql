-- million_tokens_per_month(tokens_per_day > 0): Millions of tokens a month of 730 hours.
select tokens_per_day::DOUBLE * 730 / 24 / 1e6 as million_tokens
