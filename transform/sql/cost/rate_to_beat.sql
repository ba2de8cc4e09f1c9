-- Tokens per second of all chips at which an option of this price costs `target` a million tokens.
-- P x n x 10^6 / (3600 x target x U): usd_per_million_tokens solved for the rate.
select
    paid_rate_usd::DOUBLE
    * accelerators
    * 1e6
    / (3600e0 * target_usd_per_million * nullif(utilisation, 0)) as tokens_per_second
