-- to_cost_to_pay(horizon_months > 0, wait_months >= 0, dual_running_weeks >= 0, tokens_per_day > 0,
-- from_usd_per_million > 0, upkeep_usd_per_month >= 0, fixed_usd >= 0): USD a million tokens of the new side below
-- which a move pays. M x from x R = F + upkeep x R + M x to x (R + D), solved for to: M million tokens a month, R the
-- months of running within the horizon, D those of both running, F the one-off cost without D. NULL: none is low.
select
    case
        when
            horizon_months > wait_months
            and decision.monthly_spend(tokens_per_day, from_usd_per_million) - upkeep_usd_per_month
            > fixed_usd / (horizon_months - wait_months)
            then
                (
                    (decision.monthly_spend(tokens_per_day, from_usd_per_million) - upkeep_usd_per_month)
                    * (horizon_months - wait_months)
                    - fixed_usd
                )
                / decision.million_tokens_per_month(tokens_per_day)
                / (horizon_months - wait_months + decision.months_of_weeks(dual_running_weeks))
    end as usd_per_million
