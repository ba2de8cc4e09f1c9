-- Each number with what came before it in its scope, in the log and in this load: the last complete fetch, and whether
-- it is late. It is recorded at the parameter.
with covered as (
    select
        n.*,
        coalesce(f.complete, false) as is_covered
    from new_number as n
    left join new_fetch as f on n.fetch_number = f.fetch_number
)

select
    c.place,
    greatest(
        case when s.last_complete_at < c.observed_at then s.last_complete_at end,
        max(c.observed_at) filter (where c.is_covered) over (
            partition by c.source, c.scope
            order by c.observed_at range between unbounded preceding and interval 1 microsecond preceding
        )
    ) as last_complete_at,
    coalesce(
        c.observed_at < greatest(
            s.last_observed_at,
            max(c.observed_at) over (
                partition by c.source, c.scope
                order by c.place rows between unbounded preceding and 1 preceding
            )
        )
        or ?::TIMESTAMP < s.last_recorded_at,
        false
    ) as is_late
from covered as c
left join scope_state as s on c.source = s.source and c.scope = s.scope
