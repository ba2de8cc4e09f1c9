-- cost_of_moving(horizon_months > 0, wait_months >= 0, from_usd_per_month > 0, to_usd_per_month > 0,
-- upkeep_usd_per_month >= 0, one_off_usd >= 0): USD of a move and the new side over a horizon.
-- What moving costs over a horizon: once, then the old side until the new one serves, then the new one and its upkeep.
select
    one_off_usd::DOUBLE
    + least(wait_months, horizon_months) * from_usd_per_month
    + greatest(horizon_months - wait_months, 0) * (to_usd_per_month + upkeep_usd_per_month) as usd
