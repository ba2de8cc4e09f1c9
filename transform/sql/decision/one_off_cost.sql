-- What a move costs once: work, both sides running, what a commitment still owes with no use for it, delay.
select engineering_usd::DOUBLE + dual_running_usd + stranded_usd + delay_usd as usd
