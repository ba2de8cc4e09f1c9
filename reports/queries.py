"""Asking the published file: one SELECT of reports/sql/ gives rows as mappings, or a frame."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.schema.tables import ROWS_OF_A_THREAD

if TYPE_CHECKING:
    import polars as pl

SQL = files("reports") / "sql"

Row = Mapping[str, Any]


def select(name: str) -> str:
    """Return the SELECT in a file of reports/sql/."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def ask(con: duckdb.DuckDBPyConnection, name: str, **values: object) -> list[Row]:
    """Return the rows of a SELECT, by column."""
    return rows(con.execute(select(name), values or None))


def rows(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return what was asked for last, by column."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def of_chips(con: duckdb.DuckDBPyConnection, mart: str, chips: Iterable[str | None]) -> list[Row]:
    """Return the rows of a mart of the schema int that are of some chips, in one order."""
    return rows(con.execute(f"from int.{mart} where list_contains(?, accelerator_name) order by all", [list(chips)]))


def frame(con: duckdb.DuckDBPyConnection, name: str, **values: object) -> "pl.DataFrame":
    """Return the frame of a SELECT."""
    return framed(con, select(name), values)


def framed(con: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object] | None = None) -> "pl.DataFrame":
    """Return the frame of a text of SQL. DuckDB's own frames would load pyarrow."""
    import polars as pl

    return pl.DataFrame(con.sql(text, params=values or []))  # without values it would be planned twice


def build(con: duckdb.DuckDBPyConnection) -> tuple[datetime, str]:
    """Return when the published file was made, naive and UTC, and by which version."""
    built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
    return built_at, version


def has_mart(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Return whether a published file has a mart, stored or a view; those of older versions lack some."""
    found = con.execute(
        "select 1 from information_schema.tables where table_schema = 'int' and table_name = ? "
        "and table_catalog = current_database()",
        [name],
    ).fetchone()
    return found is not None


def fit_threads(con: duckdb.DuckDBPyConnection, database: str | None = None) -> None:
    """Have DuckDB use a thread for each full row group of the largest table of a database, by default of that in use.

    A SELECT over less is done as soon by one thread, at a sixth less of the processor's time.
    """
    con.execute("reset threads")
    (threads,) = con.execute(
        "select greatest(1, least(current_setting('threads'), coalesce(max(estimated_size), 0) // ?)) "
        "from duckdb_tables() where database_name = coalesce(?, current_database())",
        [ROWS_OF_A_THREAD, database],
    ).fetchall()[0]
    con.execute(f"set threads = {threads:d}")
