-- paid_rate(price_per_accelerator_hour > 0, running_share between 0 and 1): USD a running chip-hour, idle time charged.
-- Price / share of the paid hours that run.
-- The share is hours used / hours committed of a commitment, 1 - loss of spot, 1 on demand. Idle time is charged here,
-- and nowhere else. An upfront fee is in the price already.
select price_per_accelerator_hour::DOUBLE / nullif(running_share, 0) as usd_per_hour
