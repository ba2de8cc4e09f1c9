-- What has no cost, and why, the most first.
select
    left_out_kind,
    reason,
    n_left_out
from int.cost_left_out
order by left_out_kind desc, n_left_out desc, reason asc
