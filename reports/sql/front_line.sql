-- The lines of the front page's chart, of one chip.
select
    line_name,
    begins_at,
    ends_at,
    price_per_accelerator_hour_usd
from int.front_line
where accelerator_name = $chip
order by line_name, begins_at
