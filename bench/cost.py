"""Time of the marts of cost on the whole imported history and 3,000 measured runs.

    python bench/cost.py --shared ../shared

Both files of past prices are imported into a temporary folder and published, with the shipped runs and, up to --runs,
copies of them: a copy is the same run with its rates a little higher or lower, as another submitter might have had, so
that points have more runs, and frontiers more knots. Copies are made up: no cost in that file means anything. Each mart
is then made again from what stands in the published file; what is printed is the least of three times, in seconds.
Nothing beats the copying of the rows as they stand there, which computes none of them.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from bench.result import Result  # noqa: E402
from flows.collect import importer, steps  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from transform.models import MACROS, MARTS  # noqa: E402
from warehouse.log.db import quote  # noqa: E402
from warehouse.reference import throughput  # noqa: E402

HISTORIES = ("neocloud_history.csv", "aws_on_demand_observations.csv")
COST_MARTS = (
    "listed_price", "provider_price", "throughput", "cost_price", "serving_rate", "serving_offer", "token_cost",
    "training_rate", "training_offer", "training_cost", "cost_left_out",
)  # fmt: skip
COST_MACROS = ("serving_cost", "training_run_cost")
RATES = ("output_rate", "input_rate", "total_rate")
N_RUNS = 3000
MADE_UP = datetime(2026, 1, 1, tzinfo=UTC)


def copies(n_runs: int) -> Iterator[tuple[object, ...]]:
    """Yield rows of core.throughput, so many that shipped and made-up runs together are `n_runs`."""
    shipped = throughput.read_table()
    pick = random.Random(1)  # noqa: S311
    for number in range(max(n_runs - len(shipped), 0)):
        run = dict(shipped[number % len(shipped)])
        factor = Decimal(pick.randrange(8500, 10000)) / 10000
        run |= {name: round(run[name] * factor, 4) for name in RATES if run[name] is not None}
        run |= {"measured_by": "a copy", "source_url": f"copy {number}"}
        yield throughput.core_row(
            run, source="benchmark:copies", observed_at=MADE_UP, document_sha256="copies", recorded_at=MADE_UP
        )


def publish(shared: Path, folder: Path, n_runs: int) -> tuple[Path, dict[str, float]]:
    """Import and publish; return the published file and the seconds of each step."""
    seconds: dict[str, float] = {}
    with steps.open_run(Settings(data_dir=folder)) as one:
        start = time.perf_counter()
        for name in HISTORIES:
            importer.land(one, importer.landed(shared / "data" / name, one.clock()))
        one.load()
        throughput.append(one.con, copies(n_runs))
        seconds["load"] = time.perf_counter() - start
        start = time.perf_counter()
        file = one.publisher.publish()
        seconds["publish"] = time.perf_counter() - start
    return file, seconds


def timed(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[float, int]:
    """Return the least seconds of three in which a SELECT makes a table, and its rows."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        con.execute(f"create or replace temp table made as {sql}")
        best = min(best, time.perf_counter() - start)
    (rows,) = con.execute("select count(*) from made").fetchone() or (0,)
    return best, rows


@contextmanager
def attached(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that reads a published file, and makes tables in memory."""
    with duckdb.connect() as con:
        con.execute(f"attach {quote(str(file))} as published (read_only)")
        con.execute("use published")
        yield con


def asked(name: str, parameters: Iterable[str]) -> str:
    """Return the SELECT of a macro with the values it is given by default."""
    return f"select * from mart.{name}({', '.join(parameters)})"


def results(folder: Path, shared: Path, *, n_runs: int = N_RUNS) -> list[Result]:
    """Return what the marts of cost take, beside the copying of their rows."""
    file, seconds = publish(shared, folder / "cost", n_runs)
    with attached(file) as con:
        made = {mart.name: timed(con, mart.sql) for mart in MARTS if mart.is_table}
        copied = {name: timed(con, f"select * from mart.{name}") for name in made}
        macros = {
            macro.name: timed(con, asked(macro.name, macro.parameters.values()))
            for macro in MACROS if macro.name in COST_MACROS
        }  # fmt: skip
    if wrong := [name for name, (_, rows) in copied.items() if made[name][1] != rows]:
        raise ValueError(f"made again they have other numbers of rows: {', '.join(wrong)}")
    found = []
    for what, names in (("marts of cost", COST_MARTS), ("all marts of the cost bench", tuple(made))):
        took, rows = (sum(made[name][place] for name in names) for place in (0, 1))
        peers = {"copying their rows": sum(copied[name][0] for name in names)}
        note = f"{len(names)} marts, {rows:.0f} rows of {n_runs} runs; load {{load:.1f}} s, publish {{publish:.1f}} s"
        found.append(Result(what, took, "s", None, peers=peers, note=note.format_map(seconds)))
    return found + [
        Result(f"macro {name}", took * 1000, "ms", None, note=f"{rows} rows of {n_runs} runs")
        for name, (took, rows) in macros.items()
    ]


def report(file: Path, seconds: dict[str, float]) -> Iterator[str]:
    """Yield the lines of what is printed."""
    with attached(file) as con:
        (runs,) = con.execute("select count(*) from core.throughput").fetchone() or (0,)
        (made_up,) = con.execute(
            "select count(*) from core.throughput where source = 'benchmark:copies'"
        ).fetchone() or (0,)
        (offers,) = con.execute("select count(*) from core.offer").fetchone() or (0,)
        yield f"{offers} offers; {runs} runs, {made_up} of them made-up copies; {file.stat().st_size / 1e6:.1f} MB"
        yield ", ".join(f"{name} {took:.2f} s" for name, took in seconds.items())
        every, of_cost = 0.0, 0.0
        for mart in MARTS:
            if mart.is_table:
                took, rows = timed(con, mart.sql)
                every += took
                of_cost += took if mart.name in COST_MARTS else 0
                yield f"  {took:7.3f} s {rows:>8} rows  {mart.name}{'  *' if mart.name in COST_MARTS else ''}"
        yield f"{of_cost:.2f} s in all of the marts of cost (*), {every:.2f} s of all marts"
        for macro in MACROS:
            if macro.name in COST_MACROS:
                took, rows = timed(con, asked(macro.name, macro.parameters.values()))
                yield f"  {took:7.3f} s {rows:>8} rows  {macro.name}({', '.join(macro.parameters.values())})"


def main() -> int:
    """Import, publish, and print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    parser.add_argument("--runs", type=int, default=N_RUNS, help=f"measured runs, shipped and made up [{N_RUNS}]")
    args = parser.parse_args()
    if not (args.shared / "data").is_dir():
        print(f"no reference data in {args.shared}: name its folder with --shared", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for line in report(*publish(args.shared, Path(folder), args.runs)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
