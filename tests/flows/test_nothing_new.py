"""A run that adds nothing to the log: what stays as it was, what is made all the same, and what the summary says."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from looks import day
from toy_source import Toy, installed

from flows.collect import steps
from flows.collect.summary import Summary
from flows.config.settings import Settings

OWN = ("build.duckdb", "writer.lock")
"""What every run opens."""
BOTH = ["the published file", "the pages"]


def marks(folder: Path) -> dict[str, tuple[int, int]]:
    """Return inode and time of change of each file below a folder, those that every run opens left out."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in OWN)
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def rewritten(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> set[str]:
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory after one offline run, whole, with all pages."""
    folder = tmp_path_factory.mktemp("nothing-new")
    first = steps.run(Settings(data_dir=folder), offline=True)
    assert (first.unchanged, first.faulty) == ([], False)
    return folder


def again(folder: Path, **settings: object) -> Summary:
    return steps.run(Settings(data_dir=folder, **settings), offline=True)


def test_a_second_offline_run_rewrites_nothing(once: Path) -> None:
    """File, pages and mail stay as they were; the last lines say so, and the run counts as good."""
    before = marks(once)
    second = again(once)
    lines = list(second.lines())

    assert rewritten(before, marks(once)) == set()
    assert (second.fresh, second.unchanged, second.as_dict()["unchanged"]) == (True, BOTH, BOTH)
    assert (second.file, second.report) == (once / "prices.duckdb", once / "reports" / "index.html")
    place = lines.index("nothing new; unchanged: the published file, the pages")
    assert lines[place - 2 : place] == [f"file: {second.file}", f"report: {second.report}"]


@pytest.mark.parametrize(
    ("missing", "unchanged"),
    [
        ("reports/cost.html", BOTH[:1]),
        ("reports/weekly/2026-W41.html", BOTH[:1]),
        ("prices.duckdb", []),
        ("cache", []),
    ],
)
def test_what_is_missing_is_made(once: Path, tmp_path: Path, missing: str, unchanged: list[str]) -> None:
    """A page, the file, or the record of what was published: the run makes it, and the next one has nothing to do."""
    aside = tmp_path / "aside"
    (once / missing).rename(aside)
    second = again(once)
    assert second.unchanged == unchanged
    assert (once / missing).exists()
    assert again(once).unchanged == BOTH


def test_another_version_makes_both(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.collect.publisher.version", lambda name: "1999.1.0")
    assert again(once).unchanged == []
    monkeypatch.undo()
    assert again(once).unchanged == []
    assert again(once).unchanged == BOTH


def test_settings_of_the_pages_make_the_pages(once: Path) -> None:
    assert again(once, site={"chips": ("H100",)}).unchanged == BOTH[:1]
    assert again(once, ranking={"max_age_days": 60}).unchanged == []
    assert again(once).unchanged == []


def test_a_page_with_a_fault_is_made_again(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that could not be made keeps its exit code until it is made."""
    (once / "reports/drift.html").unlink()
    with monkeypatch.context() as broken:
        broken.setattr("reports.pages.drift_page.render", lambda file, **_: 1 / 0)
        assert again(once).page_faults
        assert again(once).page_faults
    assert again(once).unchanged == BOTH[:1]
    assert again(once).unchanged == BOTH


def test_private_files_are_read_by_each_run(once: Path, tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("name,provider,region,instance_type,count,purchase_option\n")
    assert again(once, private={"fleet": str(fleet)}).unchanged == []
    (once / "private.duckdb").unlink(missing_ok=True)


@pytest.fixture
def toy(least_marts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Toy]:
    yield installed(monkeypatch, tmp_path / "data")


def build(toy: Toy, at: float) -> Summary:
    with steps.open_run(toy.settings(), clock=lambda: day(at)) as one:
        one.publisher.publish()
        return one.summary


def test_build_keeps_the_file_of_the_same_log_and_day(toy: Toy) -> None:
    """Ages are judged as of the file's day: on the next, `build` makes it anew; a killed run's load counts as new."""
    toy.learn(0, a={"p5.48xlarge": "10"})
    assert build(toy, 0.1).unchanged == []
    assert build(toy, 0.2).unchanged == BOTH[:1]
    assert build(toy, 1.2).unchanged == []
    toy.learn(1.3)  # the same price, seen once more
    assert build(toy, 1.4).unchanged == []
    assert build(toy, 1.5).unchanged == BOTH[:1]
    toy.learn(1.6, a=None)  # a failed fetch
    assert build(toy, 1.7).unchanged == []


def test_build_says_that_nothing_changed(toy: Toy) -> None:
    toy.learn(0, a={"p5.48xlarge": "10"})
    build(toy, 0.1)
    lines = list(build(toy, 0.2).lines())
    assert lines[-2:] == [f"file: {toy.data_dir / 'prices.duckdb'}", "nothing new; unchanged: the published file"]
    json.dumps(build(toy, 0.2).as_dict())
