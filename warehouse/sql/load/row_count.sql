-- Accepted prices of each look: those in force at its moment; of an archive or import, all that it dates itself.
select
    r.look_number,
    count(*) filter (where r.is_past_gates or r.observed_at = l.observed_at or l.observed_at is null) as n_rows
from observed_row as r
left join new_look as l on r.look_number = l.look_number and l.complete
group by r.look_number
