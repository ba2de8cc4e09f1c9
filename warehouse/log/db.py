"""The log: the writer's file with its lock, or a lake that several write; migrations and macros of both.

Readers have the published file.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.frames import shown
from warehouse.lake import ducklake
from warehouse.lake.place import Place
from warehouse.reference import instance_types
from warehouse.schema.tables import ROWS_OF_A_THREAD as ROWS_OF_A_THREAD
from warehouse.schema.tables import STORED_TABLES, ddl
from warehouse.schema.tables import quote as quote

if TYPE_CHECKING:
    import polars as pl

MIGRATIONS = files("warehouse") / "migrations"
SQL = files("warehouse") / "sql"
DECLARED = "0000_declared.sql"
"""What `meta.migration` has of a log whose tables were made as they are declared. Versions before refuse such a log."""
OLDEST = "0007_collections.sql"
"""What it has of a log of the oldest shape that the migrations start from."""

FILE_NAME = "build.duckdb"
LOCK = "writer.lock"
PLAIN = {bool, bytes, date, datetime, float, int, str}
"""Types whose values DuckDB takes as they are; others as text, so that decimals stay exact."""
HOLDER = 80
"""Bytes of the lock that say who holds it; blanks where nobody does."""


@cache
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
    path, deadline = data_dir / LOCK, time.monotonic() + wait_seconds
    with disk.lock_file(path) as file:
        while not disk.try_lock(file):
            if time.monotonic() >= deadline:
                holder = os.pread(file, HOLDER, 0).decode(errors="replace").strip() or "an unknown process"
                hint = "Wait for it to end, or set CHIPLEDGER_WAIT_SECONDS=600"
                raise WriterBusy(f"another run is writing: {holder}", source=str(path), hint=hint)
            time.sleep(0.1)
        holder = f"process {os.getpid()} since {datetime.now(UTC).isoformat(timespec='seconds')}"
        with disk.faults(path):
            os.pwrite(file, holder.ljust(HOLDER).encode(), 0)
        try:
            yield
        finally:
            with suppress(OSError):  # of a disk that fails: what matters is that the lock ends
                os.pwrite(file, b" " * HOLDER, 0)


@contextmanager
def open_build(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open or make the writer's file; the caller holds the lock."""
    try:
        con = duckdb.connect(str(path))
    except duckdb.Error as error:
        if disk.is_fault(error):
            raise
        hint = "`chipledger data rebuild` makes it anew: the landing folder holds all it held"
        if "Could not set lock" in str(error):
            hint = "Another program has it open: end it, or let it query prices.duckdb, and run again"
        raise ChipledgerError(
            "the writer's file cannot be opened",
            source=str(path),
            field="duckdb",
            value=str(error).splitlines()[0],
            hint=hint,
        ) from error
    try:
        _prepare(con)
        yield con
    finally:
        con.close()


def configure(con: duckdb.DuckDBPyConnection) -> None:
    """Set what each connection to the log needs, a second one of the same file, too."""
    con.execute("set timezone = 'UTC'")
    # Of rows not committed yet DuckDB does not know how many there are: it takes them for few, and would compare
    # each with each.
    con.execute("set asof_loop_join_threshold = 0")


def _prepare(con: duckdb.DuckDBPyConnection) -> None:
    configure(con)
    # Freed memory goes back to the system soon, so that a publication does not add to the memory of the load before it.
    con.execute("set allocator_flush_threshold = '16MB'; set allocator_bulk_deallocation_flush_threshold = '16MB'")
    migrate(con)


def migrate(con: duckdb.DuckDBPyConnection) -> None:
    """Apply the migrations that the log lacks, in one transaction, and renew macros, facts and comments.

    A lake is changed where it differs alone, by one process at a time: opening it makes no snapshot.
    """
    shared = ducklake.of(con)
    if shared is None:
        con.execute("create schema if not exists meta")
        con.execute("create table if not exists meta.migration (name VARCHAR, applied_at TIMESTAMP)")
        _reshape(con)
        create_views(con)
        create_macros(con)
        with ducklake.transaction(con):
            load_instance_types(con)
    elif not _is_current(con):
        from warehouse.lake import publication

        with shared.lock("migrate"):
            con.execute("create schema if not exists meta")
            con.execute("create table if not exists meta.migration (name VARCHAR, applied_at TIMESTAMP)")
            con.execute("create table if not exists meta.made (sha256 VARCHAR, made_at TIMESTAMP)")
            con.execute("create table if not exists meta.reserved (last_fetch_no INTEGER)")
            con.execute(publication.TABLE)
            _reshape(con)
            if _made(con) != _to_make():
                with ducklake.transaction(con):
                    create_views(con, is_appended=True)
                    create_macros(con)
                    load_instance_types(con)
                    con.execute("insert into meta.made values (?, ?)", [_to_make(), _now()])


