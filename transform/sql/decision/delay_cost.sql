-- delay_cost(delay_weeks >= 0, delay_usd_per_week >= 0): USD that weeks of delay cost besides the lost saving.
-- Such as revenue; the saving that is not had is in mart.break_even, where the old side is paid until the new serves.
select delay_weeks::DOUBLE * delay_usd_per_week as usd
