-- The prices of the front page, of the chips of $chips.
select * -- noqa: AM04
from int.front_cell
where accelerator_name in (select unnest($chips))
order by accelerator_name, cell
