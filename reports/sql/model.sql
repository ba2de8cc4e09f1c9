-- The SELECT of each mart, as it stands in the file: the public tables first, with a question to each.
select
    case when name like 'mart.%' then name else 'int.' || name end as model_name,
    row_meaning,
    sql,
    example
from meta.model
order by name not like 'mart.%', name
