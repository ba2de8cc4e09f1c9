"""Questions of a published file with every dated price at hand, and its marts: each against its budget and its peers.

    python bench/published.py --shared ../shared
    python bench/published.py --shared ../shared --file data/prices.duckdb

The file is that of bench/querying.py, with the whole imported history. COMMON are the five questions that have budgets
of their own; polars and DuckDB ask the same of the same tables written as Parquet, and have to find as many rows. What
stands in a peer's Parquet was computed by the marts, so that peers are asked for reading and choosing only.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402
import polars as pl  # noqa: E402

from bench import price_index, querying  # noqa: E402
from bench.result import Result, in_loops  # noqa: E402
from transform.models import MARTS  # noqa: E402

TIMES = 9
PARQUET = {
    "latest": "select * from int.accelerator_hour_price",
    "history": "select h.*, o.instance_type, o.purchase_option from int.price_history as h "
    "join core.offer as o using (offer_id)",
    "change": "select * from int.price_change",
    "index": "select * from int.price_index",
    "event": "select * from core.price_event",
}
"""Tables written for the peers."""
COMMON: dict[str, tuple[float, str, str | None]] = {
    "latest price": (
        0.05, "from int.accelerator_hour_price where instance_type = 'p5.48xlarge' and purchase_option = 'on_demand'",
        "from latest where instance_type = 'p5.48xlarge' and purchase_option = 'on_demand'",
    ),
    "as-of": (
        0.25, "from mart.price_on('2025-07-01') where instance_type = 'p5.48xlarge' and purchase_option = 'on_demand'",
        "from history where valid_from <= timestamp '2025-07-01' and coalesce(valid_to > timestamp '2025-07-01', true) "
        "and unit_price is not null and instance_type = 'p5.48xlarge' and purchase_option = 'on_demand'",
    ),
    "a week's drift": (
        0.5, "select change_kind, count(*) as n, avg(change_ratio) as mean from int.price_change "
        "where observed_at > timestamp '2026-06-01' and observed_at <= timestamp '2026-06-08' group by change_kind",
        "select change_kind, count(*) as n, avg(change_ratio) as mean from change "
        "where observed_at > timestamp '2026-06-01' and observed_at <= timestamp '2026-06-08' group by change_kind",
    ),
    "whole index chain": (
        5, "select index_date, price_index from int.price_index where index_level = 'all' order by index_date",
        "select index_date, price_index from index where index_level = 'all' order by index_date",
    ),
    "known-at": (
        1.5, "from core.price_known_at(timestamp '2027-01-01') where valid_to is null", None,
    ),
}  # fmt: skip
"""By name: the budget in loops of the clock, what is asked of the file, and of peers; None: they cannot know."""
QUESTION, INDEX = 1, 5
"""Budgets of the slowest documented question and of the index, in loops of the clock."""


def median_ms(ask: Callable[[], Any]) -> float:
    """Return the median milliseconds of asking some times, after a first time."""
    ask()
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        ask()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def common(file: Path, folder: Path) -> list[Result]:
    """Return the results of the five common questions. Raises ValueError where a peer finds other rows."""
    found = []
    with duckdb.connect(str(file), read_only=True) as con, duckdb.connect() as parquet:
        written = {name: folder / f"{name}.parquet" for name in PARQUET}
        for name, query in PARQUET.items():
            con.execute(f"copy ({query}) to '{written[name]}' (format parquet)")
            parquet.execute(f"create view {name} as from read_parquet('{written[name]}')")
        frames = pl.SQLContext({name: pl.scan_parquet(path) for name, path in written.items()})
        for name, (budget, sql, of_peers) in COMMON.items():
            rows = len(con.execute(sql).fetchall())
            if not rows:
                raise ValueError(f"{name}: no row is found, so that no search is measured")
            peers = {}
            if of_peers:
                # polars knows no `from` first.
                selected = of_peers if of_peers.startswith("select") else f"select * {of_peers}"
                asks: dict[str, Callable[[], int]] = {
                    "DuckDB on Parquet": lambda selected=selected: len(parquet.execute(selected).fetchall()),  # type: ignore[misc]
                    "polars on Parquet": lambda selected=selected: len(frames.execute(selected).collect().rows()),  # type: ignore[misc]
                }
                for peer, ask in asks.items():
                    if ask() != rows:
                        raise ValueError(f"{name}: {peer} finds {ask()} rows, the published file {rows}")
                    peers[peer] = median_ms(ask)
            else:
                peers["reading the log's Parquet"] = median_ms(lambda: parquet.execute("from event").fetchall())
            taken = median_ms(lambda sql=sql: con.execute(sql).fetchall())  # type: ignore[misc]
            beside = {peer: ms / 1000 for peer, ms in peers.items()}
            found.append(
                in_loops(f"query: {name}", taken / 1000, budget, of="clock", peers=beside, note=f"{rows} rows")
            )
    return found


def of_file(file: Path, folder: Path) -> list[Result]:
    """Return the results for a published file: common questions, those of docs/querying.md, and marts."""
    found = common(file, folder)
    answers = list(querying.answers(file))
    slowest = max(answers, key=lambda each: each.median_ms)
    note = f"number {slowest.number}, {slowest.rows} rows"
    title = f"query: slowest of {len(answers)} documented"
    found.append(in_loops(title, slowest.median_ms / 1000, QUESTION, of="clock", note=note))
    index = sum(price_index.seconds(file, rounds=2).values())
    found.append(in_loops("drift index made anew", index, INDEX, of="clock", note="both marts"))
    with duckdb.connect(str(file), read_only=True) as con:
        began = time.perf_counter()
        tables = [mart for mart in MARTS if mart.is_table]
        for mart in tables:
            con.execute(f"create or replace temp table made as {mart.sql}")
        seconds = time.perf_counter() - began
        (n_events,) = con.execute("select count(*) from core.price_event").fetchone() or (0,)
    note = f"{len(tables)} marts of {n_events} events, once; a file of {file.stat().st_size / 1e6:.1f} MB"
    return [*found, Result("all marts made anew", seconds, "s", None, note=note)]


def results(folder: Path, shared: Path) -> list[Result]:
    """Return the results for a file made of all prices in the folder of reference data."""
    return of_file(querying.publish(shared, folder), folder)


def main() -> int:
    """Print the results; exit 0 where the budgets are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    parser.add_argument("--file", type=Path, help="a published file; nothing is imported then")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = of_file(args.file, folder) if args.file else results(folder, args.shared)
    print("\n".join(each.line() for each in found))
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
