"""Warehouses of one and of ten years: what a day's load and the common questions cost on each.

    python bench/growth.py --out growth                                # 100,000 prices, 1 % of which change a day
    python bench/growth.py --out growth --years 1 --prices 20000

A warehouse that stands in the folder is used again. Each day is loaded by the real load, gates and all, from frames as
`parse` returns them, and published with all marts; then its pages are written.
"""

import argparse
import pickle
import resource
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

import warehouse  # noqa: E402, F401 - before polars, as a run does: it says how polars gives memory back
from bench import growth_log  # noqa: E402
from bench.result import Result, in_loops  # noqa: E402
from flows.collect.publisher import publish_log, write_pages  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from reports.weekly import facts as weekly_facts  # noqa: E402
from warehouse.log import db  # noqa: E402
from warehouse.log.load import load  # noqa: E402
from warehouse.publish import published_file  # noqa: E402

N_PRICES = 100_000
YEARS = (1, 10)
QUESTIONS: dict[str, tuple[float, str]] = {
    "latest price": (
        0.05, "from int.accelerator_hour_price where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' "
        "and purchase_option = 'on_demand'",
    ),
    "latest price of a chip at AWS and elsewhere": (
        0.25, "select service_provider_name, min(price_per_accelerator_hour) from int.accelerator_hour_price "
        "where accelerator_name = 'H100' and purchase_option = 'on_demand' group by service_provider_name "
        "qualify count(*) over () > 5 and bool_or(service_provider_name = 'AWS') over ()",
    ),
    "as-of": (
        0.25, "from mart.price_on('2026-03-01') where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' "
        "and purchase_option = 'on_demand'",
    ),
    "as-of, spot of Trainium": (
        0.25, "from mart.price_on('2026-03-01') where instance_type = 'trn1.32xlarge' and region_id = 'us-east-1' "
        "and purchase_option = 'spot'",
    ),
    "a week's drift": (
        0.5, "select change_kind, count(*), avg(change_ratio) from int.price_change "
        "where observed_at >= timestamp '2026-11-13' group by all",
    ),
    "whole index chain": (
        5, "select index_date, price_index from int.price_index where index_level = 'all' order by all",
    ),
    "known-at": (
        1.5, "select count(*), sum(unit_price) from core.price_known_at(timestamp '2026-06-01') "
        "where valid_to is null having count(*) > 0",
    ),
}  # fmt: skip
"""By name: the budget in calibration loops of the clock, and what is asked of the published file; each has rows."""
LOAD, DAY, LONGER = 5, 20, 1.3
"""Budgets of a day: its load and the whole of it in loops of the processor, and the last beside the first in years."""
PAGES, WEEK, PAGES_LONGER = 120, 130, 3
"""Budgets of writing all pages, and of reading a week: in loops of the processor, and of the last beside the first."""
PEAK_MB, LOG_MB, PUBLISHED_MB = 500, 60, 170


@dataclass(kw_only=True)
class Grown:
    """What one warehouse measured: seconds of the clock (and of the processor) a day, sizes, and questions.

    `log_mb` is what the blocks of the prices and fetches take in the writer's file, `document_mb` those of documents,
    `peak_mb` the most memory of the process in which the days were loaded and published. `questions`: seconds of the
    clock, and rows, by name. `pages_cpu` and `week_cpu`: seconds of the processor for all pages of the last day, and
    for the facts of the last week.
    """

    years: int
    n_events: int
    load_seconds: float
    load_cpu: float
    publish_seconds: float
    publish_cpu: float
    log_mb: float
    document_mb: float
    build_mb: float
    published_mb: float
    peak_mb: float
    questions: dict[str, tuple[float, int]]
    pages_cpu: float = 0
    week_cpu: float = 0


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the clock's and the processor's seconds that some work took, and what it returned."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - clock, time.process_time() - processor, result


def grow(folder: Path, *, n_prices: int, years: int, days: int = 1) -> Grown:
    """Make a warehouse unless it stands, load and publish some days, and ask the questions; the last day counts.

    The days have a process of their own, so that their memory is no other's: what the market is made in has none of it.
    """
    if not (folder / db.FILE_NAME).exists():
        folder.mkdir(parents=True, exist_ok=True)
        growth_log.make(folder, n_prices=n_prices, years=years)
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"), max_tasks_per_child=1) as apart:
        apart.submit(_write_looks, folder, n_prices, days).result()
        grown = apart.submit(_days, folder, years, days).result()
        pages_cpu, week_cpu = (apart.submit(each, folder).result() for each in (_pages, _week))
        return replace(grown, pages_cpu=pages_cpu, week_cpu=week_cpu)


def _write_looks(folder: Path, n_prices: int, days: int) -> None:
    """Write what is seen on each of some days: the moment, how many prices changed, and the looks."""
    today = growth_log.market(n_prices)
    with db.writer(folder) as con:
        (last,) = con.execute("select max(observed_at) from log.scope_fetch").fetchone() or (None,)
        growth_log.last_prices(con, today)
    for day in range(days):
        now = last.replace(tzinfo=UTC) + timedelta(days=day + 1)
        (folder / f"{day}.looks").write_bytes(pickle.dumps((now, today.turn(), today.looks(now))))


