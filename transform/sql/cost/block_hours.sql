-- block_hours(used_hours >= 0): Hours of the shortest Capacity Block of AWS in which so many can be used. NULL: none is
-- so long. The last 30 minutes are paid and cannot be used; lengths are whole days up to 14, then whole weeks up to 26.
-- d = 24 (h + 0.5 <= 336), 168 (h + 0.5 <= 4368); ceil((h + 0.5) / d) x d.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
select
    case
        when used_hours + 0.5 <= 336 then ceil((used_hours + 0.5) / 24e0) * 24
        when used_hours + 0.5 <= 4368 then ceil((used_hours + 0.5) / 168e0) * 168
    end as paid_hours
