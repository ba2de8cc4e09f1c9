-- rate_to_beat(paid_rate_usd > 0, accelerators > 0, target_usd_per_million > 0, utilisation between 0 and 1): Tokens
-- per second at which the target is met.
-- P x n x 10^6 / (3600 x target x U): usd_per_million_tokens solved for the rate.
select
    paid_rate_usd::DOUBLE
    * accelerators
    * 1e6
    / (3600e0 * target_usd_per_million * nullif(utilisation, 0)) as tokens_per_second
