-- USD a million tokens of the old side at which a move costs as much as staying over a horizon; above it, it pays.
-- The sum of decision.to_cost_to_pay solved for from. NULL where the horizon ends before the new side serves.
select
    case
        when horizon_months > wait_months
            then
                to_usd_per_million
                * (1 + decision.months_of_weeks(dual_running_weeks) / (horizon_months - wait_months))
                + (upkeep_usd_per_month + fixed_usd / (horizon_months - wait_months))
                / decision.million_tokens_per_month(tokens_per_day)
    end as usd_per_million
