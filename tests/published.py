"""Reading published files in tests: all content of core, int and mart as plain values."""

from pathlib import Path
from typing import Any, NamedTuple

import duckdb

Content = dict[str, list[str]]


class _Reader(NamedTuple):
    """The file that was read last, as it was then, and a database that has it attached."""

    state: tuple[Path, int, int]
    con: duckdb.DuckDBPyConnection


_LAST: list[_Reader] = []


def query(file: Path, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a query on a published file."""
    return reader(file).execute(sql).fetchall()


def records(file: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query on a published file, by column."""
    return named(reader(file).execute(sql))


def named(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the rows of an answer, by column."""
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def reader(file: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection that reads a published file; it is open until another file is read, or written.

    To open one takes 20 ms, and most tests ask one question of a file that others have asked before.
    """
    found = file.stat()
    state = file.absolute(), found.st_ino, found.st_mtime_ns
    if not _LAST or _LAST[0].state != state:
        forget()
        con = duckdb.connect()
        con.execute(f"attach '{file}' as prices (read_only); use prices")
        _LAST.append(_Reader(state, con))
    return _LAST[0].con


def forget() -> None:
    """Close the file that was read last, which nobody can write while it is open here."""
    while _LAST:
        _LAST.pop().con.close()


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
