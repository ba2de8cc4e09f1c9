-- Weeks as months of 730 hours, the month in which cost.monthly counts.
select weeks::DOUBLE * 168 / 730 as months
