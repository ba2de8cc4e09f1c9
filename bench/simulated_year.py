"""A simulated year: 365 daily runs with the clock moved, prices changing as they did, sources failing at random.

    python bench/simulated_year.py --out year            # year/year.csv and year/year.png
    python bench/simulated_year.py --days 30 --quiet     # no price changes: what a run costs must then stay the same
    python bench/simulated_year.py --publish-every 10    # ten times as quick: other days only collect, land and load

Each day is one run of the real path (collect, land, load, publish, report, keep house), each Monday the report of the
week, over sources of our own whose offers are provided by a seeded generator. In the end the log is rebuilt from the
landing folder, where old documents are packed by then, and compared with the one in use.

CHANGES_A_DAY are shares of prices that changed a day, as measured on the imported history (neocloud_history.csv and
aws_on_demand_observations.csv): changes of an offer's price in core.sku_price by the days over which it was seen.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402

from bench.machine import memory_mb  # noqa: E402
from extract.base import Context, Parsed, Source  # noqa: E402
from flows.backup import replicas, retention  # noqa: E402
from flows.collect import (  # noqa: E402
    collector,
    ingest,
    publisher,
    steps,
)
from flows.collect.publisher import Publisher  # noqa: E402
from flows.collect.summary import Summary  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from flows.mail import weekly_steps  # noqa: E402
from warehouse.documents import Document, ScopeFetch  # noqa: E402
from warehouse.errors import Unavailable  # noqa: E402
from warehouse.landing.folder import Landing  # noqa: E402
from warehouse.log import content  # noqa: E402
from warehouse.schema.tables import observation_schema  # noqa: E402

START = datetime(2026, 1, 1, 6, tzinfo=UTC)
SEED = 20261121
FAILS_A_DAY = 0.03
"""Share of looks that fail for a day."""
OUTAGE_A_DAY, OUTAGE_DAYS = 0.01, 3
"""Share of days on which a whole source begins to be down, and for how long."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of source: whose prices, in which scopes, how many offers in each, how many of them change a day."""

    name: str
    provider: str
    option: str
    scopes: tuple[str, ...]
    n_offers: int
    changes_a_day: float


CHANGES_A_DAY = (
    # 123 list prices of AWS, 4 changes in 2971 offer-days
    Kind(name="year_list", provider="AWS", option="on_demand", scopes=("us-east-1", "us-west-2", "eu-west-1"),
         n_offers=16, changes_a_day=0.00135),
    # AWS's spot prices stand for romaindeniau75's: 347 changes of 72 offers in 2440 offer-days
    Kind(name="year_spot", provider="AWS", option="spot", scopes=("us-east-1", "us-west-2", "eu-west-1"),
         n_offers=16, changes_a_day=0.14221),
    # list prices of neoclouds: 69 in 7798 and 200 in 9359 offer-days
    Kind(name="year_cloud", provider="Lambda", option="on_demand", scopes=("all",), n_offers=60, changes_a_day=0.00885),
    Kind(name="year_clouds", provider="Nebius", option="on_demand", scopes=("eu", "us"), n_offers=60,
         changes_a_day=0.02137),
    # marketplaces: 5429 changes of 934 offers in 33796 offer-days
    Kind(name="year_market", provider="Vast.ai", option="on_demand", scopes=("all",), n_offers=200,
         changes_a_day=0.16064),
)  # fmt: skip

TYPES = (
    ("p3.2xlarge", 1), ("p3.8xlarge", 4), ("p3.16xlarge", 8), ("p4d.24xlarge", 8), ("p4de.24xlarge", 8),
    ("p5.48xlarge", 8), ("p5e.48xlarge", 8), ("p5en.48xlarge", 8), ("g4dn.xlarge", 1), ("g5.xlarge", 1),
    ("g5.48xlarge", 8), ("g6.xlarge", 1), ("g6.48xlarge", 8), ("g6e.xlarge", 1), ("trn1.32xlarge", 16),
    ("trn2.48xlarge", 16),
)  # fmt: skip
CHIPS = ("H100", "A100", "H200", "B200", "L40S", "RTX 4090", "A10", "L4")
COUNTS = (1, 2, 4, 8)


