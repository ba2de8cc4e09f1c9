"""Asking the published file: one SELECT of reports/sql/ gives rows as mappings, or a frame."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from warehouse.schema.tables import ROWS_OF_A_THREAD

if TYPE_CHECKING:
    from datetime import datetime

    import polars as pl

SQL = files("reports") / "sql"

Row = Mapping[str, Any]


def select(name: str) -> str:
    """Return the SELECT in a file of reports/sql/."""
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def ask(con: duckdb.DuckDBPyConnection, name: str, **values: object) -> list[Row]:
    """Return the rows of a SELECT, by column."""
    text = select(name)
    return rows(con.execute(text, named(text, values)))


def named(text: str, values: Mapping[str, object]) -> dict[str, object] | None:
    """Return those of the values that a SELECT names."""
    names = {*re.findall(r"\$(\w+)", text)}
    return {key: value for key, value in values.items() if key in names} or None


def rows(cursor: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return what was asked for last, by column."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def frame(con: duckdb.DuckDBPyConnection, name: str, **values: object) -> "pl.DataFrame":
    """Return the frame of a SELECT."""
    return framed(con, select(name), values)


def framed(con: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object] = {}) -> "pl.DataFrame":
    """Return the frame of a text of SQL. DuckDB's own frames would load pyarrow."""
    import polars as pl

    return pl.DataFrame(con.sql(text, params=named(text, values) or []))  # without values it would be planned twice


class Published:
    """A published file that is open for its pages: what several of them query is queried once.

    `build` is when it was made, naive and UTC, and by which version.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.build: tuple[datetime, str] = con.execute("select built_at, version from meta.build").fetchall()[0]
        self._found: dict[str, list[Row]] = {}

    def ask(self, name: str, **values: object) -> list[Row]:
        """Return the rows of a SELECT of reports/sql/."""
        return self.query(select(name), **values)

    def of_chips(self, mart: str, chips: Iterable[str | None]) -> list[Row]:
        """Return the rows of a mart of the schema int that are of some chips, in one order."""
        return self.query(f"from int.{mart} where list_contains($chips, accelerator_name) order by all", chips=[*chips])

    def query(self, text: str, **values: object) -> list[Row]:
        """Return the rows of a text of SQL."""
        key = f"{text} {values}"
        if key not in self._found:
            self._found[key] = rows(self.con.execute(text, values or None))
        return self._found[key]


@contextmanager
def opened(file: Path) -> Iterator[Published]:
    """Open a published file for reading, and close it again."""
    with duckdb.connect(str(file), read_only=True) as con:
        fit_threads(con)
        yield Published(con)


def marts(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the marts of a published file, stored ones and views; files of older versions lack some."""
    where = "table_schema = 'int' and table_catalog = current_database()"
    found = con.execute(f"select table_name from information_schema.tables where {where}").fetchall()
    return {name for (name,) in found}


def truth_checks(con: duckdb.DuckDBPyConnection) -> list[Row] | None:
    """Return the truth checks of a published file, those that differ first; None where it has none."""
    return ask(con, "truth") if "truth_check" in marts(con) else None


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
