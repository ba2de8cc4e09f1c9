-- block_end_hours(instance_type): Hours before the end of an AWS Capacity Block in which its instances are ended.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select if(instance_type like 'u-p6e-gb200%', 1e0, 0.5e0) as hours
