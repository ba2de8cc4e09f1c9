-- What each way to buy one AWS machine costs and saves, of the chips of $chips.
select * -- noqa: AM04
from int.option_saving
where accelerator_name in (select unnest($chips))
order by accelerator_name, way_rank
