-- Each price of int.price_history with the span in which it is known to have held: from the moment it was first seen
-- until the last moment it was seen, and on to the next price where that came within seven days, or the source's
-- max_age where that is longer. The prices of an import that never tells one twice, which lists changes, hold until the
-- next, or its last word on any offer. What was seen once is a span of an hour. held_for is how long a price that has
-- not changed since still counts as known.
select
    h.offer_id,
    h.valid_from,
    h.valid_to,
    h.last_observed_at,
    h.effective_hourly_price,
    to_hours(greatest(coalesce(s.max_age_hours, 0), 7 * 24)) as held_for,
    greatest(
        h.valid_from + interval 1 hour,
        case
            when c.source is not null then coalesce(h.valid_to, c.told_until)
            when h.valid_to - h.last_observed_at <= held_for then h.valid_to
            else h.last_observed_at
        end
    ) as held_until
from int.price_history as h
inner join core.source as s on h.last_source = s.source
left join core.silent_import as c on h.last_source = c.source
where h.effective_hourly_price is not null
