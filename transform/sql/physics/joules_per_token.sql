-- Energy of one token, in J: power of all that runs for it over its rate.
select watts::DOUBLE / tokens_per_second as joules
