"""The log: the writer's file with its lock, or a lake that several write; migrations and macros of both.

Readers have the published file.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import duckdb

from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.lake import ducklake
from warehouse.lake.place import Place
from warehouse.reference import instance_types
from warehouse.schema.tables import TABLES

MIGRATIONS = files("warehouse") / "migrations"
SQL = files("warehouse") / "sql"

FILE_NAME = "build.duckdb"
LOCK = "writer.lock"
HOLDER = 80
"""Bytes of the lock that say who holds it; blanks where nobody does."""


def sql(name: str) -> str:
    """Return the text of one of the package's SQL files."""
    return (SQL / name).read_text()


@contextmanager
def writer(data_dir: Path, *, wait_seconds: float = 0.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """Hold the writer's lock and yield a connection to `build.duckdb`, migrated to the newest shape.

    Raises WriterBusy, naming the holder, where another process has the lock.
    """
    with locked(data_dir, wait_seconds=wait_seconds), open_build(data_dir / FILE_NAME) as con:
        yield con


@contextmanager
def open_log(place: Place, *, wait_seconds: float = 0.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the log of a place, migrated: a file, under its writer's lock, or a lake.

    Of a lake, `lake.of` the connection has the locks. Raises WriterBusy where another process writes the file.
    """
    if not place.is_shared:
        with writer(place.data_dir, wait_seconds=wait_seconds) as con:
            yield con
        return
    with ducklake.connected(place) as con:
        _prepare(con)
        yield con


@contextmanager
def locked(data_dir: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the writer's lock of a data directory, which is made where it does not exist. Raises WriterBusy."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with _lock(data_dir / LOCK, wait_seconds):
        yield


@contextmanager
def open_build(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open or make the writer's file; the caller holds the lock."""
    try:
        con = duckdb.connect(str(path))
    except duckdb.Error as error:
        if disk.is_fault(error):
            raise
        raise ChipledgerError(
            "the writer's file cannot be opened",
            source=str(path),
            field="duckdb",
            value=str(error).splitlines()[0],
            hint="`chipledger data rebuild` makes it anew: the landing folder holds all it held",
        ) from error
    try:
        _prepare(con)
        yield con
    finally:
        con.close()


def _prepare(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("set timezone = 'UTC'")
    # Of rows not committed yet DuckDB does not know how many there are: it takes them for few, and would compare
    # each with each.
    con.execute("set asof_loop_join_threshold = 0")
    migrate(con)


def migrate(con: duckdb.DuckDBPyConnection) -> None:
    """Apply the migrations that the log lacks, each in its own transaction, and renew macros, facts and comments.

    A lake is changed where it differs alone, by one process at a time: opening it makes no snapshot.
    """
    shared = ducklake.of(con)
    if shared is None:
        con.execute("create schema if not exists meta")
        con.execute("create table if not exists meta.migration (name VARCHAR, applied_at TIMESTAMP)")
        _apply(con, _steps(con))
        create_macros(con)
        with ducklake.transaction(con):
            load_instance_types(con)
    elif not _is_current(con):
        from warehouse.lake import publication

        with shared.lock("migrate"):
            con.execute("create schema if not exists meta")
            con.execute("create table if not exists meta.migration (name VARCHAR, applied_at TIMESTAMP)")
            con.execute("create table if not exists meta.made (sha256 VARCHAR, made_at TIMESTAMP)")
            con.execute(publication.TABLE)
            _apply(con, _steps(con))
            if _made(con) != _to_make():
                with ducklake.transaction(con):
                    create_macros(con)
                    load_instance_types(con)
                    con.execute("insert into meta.made values (?, ?)", [_to_make(), _now()])


def _steps(con: duckdb.DuckDBPyConnection) -> list[Traversable]:
    """Return the migrations that the log lacks, in order. Raises ChipledgerError where it has some of another day."""
    done = {row[0] for row in con.execute("select name from meta.migration").fetchall()}
    steps = sorted((step for step in MIGRATIONS.iterdir() if step.name.endswith(".sql")), key=lambda step: step.name)
    unknown = done - {step.name for step in steps}
    if unknown:
        raise ChipledgerError(
            "the writer's file was made by a newer chipledger",
            source="build.duckdb",
            field="migration",
            value=", ".join(sorted(unknown)),
            hint="Update chipledger, or use another data directory",
        )
    return [step for step in steps if step.name not in done]


def _apply(con: duckdb.DuckDBPyConnection, steps: Sequence[Traversable]) -> None:
    for step in steps:
        with ducklake.transaction(con):
            con.execute(step.read_text())
            con.execute("insert into meta.migration values (?, ?)", [step.name, _now()])


def _is_current(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a lake has the newest shape, macros and facts; nothing is written."""
    there = con.execute(
        "select count(*) from duckdb_tables() where database_name = current_database() and schema_name = 'meta' "
        "and table_name in ('migration', 'made', 'publication')"
    ).fetchone()
    return there == (3,) and not _steps(con) and _made(con) == _to_make()


def _made(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the hash of the macros and facts that a lake holds."""
    row = con.execute("select arg_max(sha256, made_at) from meta.made").fetchone()
    return row[0] if row else None


def _to_make() -> str:
    """Return the hash of the macros and facts of this chipledger."""
    import hashlib

    return hashlib.sha256(repr([macros(), instance_types.read_table()]).encode()).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def create_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create, in the database in use, the table macros that derive points and intervals from the log."""
    for statement in macros():
        con.execute(statement)


def macros() -> list[str]:
    """Return the statements that make the table macros of the log."""
    names = ("price_point", "price_known_at")
    return [f"create or replace macro core.{name}(moment) as table {sql(name + '.sql')}" for name in names]


def keep(con: duckdb.DuckDBPyConnection) -> None:
    """Commit what is built so far: only of committed rows does DuckDB know how many there are, and plan for them.

    One transaction writes one database: what goes into another needs one of its own.
    """
    con.commit()
    con.begin()


def load_instance_types(con: duckdb.DuckDBPyConnection) -> None:
    """Make core.instance_type equal to the dated table in the package; the caller holds a transaction."""
    con.execute("delete from core.instance_type")
    insert_rows(con, "core.instance_type", instance_types.read_table())


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of text, numbers, times and None into a table, or into columns of one: `table (a, b)`.

    They pass as one JSON text: duckdb's executemany tries to import optional packages with every value, 0.2 ms each.
    """
    if rows:
        values = ", ".join(f"r->>{place}" for place in range(len(rows[0])))
        con.execute(
            f"insert into {table} select {values} from (select unnest(from_json(?, '[\"JSON\"]')) as r)",
            [json.dumps(rows, default=str, ensure_ascii=False)],
        )


def quote(text: str) -> str:
    """Return a text of our own as an SQL literal (COMMENT takes no bound values)."""
    return "'" + text.replace("'", "''") + "'"


def declared_tables() -> dict[str, tuple[str, ...]]:
    """Return the columns that each table of the writer's file must have, by qualified name."""
    return {table.qualified: table.columns for table in TABLES}


@contextmanager
def _lock(path: Path, wait_seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + wait_seconds
    with disk.lock_file(path) as file:
        while not disk.try_lock(file):
            if time.monotonic() >= deadline:
                holder = os.pread(file, HOLDER, 0).decode(errors="replace").strip() or "an unknown process"
                hint = "Wait for it to end, or pass --wait SECONDS"
                raise WriterBusy(f"another run is writing: {holder}", source=str(path), hint=hint)
            time.sleep(0.1)
        holder = f"process {os.getpid()} since {datetime.now(UTC).isoformat(timespec='seconds')}"
        os.pwrite(file, holder.ljust(HOLDER).encode(), 0)
        try:
            yield
        finally:
            with suppress(OSError):  # of a disk that fails: what matters is that the lock ends
                os.pwrite(file, b" " * HOLDER, 0)
