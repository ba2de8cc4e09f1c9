-- Of each look in asked_look: its prices, and those of the last complete live look at its scope before it (NULL: none).
-- A past look is no measure of a live one: an archive may tell of all its days at once, and of other offers.
with counted as (
    select
        a.look_number,
        a.source,
        a.scope,
        a.observed_at,
        count(r.row_number) as n_rows
    from asked_look as a
    left join observed_row as r on a.look_number = r.look_number and a.observed_at = r.observed_at
    group by a.look_number, a.source, a.scope, a.observed_at
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
    c.look_number,
    c.n_rows,
    g.n_rows as n_rows_before
from counted as c
asof left join good as g
    on c.source = g.source and c.scope = g.scope and c.observed_at > g.observed_at
