"""A run that adds nothing to the log: what stays as it was, what is made all the same, and what the summary says."""

import os
import pickle
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pytest
from few_marts import published_with
from looks import day
from published import query
from toy_source import Toy, installed

from flows.collect import publisher, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from reports.files import put
from warehouse.publish.published_file import FILE_NAME

OWN = ("build.duckdb", "writer.lock")
"""What every run opens."""
BOTH = ["the published file", "the pages"]
RECORD = "cache/published.json"


def marks(folder: Path) -> dict[str, tuple[int, int]]:
    """Return inode and time of change of each file below a folder, those that every run opens left out."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in OWN)
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def rewritten(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> set[str]:
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


SECOND = """
import pickle, sys
from pathlib import Path
from flows.collect import steps
from flows.config.settings import Settings

second = steps.run(Settings(data_dir=Path(sys.argv[1])), offline=True)
sys.stdout.buffer.write(pickle.dumps(({*sys.modules}, second)))
"""


def test_a_second_offline_run_rewrites_nothing(offline_run: Path, tmp_path: Path) -> None:
    """Every look is known; file, pages, mail and journal stay as they were; the last lines say so, the run is good.

    No frames, no gates and no client of a network are imported, whose import is a third of such a run.
    """
    shutil.copytree(offline_run, tmp_path / "data")
    before = marks(tmp_path / "data")
    words = [sys.executable, "-c", SECOND, str(tmp_path / "data")]
    imported, second = pickle.loads(subprocess.run(words, capture_output=True, check=True).stdout)  # noqa: S301 (ours)
    lines = list(second.lines())

    assert {"polars", "pandera", "httpx", "stamina"} & imported == set()
    assert "flows.collect.publisher" in imported
    assert query(tmp_path / "data/prices.duckdb", "select count(*) > 100 from core.price_event") == [(True,)]
    assert (second.n_events, {result.status for result in second.results}) == (0, {"known"})
    assert "landing/journal.jsonl" in before
    assert rewritten(before, marks(tmp_path / "data")) == set()
    assert (second.unchanged, second.as_dict()["unchanged"]) == (BOTH, BOTH)
    assert (second.fresh, second.faulty) == (True, False)
    assert (second.file, second.report) == (tmp_path / "data/prices.duckdb", tmp_path / "data/reports/index.html")
    place = lines.index("nothing new; unchanged: the published file, the pages")
    assert lines[place - 2 : place] == [f"file: {second.file}", f"report: {second.report}"]


# --- what counts as new


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of a log that was published once, with two pages of no content; copy it."""
    folder, real = tmp_path_factory.mktemp("published") / "data", publisher.Publisher.report
    with published_with(least=()), pytest.MonkeyPatch.context() as patch:
        toy = installed(patch, folder)
        patch.setattr(publisher.Publisher, "report", real)
        patch.setattr(publisher, "report", two_pages)
        toy.learn(0, a={"p5.48xlarge": "10"})
        assert unchanged(toy) == []
        assert unchanged(toy) == BOTH
    return folder


