-- Of each fetch in checked_fetch: its prices, and those of the last complete live fetch of its scope before it (NULL:
-- none). A past fetch is no measure of a live one: an archive may have all its days at once, and other offers.
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

good as (
    select
        source,
        scope,
        observed_at,
        n_rows
    from core.scope_run
    where complete and status = 'ok' and not archived
)

select
    c.fetch_number,
    c.n_rows,
    g.n_rows as n_rows_before
from counted as c
asof left join good as g
    on c.source = g.source and c.scope = g.scope and c.observed_at > g.observed_at
