"""A run killed at any point leaves a whole published file, old or new, and the next run mends the rest."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import kept
import pytest
from published import Content, content

from flows import steps
from flows.settings import Settings

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TOLD_BY_THE_CLOCK = ("recorded_at", "run_id", "fetched_at", "age_days", "oldest_age_days")
"""Columns that say when something was done: a run and its repair do it at two times."""

CHILD = """
import os, signal, sys
from datetime import datetime
from pathlib import Path

import reports.site
from flows import replay, steps
from flows.settings import Settings
from warehouse import landing, load, publish

point, data_dir, now = sys.argv[1], Path(sys.argv[2]), datetime.fromisoformat(sys.argv[3])


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner, name):
    setattr(owner, name, lambda *given, **named: die())


def after(owner, name, times=1):
    original, left = getattr(owner, name), [times]

    def call(*given, **named):
        result = original(*given, **named)
        left[0] -= 1
        if not left[0]:
            die()
        return result

    setattr(owner, name, call)


def half_a_part(con, data_dir_or_name):
    con.commit()
    con.execute("checkpoint")
    die()


def half_a_report(file, folder, local):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text("<!doctype html><ht")
    die()


points = {
    "after landing a body": lambda: after(landing.Landing, "keep"),
    "after writing the journal": lambda: after(landing.Landing, "_append", times=3),
    "before loading": lambda: before(replay, "load"),
    "inside the load's transaction": lambda: after(load, "append_events"),
    "after loading, before the position": lambda: after(replay, "load"),
    "before publishing": lambda: before(steps, "publish"),
    "in the middle of the part file": lambda: setattr(publish, "create_macros", lambda con: half_a_part(con, "")),
    "after the part, before the rename": lambda: before(publish, "_put_in_place"),
    "after the rename, before the report": lambda: before(steps.Run, "report"),
    "in the report": lambda: setattr(reports.site, "write", half_a_report),
    "nowhere": lambda: None,
}
points[point]()
print("begun", flush=True)
steps.run(Settings(data_dir=data_dir), offline=True, clock=lambda: now)
"""
POINTS = [line.split('"')[1] for line in CHILD.splitlines() if line.startswith('    "') and '": lambda' in line][:-1]


def run(data_dir: Path, at: datetime = NOW + timedelta(hours=1), scopes: tuple[str, ...] = ()) -> Path:
    summary = steps.run(Settings(data_dir=data_dir), offline=True, scopes=scopes, clock=lambda: at)
    assert summary.failed == []
    return data_dir / "prices.duckdb"


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with a published file of one region."""
    return kept.once(tmp_path_factory, "old", lambda folder: run(folder, NOW - timedelta(days=1), ("us-gov-east-1",)))


@pytest.fixture(scope="module")
def undisturbed(old: Path, tmp_path_factory: pytest.TempPathFactory) -> Content:
    """Return what core and mart hold after a whole run that nobody kills."""

    def make(folder: Path) -> None:
        shutil.copytree(old, folder, dirs_exist_ok=True)
        run(folder)

    file = kept.once(tmp_path_factory, "undisturbed", make) / "prices.duckdb"
    return content(file, without=TOLD_BY_THE_CLOCK)


def start(point: str, data_dir: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, point, str(data_dir), NOW.isoformat()], stdout=-1, stderr=-1, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n", child.communicate()[1]
    return child


def check(data_dir: Path, old: Path, undisturbed: Content, end: Callable[[], object]) -> None:
    """Check what a killed run leaves, then let the next run mend it."""
    end()
    left = content(data_dir / "prices.duckdb", without=TOLD_BY_THE_CLOCK)
    assert left in (content(old / "prices.duckdb", without=TOLD_BY_THE_CLOCK), undisturbed)
    with duckdb.connect(str(data_dir / "build.duckdb")) as con:
        assert con.execute("select count(*) > 0 from core.price_event").fetchone() == (True,)

    file = run(data_dir)

    mended = content(file, without=TOLD_BY_THE_CLOCK)
    assert {name for name in mended if mended[name] != undisturbed[name]} == set()
    assert list(data_dir.glob("*.part*")) == []
    assert not file.with_name("prices.duckdb.wal").exists()


SHORT = ("inside the load's transaction", "in the middle of the part file")
"""The points at which every run of the tests kills; all of them are for the long proofs."""


@pytest.mark.parametrize(
    "point", [point if point in SHORT else pytest.param(point, marks=pytest.mark.prove) for point in POINTS]
)
def test_a_run_killed_at_a_point_is_mended(point: str, old: Path, undisturbed: Content, tmp_path: Path) -> None:
    """The process is killed there for certain; the file before or the file after is left, and the next run mends."""
    data_dir = tmp_path / "data"
    shutil.copytree(old, data_dir)
    child = start(point, data_dir)

    def end() -> None:
        assert (child.communicate(timeout=60)[1], child.returncode) == ("", -9)

    check(data_dir, old, undisturbed, end)


def test_the_points_are_ten_and_no_run_dies_without_one(old: Path, undisturbed: Content, tmp_path: Path) -> None:
    """The child script without a point ends well, so that it is the points that kill."""
    data_dir = tmp_path / "data"
    shutil.copytree(old, data_dir)
    child = start("nowhere", data_dir)

    assert set(SHORT) <= set(POINTS)
    assert (child.communicate(timeout=60)[1], child.returncode) == ("", 0)
    assert content(data_dir / "prices.duckdb", without=TOLD_BY_THE_CLOCK) == undisturbed
    assert len(POINTS) == 10


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(60))
def test_a_run_killed_at_any_time_is_mended(seed: int, old: Path, undisturbed: Content, tmp_path: Path) -> None:
    """Killed at a random moment of a run, once or three times in a row."""
    chance = random.Random(seed)  # noqa: S311 - chance, no secret
    data_dir = tmp_path / "data"
    shutil.copytree(old, data_dir)
    for _ in range(chance.choice((1, 3))):
        child = start("nowhere", data_dir)

        def end(child: subprocess.Popen[str] = child) -> None:
            time.sleep(chance.uniform(0, 1.5))
            child.kill()
            child.wait()

        if chance.random() < 0.5:
            end()
        else:
            check(data_dir, old, undisturbed, end)
    check(data_dir, old, undisturbed, lambda: None)
