-- spend_to_pay(horizon_months > 0, wait_months >= 0, dual_running_weeks >= 0, from_usd_per_million > 0,
-- to_usd_per_million > 0, upkeep_usd_per_month >= 0, fixed_usd >= 0): USD a month on the old side above which a move
-- pays within a horizon.
-- M x ((from - to) x R - to x D) = F + upkeep x R, solved for M, times from: M million tokens a month, R months
-- of running within the horizon, D months of both running, F the one-off cost without D.
-- NULL where no spend is enough: nothing is saved, both running costs more than that, or the horizon is too short.
select
    case
        when
            horizon_months > wait_months
            and (from_usd_per_million - to_usd_per_million) * (horizon_months - wait_months)
            > to_usd_per_million * decision.months_of_weeks(dual_running_weeks)
            then
                from_usd_per_million::DOUBLE
                * (fixed_usd + upkeep_usd_per_month * (horizon_months - wait_months))
                / (
                    (from_usd_per_million - to_usd_per_million) * (horizon_months - wait_months)
                    - to_usd_per_million * decision.months_of_weeks(dual_running_weeks)
                )
    end as usd_per_month
