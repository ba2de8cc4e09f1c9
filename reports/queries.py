"""Asking the published file: one SELECT of reports/sql/ gives rows as mappings."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb

SQL = files("reports") / "sql"

Row = Mapping[str, Any]


def ask(con: duckdb.DuckDBPyConnection, name: str, **values: object) -> list[Row]:
    """Return the rows of the SELECT in a file of reports/sql/, by column."""
    cursor = con.execute((SQL / f"{name}.sql").read_text(encoding="utf-8"), values or None)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def has_mart(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Return whether a published file has a mart that is kept as a table; those of older versions lack some."""
    found = con.execute(
        "select 1 from duckdb_tables() where schema_name = 'int' and table_name = ? "
        "and database_name = current_database()",
        [name],
    ).fetchone()
    return found is not None


def all_of(file: Path, name: str) -> list[Row]:
    """Return the rows of a SELECT from a published file, which is opened read-only and closed again."""
    with duckdb.connect(str(file), read_only=True) as con:
        return ask(con, name)
