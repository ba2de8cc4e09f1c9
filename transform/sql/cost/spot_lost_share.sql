-- spot_lost_share(interruption_band, machines > 0 := 1, drain_minutes >= 0 := 2, warmup_minutes >= 0 := 15): Share of
-- paid spot hours that machines which depend on each other lose, by AWS's Spot Advisor; by default one that serves.
-- Upper end of the band as the monthly share; 2 minutes of drain, as AWS gives notice, and 15 of warm-up, assumed. NULL
-- for no band, and for ">20%", which has no upper end.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html for the notice.
select
    machines * cost.serving_loss_share(
        cost.interruptions_per_hour(
            try_cast(regexp_extract(interruption_band, '^(?:<|\d+-)(\d+)%$', 1) as DOUBLE) / 100
        ),
        drain_minutes / 60e0, warmup_minutes / 60e0
    ) as ratio
