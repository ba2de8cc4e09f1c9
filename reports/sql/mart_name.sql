-- The marts that pages are made of, tables and views.
select table_name as mart_name
from information_schema.tables
where table_schema = 'int' and table_catalog = current_database()
order by table_name
