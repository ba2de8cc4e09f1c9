"""What everything in a published file means: a COMMENT on each table and column, and the same words as a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import duckdb

from warehouse.errors import ChipledgerError
from warehouse.log.db import insert_rows, quote
from warehouse.schema.columns import Column, columns, focus_columns
from warehouse.schema.tables import DERIVED_TABLES, MOVED, REFERENCE_TABLES, TABLES


class Named(Protocol):
    """What has a name, and rows of which one thing can be said."""

    @property
    def name(self) -> str: ...
    @property
    def row(self) -> str: ...


class Model(Named, Protocol):
    """What publishing needs of a mart: its name, what a row is, its SELECT, and whether to keep its rows.

    `amended` is the SELECT that says what else has to be made again, None where nothing does.
    """

    @property
    def schema(self) -> str: ...
    @property
    def qualified(self) -> str: ...
    @property
    def is_table(self) -> bool: ...
    @property
    def sql(self) -> str: ...
    @property
    def example(self) -> str | None: ...
    @property
    def amended(self) -> str | None: ...


@dataclass(frozen=True)
class ComputedTable:
    """A mart that no SELECT makes: its name, what a row is, marts it reads, columns, and rows from a connection.

    `prepare` makes in a frame what rows of all its files need.
    """

    name: str
    row: str
    reads: Sequence[str]
    columns: Sequence[str]
    rows: Callable[[duckdb.DuckDBPyConnection], list[tuple[object, ...]]]
    prepare: Callable[[duckdb.DuckDBPyConnection], None] = lambda _: None


class Macro(Named, Protocol):
    """What publishing needs of a mart that takes parameters: name, what a row is, parameters with examples, SELECT."""

    @property
    def parameters(self) -> Mapping[str, str]: ...
    @property
    def sql(self) -> str: ...


DEPRECATED = "Deprecated"
"""How the comment begins of a name that stays for one release only."""

DICTIONARY = {
    "table_schema": "Schema of the table or view",
    "table_name": "Name of the table or view",
    "column_name": "Name of the column",
    "data_type": "DuckDB type of the column",
    "meaning": "What it holds",
    "unit": "Unit of its values; NULL where it has none",
}
"""Columns of mart.data_dictionary, all text, with their comments."""


def describe(
    con: duckdb.DuckDBPyConnection,
    marts: Sequence[Model],
    computed: Sequence[ComputedTable],
    public: Sequence[Model],
    macros: Sequence[Macro],
) -> None:
    """Put a COMMENT on every table, view, macro and column, and the same words into mart.data_dictionary.

    Deprecated names have a comment already, and no place in the dictionary.
    """
    rows = {
        MOVED.get(table.qualified, table.qualified): table.row
        for table in (*TABLES, *REFERENCE_TABLES, *DERIVED_TABLES)
    }
    rows |= {f"int.{model.name}": model.row for model in computed}
    rows |= {f"{model.schema}.{model.name}": model.row for model in (*marts, *public)}
    rows["core.market"] = "One provider that is a marketplace"
    rows["core.market_offer"] = "One offer that has a market's price, and none of a list"
    rows["core.first_look"] = "When one source first fetched one scope"
    rows["core.silent_import"] = "One import that has changes alone, and the day of its last row"
    rows["log.chain_price"] = "One price of one offer from one moment to another, as one source's chain tells it"
    rows["log.chain_link"] = rows["log.sku_price"] = rows["log.price_link"] = rows["log.chain_price"]
    for name in ("core.sku_price", "int.price_history", "int.price_move"):
        rows[f"core.{name.partition('.')[2]}_other"] = f"One row of {name} that no link of log.chain_price gives"
    rows["ref.current_instance_type"] = "The fact of ref.instance_type in force when the file was built"
    described = con.execute(
        "select c.schema_name, c.table_name, c.column_name, c.data_type, v.view_name is not null as is_view "
        "from duckdb_columns() as c left join duckdb_views() as v on v.database_name = c.database_name "
        "and v.schema_name = c.schema_name and v.view_name = c.table_name "
        "where c.database_name = 'published' and c.schema_name in ('core', 'focus', 'int', 'log', 'mart', 'ref') "
        f"and coalesce(not starts_with(v.comment, '{DEPRECATED}'), true) "
        "order by c.schema_name, c.table_name, c.column_index"
    ).fetchall()
    described += [
        ("mart", macro.name, name, data_type, None)
        for macro in macros
        for name, data_type, *_ in con.execute(
            f"describe select * from mart.{macro.name}({', '.join(macro.parameters.values())})"
        ).fetchall()
    ]
    comments, dictionary = dictionary_of(described, rows, columns() | focus_columns())
    comments += [f"comment on macro table mart.{macro.name} is {quote(macro.row)}" for macro in macros]
    comments.append("comment on macro core.hourly_price is 'What a unit costs per hour, and of a fee its share'")
    comments.append("comment on macro core.evidence_kind is 'Whether a document is the provider''s own answer'")
    write_dictionary(con, "mart", comments, dictionary)


ColumnMade = tuple[str, str, str, str, bool | None]
"""A column that was made: schema, table, name, DuckDB type, and whether of a view (None: of a macro)."""


def dictionary_of(
    made: Iterable[ColumnMade], rows: Mapping[str, str], columns: Mapping[str, Column]
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return the COMMENT statements for columns and their tables, and the rows of their data dictionary.

    `rows` says by qualified name what a row of each table is. Raises ChipledgerError for a column without an entry.
    """
    left = dict(rows)
    comments = []
    dictionary: list[tuple[object, ...]] = []
    for schema, table, name, data_type, is_view in made:
        column = columns.get(name)
        if column is None:
            message = "a column without an entry in warehouse/schema/columns.csv"
            raise ChipledgerError(message, source=f"{schema}.{table}", field="column", value=name)
        if is_view is not None:  # DuckDB has no comments on the columns of a macro
            comments.append(f'comment on column {schema}.{table}."{name}" is {quote(column.comment)}')
        row = left.pop(f"{schema}.{table}", None)
        if row:
            comments.append(f"comment on {'view' if is_view else 'table'} {schema}.{table} is {quote(row)}")
        dictionary.append((schema, table, name, data_type, column.meaning, column.unit or None))
    return comments, dictionary


def write_dictionary(
    con: duckdb.DuckDBPyConnection, schema: str, comments: list[str], dictionary: list[tuple[object, ...]]
) -> None:
    """Make the table data_dictionary in a schema, and put all comments in place."""
    table = f"{schema}.data_dictionary"
    con.execute(f"create table {table} ({', '.join(f'{name} VARCHAR' for name in DICTIONARY)})")
    own = [f"comment on table {table} is 'Every column of this file: its type, meaning and unit'"]
    own += [f"comment on column {table}.{name} is {quote(meaning)}" for name, meaning in DICTIONARY.items()]
    con.execute(";".join((*own, *comments)))
    insert_rows(con, table, dictionary)
