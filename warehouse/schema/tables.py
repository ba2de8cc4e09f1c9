"""The tables of the warehouse, as `tables.csv` declares them: schema, name, kind, what a row is, columns in order.

Kinds: `log` tables of the writer's file, in order of creation; `fact` tables of it, which say what documents state
next to prices (append-only: a fact is written again only when it differs from the last one); `reference` tables of the
published file, read from the package's data; `derived` tables and views of it, which follow from the log by a pure
function. Columns marked * say what a row is
about, its key; types and meanings are in `columns.csv`. DDL checks,
COMMENTs, the data dictionary and the row gate are derived from both.
"""

import csv
import io
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from warehouse.schema.columns import columns

if TYPE_CHECKING:
    import polars as pl


class Table(NamedTuple):
    """One table or view: schema, name, kind, what a row is, its column names in order, and those of its key."""

    schema: str
    name: str
    kind: str
    row: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def qualified(self) -> str:
        """Return schema and name joined by a dot."""
        return f"{self.schema}.{self.name}"


def _read() -> tuple[Table, ...]:
    text = (files("warehouse.schema") / "tables.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text), strict=True))[1:]
    return tuple(
        Table(
            *(schema, name, kind, row),
            columns=tuple(each.rstrip("*") for each in names.split()),
            key=tuple(each[:-1] for each in names.split() if each.endswith("*")),
        )
        for schema, name, kind, row, names in rows
    )


_ALL = _read()
FACT_TABLES = tuple(table for table in _ALL if table.kind == "fact")
STORED_TABLES = (*(table for table in _ALL if table.kind in ("log", "stored")), *FACT_TABLES)
"""Tables of the writer's file."""
TABLES = (*STORED_TABLES, *(table for table in _ALL if table.kind == "view"))
"""Those, and the views of them."""
REFERENCE_TABLES = tuple(table for table in _ALL if table.kind == "reference")
DERIVED_TABLES = tuple(table for table in _ALL if table.kind == "derived")

ROWS_OF_A_THREAD = 122_880
"""DuckDB's row group, the least that it gives a thread."""

SCHEMAS = ("log", "core", "ref", "meta", "int", "mart", "focus")
"""Of the published file: the log as it is stored, the log as it reads and what follows from it, reference tables, how
it was built, inner tables, public tables, and the view of FOCUS."""
MOVED = {
    "core.instance_type": "ref.instance_type",
    "core.current_instance_type": "ref.current_instance_type",
    "int.truth_rule": "ref.truth_rule",
    "mart.truth_rule": "ref.truth_rule",
} | {
    f"core.{table.name}": table.qualified
    for table in _ALL
    if table.schema == "ref" and table.name not in ("price_band", "region", "truth_rule")
}
"""Names that the published file had before, with those of now: deprecated views for one release."""

IDENTITY = next(table.key for table in TABLES if table.name == "offer")
"""What makes a price the same price over time, whoever reports it.

`accelerator_label` and `accelerator_count` are part of it where the chip itself is sold, or where nothing but the
provider's words says which chips its machine has; AWS's instance types have theirs in ref.instance_type. The label is
what the provider wrote: what we read in it may improve without making another price of it.
"""
OBSERVATION = (*IDENTITY, "sku_id", "sku_price_id", "unit_price", "upfront_price")
"""Columns of the frame that a source's `parse` returns. Amounts are the document's own text until the row gate."""


def observation_schema() -> "dict[str, type[pl.DataType]]":
    """Return the types of the columns OBSERVATION before the row gate."""
    # Imported here: `chipledger --help` must not wait for polars.
    import polars as pl

    return {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}


def table_named(qualified: str) -> Table:
    """Return one table. Raises KeyError."""
    return {table.qualified: table for table in _ALL}[qualified]


def ddl(table: Table, *packed: str) -> str:
    """Return the statement that creates a table; `packed` are columns of long texts that are much alike."""
    how = dict.fromkeys(packed, " using compression zstd")
    shape = ", ".join(f"{name} {columns()[name].type}{how.get(name, '')}" for name in table.columns)
    return f"create table {table.qualified} ({shape})"


def quote(text: str) -> str:
    """Return a text of our own as an SQL literal (COMMENT takes no bound values)."""
    return "'" + text.replace("'", "''") + "'"
