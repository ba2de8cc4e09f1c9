"""Reading published files in tests: all content of core, int and mart as plain values."""

from pathlib import Path

import duckdb

Content = dict[str, list[str]]


def query(file: Path, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a query on a published file."""
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(sql).fetchall()


def content(file: Path, *, without: tuple[str, ...] = ()) -> Content:
    """Return the rows of every table and view of core, int and mart as sorted texts, leaving columns out."""
    with duckdb.connect(str(file), read_only=True) as con:
        names = con.execute(
            "select distinct schema_name || '.' || table_name from duckdb_columns() "
            "where schema_name in ('core', 'ref', 'int', 'mart', 'focus') "
            "and database_name = current_database() order by all"
        ).fetchall()
        return {name: _rows(con, name, without) for (name,) in names}


def _rows(con: duckdb.DuckDBPyConnection, table: str, without: tuple[str, ...]) -> list[str]:
    relation = con.execute(f"from {table}")
    kept = [i for i, column in enumerate(relation.description or ()) if column[0] not in without]
    return sorted(repr([line[i] for i in kept]) for line in relation.fetchall())
