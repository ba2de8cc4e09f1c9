"""The writer's file: its lock, its migrations, its macros. One process writes; readers have the published file."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import duckdb

from warehouse import disk, instance_types
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.schemas import TABLES

MIGRATIONS = files("warehouse") / "migrations"
SQL = files("warehouse") / "sql"

FILE_NAME = "build.duckdb"
LOCK = "writer.lock"


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
            hint="`chipledger rebuild` makes it anew: the landing folder holds all it held",
        ) from error
    try:
        con.execute("set timezone = 'UTC'")
        # Of rows not committed yet DuckDB does not know how many there are: it takes them for few, and would compare
        # each with each.
        con.execute("set asof_loop_join_threshold = 0")
        migrate(con)
        yield con
    finally:
        con.close()


def migrate(con: duckdb.DuckDBPyConnection) -> None:
    """Apply the migrations that the file lacks, each in its own transaction, and renew macros, facts and comments."""
    con.execute("create schema if not exists meta")
    con.execute("create table if not exists meta.migration (name VARCHAR, applied_at TIMESTAMP)")
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
    for step in steps:
        if step.name in done:
            continue
        con.begin()
        try:
            con.execute(step.read_text())
            con.execute("insert into meta.migration values (?, ?)", [step.name, datetime.now(UTC).replace(tzinfo=None)])
            con.commit()
        except BaseException:
            con.rollback()
            raise
    create_macros(con)
    load_instance_types(con)


def create_macros(con: duckdb.DuckDBPyConnection) -> None:
    """Create, in the database in use, the table macros that derive points and intervals from the log."""
    for name in ("price_point", "price_known_at"):
        con.execute(f"create or replace macro core.{name}(moment) as table {sql(name + '.sql')}")


def load_instance_types(con: duckdb.DuckDBPyConnection) -> None:
    """Make core.instance_type equal to the dated table in the package."""
    rows = instance_types.read_table()
    con.begin()
    con.execute("delete from core.instance_type")
    insert_rows(con, "core.instance_type", rows)
    con.commit()


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of text, numbers, times and None into a table, or into columns of one: `table (a, b)`.

    They pass as one JSON text: duckdb's executemany looks for optional packages with every value, 0.2 ms each.
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
    deadline = datetime.now(UTC).timestamp() + wait_seconds
    with path.open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if datetime.now(UTC).timestamp() >= deadline:
                    file.seek(0)
                    holder = file.read().strip() or "an unknown process"
                    raise WriterBusy(
                        f"another run is writing: {holder}",
                        source=str(path),
                        hint="Wait for it to end, or pass --wait SECONDS",
                    ) from None
                time.sleep(0.1)
        file.truncate(0)
        file.write(f"process {os.getpid()} since {datetime.now(UTC).isoformat(timespec='seconds')}\n")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)
