"""Days of runs, counted: a run on the last day asks, reads and writes what one on the first days did.

Counts, not seconds: statements of SQL, lines and bytes of the journal, files opened in the landing folder, looks asked
back. `bench/simulated_year.py` measures a year of whole runs.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from counted import Counted
from kept_data import toy_at
from scripts import script

from flows.collect import ingest, steps
from flows.config.settings import Settings
from warehouse.landing.folder import Landing

YEAR = Path(__file__).parents[2] / "bench/simulated_year.py"
LENGTHS = [7, pytest.param(30, marks=pytest.mark.prove)]
EARLY = 3
"""The first days differ: a history gate waits, tables are made."""


@dataclass
class Days:
    """The counts of each day."""

    days: list[Counter[str]] = field(default_factory=list)

    def of(self, what: str) -> list[int]:
        return [day[what] for day in self.days]


@pytest.fixture(scope="module")
def bench() -> Any:
    """Return the bench as a module."""
    return script("bench/simulated_year.py")


@pytest.fixture(scope="module", params=LENGTHS)
def days(request: pytest.FixtureRequest, bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    """Return the counts of days on which no price changes; the last run and an early one publish, too."""
    n_days: int = request.param
    kind = bench.Kind(
        name="year_list", provider="AWS", option="on_demand", scopes=("us-east-1", "us-west-2"), n_offers=8,
        changes_a_day=0.0,
    )  # fmt: skip
    world = bench.World(random.Random(1), changing=False, kinds=(kind,))  # noqa: S311
    settings = Settings(data_dir=tmp_path_factory.mktemp("days") / "data")
    counted = Days()
    with toy_at(settings.data_dir, ("price_change",)), pytest.MonkeyPatch.context() as patch, bench.Meter(world):
        counts: Counter[str] = Counter()
        entries, single, catch_up = Landing.entries, Landing.body, ingest.catch_up

        def read(landing: Landing, start: int = 0, part: str | None = None) -> Iterator[Any]:
            for entry in entries(landing, start, part):
                counts["journal lines"] += 1
                counts["journal bytes"] += entry.end - max(start, 0)
                start = entry.end
                yield entry

        def opened(landing: Landing, sha256: str) -> bytes:
            counts["documents"] += 1
            return single(landing, sha256)

        patch.setattr(Landing, "entries", read)
        patch.setattr(Landing, "body", opened)
        patch.setattr(ingest, "catch_up", lambda con, landing, **how: catch_up(Counted(con, counts), landing, **how))
        for day in range(n_days):
            world.turn(day)
            counts.clear()
            with steps.open_run(settings, clock=lambda: world.now) as one:
                one.collect()
                one.load()
                if day == EARLY - 1:
                    one.publisher.publish()  # so that each that is counted has a file before it
                if day in (EARLY, n_days - 1):
                    one.con = Counted(one.con, counts)  # type: ignore[assignment]
                    one.publisher.publish()
            counts["files"] = sum(1 for _ in settings.data_dir.glob("landing/??/*"))
            counted.days.append(counts.copy())
        yield counted


@pytest.mark.parametrize("what", ["statements", "rows", "journal lines", "journal bytes", "documents", "files"])
def test_a_day_costs_what_any_day_costs(days: Days, what: str) -> None:
    """Where nothing changes, nothing grows with the days that have passed."""
    usual = [count for day, count in enumerate(days.of(what)[:-1]) if day > EARLY]

    assert len(set(usual)) == 1
    assert usual[0] > 0


@pytest.mark.parametrize("what", ["statements", "rows"])
def test_publishing_asks_no_more_of_a_month_than_of_days(days: Days, what: str) -> None:
    """The same statements, and the same rows into Python, whatever the length of the log."""
    assert days.of(what)[-1] == days.of(what)[EARLY]


def test_the_journal_is_read_from_where_it_was_left(days: Days) -> None:
    """A run reads the lines that it wrote: one for each of two scopes."""
    assert set(days.of("journal lines")) == {2}
    assert set(days.of("files")) == {2}
