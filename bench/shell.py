"""Commands as people start them, each a process: `--help`, a query, the whole offline run, the report of a week.

    python bench/shell.py

Peers are what nobody can beat in Python: the interpreter alone, and one that asks the same of the same file by DuckDB
alone. Seconds are the clock's, the median of some starts after a first one; those of the processor stand beside them,
as other programs hardly change these.
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

from bench.result import Result  # noqa: E402

STARTS = 7
QUERY = "select count(*) as n from core.offer"
PROGRAM = (sys.executable, "-c", "from flows.cli.main import main; main()")
PLAIN = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).execute(sys.argv[2]).fetchall())"


class Took(NamedTuple):
    """Seconds of a command: the clock's, and the processor's."""

    seconds: float
    processor: float

    def __str__(self) -> str:
        return f"{self.processor:.2f} s of the processor"


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
    offline = timed((*PROGRAM, *data, "run", "--offline"), starts=1)
    weekly = timed((*PROGRAM, *data, "report", "weekly"), starts=1)
    help_, query = timed((*PROGRAM, "--help")), timed((*PROGRAM, *data, "query", QUERY))
    file = folder / "data" / "prices.duckdb"
    python = timed((sys.executable, "-c", "pass"))
    plain = timed((sys.executable, "-c", PLAIN, file, QUERY))
    imports = timed((sys.executable, "-c", "import duckdb, polars, pandera.polars, great_tables"), starts=3)
    heavy = {"imports alone": imports.seconds}
    return [
        Result("run --offline", offline.seconds, "s", 5, peers=heavy, note=f"without Prefect, one start; {offline}"),
        Result("report of a week", weekly.seconds, "s", 5, peers=heavy, note=f"one start; {weekly}"),
        Result("chipledger --help", help_.seconds, "s", 0.3, peers={"python alone": python.seconds}, note=str(help_)),
        Result(
            "chipledger query", query.seconds, "s", 0.6, note=str(query),
            peers={"python alone": python.seconds, "DuckDB in python": plain.seconds},
        ),
    ]  # fmt: skip


def main() -> int:
    """Print the results; exit 0 where the budgets are kept."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = results(Path(folder))
    print("\n".join(each.line() for each in found))
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
