-- rates_at_speed(speed, speed_from, speed_to, below_slowest, high_output, median_output, low_output, high_input,
-- median_input, low_input): Rates of a point at one speed for a user, and how they are known, as a STRUCT.
-- Rates of a point, and how they are known (reach). On a stretch of a frontier (speed_from < speed <= speed_to) high is
-- the slower run's, low the faster run's, and the median lies on the straight line between both; at speed_to all are
-- the faster run's. Below the slowest run a chip is at least as fast as that: a cost is "at most". A point that is no
-- stretch (speed_from NULL) has the rates that were measured.
select
    {
        'high_output_rate': case when speed = speed_to then low_output else high_output end,
        'median_output_rate': coalesce(
            median_output, cost.interpolated(speed, speed_from, high_output, speed_to, low_output)
        ),
        'low_output_rate': low_output,
        'high_input_rate': case when speed = speed_to then low_input else high_input end,
        'median_input_rate': coalesce(
            median_input, cost.interpolated(speed, speed_from, high_input, speed_to, low_input)
        ),
        'low_input_rate': low_input,
        'reach': case
            when speed_from is null then 'measured'
            when low_output is null then 'unreachable'
            when speed = speed_to then 'measured'
            when below_slowest then 'at most'
            else 'between two runs'
        end
    } as rates
