-- Accepted prices of each fetch: those in force at its moment; of an archive or import, all that it dates itself.
select
    r.fetch_number,
    count(*) filter (where r.is_archived or r.observed_at = l.observed_at or l.observed_at is null) as n_rows
from observed_row as r
left join new_fetch as l on r.fetch_number = l.fetch_number and l.complete
group by r.fetch_number
