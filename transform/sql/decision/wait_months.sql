-- Months from the start of a move until the new side serves: the work, both running, and delay, one after another.
select decision.months_of_weeks(migration_weeks::DOUBLE + dual_running_weeks + delay_weeks) as months