@pytest.fixture
def toy(published: Path, least_marts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return a source of our own, the only one, over a copy of what was published.

    What is published again is that same file: whether it is made is asked here, and of what by other tests.
    """

    def publish_again(con: object, folder: Path, *_: object, **__: object) -> Path:
        (folder / FILE_NAME).unlink(missing_ok=True)
        return Path(shutil.copyfile(published / FILE_NAME, folder / FILE_NAME))

    real = publisher.Publisher.report
    toy = installed(monkeypatch, tmp_path / "data")
    monkeypatch.setattr(publisher.Publisher, "report", real)
    monkeypatch.setattr(publisher, "report", two_pages)
    monkeypatch.setattr(publisher, "publish_log", publish_again)
    monkeypatch.setattr("warehouse.log.db.migrate", lambda con: None)  # as is what was published
    shutil.copytree(published, toy.data_dir)
    toy.world = {"a": {"p5.48xlarge": "10"}}
    assert unchanged(toy) == BOTH
    return toy


def two_pages(settings: Settings, summary: Summary, *, faults: tuple[str, ...] = (), **_: object) -> Path:
    for name in ("cost.html", "index.html"):
        put(settings.data_dir / "reports" / name, name)
    summary.page_faults = faults
    return settings.data_dir / "reports" / "index.html"


def unchanged(toy: Toy, at: float = 0.1, **settings: object) -> list[str]:
    """Publish and report at a day; return what was not made again."""
    with steps.open_run(toy.settings().replace(**settings), clock=lambda: day(at)) as one:
        one.publisher.publish()
        one.publisher.report()
        return one.summary.unchanged


def test_what_is_missing_is_made(toy: Toy, tmp_path: Path) -> None:
    """A page, all pages, the file, or the record of what was published: made, and then there is nothing to do."""
    for place, left in (("reports/cost.html", BOTH[:1]), ("reports", BOTH[:1]), (FILE_NAME, []), (RECORD, [])):
        (toy.data_dir / place).rename(tmp_path / f"old-{Path(place).name}")
        assert unchanged(toy) == left
        assert (toy.data_dir / place).exists()
        assert unchanged(toy) == BOTH


def test_a_damaged_record_counts_as_none(toy: Toy) -> None:
    for text in ("", "[1]", '{"file": 3, "pages": 4}', '{"pages": [1]}'):
        (toy.data_dir / RECORD).write_text(text)
        assert unchanged(toy) == []
        assert unchanged(toy) == BOTH


def test_another_file_is_not_the_one_that_was_published(toy: Toy) -> None:
    """One that was put in its place, such as by a restoration, is replaced."""
    file = toy.data_dir / "prices.duckdb"
    os.utime(file, ns=(1, 1))
    assert unchanged(toy) == []


def test_another_version_makes_both(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release, or a file of the package that was changed."""
    monkeypatch.setattr(publisher, "version", lambda name: "1999.1.0")
    assert unchanged(toy) == []
    assert unchanged(toy) == BOTH
    monkeypatch.setattr(publisher, "_code", lambda: "changed")
    assert unchanged(toy) == []


def test_settings_make_what_they_are_of(toy: Toy) -> None:
    assert unchanged(toy, wait_seconds=3.0) == BOTH
    assert unchanged(toy, site={"chips": ("H100",)}) == BOTH[:1]
    assert unchanged(toy, reporting_currency="EUR") == BOTH[:1]
    assert unchanged(toy, ranking={"max_age_days": 60}) == []


def test_a_page_with_a_fault_is_made_again(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code of a part that could not be made stays until it is made."""
    monkeypatch.setattr(publisher, "report", partial(two_pages, faults=("a part",)))
    assert [unchanged(toy, reporting_currency="EUR") for _ in range(2)] == [BOTH[:1]] * 2
    monkeypatch.setattr(publisher, "report", two_pages)
    assert [unchanged(toy, reporting_currency="EUR") for _ in range(2)] == [BOTH[:1], BOTH]


def test_private_files_are_read_by_each_run(toy: Toy, tmp_path: Path) -> None:
    assert unchanged(toy, private={"fleet": str(tmp_path / "fleet.csv")}) == []


def test_what_the_log_learns_is_published(toy: Toy) -> None:
    """The same price seen once more, a failed fetch, a decision, a day: ages are judged as of the file's day."""
    toy.learn(0.2)
    assert [unchanged(toy, 0.3), unchanged(toy, 0.4)] == [[], BOTH]
    toy.learn(0.5, a=None)
    assert [unchanged(toy, 0.6), unchanged(toy, 0.7)] == [[], BOTH]
    assert [unchanged(toy, 1.6), unchanged(toy, 1.7)] == [[], BOTH]


def test_a_publication_without_pages_leaves_them_to_be_made(toy: Toy) -> None:
    """`collect` and `build` write no page: the next run does, though it finds the file as it is to be."""
    toy.learn(0.2)
    build(toy, 0.3)
    assert [unchanged(toy, 0.4), unchanged(toy, 0.5)] == [BOTH[:1], BOTH]


def build(toy: Toy, at: float) -> Summary:
    with steps.open_run(toy.settings(), clock=lambda: day(at)) as one:
        one.publisher.publish()
        return one.summary


def test_build_says_that_nothing_changed(toy: Toy) -> None:
    lines = list(build(toy, 0.2).lines())
    assert lines[-2:] == [f"file: {toy.data_dir / 'prices.duckdb'}", "nothing new; unchanged: the published file"]


# --- prices that a live run confirms


STAY = {
    "archive.html", "feed.atom", "latest.schema.json", "methods.html", "tables.html", "tables-checks.html",
    "weeks/index.html",
}  # fmt: skip
"""What has no prices of the day: formulas, SQL, changes and lists."""


def stayed(before: dict[str, tuple[int, int]], folder: Path) -> set[str]:
    """Return which pages stay, but for the one week that is over, which does."""
    left = {*before} - rewritten(before, marks(folder))
    (week,) = [name for name in before if re.fullmatch(r"weeks/2\d+-W\d+\.html", name)]
    assert week in left
    return left - {week}


def test_a_file_of_a_later_moment_rewrites_only_pages_whose_content_changed(offline_run: Path, tmp_path: Path) -> None:
    """Formulas, SQL, the week that is over, changes and lists stay; what has the day's prices is as of the new moment.

    So do the pages of chips and providers, where no age is a day more.
    """
    data, folder = tmp_path / "data", tmp_path / "data/reports"
    shutil.copytree(offline_run, data)
    (data / FILE_NAME).chmod(0o644)
    with duckdb.connect(str(data / FILE_NAME)) as con:
        con.execute("update meta.build set built_at = built_at + interval 1 hour")
    before = marks(folder)
    summary = Summary(run_id="later", started_at=day(400), file=data / FILE_NAME)
    publisher.report(Settings(data_dir=data), summary, clock=lambda: day(400))

    assert {name for name in stayed(before, folder) if not name.startswith(("chips/", "providers/"))} == STAY
    moments = [
        (each / "index.html").read_text(encoding="utf-8").partition('as of <time datetime="')[2][:16]
        for each in (offline_run / "reports", folder)
    ]
    assert moments[0] < moments[1]


@pytest.mark.prove
def test_confirmed_prices_rewrite_only_pages_whose_content_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Formulas, SQL, the week that is over, changes and lists stay; what has the day's prices is as of the new run.

    Each file is made from nothing, which is quicker here; that an amended one is the same, others prove.
    """
    real = publisher.Publisher.report
    toy = installed(monkeypatch, tmp_path / "data")
    monkeypatch.setattr(publisher.Publisher, "report", real)
    monkeypatch.setattr(publisher, "publish_log", partial(publisher.publish_log, from_nothing=True))
    for at in range(2, 5):
        toy.learn(at, a={"p5.48xlarge": "10" if at < 3 else "11"})
    toy.run(5)
    before = marks(toy.data_dir / "reports")
    assert toy.run(5.1).n_events == 0

    assert stayed(before, toy.data_dir / "reports") == STAY
    text = (toy.data_dir / "reports/index.html").read_text(encoding="utf-8")
    assert f'as of <time datetime="{day(5.1):%Y-%m-%dT%H:%M:%SZ}' in text
