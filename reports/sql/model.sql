-- The SELECT of each mart, as it stands in the file.
select
    name,
    row_meaning,
    sql
from meta.model
order by name
