-- block_hours(used_hours >= 0, instance_type := null): Hours of the shortest Capacity Block of AWS in which so many can
-- be used. NULL: none is so long. Its end is paid and cannot be used; lengths are whole days up to 14, then whole weeks
-- up to 26. n = h + block_end_hours; d = 24 (n <= 336), 168 (n <= 4368); ceil(n / d) x d.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select
    case
        when used_hours + cost.block_end_hours(instance_type) <= 336
            then ceil((used_hours + cost.block_end_hours(instance_type)) / 24e0) * 24
        when used_hours + cost.block_end_hours(instance_type) <= 4368
            then ceil((used_hours + cost.block_end_hours(instance_type)) / 168e0) * 168
    end as paid_hours