def _days(folder: Path, years: int, days: int) -> Grown:
    # Pandera imports it with its first check where it is installed: for tests, which no user has.
    sys.modules["hypothesis"] = None  # type: ignore[assignment]
    with db.writer(folder) as con:
        for day in range(days):
            now, n_changed, looks = pickle.loads((folder / f"{day}.looks").read_bytes())  # noqa: S301 (written above)
            (folder / f"{day}.looks").unlink()
            growth_log.add_documents(con, looks, now, 1)
            loaded = timed(lambda looks=looks, now=now: load(con, looks, recorded_at=now))
            del looks
            n_events = sum(result.n_events for result in loaded[2])
            if any(result.status != "ok" for result in loaded[2]) or abs(n_events - n_changed) > n_changed // 100:
                raise ValueError(f"{n_changed} prices changed, {n_events} events came of it, not all looks were good")
            published = timed(lambda now=now: publish_log(con, folder, now, settings=Settings(data_dir=folder)))
        (n_events,) = con.execute("select count(*) from core.price_event").fetchone() or (0,)
        con.execute("checkpoint")
        log_mb = sum(_table_mb(con, name) for name in ("price_closed", "price_open", "price_other", "scope_fetch"))
        document_mb = _table_mb(con, "document")
    return Grown(
        years=years, n_events=n_events, load_seconds=loaded[0], load_cpu=loaded[1], publish_seconds=published[0],
        publish_cpu=published[1], log_mb=log_mb, document_mb=document_mb, build_mb=_mb(folder / db.FILE_NAME),
        published_mb=_mb(folder / published_file.FILE_NAME),
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        questions=asked(folder / published_file.FILE_NAME),
    )  # fmt: skip


def _pages(folder: Path) -> float:
    """Return the seconds of the processor that all pages of the published file take."""
    return timed(lambda: write_pages(Settings(data_dir=folder), folder / published_file.FILE_NAME))[1]


def _week(folder: Path) -> float:
    """Return the seconds of the processor that the facts of the last week take, of which its mail and page are made."""
    return timed(lambda: weekly_facts.read(folder / published_file.FILE_NAME))[1]


def _table_mb(con: duckdb.DuckDBPyConnection, name: str) -> float:
    """Return the megabytes of a table of the log in the file."""
    (n_blocks,) = con.execute(
        f"select count(distinct block_id) from pragma_storage_info('log.{name}') where block_id >= 0"
    ).fetchone() or (0,)
    return float(n_blocks) * 262144 / 1e6


def _mb(file: Path) -> float:
    return file.stat().st_size / 1e6


def asked(file: Path) -> dict[str, tuple[float, int]]:
    """Return the seconds of the clock and the rows of each question. Raises ValueError for one without a row."""
    found = {}
    with duckdb.connect(str(file), read_only=True) as con:
        for name, (_, query) in QUESTIONS.items():
            n_rows = len(con.execute(query).fetchall())
            if not n_rows:
                raise ValueError(f"{name}: the market has no row to find, so that no search is measured")
            took = [timed(lambda query=query: con.execute(query).fetchall())[0] for _ in range(5)]
            found[name] = statistics.median(took), n_rows
    return found


def measured(folder: Path, *, n_prices: int = N_PRICES, years: tuple[int, ...] = YEARS, days: int = 1) -> list[Result]:
    """Return the results of warehouses of so many years; budgets are those of 100,000 prices."""
    grown = [grow(folder / f"{n_prices}-{number}", n_prices=n_prices, years=number, days=days) for number in years]
    found = []
    for one in grown:
        after = f"after {one.years} year{'s' if one.years > 1 else ''}"
        n_changed = f"{n_prices} prices, 1 % changed, {one.n_events} events"
        clock = f"{one.load_seconds + one.publish_seconds:.1f} s of the clock"
        found += [
            in_loops(f"a day's load {after}", one.load_cpu, LOAD, note=n_changed),
            in_loops(f"a day's load and publish {after}", one.load_cpu + one.publish_cpu, DAY, note=clock),
            Result(f"peak memory of a day {after}", one.peak_mb, "MB", PEAK_MB),
            in_loops(f"all pages {after}", one.pages_cpu, PAGES),
            in_loops(f"a week's facts {after}", one.week_cpu, WEEK),
            *(
                in_loops(f"query {after}: {name}", took, QUESTIONS[name][0], of="clock", note=f"{n_rows} rows")
                for name, (took, n_rows) in one.questions.items()
            ),
        ]
    first, last = grown[0], grown[-1]
    longer = (last.load_cpu + last.publish_cpu) / (first.load_cpu + first.publish_cpu)
    return [
        *found,
        Result(f"a day after {last.years} years beside one after {first.years}", longer, "x", LONGER),
        *(
            Result(f"{what} after {last.years} years beside {first.years}", ratio, "x", PAGES_LONGER)
            for what, ratio in (
                ("pages", last.pages_cpu / first.pages_cpu),
                ("a week's facts", last.week_cpu / first.week_cpu),
            )
        ),
        Result(
            "log (prices and fetches)",
            last.log_mb,
            "MB",
            LOG_MB,
            note=f"documents {last.document_mb:.0f} MB, writer's file {last.build_mb:.0f} MB",
        ),
        Result(
            "published file",
            last.published_mb,
            "MB",
            PUBLISHED_MB,
            note=f"after {first.years}: {first.published_mb:.0f} MB",
        ),
    ]


def measure(folder: Path) -> list[Result]:
    """Return the results for the warehouses of the budgets, made in a folder."""
    return measured(folder)


def main() -> int:
    """Measure and print; exit 0 where the budgets are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--prices", type=int, default=N_PRICES)
    parser.add_argument("--years", type=int, nargs="+", default=list(YEARS))
    parser.add_argument("--days", type=int, default=1)
    given = parser.parse_args()
    found = measured(given.out, n_prices=given.prices, years=tuple(given.years), days=given.days)
    for each in found:
        print(each.line())
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
