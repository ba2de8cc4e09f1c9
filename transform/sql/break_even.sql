-- Whether a move pays: one row. `from_usd` and `to_usd` are USD per million tokens on each side, `tokens_a_day` the
-- load, `weeks` of work by `engineers` at `engineer_hour` USD, `upkeep` USD a month on the new side, `dual_weeks` in
-- which both run, `stranded` USD that a commitment still owes, `late_weeks` of delay at `late_usd` each beside the
-- saving that is not had, `horizon` in months. mart.serving_cost gives costs per token at one operating point; take
-- both sides at the same one.
-- Staying costs the old side over the horizon; moving the one-off cost, the old side until the new one serves, then the
-- new one and its upkeep.
with move as (
    select
        from_usd::DOUBLE as from_usd_per_million,
        to_usd::DOUBLE as to_usd_per_million,
        tokens_a_day::DOUBLE as tokens_per_day,
        decision.engineering_cost(weeks, engineers, engineer_hour) as engineering_usd,
        decision.dual_running_cost(dual_weeks, decision.monthly_spend(tokens_a_day, to_usd)) as dual_running_usd,
        stranded::DOUBLE as stranded_usd,
        decision.delay_cost(late_weeks, late_usd) as delay_usd,
        decision.wait_months(weeks, dual_weeks, late_weeks) as wait_months,
        decision.monthly_spend(tokens_a_day, from_usd) as from_usd_per_month,
        decision.monthly_spend(tokens_a_day, to_usd) as to_usd_per_month,
        upkeep::DOUBLE as upkeep_usd_per_month,
        horizon::DOUBLE as horizon_months
),

saving as (
    select
        *,
        decision.one_off_cost(engineering_usd, dual_running_usd, stranded_usd, delay_usd) as one_off_usd,
        from_usd_per_million - to_usd_per_million
        - if(upkeep_usd_per_month = 0, 0, upkeep_usd_per_month / decision.million_tokens_per_month(tokens_per_day))
            as saving_usd_per_million,
        from_usd_per_month - to_usd_per_month - upkeep_usd_per_month as net_saving_usd_per_month,
        horizon_months * from_usd_per_month as staying_usd
    from move
)

select
    from_usd_per_million,
    to_usd_per_million,
    tokens_per_day,
    engineering_usd,
    dual_running_usd,
    stranded_usd,
    delay_usd,
    one_off_usd,
    wait_months,
    from_usd_per_month,
    to_usd_per_month,
    upkeep_usd_per_month,
    saving_usd_per_million,
    decision.break_even_tokens(one_off_usd, saving_usd_per_million) as break_even_tokens,
    net_saving_usd_per_month,
    case when net_saving_usd_per_month > 0 then one_off_usd / net_saving_usd_per_month end as break_even_months,
    wait_months + break_even_months as months_from_start,
    decision.spend_to_pay(
        horizon_months, wait_months, dual_weeks::DOUBLE, from_usd_per_million, to_usd_per_million, upkeep_usd_per_month,
        engineering_usd + stranded_usd + delay_usd
    ) as spend_to_pay_usd_per_month,
    horizon_months,
    staying_usd,
    one_off_usd
    + least(wait_months, horizon_months) * from_usd_per_month
    + greatest(horizon_months - wait_months, 0) * (to_usd_per_month + upkeep_usd_per_month) as moving_usd,
    staying_usd - moving_usd as gain_usd,
    case
        when coalesce(net_saving_usd_per_month, saving_usd_per_million) <= 0 then 'never'
        when moving_usd < staying_usd then 'pays'
        when moving_usd >= staying_usd then 'too late'
    end as move_verdict
from saving
