"""The writer's file: made from nothing, equal to its declaration, never older than its code, one writer at a time."""

import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from crash import shapes

from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.log import db
from warehouse.schema.columns import columns as declared
from warehouse.schema.tables import TABLES

pytestmark = pytest.mark.usefixtures("migrated_anew")
HOLDER = """
import sys, time
from pathlib import Path
from warehouse.log import db
with db.writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def columns(con: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, str]]]:
    """Return name and type of the columns of every table and view of core and log, in order."""
    rows = con.execute(
        "select schema_name || '.' || table_name, column_name, data_type from duckdb_columns() "
        "where schema_name in ('core', 'log') and database_name = current_database() "
        "order by schema_name, table_name, column_index"
    ).fetchall()
    return {table: [row[1:] for row in rows if row[0] == table] for table, _, _ in rows}


@pytest.mark.parametrize(
    "is_older", [False, pytest.param(True, marks=pytest.mark.of_file("the older log that is shipped is a file"))]
)
def test_the_declaration_equals_the_migrations(tmp_path: Path, *, is_older: bool) -> None:
    """A new log and a migrated one have the tables of warehouse/schema/tables.py: the same columns, types and order."""
    path = tmp_path / "build.duckdb"
    if is_older:
        with duckdb.connect(str(path)) as con:
            shapes.make(con, [])
    with db.open_build(path) as con:
        made = columns(con)
        names = con.execute("select name from meta.migration order by name").fetchall()

    assert names == [(name,) for name in (db.OLDEST if is_older else db.DECLARED, *shapes.migrations())]
    assert made.pop("core.journal_position") == [
        ("position", "BIGINT"), ("recorded_at", "TIMESTAMP"), ("part", "VARCHAR"),
    ]  # fmt: skip
    assert {table.qualified: [(name, declared()[name].type) for name in table.columns] for table in TABLES} == made


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """A migration is applied once."""
    path = tmp_path / "build.duckdb"
    with db.open_build(path) as con:
        first = con.execute("select name, applied_at from meta.migration").fetchall()
    with db.open_build(path) as con:
        assert con.execute("select name, applied_at from meta.migration").fetchall() == first
        n_types = con.execute("select count(*) > 50, count(*) = count(distinct instance_type) from core.instance_type")
        assert n_types.fetchone() == (True, True)


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    """A file with a migration that this version does not have is left alone."""
    path = tmp_path / "build.duckdb"
    with db.open_build(path) as con:
        con.execute("insert into meta.migration values ('9999_later.sql', now()::timestamp)")

    with pytest.raises(ChipledgerError, match="newer chipledger") as caught, db.open_build(path):
        pass
    assert caught.value.value == "9999_later.sql"


@pytest.mark.of_file("the older log is a file")
def test_a_file_before_the_oldest_shape_is_refused(tmp_path: Path) -> None:
    """It is left alone; what makes it anew is named."""
    path = tmp_path / "build.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("create schema meta; create table meta.migration (name VARCHAR, applied_at TIMESTAMP)")
        con.execute("insert into meta.migration values ('0001_initial.sql', now()::TIMESTAMP)")

    with pytest.raises(ChipledgerError, match="too old to go on from") as caught, db.open_build(path):
        pass
    assert (caught.value.value, "data rebuild" in caught.value.hint) == ("0001_initial.sql", True)


@pytest.mark.of_file("a lake has no file of its own")
def test_a_file_that_another_program_has_open_is_not_damaged(tmp_path: Path) -> None:
    """To make it anew would not help: the hint names what does."""
    path = tmp_path / "build.duckdb"
    code = f"import duckdb; con = duckdb.connect({str(path)!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(ChipledgerError, match="cannot be opened") as caught, db.open_build(path):
            pass
        holder.communicate(b"\n")
    assert caught.value.hint.startswith("Another program has it open: end it")


def test_runs_of_some_fetches_ask_no_others() -> None:
    query = db.runs_of("from asked_fetch")
    assert query.count("asked_fetch") == 1
    assert not {"log.run", "log.scope_fetch"} & set(query.split())


@pytest.mark.parametrize(
    ("amounts", "hourly"),
    [
        ("2::DECIMAL(18, 10), null, 1, null", 2),
        ("0.05::DECIMAL(18, 10), null, 1 / 60, null", 3),  # a minute
        ("1460::DECIMAL(18, 10), null, 730, null", 2),  # a month
        ("0.5::DECIMAL(18, 10), 17520::DECIMAL(18, 4), 1, 8760", 2.5),  # partly upfront
        ("2::DECIMAL(18, 10), 0, 1, null", 2),
        ("null, 17520::DECIMAL(18, 4), 1, 8760", None),
    ],
)
def test_a_price_per_hour(amounts: str, hourly: float | None) -> None:
    """Amounts are divided by the hours that they buy, a fee by the hours of its term; of unknown ones it is unknown."""
    with duckdb.connect() as con:
        con.execute(f"create schema core; {db.sql('hourly_price.sql')}")
        (found,) = con.execute(f"select core.hourly_price({amounts})").fetchone() or ()
    assert found == (hourly if hourly is None else pytest.approx(hourly))


def test_few_rows_are_loaded_by_one_thread() -> None:
    """And more by no more than there were, which all that comes after has again, whatever was raised."""
    with duckdb.connect() as con:
        con.execute("set threads = 2")
        for n_rows, threads in ((0, 1), (db.ROWS_OF_A_THREAD - 1, 1), (db.ROWS_OF_A_THREAD, 2), (10**7, 2)):
            with pytest.raises(LookupError), db.few_threads(con, n_rows):
                assert con.sql("select current_setting('threads')").fetchone() == (threads,)
                raise LookupError
            assert con.sql("select current_setting('threads')").fetchone() == (2,)


@pytest.mark.of_file("another file stands where the log should be")
def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    """The error says which file, and that the landing folder holds all of it."""
    path = tmp_path / "build.duckdb"
    path.write_bytes(b"no database" * 500)

    with pytest.raises(ChipledgerError, match="cannot be opened") as caught, db.open_build(path):
        pass
    assert (caught.value.source, "landing folder" in caught.value.hint) == (str(path), True)


def hold(data_dir: Path, seconds: float) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(data_dir), str(seconds)], stdout=-1, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    """It fails at once, and names the process that holds the lock; a killed holder holds nothing."""
    child = hold(tmp_path, 60)
    try:
        started = time.monotonic()
        with (
            pytest.raises(WriterBusy, match=f"process {child.pid} since 20.*set CHIPLEDGER_WAIT_SECONDS"),
            db.writer(tmp_path),
        ):
            pass
        assert time.monotonic() - started < 30  # half of what the other holds it for
    finally:
        child.kill()
        child.wait()
    with db.writer(tmp_path) as con:
        assert con.execute("select count(*) from core.offer").fetchone() == (0,)


def test_a_second_writer_waits_when_told_to(tmp_path: Path) -> None:
    """With wait_seconds it begins as soon as the first has ended, or gives up after that time."""
    child = hold(tmp_path, 1)
    try:
        with pytest.raises(WriterBusy), db.writer(tmp_path, wait_seconds=0.2):
            pass
        with db.writer(tmp_path, wait_seconds=30) as con:
            assert con.execute("select 1").fetchone() == (1,)
        assert child.wait() == 0
    finally:
        child.kill()
        child.wait()
