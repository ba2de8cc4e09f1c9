-- Share of spot hours that one serving machine loses: it drains, and its successor warms up, at each interruption.
-- i x (drain + warm-up).
select interruptions_per_hour::DOUBLE * (drain_hours + warm_up_hours) as ratio
