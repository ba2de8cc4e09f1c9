"""The drift index of all imported histories at hand: how long the whole chain takes, and what it says of AWS.

    python bench/price_index.py --shared ../shared

Loads `aws_on_demand_observations.csv` and `neocloud_history.csv` into a warehouse in a temporary folder, publishes, and
makes both marts of the index again on the published file, best of several. Budget: 1 s for both.
"""

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from flows.collect import importer, steps  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from transform.models import MARTS  # noqa: E402

BUDGET_SECONDS = 1.0
MARTS_OF_INDEX = ("index_spell", "index_cut", "price_index_item", "administered_spot", "price_level", "price_index")
AWS, NEOCLOUDS = "aws_on_demand_observations.csv", "neocloud_history.csv"
FALL = """
select r.index_date, i.n_items, 100 * (exp(sum(p.drift_log * p.n_matched) / sum(p.n_matched)) - 1) as types_equal,
    100 * (exp(r.drift_log) - 1) as chips_equal, r.n_series as n_chips, r.mean_price_usd
from int.price_index as r
join int.price_index as p using (index_date, purchase_option)
join int.price_index as i using (index_date, purchase_option)
where r.index_level = 'all' and p.index_level = 'provider' and i.index_level = 'all' and r.n_moved > 0
group by all order by all
"""


def build(files: Iterable[Path], folder: Path) -> Path:
    """Import files into a warehouse in a folder; return the published file."""
    with steps.open_run(Settings(data_dir=folder)) as run:
        for file in files:
            importer.land(run, importer.landed(file, run.clock()))
        run.load()
        return run.publisher.publish()


def of_region(file: Path, region: str, target: Path) -> Path:
    """Write the rows of one region into a file of their own; return it."""
    with file.open(newline="", encoding="utf-8") as lines, target.open("w", newline="", encoding="utf-8") as made:
        rows = csv.DictReader(lines)
        writer = csv.DictWriter(made, rows.fieldnames or ())
        writer.writeheader()
        writer.writerows(row for row in rows if row["region"] == region)
    return target


def seconds(file: Path, *, rounds: int = 5) -> dict[str, float]:
    """Return how long each mart of the index takes on a published file, best of some rounds."""
    sql = {mart.name: mart.sql for mart in MARTS if mart.name in MARTS_OF_INDEX}
    best = dict.fromkeys(MARTS_OF_INDEX, float("inf"))
    with duckdb.connect(str(file), read_only=True) as con:
        for _ in range(rounds):
            for name in MARTS_OF_INDEX:
                started = time.perf_counter()
                con.execute(f"create or replace temp table {name} as {sql[name]}")
                best[name] = min(best[name], time.perf_counter() - started)
    return best


def fall(file: Path) -> list[tuple[object, ...]]:
    """Return each day on which the index over all chips moved, with types and with chips equal."""
    with duckdb.connect(str(file), read_only=True) as con:
        return con.execute(FALL).fetchall()


def main() -> int:
    """Print the times, the sizes and AWS's one move; fail where the budget is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    data = parser.parse_args().shared / "data"
    if not data.is_dir():
        print(f"no reference data in {data}: name its folder with --shared", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        file = build([data / AWS, data / NEOCLOUDS], Path(folder) / "all")
        with duckdb.connect(str(file), read_only=True) as con:
            for name in MARTS_OF_INDEX:
                print(f"{name}: {con.table(f'mart.{name}').count('*').fetchall()[0][0]} rows")
        times = seconds(file)
        print(", ".join(f"{name} {taken:.2f} s" for name, taken in times.items()), f"budget {BUDGET_SECONDS} s")
        east = of_region(data / AWS, "us-east-1", Path(folder) / "us_east_1.csv")
        for line in fall(build([east], Path(folder) / "aws")):
            print("AWS us-east-1 on demand: day, offers, types equal %, chips equal %, chips, mean:", *line)
    return 0 if sum(times.values()) <= BUDGET_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