@dataclass
class World:
    """Prices of all sources on one day, and what is down; `turn` moves it on by a day."""

    dice: random.Random
    changing: bool = True
    kinds: tuple[Kind, ...] = CHANGES_A_DAY
    now: datetime = START
    prices: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    down: dict[str, int] = field(default_factory=dict)
    failing: set[tuple[str, str]] = field(default_factory=set)
    n_changed: int = 0

    def __post_init__(self) -> None:
        for kind in self.kinds:
            for scope in kind.scopes:
                self.prices[kind.name, scope] = [self._offer(kind, scope, n) for n in range(kind.n_offers)]

    def _offer(self, kind: Kind, scope: str, n: int) -> dict[str, Any]:
        row: dict[str, Any] = {
            "service_provider_name": kind.provider, "capacity_unit": "instance", "purchase_option": kind.option,
            "region_id": scope if scope != "all" else "us", "statistic": "price", "pricing_currency": "USD",
            "unit_price_type": "List",
        }  # fmt: skip
        of_a_chip = self.dice.uniform(1, 2)  # in the range of all of them, so that no gate holds it
        if kind.provider == "AWS":
            zone = {"availability_zone": f"{scope}a"} if kind.option == "spot" else {}
            name, count = TYPES[n % len(TYPES)]
            return row | {"instance_type": name, "unit_price": f"{of_a_chip * count:.4f}"} | zone
        chip, count = CHIPS[n % len(CHIPS)], COUNTS[n // len(CHIPS) % len(COUNTS)]
        return row | {"instance_type": f"vm-{n}", "accelerator_label": chip, "accelerator_count": str(count),
                      "unit_price": f"{of_a_chip * count:.4f}"}  # fmt: skip

    def turn(self, day: int) -> None:
        """Move on to a day: some prices change, some sources are down."""
        self.now = START + timedelta(days=day)
        self.n_changed = 0
        for kind in self.kinds:
            if self.changing and self.dice.random() < OUTAGE_A_DAY:
                self.down[kind.name] = day + OUTAGE_DAYS
            for scope in kind.scopes:
                for row in self.prices[kind.name, scope]:
                    if self.changing and self.dice.random() < kind.changes_a_day:
                        row["unit_price"] = f"{float(row['unit_price']) * self.dice.uniform(0.9, 1.11):.4f}"
                        self.n_changed += 1
        self.failing = {
            key for key in self.prices
            if self.changing and (self.dice.random() < FAILS_A_DAY or self.down.get(key[0], -1) > day)
        }  # fmt: skip

    def source(self, kind: Kind) -> Source:
        """Return a source of this world."""

        def fetch(ctx: Context, scope: str) -> ScopeFetch:
            if (kind.name, scope) in self.failing:
                raise Unavailable("HTTP 503", source=kind.name, field="scope", value=scope)
            body = json.dumps(self.prices[kind.name, scope], indent=1).encode()
            document = Document(
                source=kind.name, scope=scope, url=f"year:{kind.name}/{scope}", body=body, fetched_at=self.now
            )
            return ScopeFetch(source=kind.name, scope=scope, observed_at=self.now, complete=True, documents=(document,))

        return Source(
            name=kind.name, provider=kind.provider, title=f"Simulated: {kind.name}", url="year:", terms_url="year:",
            max_age=timedelta(days=3), scopes=lambda ctx: kind.scopes, fetch=fetch, parse=parse,
        )  # fmt: skip


def parse(document: Document) -> Parsed:
    """Return the rows of a document of this world."""
    schema = observation_schema()
    rows = [{name: row.get(name) for name in schema} for row in json.loads(document.body)]
    return Parsed(rows=pl.DataFrame(rows, schema=schema))


@dataclass(kw_only=True)
class Day:
    """What one run took and left: seconds by step, memory at its peak, what it read, and sizes on disk.

    Seconds are of the processor, which other programs on the machine hardly change; `elapsed` are the clock's.
    """

    day: int
    n_changed: int = 0
    n_failed: int = 0
    n_events: int = 0
    elapsed: float = 0.0
    seconds: float = 0.0
    load_seconds: float = 0.0
    publish_seconds: float = 0.0
    report_seconds: float = 0.0
    house_seconds: float = 0.0
    weekly_seconds: float = 0.0
    peak_mb: float = 0.0
    journal_lines_read: int = 0
    journal_mb: float = 0.0
    documents_mb: float = 0.0
    n_document_files: int = 0
    packs_mb: float = 0.0
    build_mb: float = 0.0
    prices_mb: float = 0.0
    reports_mb: float = 0.0


class Meter:
    """Puts sources and clocks of a world in place of the real ones, and measures what runs of it take."""

    def __init__(self, world: World) -> None:
        self.taken: dict[str, float] = {}
        self.n_lines = 0
        sources = {kind.name: world.source(kind) for kind in world.kinds}
        self.replaced = [
            (collector, "SOURCES", tuple(sources.values())),
            (publisher, "SOURCES", tuple(sources.values())),
            (collector, "source_named", sources.__getitem__),
            (ingest, "source_named", sources.__getitem__),
            (steps.Run, "load", self._timed("load", steps.Run.load)),
            (Publisher, "publish", self._timed("publish", Publisher.publish)),
            (Publisher, "report", self._timed("report", Publisher.report)),
            (retention, "after_run", self._timed("house", retention.after_run)),
            (Landing, "entries", self._counted(Landing.entries)),
        ]

    def __enter__(self) -> "Meter":
        self.before = [(place, name, getattr(place, name)) for place, name, _ in self.replaced]
        for place, name, value in self.replaced:
            setattr(place, name, value)
        return self

    def __exit__(self, *error: object) -> None:
        for place, name, value in self.before:
            setattr(place, name, value)

    def start(self) -> None:
        """Begin a run."""
        self.taken, self.n_lines = {}, 0

    def _timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.taken[step] = self.taken.get(step, 0.0) + time.process_time() - started

        return timed

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Iterator[Any]:
            for entry in function(*given, **named):
                self.n_lines += 1
                yield entry

        return counted


def run(folder: Path, days: int, *, changing: bool = True, publish_every: int = 1) -> Iterator[Day]:
    """Run a number of days in a data directory; yield what each took; prints each month, and a proof."""
    world = World(random.Random(SEED), changing=changing)  # noqa: S311
    settings = Settings(data_dir=folder, workers=2)
    done = []
    with Meter(world) as meter:
        for day in each_day(world, meter, settings, days, publish_every=publish_every):
            done.append(day)
            if day.day % 30 == 29:
                print(line(done[-30:]), flush=True)
            yield day
        print("\n".join(_proof(settings, world)), flush=True)


def each_day(world: World, meter: Meter, settings: Settings, days: int, *, publish_every: int = 1) -> Iterator[Day]:
    """Run a number of days of a world; yield what each took."""
    for number in range(days):
        world.turn(number)
        meter.start()
        _forget_peak()
        started, began = time.process_time(), time.perf_counter()
        publishes = number % publish_every == 0
        summary = (steps.run if publishes else collected)(settings, clock=lambda: world.now)
        day = Day(day=number, n_changed=world.n_changed, n_failed=len(summary.failed), n_events=summary.n_events)
        day.seconds, day.elapsed = time.process_time() - started, time.perf_counter() - began
        for step, seconds in meter.taken.items():
            setattr(day, f"{step}_seconds", seconds)
        if world.now.weekday() == 0 and number >= 7:
            started = time.process_time()
            weekly_steps.report(settings, None)
            day.weekly_seconds = time.process_time() - started
        day.peak_mb, day.journal_lines_read = memory_mb("VmHWM"), meter.n_lines
        _measure(day, settings.data_dir)
        yield day


def collected(settings: Settings, *, clock: steps.Clock) -> Summary:
    """Collect, land and load as a run does, without publishing."""
    with steps.open_run(settings, clock=clock) as one:
        one.collect()
        one.load()
        return one.summary


def _proof(settings: Settings, world: World) -> Iterator[str]:
    """Rebuild from the landing folder, and say whether the content is equal."""
    started = time.process_time()
    made = replicas.rebuild(settings, clock=lambda: world.now)
    yield f"rebuilt from {made.n_fetches} looks in {time.process_time() - started:.1f} s, differing: {made.differing}"
    yield f"{content.whole(made.before)}  all tables of core and mart, as they were"
    yield f"{content.whole(made.after)}  all tables of core and mart, rebuilt from landing/ alone"


def line(days: list[Day]) -> str:
    """Return the middle values of some days (of a step: where it was done), and the sizes after the last one."""
    whole = [day for day in days if day.publish_seconds] or days
    middle = {name: sorted(getattr(day, name) for day in whole)[len(whole) // 2] for name in (
        "seconds", "load_seconds", "publish_seconds", "report_seconds", "peak_mb", "journal_lines_read"
    )}  # fmt: skip
    last = days[-1]
    weekly = max(day.weekly_seconds for day in days)
    return (
        f"day {last.day + 1:>3}: run {middle['seconds']:.2f} s (load {middle['load_seconds']:.2f}, "
        f"publish {middle['publish_seconds']:.2f}, report {middle['report_seconds']:.2f}), "
        f"weekly {weekly:.2f} s, house {max(day.house_seconds for day in days):.2f} s, "
        f"{middle['peak_mb']:.0f} MB, {middle['journal_lines_read']} lines read; "
        f"{sum(day.n_events for day in days)} events, {sum(day.n_failed for day in days)} failed; on disk: "
        f"journal {last.journal_mb:.2f}, documents {last.documents_mb:.2f} in {last.n_document_files}, packs "
        f"{last.packs_mb:.2f}, build {last.build_mb:.1f}, prices {last.prices_mb:.1f}, reports {last.reports_mb:.1f} MB"
    )


def _measure(day: Day, folder: Path) -> None:
    singles = [file.stat().st_size for file in folder.glob("landing/[0-9a-f][0-9a-f]/*")]
    day.n_document_files, day.documents_mb = len(singles), sum(singles) / 1e6
    day.packs_mb = _mb(folder.glob("landing/packs/**/*"))
    day.journal_mb = _mb([folder / "landing/journal.jsonl"])
    day.build_mb, day.prices_mb = _mb([folder / "build.duckdb"]), _mb([folder / "prices.duckdb"])
    day.reports_mb = _mb(folder.glob("reports/**/*"))


def _mb(files: Any) -> float:
    return sum(float(file.stat().st_size) for file in files if file.is_file()) / 1e6


def _forget_peak() -> None:
    """Let the kernel measure the peak of this process's memory anew (Linux)."""
    place = Path("/proc/self/clear_refs")
    if place.exists():
        place.write_text("5")


def main() -> int:
    """Run the year, print each month, and write CSV and chart."""
    from bench import year_chart

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--quiet", action="store_true", help="no price changes and nothing fails")
    parser.add_argument("--publish-every", type=int, default=1, help="publish and report on one in so many days")
    parser.add_argument("--out", type=Path, help="folder for year.csv and year.png")
    given = parser.parse_args()
    out = given.out
    if out:
        out.mkdir(parents=True, exist_ok=True)
    done: list[Day] = []
    with tempfile.TemporaryDirectory() as folder:
        days = run(Path(folder) / "data", given.days, changing=not given.quiet, publish_every=given.publish_every)
        for day in days:
            done.append(day)
            # Renewed as it goes: a year that is broken off has told of its months.
            if out and (day.day % 30 == 29 or day.day == given.days - 1):
                rows = [asdict(each) for each in done]
                year_chart.write_csv(out / "year.csv", rows)
                (out / "year.png").write_bytes(year_chart.chart(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
