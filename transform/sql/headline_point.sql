-- The one operating point that a front page speaks of: of int.model_point the first with three chips or more.
select * exclude (point_rank) -- noqa: AM04
from int.model_point
where task = 'serving' and n_chips >= 3
order by point_rank
limit 1
