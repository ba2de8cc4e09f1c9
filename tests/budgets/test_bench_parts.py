"""The parts of `python -m bench`: each has results to give, and a backfill that is not right gives none."""

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("bulk", "shell", "collect", "import", "published", "backfill", "cost", "neoclouds", "days")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Return the one command."""
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("bench.__main__")


@pytest.fixture(scope="module")
def backfill(bench: ModuleType) -> ModuleType:
    """Return the part that measures a backfill."""
    return importlib.import_module("bench.backfill")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_gives_results_for_a_folder_and_the_reference_data(bench: ModuleType, part: str) -> None:
    """So the command calls each of them; what else a part takes has a default."""
    module = importlib.import_module(f"bench.{bench.BENCHMARKS[part]}")

    inspect.signature(module.results).bind(ROOT, ROOT)


def test_every_part_is_named_here_and_in_the_documents(bench: ModuleType) -> None:
    """No part goes untested, and docs/budgets.md says how each is measured alone."""
    text = (ROOT / "docs" / "budgets.md").read_text(encoding="utf-8")
    (line,) = (each for each in text.splitlines() if each.startswith("python -m bench --only"))
    named = line.partition("# one of: ")[2].split(", ")

    assert tuple(bench.BENCHMARKS) == PARTS
    assert named == [*PARTS, bench.GROWTH]


def taken(backfill: ModuleType) -> dict[str, dict[str, Any]]:
    """Return what readings of two versions took where all is well."""
    found = {"seconds": 1.0, "peak_mb": 9.0, "rows": 5, "prices": ["a", "b"]}
    ours = found | {
        "seconds": {"load": 2.0}, "processor": {"load": 1.0}, "events": 4, "moved": 4, "looks": 2, "statuses": ["ok"],
        "fetched": 2, "requests": 4, "size_mb": 1.0,
    }  # fmt: skip
    again = ours | {"statuses": ["known"], "fetched": 0, "requests": 2}
    others = {name: dict(found) for name in (*backfill.PEERS, backfill.REQUESTS)}
    return {backfill.OURS: ours, backfill.AGAIN: again, **others}


def test_a_backfill_that_is_right_keeps_its_budgets(backfill: ModuleType) -> None:
    """Each version fetched once, none again; twice as long as a peer is half as good."""
    found = backfill.results_of(taken(backfill), versions=2)

    assert [each.met for each in found if each.budget is not None] == [True, True, True]
    assert found[0].ratios()["DuckDB"] == 0.5


@pytest.mark.parametrize(
    ("reading", "wrong"),
    [
        ("DuckDB", {"prices": ["a", "c"]}),
        ("polars", {"rows": 6}),
        ("ours", {"events": 5}),
        ("ours", {"statuses": ["ok", "refused"]}),
        ("ours", {"looks": 1}),
        ("ours, again", {"statuses": ["ok"]}),
    ],
)
def test_a_backfill_that_is_wrong_has_no_results(backfill: ModuleType, reading: str, wrong: dict[str, Any]) -> None:
    """Other prices than a peer's, more events than changes, or a version that was not loaded end the benchmark."""
    found = taken(backfill)
    found[reading] |= wrong

    with pytest.raises(ValueError, match=r"as .* finds|price events|looks"):
        backfill.results_of(found, versions=2)


def test_files_fetched_again_miss_a_budget(backfill: ModuleType) -> None:
    """A version that is fetched twice, in one backfill or by the next, is no error of the benchmark, but a miss."""
    found = taken(backfill)
    found[backfill.OURS]["fetched"], found[backfill.AGAIN]["fetched"] = 3, 1

    missed = [each.name for each in backfill.results_of(found, versions=2) if each.met is False]

    assert missed == ["backfill of 2 versions: documents fetched", "backfill of 2 versions again: documents fetched"]


def test_a_rebuild_that_differs_misses_a_budget(bench: ModuleType) -> None:
    """The days are told as they are; a table made otherwise is named."""
    days = importlib.import_module("bench.days")
    done = [days.year.Day(day=number, seconds=2.0 + number // 2 * 2) for number in range(4)]

    *told, rebuilt = days.results_of(done, ["core.offer"])

    assert {each.met for each in told} == {None}
    assert (rebuilt.met, rebuilt.note) == (False, "core.offer")
    assert [each.measured for each in told if each.name.endswith("beside the first")] == [2.0]


@pytest.fixture(scope="module")
def growth(bench: ModuleType) -> ModuleType:
    """Return the part that measures years of prices."""
    return importlib.import_module("bench.growth")


def test_the_market_has_what_the_questions_ask_for(growth: ModuleType) -> None:
    """P5 and Trainium, and other providers' machines of the same chips, at the least size too."""
    offers = growth.growth_log.market(2_000).offers

    aws = offers.filter(offers["service_provider_name"] == "AWS")
    assert {"p5.48xlarge", "trn1.32xlarge"} <= set(aws.filter(aws["region_id"] == "us-east-1")["instance_type"])
    assert offers.filter(offers["accelerator_label"] == "H100 SXM")["service_provider_name"].n_unique() > 5


def test_a_question_without_rows_ends_the_benchmark(
    growth: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What finds nothing measures how fast nothing is found."""
    file = tmp_path / "prices.duckdb"
    duckdb.connect(str(file)).close()
    monkeypatch.setattr(growth, "QUESTIONS", {"some": (1, "from range(3)"), "none": (1, "from range(0)")})

    with pytest.raises(ValueError, match="none: the market has no row"):
        growth.asked(file)


def test_seconds_are_multiples_of_the_machines_own_loop(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine twice as slow keeps the same budget."""
    result = importlib.import_module("bench.result")
    met = {}
    for loop in (0.2, 0.4):
        monkeypatch.setattr(result.machine, "loop_seconds", lambda loop=loop: loop)
        met[loop] = [result.in_loops("work", seconds, 5, peers={"other": 2.0}) for seconds in (1.0, 2.0)]

    assert [(each.met, each.measured) for each in met[0.2]] == [(True, 5.0), (False, 10.0)]
    assert [(each.met, each.measured) for each in met[0.4]] == [(True, 2.5), (True, 5.0)]
    assert met[0.2][0].ratios() == met[0.4][0].ratios() == {"other": 2.0}


def test_a_missed_budget_or_a_broken_part_is_the_exit_code(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So `make bench` fails; calibration loop, memory and processor's seconds are printed."""
    kept, missed = (bench.Result(name, 2.0, "s", budget) for name, budget in (("kept", 3.0), ("missed", 1.0)))
    used = "1 s of the clock, 1 s of the processor, peak memory 9 MB"
    codes = {}
    for name, found in {"kept": ([kept], ""), "missed": ([kept, missed], ""), "broken": ([kept], "it broke")}.items():
        monkeypatch.setattr(bench, "measured_apart", lambda name, shared, found=found: (*found, used))
        monkeypatch.setattr(sys, "argv", ["bench", "--only", "shell", "--json", str(tmp_path / "bench.json")])
        codes[name] = bench.main()
        printed = capsys.readouterr().out
        assert "calibration loop: " in printed
        assert f"used by shell: {used}" in printed

    assert codes == {"kept": 0, "missed": 1, "broken": 1}


def test_a_part_is_measured_with_what_it_used(bench: ModuleType, tmp_path: Path) -> None:
    """One that breaks, too, with the last line of what it said."""
    found, fault, used = bench.measured_apart("no such part", tmp_path)

    assert (found, fault) == ([], "ModuleNotFoundError: No module named 'bench.no such part'")
    assert "s of the processor, peak memory " in used
