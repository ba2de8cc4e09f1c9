-- usable_share(block_hours > 0): Share of the paid hours of a Capacity Block that can be used. Instances are ended from
-- 30 minutes before its end.
-- (h - 0.5) / h.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select (block_hours::DOUBLE - 0.5) / block_hours as ratio
