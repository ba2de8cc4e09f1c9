-- USD a chip-hour, running, at which an option of this rate costs `target` a million tokens.
-- target x 3600 x rate x U / (10^6 x n): usd_per_million_tokens solved for the price.
select target_usd_per_million::DOUBLE * 3600 * tokens_per_second * utilisation / (1e6 * accelerators) as usd_per_hour
