-- What a million output tokens costs at int.headline_point on each chip: on demand, under the best plan of a year, and
-- on spot, at AWS and elsewhere: int.model_token_cost of its model.
select t.* exclude (t.model_name, t.point_rank, t.option_rank) -- noqa: AM04
from int.model_token_cost as t
semi join int.headline_point as p on t.model_name = p.model_name
where t.option_rank = 1 and t.option_kind in ('on_demand', 'one_year', 'spot')
