"""The soak of bench/soak.py in short: readers ask while runs publish; and what it must notice, it notices."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
from few_marts import published_with
from looks import day
from scripts import script

from flows.collect.publisher import Publisher

BENCH = Path(__file__).parents[2] / "bench"
ASKED = (1, 5, 6, 7, 20)
"""Questions that the marts of a quick publish can answer."""
READER = f"import sys; sys.path.insert(0, '{BENCH}'); import soak; soak.soak_roles.HOLDS_EVERY = 3; soak.main()"
"""The soak's own, but that it holds a file open sooner."""
NOTHING = "select 1 where false"


@pytest.fixture(scope="module")
def roles() -> ModuleType:
    """Return the roles: the writer, and a reader."""
    return script("bench/soak_roles.py")


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    """Return the soak itself."""
    script("bench/soak_roles.py")
    return script("bench/soak.py")


def told(file: Path) -> list[dict[str, Any]]:
    """Return what a process told."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def rounds(file: Path) -> list[dict[str, Any]]:
    """Return the rounds that a reader told so far, of files that it opened."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [each for line in lines if line.endswith(b"\n") and "built_at" in (each := json.loads(line))]


def stop(out: Path) -> None:
    """End what is running when a file was replaced under a reader that held it open, and the new one was read."""
    until = time.monotonic() + 100
    while time.monotonic() < until:
        seen = rounds(out / "reader-0.jsonl")
        if len({each["built_at"] for each in seen}) > 1 and any("held" in each for each in seen):
            break
        time.sleep(0.1)
    (out / "running").unlink()


@pytest.mark.prove
def test_a_reader_asks_while_runs_publish(
    roles: ModuleType, soak: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until both have done something: runs publish, a reader of another process meets no error, one file held open."""
    monkeypatch.setattr(Publisher, "report", lambda run: tmp_path)
    monkeypatch.setattr("flows.mail.weekly_steps.report", lambda settings, week: tmp_path)
    (tmp_path / "running").touch()
    command = [sys.executable, "-c", READER, "--role", "reader-0", "--out", tmp_path, "--questions"]
    with subprocess.Popen([*command, *map(str, ASKED)]) as reader:
        threading.Thread(target=stop, args=[tmp_path], daemon=True).start()
        with published_with():
            roles.write(tmp_path, [])
        assert reader.wait(120) == 0
    all_told = soak.Told(runs=told(tmp_path / "writer.jsonl"), rounds=told(tmp_path / "reader-0.jsonl"))

    found = soak.summary(all_told, [], 1, 0.05)

    assert found["held"], found["errors_found"] | found["breaches_found"]
    assert found["runs_published"] >= 2
    assert found["files_seen"] >= 2
    assert any("held" in each for each in all_told.rounds)
    assert found["queries"] >= len(ASKED)
    assert set(found["questions"]) == {str(number) for number in ASKED}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the least file in which the invariants hold: one offer, one event, one document."""
    place = tmp_path / "prices.duckdb"
    with duckdb.connect(place) as con:
        con.execute("create schema core; create schema meta")
        con.execute("create table meta.build as select timestamp '2026-01-02' as built_at")
        con.execute("create table core.document as select 'd' as document_sha256")
        con.execute("create table core.price_event as select 1 as offer_id, 'd' as document_sha256")
        con.execute(
            "create table core.sku_price as select 1 as offer_id, 's' as source, timestamp '2026-01-01' as valid_from, "
            "null::TIMESTAMP as valid_to"
        )
    return place


@pytest.mark.parametrize(
    ("change", "last", "words"),
    [
        (NOTHING, None, []),
        (NOTHING, (day(0).replace(tzinfo=None), 1), []),
        ("insert into core.sku_price select offer_id, source, timestamp '2026-01-03', null from core.sku_price",
         None, ["an offer has two open intervals from one source", "intervals of one offer and source overlap"]),
        ("delete from core.document", None, ["a price event has no document"]),
        (NOTHING, (day(5).replace(tzinfo=None), 1),
         ["built_at went back from 2026-01-06 00:00:00 to 2026-01-02 00:00:00"]),
        (NOTHING, (day(0).replace(tzinfo=None), 2), ["2 price events became 1"]),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told(roles: ModuleType, file: Path, change: str, last: Any, words: list[str]) -> None:
    """Each breach by its name, and none where all holds."""
    with duckdb.connect(file) as con:
        con.execute(change)
        state = con.execute(roles.STATE).fetchall()[0]
        assert list(roles.breaches(con, state, last)) == words


@pytest.mark.parametrize(
    ("runs", "rounds", "lost", "held"),
    [
        ([{"seconds": 1.0, "day": "d"}], [{"breaches": [], "ms": {"1": 2.0}, "rows": {"1": 3}}], [], True),
        ([{"seconds": 1.0, "day": "d"}], [{"breaches": [], "error": "e"}], [], False),
        ([{"seconds": 1.0, "day": "d"}], [{"breaches": ["b"]}], [], False),
        ([{"seconds": 1.0, "day": "d"}, {"error": "e"}], [{"breaches": []}], [], False),
        ([{"seconds": 1.0, "day": "d"}], [{"breaches": []}], ["reader-0 hangs"], False),
        ([], [{"breaches": []}], [], False),
        ([{"seconds": 1.0, "day": "d"}], [], [], False),
    ],
)  # fmt: skip
def test_any_fault_ends_it_badly(
    soak: ModuleType, runs: list[Any], rounds: list[Any], lost: list[str], *, held: bool
) -> None:
    """A reader's error, a breach, a failed run, a lost process; or that nothing was run or read."""
    runs = [each | {"published": True, "events": 0, "processor": {}} if "day" in each else each for each in runs]

    assert soak.summary(soak.Told(runs, rounds), lost, 1, 1.0)["held"] is held


def test_quantiles_are_values_that_were_measured(soak: ModuleType) -> None:
    """The least value that so many do not exceed."""
    assert soak.quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert soak.quantile([float(n) for n in range(1, 101)], 0.99) == 99.0
    assert soak.quantile([], 0.5) is None


@pytest.mark.prove
def test_twenty_seconds_of_load(soak: ModuleType, tmp_path: Path) -> None:
    """Whole runs with all marts and pages, two readers, all questions: no error, nothing that does not hold."""
    found = soak.soak(tmp_path / "out", [], minutes=1 / 3, readers=2)

    assert found["held"], found
    assert found["files_seen"] >= 1
    assert (tmp_path / "out/soak.csv").read_text().count("\n") == 2
    assert json.loads((tmp_path / "out/soak.json").read_text()) == json.loads(json.dumps(found))
