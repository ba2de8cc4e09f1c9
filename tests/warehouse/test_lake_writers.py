"""Several processes that write one lake at once: nothing is lost, nothing stands twice, and locks die with them."""

import dataclasses
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import lake_writer
import psycopg
import pytest
from looks import day, look, row

from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.lake import ducklake
from warehouse.lake.ducklake import FileLocks, Locks, PostgresLocks
from warehouse.lake.place import Place, place
from warehouse.log import content, db
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.log.shared_rows import append_documents

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from warehouse.lake.ducklake import FileLocks, PostgresLocks
from warehouse.lake.place import place
where = place(Path(sys.argv[1]), url=sys.argv[2], data_path=sys.argv[1], schema=sys.argv[3])
with (PostgresLocks if where.is_postgres else FileLocks)(where).lock("x"):
    print("held", flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.usefixtures("unsigned_extensions")


def started(*arguments: str) -> subprocess.Popen[str]:
    """Start a process and wait for its first line."""
    path = f"{ROOT}:{ROOT / 'tests'}"
    child = subprocess.Popen(
        [sys.executable, *arguments], stdin=-1, stdout=-1, text=True, cwd=ROOT, env={"PYTHONPATH": path, "PATH": ""}
    )
    assert child.stdout is not None
    assert child.stdout.readline() in ("open\n", "held\n")
    return child


def writer(where: Place, number: int, n_rounds: int) -> subprocess.Popen[str]:
    script = str(ROOT / "tests/lake_writer.py")
    data_dir = str(where.data_dir / str(number))
    return started(script, where.url, where.schema, where.data_path, data_dir, str(number), str(n_rounds))


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def held(where: Place) -> dict[str, content.TableHash]:
    """Return what the log says."""
    with db.open_log(where) as con:
        return content.tables(con, ("core",))


def one_after_the_other(where: Place, n_writers: int, n_rounds: int) -> dict[str, content.TableHash]:
    with db.open_log(where) as con:
        for number in range(n_rounds):
            for each in range(n_writers):
                lake_writer.one_round(con, each, number)
        return content.tables(con, ("core",))


def side_by_side(tmp_path: Path, where: Place, *, n_writers: int, n_rounds: int, kill: bool) -> None:
    """Let so many processes load their rounds at once; one may be killed on its way, and another goes on for it."""
    with db.open_log(where):
        pass
    children = [writer(where, number, n_rounds) for number in range(n_writers)]
    try:
        for child in children:
            go(child)
        if kill:
            time.sleep(0.8)
            children[0].send_signal(signal.SIGKILL)
            children[0].wait()
            children[0] = writer(where, 0, n_rounds)
            go(children[0])
        seconds = [float(child.communicate(timeout=600)[0]) for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()
    print(f"{n_writers} writers, {n_rounds} rounds each: {max(seconds):.1f} s")
    assert [child.returncode for child in children] == [0] * n_writers
    found = held(where)
    expected = one_after_the_other(place(tmp_path / "file"), n_writers, n_rounds)
    assert content.differing(found, expected) == []
    assert found["core.offer"].n_rows == n_writers * lake_writer.N_OFFERS + len(lake_writer.SHARED)


def test_two_writers_at_once(tmp_path: Path, lake_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sessions that load at the same time make what one writer of a file makes, a jump that waits among it.

    Files of one import are scopes of their own that have offers in common.
    """

    def slow(locks: PostgresLocks) -> None:
        # Before each commit of shared rows, so that the other surely comes meanwhile.
        time.sleep(0.05)
        check(locks)

    check = PostgresLocks.check
    monkeypatch.setattr(PostgresLocks, "check", slow)
    both = threading.Barrier(2, timeout=60)

    def bring(con: duckdb.DuckDBPyConnection, number: int) -> None:
        at, prices = 3 * number, [row("old", str(2 + number)), row(f"old-{number}", "1")]
        file = look(at, *prices, source="import:desk", scope=f"{number}.csv", complete=False, archived=True)
        looks = [*lake_writer.looks(number, 0), file]
        append_documents(con, [lake_writer.documents(one) for one in looks], recorded_at=naive(day(5)))
        load(con, looks, recorded_at=day(5))

    def write(number: int) -> None:
        with db.open_log(lake_place) as con:
            both.wait()
            bring(con, number)

    def jump(con: duckdb.DuckDBPyConnection) -> dict[str, content.TableHash]:
        load(con, [look(5, row("type-0-1", "40"), scope="scope-0", document="a jump")], recorded_at=day(6))
        return content.tables(con, ("core",))

    with db.open_log(lake_place) as con:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(2)))
        found = jump(con)
    with db.open_log(place(tmp_path / "file")) as con:
        for number in range(2):
            bring(con, number)
        expected = jump(con)
    assert content.differing(found, expected) == []
    assert found["core.offer"].n_rows == 2 * lake_writer.N_OFFERS + len(lake_writer.SHARED) + 3
    assert found["core.quarantine"].n_rows == 1


@pytest.mark.prove
def test_two_processes_at_once(tmp_path: Path, lake_place: Place) -> None:
    """What one writer would have made of it."""
    side_by_side(tmp_path, lake_place, n_writers=2, n_rounds=2, kill=False)


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kill", [False, True])
def test_eight_writers_at_once(tmp_path: Path, lake_place: Place, *, kill: bool) -> None:
    """Eight processes, several rounds each; also where one is killed on its way."""
    side_by_side(tmp_path, lake_place, n_writers=8, n_rounds=6, kill=kill)


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_four_writers_of_a_catalogue_in_a_file(tmp_path: Path) -> None:
    """Processes of one machine, with SQLite: one after the other, each waits for its turn."""
    where = place(tmp_path / "data", url=f"ducklake:sqlite:{tmp_path}/catalog.sqlite")
    side_by_side(tmp_path, where, n_writers=4, n_rounds=4, kill=True)


@pytest.fixture(params=["postgres", "sqlite"])
def locked_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "postgres":
        found: Place = request.getfixturevalue("lake_place")
        return found
    return place(tmp_path / "data", url=f"ducklake:sqlite:{tmp_path}/catalog.sqlite")


def test_a_lock_is_one_process_s_and_dies_with_it(locked_place: Place) -> None:
    """Another cannot have it, and is told after its patience; killed, the holder holds nothing."""
    child = started("-c", HOLDER, str(locked_place.data_dir), locked_place.url, locked_place.schema)
    locks: Locks = (PostgresLocks if locked_place.is_postgres else FileLocks)(locked_place)
    try:
        with locks.try_lock("x") as is_held, locks.try_lock("y") as other:
            assert (is_held, other) == (False, True)
        with pytest.raises(WriterBusy, match="another process holds the lock 'x'"), locks.lock("x", wait_seconds=0.05):
            pass
        child.kill()
        child.wait()
        with locks.lock("x", wait_seconds=20), locks.lock("x"), locks.try_lock("x") as again:
            assert again  # by the thread that holds it
    finally:
        child.kill()
        child.wait()
        locks.close()


def test_a_lost_session_is_told(lake_place: Place) -> None:
    """Whoever worked under locks of a session that has ended does not go on: they are somebody else's by now."""
    with db.open_log(lake_place) as con:
        shared = ducklake.of(con)
        assert shared is not None
        ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'chipledger locks'"
        with pytest.raises(ChipledgerError, match=r"session|catalogue"), shared.shared_rows() as apart:
            apart.execute("insert into log.document by name select 1 as document_no, now()::timestamp as recorded_at")
            with psycopg.connect(lake_place.catalogue, autocommit=True) as other:
                other.execute(ended)
        assert con.execute("select count(*) from core.document").fetchall() == [(0,)]

        def work() -> None:
            con.execute("insert into log.document by name select 1 as document_no, now()::timestamp as recorded_at")
            with psycopg.connect(lake_place.catalogue, autocommit=True) as other:
                other.execute(ended)

        with pytest.raises(ChipledgerError, match=r"session|catalogue"):
            ducklake.transacted(con, work, scopes=[("source", "scope")])
        assert con.execute("select count(*) from core.document").fetchall() == [(0,)]


def test_a_lost_catalogue_is_said(lake_place: Place) -> None:
    """Also where DuckDB meets it in the middle, whose errors name no catalogue: as one of ours, with what to do."""
    ended = (
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null"
    )
    told = pytest.raises(ChipledgerError, match=r"the catalogue cannot be reached.*doctor")
    with told, db.open_log(lake_place) as con, ducklake.transaction(con):
        con.execute("select name from meta.migration").fetchall()
        with psycopg.connect(lake_place.catalogue, autocommit=True) as other:
            other.execute(ended)
        con.execute("select count(*) from core.document").fetchall()


def test_what_a_catalogue_refuses_is_said_whole(lake_place: Place) -> None:
    """A database that does not exist is not a lake that is yet to be made; libpq's reason comes whole."""
    name = "none_of_this_name" * 3
    where = dataclasses.replace(lake_place, url=f"{lake_place.url} dbname={name}")
    told = pytest.raises(ChipledgerError, match=f'warehouse cannot be opened: .*database "{name}" does not exist')
    with told, db.open_log(where):
        pass


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (duckdb.Error('Failed to execute query "ROLLBACK":\n'), 'Failed to execute query "ROLLBACK"'),
        (
            duckdb.IOException(
                'IO Error: Unable to connect to Postgres at "user=a password=s3cr3t": connection to server '
                'at "127.0.0.1", port 5432 failed: FATAL:  password authentication failed for user "a"\n'
            ),
            'cannot be reached: FATAL: password authentication failed for user "a"',  # and not with which password
        ),
        (duckdb.HTTPException("HTTP Error: reading 'http://x/y.parquet' (HTTP 503 Service Unavailable)"), "HTTP 503"),
        (
            duckdb.HTTPException("HTTP Error: Request returned HTTP 503 for HTTP PUT to 'http://x/y.parquet'"),
            "HTTP 503",
        ),
        (
            duckdb.HTTPException(
                "HTTP Error: Unable to connect to URL s3://x/y.parquet: Forbidden (HTTP code 403)\n\nX"
            ),
            r"Forbidden \(HTTP code 403\)",
        ),
        (
            duckdb.IOException("IO Error: Could not connect to server error for HTTP GET to 'http://x'"),
            "Could not connect",
        ),
    ],
)
def test_what_does_not_answer_is_said(tmp_path: Path, error: duckdb.Error, why: str) -> None:
    """Catalogue or bucket, as what it is: no damaged file, and no fault of the program."""
    where = place(tmp_path / "data", url=f"ducklake:sqlite:{tmp_path}/catalog.sqlite")
    with (
        pytest.raises(ChipledgerError, match=f"(the bucket refuses it, or|the catalogue) .*{why}.*Run again"),
        ducklake.connected(where),
    ):
        raise error
