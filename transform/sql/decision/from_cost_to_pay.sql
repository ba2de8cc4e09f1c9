-- from_cost_to_pay(horizon_months > 0, wait_months >= 0, dual_running_weeks >= 0, tokens_per_day > 0,
-- to_usd_per_million > 0, upkeep_usd_per_month >= 0, fixed_usd >= 0): USD a million tokens of the old side above which
-- a move pays. At it a move costs as much as staying: the sum of decision.to_cost_to_pay solved for from.
-- NULL where the horizon ends before the new side serves.
select
    case
        when horizon_months > wait_months
            then
                to_usd_per_million
                * (1 + decision.months_of_weeks(dual_running_weeks) / (horizon_months - wait_months))
                + (upkeep_usd_per_month + fixed_usd / (horizon_months - wait_months))
                / decision.million_tokens_per_month(tokens_per_day)
    end as usd_per_million
