"""Loading a journal of several parts: what a killed writer landed is loaded by the next, once, and in its order."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from decimal import Decimal
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import pytest
from kept_data import toy_at
from landing_places import Place
from looks import day
from toy_source import TOY, Toy, installed

from extract.base import Context
from flows.backup import replicas
from flows.collect import ingest, steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.lake.ducklake import FileLocks
from warehouse.lake.place import Place as Warehouse
from warehouse.landing.folder import Landing
from warehouse.landing.journal import lock_of, scope_lock
from warehouse.log import content, db
from warehouse.log.quarantine import listed

Prices = dict[str, str | None]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    return installed(monkeypatch, tmp_path / "data")


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log that nothing is in."""
    with db.open_build(tmp_path / "build.duckdb") as opened:
        yield opened


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[Callable[[], FileLocks]]:
    """Return what makes the locks of one more process."""
    made: list[FileLocks] = []

    def one() -> FileLocks:
        made.append(FileLocks(Warehouse(data_dir=tmp_path, url=f"ducklake:sqlite:{tmp_path}/catalogue.sqlite")))
        return made[-1]

    yield one
    for each in made:
        each.close()


def land(toy: Toy, landing: Landing, at: float, scope: str, prices: Prices) -> None:
    """Fetch a scope on a day, and write the look to the part of a landing."""
    toy.at, toy.world[scope] = at, prices
    one = toy.fetch(Context(web=None, settings={}, now=toy.clock), scope)  # type: ignore[arg-type]
    landing.record_fetch(one, run_id=f"run {at}", recorded_at=day(at))


