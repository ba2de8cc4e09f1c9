-- Months of running that pay for a move: one-off cost / net saving a month. NULL where nothing is saved: never.
select case when net_saving_usd_per_month > 0 then one_off_usd::DOUBLE / net_saving_usd_per_month end as months
