-- What the log says so far of the offers that were observed anew.
select * -- noqa: AM04
from touched_point(TIMESTAMP '9999-01-01')
