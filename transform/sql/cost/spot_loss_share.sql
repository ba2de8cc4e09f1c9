-- spot_loss_share(interruptions_per_hour >= 0, machines > 0, checkpoint_interval_hours > 0, restart_hours >= 0,
-- checkpoint_hours >= 0): Share of spot hours that a job loses.
-- In parts that do not overlap: work since the last checkpoint and the restart, as often as any of its machines is
-- interrupted; and the writing of checkpoints.
-- machines x i x (interval / 2 + restart) + checkpoint / interval. 1 and above: the job never gets anywhere.
-- Source: Young 1974, doi 10.1145/361147.361115, to first order.
select
    machines::DOUBLE * interruptions_per_hour * (checkpoint_interval_hours / 2e0 + restart_hours)
    + checkpoint_hours::DOUBLE / checkpoint_interval_hours as ratio
