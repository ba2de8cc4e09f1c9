-- dual_running_cost(dual_running_weeks >= 0, to_usd_per_month > 0): USD for the new side while the old one still
-- serves. Nothing for no weeks, whatever the load.
select
    case
        when dual_running_weeks = 0 then 0e0
        else decision.months_of_weeks(dual_running_weeks) * to_usd_per_month
    end as usd
