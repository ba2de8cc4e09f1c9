-- AWS's price of each chip in each region on demand, and of the same type Reserved: int.aws_chip_price.
select
    p.*, -- noqa: AM04
    p.table_cell as cell,
    s.kind
from int.aws_chip_price as p
inner join core.source as s on p.source = s.source
order by p.accelerator_name, p.region_id, p.table_cell
