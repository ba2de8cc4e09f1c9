"""The bench of sizes in short: each step on a small market, its rule, and that a step that does not end is told so."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType

import duckdb
import pytest
from few_marts import published_with

ROOT = Path(__file__).parents[2]
N_PRICES, DAYS = 400, 4
QUIET = {
    "ended": "", "clock_s": 10.0, "processor_s": 1.0, "waited_s": 0.0, "disk_mb": 0.0, "spilled_mb": 0.0,
    "longest": ("create table int.x", 1.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def scale() -> ModuleType:
    """Return the bench."""
    sys.path.insert(0, str(ROOT))
    from bench import scale

    return scale


@pytest.fixture(scope="module")
def scale_steps(scale: ModuleType) -> ModuleType:
    """Return what it measures."""
    from bench import scale_steps

    return scale_steps


@pytest.fixture
def few(unsigned_extensions: None) -> Iterator[None]:
    """Publish the least, and read no signatures of extensions."""
    with published_with():
        yield


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["file", pytest.param("lake", marks=pytest.mark.prove)])
def test_each_step_of_a_small_market(scale: ModuleType, tmp_path: Path, kind: str) -> None:
    """A log is made, a day is loaded with as many events as prices changed, and published; all is measured."""
    where = scale.place_for(kind, tmp_path, "sqlite", "", 0)

    made = scale.run_step("make", where, tmp_path, {"n_prices": N_PRICES, "days": DAYS})
    loaded = scale.run_step("load a day", where, tmp_path, {"n_changed": made["n_changed"]})
    published = scale.run_step("publish a day", where, tmp_path, {})

    assert made["n_events"] >= N_PRICES
    assert loaded["n_rows"] == N_PRICES
    assert loaded["n_events"] == made["n_events"] + loaded["n_new"] == published["n_events"]
    assert abs(loaded["n_new"] - made["n_changed"]) <= 2
    assert published["clock_s"] > sum(published["statements"].values()) * 0.5 > 0
    assert any(name.startswith("create") for name in published["statements"])
    assert published["memory_mb"] >= published["memory_before_mb"] > 10
    sizes = scale.sizes(where)
    assert sizes["log_mb"] > 0.01
    assert sizes["published_mb"] > 0.1
    assert (sizes["catalogue_mb"] is None) == (kind == "file")


def test_statements_are_timed_by_name(scale_steps: ModuleType) -> None:
    """Statements count by what they make, cursors' too, and the connection is as it was afterwards."""
    connect = duckdb.connect
    with scale_steps.timed_statements() as found, duckdb.connect() as con:
        con.execute("create table one as select 1 as n")
        con.cursor().execute("insert into one select 2")
        con.cursor().execute("insert into one select 3")
        assert con.execute("select count(*) from one").fetchone() == (3,)
    assert duckdb.connect is connect
    assert list(found.seconds) == ["create table one", "insert into one", "select count(*) from one"]
    assert found.longest[1] == pytest.approx(max(found.seconds.values()), rel=0.99)


def test_threads_are_those_asked_for(scale_steps: ModuleType) -> None:
    """DuckDB has as many workers as were asked for, for as long as statements are timed."""
    for threads in (1, 3):
        with scale_steps.timed_statements(threads), duckdb.connect() as con:
            assert con.execute("select current_setting('threads')").fetchone() == (threads,)


def test_each_size_is_measured_with_each_number_of_threads(scale: ModuleType) -> None:
    """Of a size and of a log of events; without a number, once, with all cores."""
    args = type("Args", (), {"times": [10], "events": 500, "prices": 100, "days": 30, "threads": [1, 2]})
    names = ["10 times, 1 threads", "10 times, 2 threads", "500 events, 1 threads", "500 events, 2 threads"]
    found = dict(scale.cases(args))
    assert list(found) == names
    assert [given.get("threads") for given in found.values()] == [1, 2, 1, 2]
    args.threads = []
    assert [name for name, given in scale.cases(args) if "threads" not in given] == ["10 times", "500 events"]


