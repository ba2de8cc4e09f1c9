-- usable_share(purchase_option, block_hours > 0): Share of the paid hours that can be used. All but the last 30 minutes
-- of a Capacity Block, in which instances are ended; one of untold length counts as 24 hours.
-- 1 - 0.5 / h.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select case when purchase_option = 'capacity_block' then 1e0 - 0.5e0 / coalesce(block_hours, 24) else 1e0 end as ratio
