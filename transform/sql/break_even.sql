-- Whether a move pays: one row. `from_usd` and `to_usd` are USD per million tokens on each side, `tokens_a_day` the
-- load, `weeks` of work by `engineers` at `engineer_hour` USD, `upkeep` USD a month on the new side, `dual_weeks` in
-- which both run, `stranded` USD that a commitment still owes, `late_weeks` of delay at `late_usd` each beside the
-- saving that is not had, `horizon` in months. "never" and NULL are different: NULL is unknown.
-- mart.serving_cost gives costs per token at one operating point; take both sides at the same one.
with given as (
    select
        tokens_a_day::DOUBLE as daily_load,
        from_usd::DOUBLE as from_usd_per_million,
        to_usd::DOUBLE as to_usd_per_million,
        upkeep::DOUBLE as upkeep_usd,
        horizon::DOUBLE as months,
        dual_weeks::DOUBLE as both_weeks,
        decision.monthly_spend(tokens_a_day, from_usd) as from_month,
        decision.monthly_spend(tokens_a_day, to_usd) as to_month,
        decision.wait_months(weeks, dual_weeks, late_weeks) as waited,
        decision.engineering_cost(weeks, engineers, engineer_hour) as work_usd,
        decision.delay_cost(late_weeks, late_usd) as delayed_usd,
        stranded::DOUBLE as owed_usd
),

summed as (
    select
        *,
        decision.dual_running_cost(both_weeks, to_month) as both_usd,
        decision.one_off_cost(
            work_usd, decision.dual_running_cost(both_weeks, to_month), owed_usd, delayed_usd
        ) as once_usd,
        work_usd + owed_usd + delayed_usd as fixed_usd
    from given
),

planned as (
    select
        *,
        decision.plan(once_usd, waited, from_month, to_month, upkeep_usd, months) as outcome,
        decision.saving_per_million(from_usd_per_million, to_usd_per_million, upkeep_usd, daily_load) as saved
    from summed
)

select
    planned.from_usd_per_million,
    planned.to_usd_per_million,
    planned.daily_load as tokens_per_day,
    planned.work_usd as engineering_usd,
    planned.both_usd as dual_running_usd,
    planned.owed_usd as stranded_usd,
    planned.delayed_usd as delay_usd,
    planned.once_usd as one_off_usd,
    planned.waited as wait_months,
    planned.from_month as from_usd_per_month,
    planned.to_month as to_usd_per_month,
    planned.upkeep_usd as upkeep_usd_per_month,
    planned.saved as saving_usd_per_million,
    decision.break_even_tokens(planned.once_usd, planned.saved) as break_even_tokens,
    planned.outcome.net_saving_usd_per_month,
    planned.outcome.break_even_months,
    planned.outcome.months_from_start,
    decision.spend_to_pay(
        planned.months, planned.waited, planned.both_weeks, planned.from_usd_per_million, planned.to_usd_per_million,
        planned.upkeep_usd, planned.fixed_usd
    ) as spend_to_pay_usd_per_month,
    planned.months as horizon_months,
    planned.outcome.staying_usd,
    planned.outcome.moving_usd,
    planned.outcome.gain_usd,
    coalesce(planned.outcome.verdict, case when planned.saved <= 0 then 'never' end) as move_verdict
from planned