def test_a_market_of_any_size_has_each_offer_once(scale_steps: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the size of one market offers are others, of known AWS types, and scopes are no larger."""
    monkeypatch.setattr(scale_steps, "MOST", 300)
    offers = scale_steps.market(750).offers
    keys = ["source", "instance_type", "region_id", "availability_zone", "purchase_option", "commitment_discount_type",
            "commitment_term_hours", "offering_class", "tier", "accelerator_label", "accelerator_count"]  # fmt: skip
    assert offers.select(keys).n_unique() == len(offers) == 750
    one = scale_steps.growth_log.market(300).offers
    aws = [set(each.filter(each["service_provider_name"] == "AWS")["instance_type"]) for each in (offers, one)]
    assert aws[0] == aws[1]
    assert offers.filter(offers["scope"] != "all").group_by("source", "scope").len()["len"].max() == (
        one.filter(one["scope"] != "all").group_by("source", "scope").len()["len"].max()
    )


@pytest.mark.parametrize(
    ("expected", "changed"),
    [
        ("waiting", {}),
        ("time", {"ended": "time"}),
        ("memory", {"spilled_mb": 1.0, "processor_s": 20.0}),
        ("disk", {"disk_mb": 500.0, "processor_s": 20.0}),
        ("processor", {"processor_s": 16.0}),
        ("one core", {"processor_s": 8.0, "waited_s": 9.0}),
        ("others", {"processor_s": 7.9, "waited_s": 5.0}),
        ("one core; create table int.x (60%)", {"processor_s": 9.0, "longest": ("create table int.x", 6.0)}),
    ],
)
def test_the_limit_is_told_by_a_rule(scale: ModuleType, expected: str, changed: dict[str, object]) -> None:
    """Two cores and a disk of 100 MB/s; ten seconds of the clock."""
    assert scale.limit({**QUIET, **changed}, cores=2, disk_mb_s=100.0) == expected


@pytest.mark.parametrize(
    ("code", "limit_s", "most_mb", "ended"),
    [
        ("import time; time.sleep(60)", 0.3, 1e6, "time"),
        ("import time; x = b'x' * 200_000_000; time.sleep(60)", 30.0, 150.0, "memory"),
        ("raise SystemExit('it broke')", 30.0, 1e6, "error"),
    ],
)
def test_a_step_that_does_not_end_is_ended_and_told(
    scale: ModuleType, tmp_path: Path, code: str, limit_s: float, most_mb: float, ended: str
) -> None:
    """Above its time or memory a step is killed, and one that fails is told with its last line."""
    told = scale.watched([sys.executable, "-c", code], tmp_path, limit_s=limit_s, most_mb=most_mb)
    assert told["ended"] == ended
    assert told["process_s"] < 20
    assert told.get("error") == ("it broke" if ended == "error" else None)


def test_what_needs_a_step_that_did_not_end_is_not_tried(
    scale: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a load no day is published; without a log nothing is done."""
    tried: list[str] = []

    def watched(command: list[str], folder: Path, **_: object) -> dict[str, object]:
        tried.append(json.loads(command[-1])["step"])
        return {**QUIET, "n_changed": 3, "ended": "time" if tried[-1] == broken else ""}

    monkeypatch.setattr(scale, "watched", watched)
    args = type("Args", (), {"limit": 1.0, "most_memory": 1.0, "disk_mb_s": 100.0})
    for broken, expected in (("load a day", ["make", "publish whole", "load a day"]), ("make", ["make"])):
        tried.clear()
        where = scale.place_for("file", tmp_path / "data", "sqlite", "", 0)
        found = list(scale.measure("1 times", "file", where, tmp_path / "data", {"n_prices": 1, "days": 1}, args))
        assert tried == expected
        assert [each["step"] for each in found] == list(scale.STEPS)
        assert found[-1]["ended"] == f"not tried: no {broken}"


def around() -> AbstractContextManager[None]:
    """Measure nothing."""
    return nullcontext()


@pytest.mark.usefixtures("few")
def test_a_day_not_all_loaded_is_no_measurement(scale: ModuleType, scale_steps: ModuleType, tmp_path: Path) -> None:
    """Other events than prices that changed end the bench."""
    where = scale.place_for("file", tmp_path, "sqlite", "", 0)
    scale_steps.make(where, tmp_path, n_prices=100, days=2)
    with pytest.raises(ValueError, match="90 events expected"):
        scale_steps.load_day(where, tmp_path, n_changed=90, around=around)
