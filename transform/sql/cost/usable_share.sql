-- usable_share(provider, purchase_option, block_hours > 0): Share of the paid hours that can be used. All but the last
-- 30 minutes of AWS's Capacity Blocks, in which instances are ended; one of untold length counts as 24 hours.
-- 1 - 0.5 / h.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select 1e0 - if(purchase_option = 'capacity_block' and provider = 'AWS', 0.5e0, 0) / coalesce(block_hours, 24) as ratio
