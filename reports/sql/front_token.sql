-- What a million output tokens costs at the headline's point on the chips of $chips, or why it is not known.
select t.* -- noqa: AM04
from int.headline_token_cost as t
inner join int.front_chip as c on t.accelerator_name = c.accelerator_name and t.place = c.token_place
where t.accelerator_name in (select unnest($chips))
order by t.accelerator_name, t.option_kind
