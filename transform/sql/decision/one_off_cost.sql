-- one_off_cost(engineering_usd >= 0, dual_running_usd >= 0, stranded_usd >= 0, delay_usd >= 0): USD that a move costs
-- once. Work, both sides running, what a commitment still owes with no use for it, delay.
select engineering_usd::DOUBLE + dual_running_usd + stranded_usd + delay_usd as usd
