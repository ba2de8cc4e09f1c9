-- What would change the bill of one chip.
select * -- noqa: AM04
from int.front_bill
where accelerator_name = $chip
