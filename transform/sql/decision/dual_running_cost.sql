-- dual_running_cost(dual_running_weeks >= 0, to_usd_per_month > 0): USD for the new side while the old one still
-- serves. Nothing for no weeks, whatever the load.
select if(dual_running_weeks = 0, 0e0, decision.months_of_weeks(dual_running_weeks) * to_usd_per_month) as usd
