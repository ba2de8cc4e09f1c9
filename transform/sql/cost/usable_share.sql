-- usable_share(provider, purchase_option, block_hours > 0, instance_type := null): Share of the paid hours that can be
-- used. All but the last 30 minutes of AWS's Capacity Blocks, of P6e-GB200 UltraServers the last 60, in which instances
-- are ended; a block of untold length counts as 24 hours. 1 - 0.5 / h, or 1 - 1 / h.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select
    1e0 - if(purchase_option = 'capacity_block' and provider = 'AWS', cost.block_end_hours(instance_type), 0)
    / coalesce(block_hours, 24) as ratio
