-- price_to_beat(target_usd_per_million > 0, accelerators > 0, tokens_per_second > 0, utilisation between 0 and 1): USD
-- a running chip-hour at which the target is met.
-- target x 3600 x rate x U / (10^6 x n): usd_per_million_tokens solved for the price.
select target_usd_per_million::DOUBLE * 3600 * tokens_per_second * utilisation / (1e6 * accelerators) as usd_per_hour
