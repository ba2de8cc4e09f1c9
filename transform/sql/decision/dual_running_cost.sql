-- What the new side costs while the old one still serves: nothing for no weeks, whatever the load.
select
    case
        when dual_running_weeks = 0 then 0e0
        else decision.months_of_weeks(dual_running_weeks) * to_usd_per_month
    end as usd