def lacking(con: duckdb.DuckDBPyConnection) -> list[Traversable]:
    """Return the migrations that a log lacks, in order. Raises ChipledgerError where it is newer or too old."""
    done = _done(con)
    steps = sorted((step for step in MIGRATIONS.iterdir() if step.name.endswith(".sql")), key=lambda step: step.name)
    unknown = {name for name in done if name > OLDEST} - {step.name for step in steps}
    if unknown:
        raise ChipledgerError(
            "the writer's file was made by a newer chipledger",
            source="build.duckdb",
            field="migration",
            value=", ".join(sorted(unknown)),
            hint="Update chipledger, or use another data directory",
        )
    if done and done.isdisjoint((DECLARED, OLDEST)):
        message = "the writer's file was made by a chipledger too old to go on from"
        hint = "`chipledger data rebuild` makes it anew: the landing folder holds all it held"
        raise ChipledgerError(message, source="build.duckdb", field="migration", value=max(done), hint=hint)
    return [step for step in steps if step.name not in done]


def _done(con: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in con.execute("select name from meta.migration").fetchall()}


def _reshape(con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of a new log, or apply all migrations that an older one lacks.

    In one transaction: no log is ever without the names that everybody asks.
    """
    if not (steps := lacking(con)):
        return
    is_new = not _done(con)
    texts = [sql("new_log.sql"), *map(ddl, STORED_TABLES)] if is_new else [step.read_text() for step in steps]
    with ducklake.transaction(con):
        for text in texts:
            con.execute(text)
        create_views(con, is_appended=ducklake.of(con) is not None)
        for name in [DECLARED] * is_new + [step.name for step in steps]:
            con.execute("insert into meta.migration values (?, ?)", [name, _now()])


def _is_current(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a lake has the newest shape, macros and facts; nothing is written."""
    there = con.execute(
        "select count(*) from duckdb_tables() where database_name = current_database() and schema_name = 'meta' "
        "and table_name in ('migration', 'made', 'publication', 'reserved')"
    ).fetchone()
    return there == (4,) and not lacking(con) and _made(con) == _to_make()


def _made(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the hash of the macros and facts that a lake holds."""
    row = con.execute("select arg_max(sha256, made_at) from meta.made").fetchone()
    return row[0] if row else None


def _to_make() -> str:
    """Return the hash of the macros and facts of this chipledger."""
    return hashlib.sha256(repr([views(is_appended=True), macros(), instance_types.read_table()]).encode()).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


VIEWS = {"log": ("withdrawn_fetch", "run", "begun_link"), "core": ("price_event", "scope_run", "sighting", "document")}
"""Views of the log's tables by schema; those of core have the names and columns that everybody asks."""
LAST_OF_CHAIN = "qualify row_number() over (partition by offer_no, source order by valid_from desc) = 1"
"""Of the rows of log.price_open those that count in a lake, where they are only appended: replacing a row of a table
conflicts with every insertion by others."""


def create_views(con: duckdb.DuckDBPyConnection, *, is_appended: bool = False) -> None:
    """Create, in the database in use, the views of the tables of `log`; `is_appended` where it is a lake."""
    con.execute("; ".join(views(is_appended=is_appended)))


def views(*, is_appended: bool = False) -> list[str]:
    """Return the statements that make the views of the log's tables."""
    last = f" {LAST_OF_CHAIN}" if is_appended else ""
    found = {f"{schema}.{name}": sql(f"log/{name}.sql") for schema, names in VIEWS.items() for name in names}
    # Of the offers of which not every event is a link of a chain.
    found["log.coverage"] = f"{sql('log/run.sql')} and f.complete and f.status = 'ok'"
    # An inner join of few tells DuckDB that there are few: by a semi join it would hash all fetches for them.
    of_others = "log.begun_link inner join (select distinct offer_no from log.price_other) using (offer_no)"
    found["log.other_event"] = sql("log/price_event.sql").replace("log.begun_link", of_others)
    found = {"log.open_link": f"from log.price_open{last}"} | found | {"log.fetch_cover": sql("chain/fetch_cover.sql")}
    return [f"create or replace view {name} as {text}" for name, text in found.items()]


def runs_of(fetches: str) -> str:
    """Return the SELECT of core.scope_run of the fetches that a SELECT gives."""
    runs = sql("log/run.sql").replace("from log.scope_fetch as f", f"from ({fetches}) as f")
    return sql("log/scope_run.sql").replace("from log.run as f", f"from ({runs}) as f")


def create_macros(con: duckdb.DuckDBPyConnection, *, of_events: bool = False) -> None:
    """Create, in the database in use, price per hour and kind of evidence, and what derives intervals from the log.

    With `of_events` all follow from core.price_event alone, where a database has no tables of `log`.
    """
    con.execute("; ".join(macros(of_events=of_events)))


def macros(*, of_events: bool = False) -> list[str]:
    """Return the statements that make the macros of the log."""
    known_at, events = sql("log/other_known_at.sql"), ("core.price_event", "core.standing_event", "core.price_point")
    found = {"core.price_known_at": known_at, "meta.unsaid": sql("log/unsaid.sql")} | point_macros(*events)
    if not of_events:
        others = known_at.replace("core.price_point(", "log.other_point(").replace("core.scope_run", "log.coverage")
        found |= point_macros("log.other_event", "log.other_standing", "log.other_point")
        found["log.other_known_at"] = others
        found["core.price_known_at"] = f"({sql('log/price_known_at.sql')}) union all from log.other_known_at(moment)"
    tables = [f"create or replace macro {name}(moment) as table {text}" for name, text in sorted(found.items())[::-1]]
    return [sql("hourly_price.sql"), sql("evidence_kind.sql"), *tables]


def point_macros(events: str, standing: str, point: str) -> dict[str, str]:
    """Return by name the SELECTs of those of some events that nothing retracts, and of what they say at a moment."""
    text = sql("log/standing_event.sql").replace("core.price_event", events)
    return {standing: text, point: sql("log/price_point.sql").replace("core.standing_event", standing)}


def create_moment(con: duckdb.DuckDBPyConnection) -> None:
    """Create meta.built_at(), the moment of meta.build, as a constant: by it DuckDB skips old rows, by a join not."""
    ((built_at,),) = con.execute("select built_at from meta.build").fetchall()
    con.execute(f"create or replace macro meta.built_at() as TIMESTAMP '{built_at}'")


def keep(con: duckdb.DuckDBPyConnection) -> None:
    """Commit what is built so far: only of committed rows does DuckDB know how many there are, and plan for them.

    One transaction writes one database: what goes into another needs one of its own.
    """
    con.commit()
    con.begin()


def load_instance_types(con: duckdb.DuckDBPyConnection) -> None:
    """Make core.instance_type equal to the dated table in the package; the caller holds a transaction."""
    rows = instance_types.read_table()
    if con.execute("from core.instance_type").fetchall() != rows:
        con.execute("delete from core.instance_type")
        insert_rows(con, "core.instance_type", rows)


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of text, numbers, times and None into a table, or into columns of one: `table (a, b)`."""
    if len(rows) == 1 and {*map(type, rows[0])} <= {*PLAIN, type(None)}:
        # Of a row, a frame takes three times as long as bound values.
        con.execute(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", list(rows[0]))
    elif rows:
        import polars as pl

        columns = [_column(str(place), values) for place, values in enumerate(zip(*rows, strict=True))]
        with shown(con, "inserted_row", pl.DataFrame(columns)):
            con.execute(f"insert into {table} from inserted_row")


def _column(name: str, values: Sequence[object]) -> "pl.Series":
    """Return the values of a column in their type; as text where they are of several types, or of no plain one."""
    import polars as pl

    types = {type(each) for each in values} - {type(None)}
    if len(types) <= 1 and types <= PLAIN:
        with suppress(OverflowError, TypeError):
            return pl.Series(name, values, pl.Int64 if int in types else None)
    plain = (json.dumps(each, default=str) if isinstance(each, list | tuple | dict) else each for each in values)
    return pl.Series(name, [None if each is None else str(each) for each in plain], pl.String)


@contextmanager
def few_threads(con: duckdb.DuckDBPyConnection, n_rows: int) -> Iterator[None]:
    """Have DuckDB use as many threads as so many rows are worth: with more they cost a half more of the processor."""
    (threads,) = con.execute("select current_setting('threads')").fetchone() or (1,)
    con.execute(f"set threads = {min(threads, 1 + n_rows // ROWS_OF_A_THREAD):d}")
    try:
        yield
    finally:
        con.execute(f"set threads = {threads:d}")


def set_memory_limit(con: duckdb.DuckDBPyConnection, n_bytes: int) -> None:
    """Set how much DuckDB keeps in memory; each time it is set, what is freed goes back to the system."""
    con.execute(f"set memory_limit = '{n_bytes:d} B'")


def resident_memory() -> int:
    """Return the bytes of memory that this process has; 0 where the system does not say it."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def memory_limit(con: duckdb.DuckDBPyConnection, n_bytes: int) -> Iterator[None]:
    """Have DuckDB keep no more in memory: it drops what it can read again, and writes the rest to its own files."""
    (before,) = con.execute("select current_setting('memory_limit')").fetchone() or ("",)
    try:
        set_memory_limit(con, n_bytes)  # where too much is in use, it is set and fails
        yield
    finally:
        con.execute(f"set memory_limit = '{before}'")  # by a reset it would go on
