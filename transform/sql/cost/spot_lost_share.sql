-- spot_lost_share(interruption_band): Share of paid spot hours that a serving machine loses, by AWS's Spot Advisor.
-- Upper end of the band as the monthly share; 2 minutes of drain, as AWS gives notice, and 15 of warm-up, assumed. NULL
-- for no band, and for ">20%", which has no upper end.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html for the notice.
select
    cost.serving_loss_share(
        cost.interruptions_per_hour(
            try_cast(regexp_extract(interruption_band, '^(?:<|\d+-)(\d+)%$', 1) as DOUBLE) / 100
        ),
        2 / 60e0, 0.25
    ) as ratio
