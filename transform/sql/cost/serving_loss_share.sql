-- serving_loss_share(interruptions_per_hour >= 0, drain_hours >= 0, warm_up_hours >= 0): Share of spot hours that a
-- serving machine loses. It drains, and its successor warms up, at each interruption: i x (drain + warm-up).
select interruptions_per_hour::DOUBLE * (drain_hours + warm_up_hours) as ratio
