-- Scopes of live sources without a good look for so many days, and older than their source lets a price be.
select
    h.source,
    h.scope,
    h.last_good_at,
    h.error
from int.source_health as h
inner join core.source as s on h.source = s.source
where
    h.kind = 'live'
    and coalesce(
        h.last_good_at < $now::TIMESTAMP - to_milliseconds(86400000 * $days::DOUBLE)
        and h.last_good_at < $now::TIMESTAMP - to_hours(coalesce(s.max_age_hours, 0)),
        true
    )
order by h.source, h.scope
