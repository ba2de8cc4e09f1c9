-- The macros of the file, as its catalogue has them: scalar ones are formulas, table macros are marts with parameters.
-- The file's moment, in meta, is neither.
select
    f.schema_name,
    f.function_name as macro_name,
    f.function_type as kind,
    f.comment as meaning,
    f.parameters,
    f.macro_definition as definition
from duckdb_functions() as f
where
    not f.internal and f.database_name = current_database() and f.schema_name <> 'meta'
    and f.function_type in ('macro', 'table_macro')
order by f.schema_name, f.function_name
