-- usd_per_million_tokens(paid_rate_usd > 0, accelerators > 0, tokens_per_second > 0, utilisation between 0 and 1): USD
-- a million tokens, all of the machine charged.
-- P x n x 10^6 / (3600 x rate x U): P USD an hour of a running chip, n chips, their tokens per second together, U share
-- of that rate that is served while they run (NULL at 0: nothing is served). All of the
-- machine is charged to the tokens that the rate counts.
select paid_rate_usd::DOUBLE * accelerators * 1e6 / (3600e0 * tokens_per_second * nullif(utilisation, 0)) as usd
