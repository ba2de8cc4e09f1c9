-- speeds_within(speeds, speed_from, speed_to, kept_speed): Speeds for a user at which a point has rates: those of a
-- list within its stretch, or the one that it kept.
-- A stretch of a frontier is speed_from < speed <= speed_to; the speed that all runs of another point kept may be NULL.
select
    case
        when speed_from is null then [kept_speed]
        else list_filter(speeds, lambda s: speed_from < s and s <= coalesce(speed_to, s))
    end as speeds_within
