"""The questions of docs/querying.md, asked of a file with the whole imported history: rows, time, and the SQL.

    python bench/querying.py --shared ../shared
    python bench/querying.py --file data/prices.duckdb --sql

Without --file, every dated price at hand is imported into a temporary folder and published: the neoclouds' history,
AWS's on-demand, Reserved, Capacity Block and spot prices (see bench/real_options.py), beside the offline archive.
Each question is asked five times in one connection, all rows fetched; the median is printed, and the first time, which
reads from disk. The exit code is 1 where a median is above the budget.
"""

import argparse
import gzip
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import duckdb  # noqa: E402
import real_options  # noqa: E402

from flows.collect import importer, steps  # noqa: E402
from flows.collect.collector import FetchResult  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from warehouse.documents import Document, ScopeFetch  # noqa: E402

BUDGET_MS = 200
TIMES = 5
HISTORIES = ("neocloud_history.csv", "aws_on_demand_observations.csv")
QUESTION = re.compile(r"^### (\d+)\. (.*?)\n.*?^```sql\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


class Answer(NamedTuple):
    """One question, its SQL, the number of rows of its answer, and the milliseconds that it took."""

    number: int
    question: str
    sql: str
    rows: int
    first_ms: float
    median_ms: float


def questions(document: Path = ROOT / "docs" / "querying.md") -> Iterator[tuple[int, str, str]]:
    """Yield number, words and SQL of each question of the document."""
    for number, words, sql in QUESTION.findall(document.read_text(encoding="utf-8")):
        yield int(number), words, sql.strip()


def publish(shared: Path, folder: Path) -> Path:
    """Import everything into a warehouse in a folder; return the published file."""
    real_options.build(shared, folder)
    chosen = Settings(data_dir=folder / "warehouse")
    with steps.open_run(chosen) as run:
        for path in sorted((shared / "data" / "aws_samples").glob("spot_history_us_east_1_*.json.gz")):
            look = saved_spot(path)
            run.land(FetchResult(source=look.source, scope=look.scope, fetches=(look,)))
        for name in HISTORIES:
            importer.land(run, importer.landed(shared / "data" / name, run.clock()))
        run.load()
    steps.run(chosen, offline=True)
    return chosen.published()


def saved_spot(path: Path) -> ScopeFetch:
    """Return ninety days of spot prices by zone, as EC2 answered on 2021-05-30, as a past look."""
    seen_at = datetime(2021, 5, 30, 22, tzinfo=UTC)
    body = gzip.decompress(path.read_bytes())
    document = Document(source="aws_spot", scope="us-east-1", url=path.name, body=body, fetched_at=seen_at)
    return ScopeFetch(
        source="aws_spot", scope="us-east-1", observed_at=seen_at, complete=False, archived=True, documents=(document,)
    )


def answers(file: Path) -> Iterator[Answer]:
    """Ask every question, and yield what came of it."""
    with duckdb.connect(str(file), read_only=True) as con:
        for number, words, sql in questions():
            took = []
            n_rows = 0
            for _ in range(TIMES):
                start = time.perf_counter()
                n_rows = len(con.execute(sql).fetchall())
                took.append((time.perf_counter() - start) * 1000)
            yield Answer(number, words, sql, n_rows, took[0], statistics.median(took))


def main() -> int:
    """Publish where no file is named, ask, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    parser.add_argument("--file", type=Path, help="a published file; nothing is imported then")
    parser.add_argument("--sql", action="store_true", help="print the SQL of each question too")
    args = parser.parse_args()
    if args.file is None and not (args.shared / "data").is_dir():
        print(f"no reference data in {args.shared}: name its folder with --shared", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        file = args.file or publish(args.shared, Path(folder))
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
        slowest = 0.0
        print("    rows  first ms  median ms  question")
        for one in answers(file):
            print(f"{one.rows:8}  {one.first_ms:8.1f}  {one.median_ms:9.1f}  {one.number}. {one.question}", flush=True)
            if args.sql:
                print("\n".join(f"          {line}" for line in one.sql.splitlines()), end="\n\n")
            slowest = max(slowest, one.median_ms)
    print(f"slowest median: {slowest:.1f} ms; budget: {BUDGET_MS} ms")
    return int(slowest > BUDGET_MS)


if __name__ == "__main__":
    sys.exit(main())
