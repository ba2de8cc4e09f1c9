-- rates_at_speed(speed, slow, fast, below_slowest, at_slow, rates): Rates of a point at one speed for a user, and how
-- they are known, as a STRUCT.
-- On a stretch of a frontier (slow < speed <= fast) each lies on the straight line between the slower run's (at_slow)
-- and the faster run's (rates). Below the slowest run a chip is at least as fast as that: a cost is "at most" (reach).
-- A point that is no stretch (slow NULL) has the rates that were measured.
select
    {
        'high_output_rate': cost.interpolated(
            speed, slow, at_slow['high_output_rate'], fast, rates['high_output_rate']
        ),
        'median_output_rate': cost.interpolated(
            speed, slow, at_slow['median_output_rate'], fast, rates['median_output_rate']
        ),
        'low_output_rate': cost.interpolated(speed, slow, at_slow['low_output_rate'], fast, rates['low_output_rate']),
        'high_input_rate': cost.interpolated(speed, slow, at_slow['high_input_rate'], fast, rates['high_input_rate']),
        'median_input_rate': cost.interpolated(
            speed, slow, at_slow['median_input_rate'], fast, rates['median_input_rate']
        ),
        'low_input_rate': cost.interpolated(speed, slow, at_slow['low_input_rate'], fast, rates['low_input_rate']),
        'reach': case
            when slow is null then 'measured'
            when rates is null then 'unreachable'
            when speed = fast then 'measured'
            when below_slowest then 'at most'
            else 'between two runs'
        end
    } as rates
