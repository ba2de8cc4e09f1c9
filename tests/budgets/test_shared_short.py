"""The load of bench/shared.py in short: a writer, the publisher and a reader; and what it must notice, it notices."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
from few_marts import published_with
from scripts import script

from flows.collect import steps
from warehouse.lake import publication
from warehouse.lake.place import Place
from warehouse.log import db

BENCH = Path(__file__).parents[2] / "bench"
NOTHING = "select 1 where false"
GOOD: dict[str, Any] = {
    "looks_in_log": 1, "lost": 0, "doubled": 0, "not_landed": 0, "told_otherwise": 0, "breaches_at_the_end": []
}  # fmt: skip
LOOK = ["load_0", "scope-0", "2026-01-01T00:00:00+00:00", "ok", 9]
WROTE = ("writer-0", {"at": 1.0, "seconds": 1.0, "looks": [LOOK]})
READ = ("reader-0", {"at": 1.0, "file_ms": 2.0, "breaches": []})
PUBLISHED = ("publisher-0", {"at": 1.0, "published_s": 1.0, "looks": []})

pytestmark = pytest.mark.usefixtures("unsigned_extensions")


@pytest.fixture(scope="module")
def world() -> ModuleType:
    """Return what is collected, and the checks."""
    return script("bench/shared_world.py")


@pytest.fixture(scope="module")
def roles(world: ModuleType) -> ModuleType:
    """Return the roles: the writer, the publisher, a reader."""
    script("bench/soak_roles.py")
    return script("bench/shared_roles.py")


@pytest.fixture(scope="module")
def shared(roles: ModuleType) -> ModuleType:
    """Return the load itself."""
    script("bench/soak.py")
    return script("bench/shared.py")


def times(number: int) -> Callable[[], bool]:
    """Return a function that says so many times to go on."""
    left = iter(range(number))
    return lambda: next(left, None) is not None


def told(out: Path, name: str) -> list[dict[str, Any]]:
    """Return what a process told."""
    return [json.loads(line) for line in (out / f"{name}.jsonl").read_text().splitlines()]


@pytest.mark.prove
def test_a_writer_writes_and_a_reader_reads(
    roles: ModuleType, shared: ModuleType, world: ModuleType, lake_place: Place, tmp_path: Path
) -> None:
    """Two rounds, a publication, a round that was landed and left, one round of a reader of both: all of it holds."""
    table = {"url": lake_place.url, "schema": lake_place.schema, "data_path": lake_place.data_path}
    small = world.World(n_writers=2, n_scopes=2, n_offers=12)
    load = roles.Load(
        out=tmp_path, world=small, warehouse=table | {"landing": str(tmp_path / "landing")}, publish_every_s=0
    )
    load.save()
    load = roles.Load.saved(tmp_path)

    with published_with(least=()):
        roles.write(load, "writer-0", times(2))
        roles.publish(load, "publisher-0", times(1))
    own = small.source(1, lambda: 1)
    with small.in_place(own), steps.open_run(load.settings("writer-1")) as killed:
        killed.collector.fetch_in_threads(killed.plan([own]), killed.land)
    roles.read(load, "reader-1", [(1, "select 1")], times(1))
    heard = shared.Heard(
        [(name, line) for name in ("writer-0", "publisher-0", "reader-1") for line in told(tmp_path, name)]
    )
    ended, left = roles.settled(load, shared.told_looks(heard))
    heard.lines.append(("end", {"at": 0.0, "looks": left}))
    found = shared.summary(heard, {}, ended, [], {"writer-1"})

    assert found["held"], found
    assert (found["looks_landed"], found["looks_in_log"], found["looks_told"]) == (6, 6, 4)
    assert found["rows_in_log"] == sum(
        small.expected(f"load_{writer}", scope, number)[0]
        for writer, number in ((0, 1), (0, 2), (1, 1)) for scope in small.scopes
    )  # fmt: skip
    assert (found["reads_of_files"], found["reads_of_the_log"]) == (1, 1)
    assert found["publications_compared_with_snapshots"] == 1
    assert found["killed_writers_looks_loaded_by"] == {"writer-1": {"end": 2}}

    # What is not so is seen: a publication that tells of another snapshot, a look that is not there, one told twice.
    settings = load.settings("reader-1")
    note = settings.data_dir / publication.HERE
    words = json.loads(note.read_text())
    for file in (note, Path(lake_place.data_path) / "published" / publication.NEWEST):
        file.write_text(json.dumps(words | {"snapshot_id": words["snapshot_id"] - 2}))
    seen: dict[str, Any] = {"breaches": []}
    roles.read_log(load, settings, lake_place, (10**6, 0, 0), seen)
    looks = shared.told_looks(heard)
    again = {key: [1, 1] for key in looks} | {("load_0", "scope-0", datetime(2026, 1, 1)): [1]}  # noqa: DTZ001
    wrong, _ = roles.settled(load, again)

    assert [each.split(" ")[0] for each in seen["breaches"]] == ["log:", "a"], seen
    assert "went back from (1000000, 0, 0)" in seen["breaches"][0]
    assert (wrong["lost"], wrong["doubled"], wrong["told_otherwise"]) == (1, 6, 7)


@pytest.fixture
def log(world: ModuleType) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return the least log in which all holds: one scope's first look, one event of it, one document."""
    with duckdb.connect() as con:
        db.migrate(con)
        con.execute(
            "insert into log.document (document_no, document_sha256, url, recorded_at) values "
            "(1, 'd', 'load:load_0/scope-0/1', '2026-01-01'); "
            "insert into core.offer (offer_no, offer_id) values (1, 1); "
            "insert into log.price_open (offer_no, source, scope, fetch_no, valid_from, recorded_at, unit_price) "
            "values "
            "(1, 'load_0', 'scope-0', 1, '2026-01-01', '2026-01-01', 2); "
            "insert into log.scope_fetch (fetch_no, source, scope, observed_at, complete, status, n_rows, n_refused, "
            "document_no, recorded_at) values "
            "(1, 'load_0', 'scope-0', '2026-01-01', true, 'ok', 1, 0, 1, '2026-01-01')"
        )
        yield con


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (NOTHING, set()),
        ("update log.document set url = 'load:load_0/scope-0/2'", {"a look is missing: load_0 scope-0 has 1 of 2"}),
        ("delete from log.document",
         {"an event has no document", "a look has no document: load_0 scope-0, status ok"}),
        ("delete from core.offer", {"an event has no offer"}),
        ("insert into core.offer select * replace (2 as offer_no) from core.offer", {"an offer stands twice"}),
        ("insert into log.document select * replace (2 as document_no) from log.document", {"a document stands twice"}),
        ("insert into log.scope_fetch select * replace (2 as fetch_no) from log.scope_fetch", {"a look stands twice"}),
        ("update log.scope_fetch set n_rows = 0",
         {"a look is not whole: load_0 scope-0 1, ok, 0 rows of 1, 1 events of 1, 0 refused"}),
        ("update log.scope_fetch set n_refused = 1",
         {"a look is not whole: load_0 scope-0 1, ok, 1 rows of 1, 1 events of 1, 1 refused"}),
        ("delete from log.price_open",
         {"a look is not whole: load_0 scope-0 1, ok, 1 rows of 1, 0 events of 1, 0 refused"}),
        ("insert into log.price_open from log.price_open",
         {"an event stands twice", "an offer has two open intervals from one source",
          "intervals of one offer and source overlap",
          "a look is not whole: load_0 scope-0 1, ok, 1 rows of 1, 2 events of 1, 0 refused"}),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told(
    world: ModuleType, log: duckdb.DuckDBPyConnection, change: str, words: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each breach by its name, and none where all holds."""
    monkeypatch.setattr(world.World, "expected", lambda *asked: (1, 1))
    log.execute(change)

    found = set(world.breaches(log, world.World(n_writers=1), world.IN_LOG))

    assert found == words


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("(1, 's', '2026-01-03', null)", ["an offer has two open intervals from one source",
                                          "intervals of one offer and source overlap"]),
        ("(1, 's', '2025-12-31', '2026-01-02')", ["intervals of one offer and source overlap"]),
        ("(1, 's', '2025-12-31', '2026-01-01')", []),
    ],
)  # fmt: skip
def test_intervals_that_do_not_agree_are_told(world: ModuleType, second: str, words: list[str]) -> None:
    """Two that are open, or two that overlap."""
    with duckdb.connect() as con:
        db.migrate(con)
        con.execute(
            "create table core.sku_price (offer_id BIGINT, source VARCHAR, valid_from TIMESTAMP, valid_to TIMESTAMP); "
            f"insert into core.sku_price values (1, 's', '2026-01-01', null), {second}"
        )
        assert list(world.breaches(con, world.World(n_writers=1), world.IN_FILE)) == words


def test_prices_change_go_and_come_back(world: ModuleType) -> None:
    """By a rule of the seed alone; no look lacks so many offers that the gates would refuse it."""
    made = world.World(n_writers=1)
    looks = [made.prices("load_0", "scope-0", number) for number in range(1, 60)]

    assert looks == [replace(made).prices("load_0", "scope-0", number) for number in range(1, 60)]
    assert looks != [replace(made, seed=1).prices("load_0", "scope-0", number) for number in range(1, 60)]
    assert all(len(now) > 0.7 * len(before) for before, now in pairwise(looks))
    assert any(offer not in now for offer in looks[0] for now in looks)
    assert any(offer not in looks[0] for offer in looks[-1])
    assert all(len({look[offer] for look in looks if offer in look}) > 1 for offer in looks[-1])
    assert made.expected("load_0", "scope-0", 1) == (len(looks[0]), len(looks[0]))


@pytest.mark.parametrize(
    ("lines", "ended", "lost", "held"),
    [
        ([WROTE, READ, PUBLISHED], GOOD, [], True),
        ([WROTE, READ], GOOD, [], False),
        ([WROTE, PUBLISHED], GOOD, [], False),
        ([WROTE, READ, PUBLISHED], {}, [], False),
        ([WROTE, READ, PUBLISHED], GOOD, ["reader-0 hangs"], False),
        *(([WROTE, READ, PUBLISHED], GOOD | {name: 1}, [], False)
          for name in ("lost", "doubled", "not_landed", "told_otherwise", "breaches_at_the_end")),
        ([WROTE, READ, PUBLISHED], GOOD | {"looks_in_log": 0}, [], False),
        *(([WROTE, READ, PUBLISHED, (name, {"at": 1.0, "error": "e"})], GOOD, [], False)
          for name in ("writer-0", "publisher-0", "reader-0")),
        ([WROTE, READ, PUBLISHED, ("reader-0", {"at": 1.0, "breaches": ["b"]})], GOOD, [], False),
    ],
)  # fmt: skip
def test_any_fault_ends_it_badly(
    shared: ModuleType, lines: list[Any], ended: dict[str, Any], lost: list[str], *, held: bool
) -> None:
    """Anything lost or doubled, an error, a breach, a lost process; or that nothing was written, published or read."""
    assert shared.summary(shared.Heard(lines), {}, ended, lost, set())["held"] is held


def test_a_kill_that_left_nothing_shows_nothing(shared: ModuleType) -> None:
    """What the killed writer left has to be loaded by another."""
    lines = [WROTE, READ, PUBLISHED]
    for_another = ("writer-1", {"at": 2.0, "looks": [LOOK]})

    assert not shared.summary(shared.Heard(lines), {}, GOOD, [], {"writer-0"})["held"]
    found = shared.summary(shared.Heard([*lines, for_another]), {}, GOOD, [], {"writer-0"})
    assert (found["held"], found["killed_writers_looks_loaded_by"]) == (True, {"writer-0": {"writer-1": 1}})


def test_rates_are_of_their_phase(shared: ModuleType) -> None:
    """Looks and rows of a minute, half of a round that lasted into the next phase; several writers against one."""
    at = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(9))
    lines = [
        ("writer-0", {"at": second, "seconds": 1.0, "looks": [["s", "a", str(next(at)), "ok", 10]]})
        for second in (0.0, 29.0, 30.0, 30.5, 31.0, 40.0, 59.0, 60.0)
    ]

    found = shared.summary(shared.Heard(lines), {"alone": (0.0, 30.0), "together": (30.0, 60.0)}, GOOD, [], set())

    assert (found["alone_looks_a_minute"], found["together_looks_a_minute"]) == (5.0, 9.0)
    assert (found["alone_rows_a_minute"], found["looks_together_by_alone"]) == (50.0, 1.8)
