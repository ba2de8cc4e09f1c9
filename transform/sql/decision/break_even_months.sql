-- break_even_months(one_off_usd >= 0, net_saving_usd_per_month): Months that pay for a move; NULL where nothing is
-- saved. One-off cost / net saving a month; nothing saved: never.
select case when net_saving_usd_per_month > 0 then one_off_usd::DOUBLE / net_saving_usd_per_month end as months
