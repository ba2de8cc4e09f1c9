-- months_of_weeks(weeks >= 0): Weeks as months of 730 hours. The month in which cost.monthly counts.
select weeks::DOUBLE * 168 / 730 as months
