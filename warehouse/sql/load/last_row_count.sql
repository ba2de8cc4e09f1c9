-- Of each fetch in checked_fetch: its prices, and those of the last complete live fetch of its scope before it (NULL:
-- none since that moment). A past fetch is no measure of a live one: it may have all days at once, and other offers.
with counted as (
    select
        a.fetch_number,
        a.source,
        a.scope,
        a.observed_at,
        count(r.row_number) as n_rows
    from checked_fetch as a
    left join observed_row as r on a.fetch_number = r.fetch_number and a.observed_at = r.observed_at
    group by a.fetch_number, a.source, a.scope, a.observed_at
),

last_good as (
    select
        c.fetch_number,
        arg_max(f.n_rows, f.observed_at) as n_rows
    from counted as c
    inner join log.scope_fetch as f
        on c.source = f.source and c.scope = f.scope and c.observed_at > f.observed_at
    anti join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
    where f.observed_at >= ?::TIMESTAMP and f.complete and f.status = 'ok' and not f.archived
    group by c.fetch_number
)

select
    c.fetch_number,
    c.n_rows,
    g.n_rows as n_rows_before
from counted as c
left join last_good as g on c.fetch_number = g.fetch_number