def loaded(con: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    """Return which looks were loaded, and how many prices each gave."""
    return con.execute("select scope, observed_at, status, n_rows from core.scope_run order by all").fetchall()


def positions(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(con.execute("select part, max(position) from core.journal_position group by part").fetchall())


def writer(toy: Toy, place: Place, locks: FileLocks, told: Connection) -> None:
    """Be a writer that lands two looks in its part, says so, and waits to be killed."""
    with locks.lock(lock_of("w1")):
        for scope in ("a", "b"):
            land(toy, place.landing("w1"), 0, scope, {"p5.48xlarge": "10"})
        told.send("landed")
        signal.pause()


@pytest.mark.parametrize("place", ["folder", pytest.param("bucket", marks=pytest.mark.prove)], indirect=True)
def test_a_killed_writers_looks_are_loaded_by_the_next_once(
    toy: Toy, place: Place, con: duckdb.DuckDBPyConnection, locks: Callable[[], FileLocks]
) -> None:
    """While it lives its part is its own; killed, its looks are loaded by the next writer, and by no one after."""
    heard, told = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=writer, args=(toy, place, locks(), told))
    process.start()
    told.close()  # so that it is heard here, too, where the writer ends without a word
    assert heard.poll(30)
    assert heard.recv() == "landed"
    landing, mine = place.landing("w2"), locks()
    land(toy, landing, 1, "c", {"p4d.24xlarge": "20"})
    alive, _ = ingest.catch_up(con, landing, try_lock=mine.try_lock)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(30)
    killed, _ = ingest.catch_up(con, landing, try_lock=mine.try_lock)
    again, _ = ingest.catch_up(con, place.landing("w3"), try_lock=locks().try_lock)

    assert [(one.scope, one.status) for one in alive] == [("c", "ok")]
    assert [(one.scope, one.status) for one in killed] == [("a", "ok"), ("b", "ok")]
    assert again == []
    assert [(scope, status, n_rows) for scope, _, status, n_rows in loaded(con)] == [
        ("a", "ok", 1), ("b", "ok", 1), ("c", "ok", 1),
    ]  # fmt: skip
    assert positions(con) == {part: max(entry.end for entry in landing.entries(part=part)) for part in ("w1", "w2")}


def test_a_look_at_a_scope_that_somebody_holds_waits(
    toy: Toy, tmp_path: Path, con: duckdb.DuckDBPyConnection, locks: Callable[[], FileLocks]
) -> None:
    """Two never load one scope at once: what the dead writer recorded from there on is loaded the next time.

    Nor beside what a writer landed itself: it would hold scopes of the dead one's while it waits for its own.
    """
    dead, landing = Landing(tmp_path / "landing", part="w1"), Landing(tmp_path / "landing", part="w2")
    for at, scope in enumerate("abc"):
        land(toy, dead, at, scope, {"p5.48xlarge": "10"})
    other, mine = locks(), locks()
    with other.lock(scope_lock(TOY, "b")):
        first, _ = ingest.catch_up(con, landing, try_lock=mine.try_lock)
    land(toy, landing, 3, "d", {"p5.48xlarge": "10"})
    own, second = (ingest.catch_up(con, landing, try_lock=mine.try_lock)[0] for _ in range(2))

    assert [[one.scope for one in each] for each in (first, own, second)] == [["a"], ["d"], ["b", "c"]]
    assert all(status == "ok" for _, _, status, _ in loaded(con))


def test_looks_at_one_scope_in_several_parts_are_loaded_by_time(
    toy: Toy, tmp_path: Path, con: duckdb.DuckDBPyConnection
) -> None:
    """A scope went from writer to writer: its price rises once a day, as in one journal."""
    landings = [Landing(tmp_path / "landing", part=part) for part in ("w2", "", "w1")]
    for at, landing in enumerate(landings):
        land(toy, landing, at, "a", {"p5.48xlarge": str(10 + at)})
    ingest.catch_up(con, landings[1])

    prices = con.execute("select unit_price from core.price_event order by valid_from").fetchall()
    assert [price for (price,) in prices] == [Decimal(10), Decimal(11), Decimal(12)]
    assert set(positions(con)) == {"", "w1", "w2"}


def test_a_part_that_is_gone_is_told(toy: Toy, tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    """Of another writer too: what was loaded of it can no longer be proven from the landing folder."""
    land(toy, Landing(tmp_path / "landing", part="w1"), 0, "a", {"p5.48xlarge": "10"})
    landing = Landing(tmp_path / "landing")
    ingest.catch_up(con, landing)
    (tmp_path / "landing/journal/w1.jsonl").unlink()

    with pytest.raises(ChipledgerError, match="not the one that was loaded"):
        ingest.catch_up(con, landing)


def split(landing: Path, parts: list[str]) -> None:
    """Give a journal's lines to several parts, by turns, each in its order."""
    lines = (landing / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (landing / "journal").mkdir()
    for number, part in enumerate(parts):
        (landing / f"journal/{part}.jsonl").write_bytes(b"".join(lines[number :: len(parts)]))
    (landing / "journal.jsonl").unlink()


def decide(toy: Toy, at: float, gate: str) -> None:
    """Accept what a gate refused, as a person would."""
    toy.at = at
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        (held,) = listed(run.con)
        assert held.gate == gate
        run.decide(held.quarantine_id, "accept")


@pytest.mark.prove
def test_a_rebuild_from_several_parts_gives_the_same_log(tmp_path: Path) -> None:
    """Prices that move, jump and end, a scope that fails, a row and a look accepted: every table is equal."""
    with toy_at(tmp_path / "data") as toy:
        toy.learn(0, a={"p5.48xlarge": "10", "g5.xlarge": "1", "g6.xlarge": "2"}, b={"p2.xlarge": "0.9"})
        toy.learn(40, a={"p5.48xlarge": "11", "g5.xlarge": "1"}, b=None)
        decide(toy, 41, "batch")
        toy.learn(42, a={"p5.48xlarge": "900", "g5.xlarge": "1"}, b={"p2.xlarge": "0.8"})
        decide(toy, 43, "history")
        toy.learn(44, a={"p5.48xlarge": "901", "g5.xlarge": "1"})
        shutil.copytree(toy.data_dir, tmp_path / "parts")
        split(tmp_path / "parts/landing", ["w1", "w2", "w3"])
        made = replicas.rebuild(Settings(data_dir=tmp_path / "parts"), clock=toy.clock)

    assert made.notes == []
    assert (made.differing, made.is_in_use, len(made.before) > 10) == ([], True, True)
    assert content.whole(made.before) == content.whole(made.after)
    assert made.after["core.quarantine"].n_rows == 4
