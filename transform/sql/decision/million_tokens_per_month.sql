-- A daily load as millions of tokens in a month of 730 hours.
select tokens_per_day::DOUBLE * 730 / 24 / 1e6 as million_tokens
