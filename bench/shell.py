"""Commands as people start them, each a process: `--help`, a query, the whole offline run, the report of a week.

    python bench/shell.py

Peers are what nobody can beat in Python: the interpreter alone, and one that asks the same of the same file by DuckDB
alone. Seconds are the processor's, the median of some starts after a first one, as multiples of the calibration loop;
those of the clock stand beside them.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.result import Result, in_loops  # noqa: E402

STARTS = 7
BEFORE_AT, OFFLINE_BEFORE = "22 November 2026", 30
"""The processor's seconds of a first `run --offline` then (commit 3e03059), in calibration loops."""
QUERY = "select count(*) as n from core.offer"
PROGRAM = (sys.executable, "-c", "from flows.cli.main import main; main()")
PLAIN = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).execute(sys.argv[2]).fetchall())"


class Took(NamedTuple):
    """Seconds of a command: the clock's, and the processor's."""

    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s of the clock"


def timed(command: Sequence[str | Path], *, starts: int = STARTS) -> Took:
    """Return the medians of some starts; of several, one more is not counted. Raises CalledProcessError."""
    took = []
    for number in range(starts + 1 if starts > 1 else 1):
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        seconds, after = time.perf_counter() - began, os.times()
        if number or starts == 1:
            used = after.children_user + after.children_system - before.children_user - before.children_system
            took.append(Took(seconds, used))
    return Took(statistics.median(each.seconds for each in took), statistics.median(each.processor for each in took))


def results(folder: Path, shared: Path | None = None) -> list[Result]:
    """Return what the commands take, the offline run first, which makes the file that the others read."""
    _ = shared  # nothing of it is needed
    data = ("--data-dir", folder / "data")
    offline, again = (timed((*PROGRAM, *data, "run", "--offline"), starts=1) for _ in range(2))
    weekly = timed((*PROGRAM, *data, "report", "weekly"), starts=1)
    help_, query = timed((*PROGRAM, "--help")), timed((*PROGRAM, *data, "query", QUERY))
    file = folder / "data" / "offline" / "prices.duckdb"
    python = timed((sys.executable, "-c", "pass"))
    plain = timed((sys.executable, "-c", PLAIN, file, QUERY))
    imports = timed((sys.executable, "-c", "import duckdb, polars, pandera.polars, great_tables"), starts=3)
    heavy = {"imports alone": imports.processor}
    alone = {"python alone": python.processor}
    note = f"without Prefect, one start; the version of {BEFORE_AT} took {OFFLINE_BEFORE} loops; {offline}"
    return [
        in_loops("run --offline", offline.processor, OFFLINE_BEFORE / 2, peers=heavy, note=note),
        in_loops("run --offline with nothing new", again.processor, OFFLINE_BEFORE / 5, note=f"one start; {again}"),
        in_loops("report of a week", weekly.processor, 25, peers=heavy, note=f"one start; {weekly}"),
        in_loops("chipledger --help", help_.processor, 1.5, peers=alone, note=str(help_)),
        in_loops(
            "chipledger query", query.processor, 3, peers=alone | {"DuckDB in python": plain.processor}, note=str(query)
        ),
    ]


def main() -> int:
    """Print the results; exit 0 where the budgets are kept."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = results(Path(folder))
    print("\n".join(each.line() for each in found))
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
