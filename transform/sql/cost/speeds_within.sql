-- speeds_within(speeds, speed_from, speed_to, kept_speed): Speeds for a user at which a point has rates: those of a
-- list within its stretch, or the one that it kept.
-- Speeds at which a row of int.serving_rate is read: of a stretch of a frontier (speed_from < speed <= speed_to) those
-- of the list that lie on it; of any other point the one speed that every run kept, which may be unknown.
select
    case
        when speed_from is null then [kept_speed]
        else list_filter(speeds, lambda s: speed_from < s and s <= coalesce(speed_to, s))
    end as speeds_within
