-- joules_per_token(watts > 0, tokens_per_second > 0): Energy of one token, J. Power of all that runs for it over its
-- rate.
select watts::DOUBLE / tokens_per_second as joules
