"""Warehouses of one and of ten years: what a day's load and the common questions cost on each.

    python bench/growth.py --out growth                                # 100,000 prices, 1 % of which change a day
    python bench/growth.py --out growth --years 1 --prices 20000

A warehouse that stands in the folder is used again. Each day is loaded by the real load, gates and all, from frames as
`parse` returns them, and published with all marts.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from bench import growth_log  # noqa: E402
from bench.result import Result  # noqa: E402
from flows.collect.publisher import publish_log  # noqa: E402
from flows.config.settings import RankingSettings  # noqa: E402
from warehouse.log import db  # noqa: E402
from warehouse.log.load import load  # noqa: E402
from warehouse.publish import published_file  # noqa: E402

N_PRICES = 100_000
YEARS = (1, 10)
QUESTIONS: dict[str, tuple[float, str]] = {
    "latest price": (
        10, "from int.accelerator_hour_price where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' "
        "and purchase_option = 'on_demand'",
    ),
    "as-of": (
        50, "from mart.price_on('2026-03-01') where instance_type = 'p5.48xlarge' and region_id = 'us-east-1' "
        "and purchase_option = 'on_demand'",
    ),
    "a week's drift": (
        100, "select change_kind, count(*), avg(change_ratio) from int.price_change "
        "where observed_at >= timestamp '2026-11-13' group by all",
    ),
    "whole index chain": (
        1000, "select index_date, price_index from int.price_index where index_level = 'all' order by all",
    ),
    "known-at": (
        300, "select count(*), sum(unit_price) from core.price_known_at(timestamp '2026-06-01') where valid_to is null",
    ),
}  # fmt: skip
"""By name: the budget in ms, and what is asked of the published file."""


@dataclass(kw_only=True)
class Grown:
    """What one warehouse measured: seconds of the clock (and of the processor) a day, sizes, milliseconds a question.

    `log_mb` is what the blocks of the prices and fetches take in the writer's file, `document_mb` those of documents.
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
    question_ms: dict[str, float]


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the clock's and the processor's seconds that some work took, and what it returned."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - clock, time.process_time() - processor, result


def grow(folder: Path, *, n_prices: int, years: int, days: int = 1) -> Grown:
    """Make a warehouse unless it stands, load and publish some days, and ask the questions; the last day counts."""
    if not (folder / db.FILE_NAME).exists():
        folder.mkdir(parents=True, exist_ok=True)
        growth_log.make(folder, n_prices=n_prices, years=years)
    today = growth_log.market(n_prices)
    with db.writer(folder) as con:
        (last,) = con.execute("select max(observed_at) from log.scope_fetch").fetchone() or (None,)
        growth_log.last_prices(con, today)
        for day in range(1, days + 1):
            now = last.replace(tzinfo=UTC) + timedelta(days=day)
            n_changed = today.turn()
            looks = today.looks(now)
            growth_log.add_documents(con, looks, now, 1)
            loaded = timed(lambda looks=looks, now=now: load(con, looks, recorded_at=now))
            n_events = sum(result.n_events for result in loaded[2])
            if any(result.status != "ok" for result in loaded[2]) or abs(n_events - n_changed) > n_changed // 100:
                raise ValueError(f"{n_changed} prices changed, {n_events} events came of it, not all looks were good")
            published = timed(lambda now=now: publish_log(con, folder, now, ranking=RankingSettings()))
        (n_events,) = con.execute("select count(*) from core.price_event").fetchone() or (0,)
        con.execute("checkpoint")
        log_mb = sum(_table_mb(con, name) for name in ("price_closed", "price_open", "price_other", "scope_fetch"))
        document_mb = _table_mb(con, "document")
    return Grown(
        years=years, n_events=n_events, load_seconds=loaded[0], load_cpu=loaded[1], publish_seconds=published[0],
        publish_cpu=published[1], log_mb=log_mb, document_mb=document_mb, build_mb=_mb(folder / db.FILE_NAME),
        published_mb=_mb(folder / published_file.FILE_NAME), question_ms=_asked(folder / published_file.FILE_NAME),
    )  # fmt: skip


def _table_mb(con: duckdb.DuckDBPyConnection, name: str) -> float:
    """Return the megabytes of a table of the log in the file."""
    (n_blocks,) = con.execute(
        f"select count(distinct block_id) from pragma_storage_info('log.{name}') where block_id >= 0"
    ).fetchone() or (0,)
    return float(n_blocks) * 262144 / 1e6


def _mb(file: Path) -> float:
    return file.stat().st_size / 1e6


def _asked(file: Path) -> dict[str, float]:
    found = {}
    with duckdb.connect(str(file), read_only=True) as con:
        for name, (_, query) in QUESTIONS.items():
            con.execute(query).fetchall()
            took = [timed(lambda query=query: con.execute(query).fetchall())[0] for _ in range(5)]
            found[name] = statistics.median(took) * 1000
    return found


def measured(folder: Path, *, n_prices: int = N_PRICES, years: tuple[int, ...] = YEARS, days: int = 1) -> list[Result]:
    """Return the results of warehouses of so many years; budgets are those of 100,000 prices."""
    grown = [grow(folder / f"{n_prices}-{number}", n_prices=n_prices, years=number, days=days) for number in years]
    found = []
    for one in grown:
        after = f"after {one.years} year{'s' if one.years > 1 else ''}"
        note = f"{n_prices} prices, 1 % changed, {one.n_events} events; {{:.1f}} s of the processor"
        found += [
            Result(f"a day's load {after}", one.load_seconds, "s", None, note=note.format(one.load_cpu)),
            Result(f"a day's publish {after}", one.publish_seconds, "s", None, note=note.format(one.publish_cpu)),
            Result(f"a day's load and publish {after}", one.load_seconds + one.publish_seconds, "s", 1.0),
            *(
                Result(f"query {after}: {name}", took, "ms", QUESTIONS[name][0])
                for name, took in one.question_ms.items()
            ),
        ]
    first, last = grown[0], grown[-1]
    longer = (last.load_seconds + last.publish_seconds) / (first.load_seconds + first.publish_seconds)
    return [
        *found,
        Result(f"a day after {last.years} years beside one after {first.years}", longer, "x", 1.3),
        Result(
            "log (prices and fetches)",
            last.log_mb,
            "MB",
            60,
            note=f"documents {last.document_mb:.0f} MB, writer's file {last.build_mb:.0f} MB",
        ),
        Result(
            "published file", last.published_mb, "MB", 150, note=f"after {first.years}: {first.published_mb:.0f} MB"
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
