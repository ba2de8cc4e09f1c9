-- wait_months(migration_weeks >= 0, dual_running_weeks >= 0, delay_weeks >= 0): Months from the start of a move until
-- the new side serves. The work, both running, and delay, one after another.
select decision.months_of_weeks(migration_weeks::DOUBLE + dual_running_weeks + delay_weeks) as months
