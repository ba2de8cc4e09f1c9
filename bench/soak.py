"""Continuous load: readers query the published file without pause while runs load and publish, one after the other.

    python bench/soak.py --minutes 120 --out soak --history ../shared/data/neocloud_history.csv \\
        ../shared/data/aws_on_demand_observations.csv

One writer and some readers, each a process of its own (bench/soak_roles.py). --out gets soak.csv, a line a minute;
soak.json, renewed each minute; a file of JSON lines for each process; and `data`, the data directory. Broken off, it
leaves all that was measured. The exit code is 1 where a reader met an error, something did not hold of a published
file, a run failed, or nothing was run or read.
"""

import argparse
import csv
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import soak_roles  # noqa: E402

from bench.machine import memory_mb  # noqa: E402

MINUTE_S = 60.0
SILENT_S = 1800.0
"""A process that tells nothing for so long hangs; on a busy machine a run may take minutes."""
COLUMNS = (
    "minute", "runs", "run_p50_s", "run_max_s", "rounds", "queries", "query_p50_ms", "query_p99_ms", "query_max_ms",
    "open_p50_ms", "reader_errors", "breaches", "run_errors", "writer_rss_mb", "writer_peak_mb", "readers_rss_mb",
    "prices_mb", "build_mb", "events", "published",
)  # fmt: skip


def quantile(values: list[float], share: float) -> float | None:
    """Return the least value that at least a share of all values do not exceed; None of no values."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * share) - 1, 0)] if ordered else None


@dataclass
class Told:
    """What processes told, of a minute or of all: rounds of readers and runs of the writer."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)

    def take(self, name: str, line: dict[str, Any]) -> None:
        (self.runs if name == "writer" else self.rounds).append(line)

    def of(self, where: str) -> list[float]:
        """Return the milliseconds of all rounds of one kind: `ms` (of questions), `open_ms`, `checks_ms`."""
        if where == "ms":
            return [ms for each in self.rounds for ms in each.get("ms", {}).values()]
        return [each[where] for each in self.rounds if where in each]

    @property
    def seconds(self) -> list[float]:
        return [each["seconds"] for each in self.runs if "day" in each]

    @property
    def run_errors(self) -> list[str]:
        return [each["error"] for each in self.runs if "error" in each]

    @property
    def reader_errors(self) -> list[str]:
        return [each["error"] for each in self.rounds if "error" in each]

    @property
    def breaches(self) -> list[str]:
        return [words for each in self.rounds for words in each["breaches"]]


class Tail:
    """Reads what was added to a file of JSON lines since it was last asked."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.start = 0
        self.heard_at = time.time()

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the whole lines that are new."""
        if not self.file.exists():
            return
        with self.file.open("rb") as file:
            file.seek(self.start)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self.start += len(line)
                self.heard_at = time.time()
                yield json.loads(line)


class Processes:
    """Processes of one script, each with a role, that tell what they do: a log and a file of JSON lines each."""

    def __init__(self, script: str, out: Path) -> None:
        self.script, self.out = script, out
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.tails: dict[str, Tail] = {}
        self.killed: set[str] = set()
        self.lost: list[str] = []
        (out / "running").touch()

    def begin(self, *names: str, given: Sequence[str] = ()) -> None:
        for name in names:
            command = [sys.executable, self.script, "--role", name, "--out", str(self.out), *given]
            with (self.out / f"{name}.log").open("wb") as log:
                self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log)
            self.tails[name] = Tail(self.out / f"{name}.jsonl")

    def heard(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield what was told since this was last asked, by whom, and note who ended or fell silent."""
        for name, tail in self.tails.items():
            for line in tail.lines():
                yield name, line
            ended = self.processes[name].poll()
            if ended is not None and name not in self.killed:
                self._lose(name, f"{name} ended with {ended}: see {name}.log")
            elif ended is None and time.time() - tail.heard_at > SILENT_S:
                self._lose(name, f"{name} told nothing for {SILENT_S:.0f} s")

    def ended(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Let each process finish what it does, and yield the rest."""
        (self.out / "running").unlink(missing_ok=True)
        for name, process in self.processes.items():
            try:
                code = process.wait(SILENT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code and name not in self.killed:
                self._lose(name, f"{name} ended with {code}: see {name}.log")
        for name, tail in self.tails.items():
            for line in tail.lines():
                yield name, line

    def _lose(self, name: str, words: str) -> None:
        if not any(each.startswith(f"{name} ") for each in self.lost):
            self.lost.append(words)
            print(words, flush=True)


class Soak(Processes):
    """One soak: its processes, and what they told."""

    def __init__(self, out: Path, histories: list[Path], readers: int, questions: Sequence[int]) -> None:
        super().__init__(__file__, out)
        self.all = Told()
        given = ["--questions", *map(str, questions), "--history", *(str(file.resolve()) for file in histories)]
        self.begin("writer", *(f"reader-{number}" for number in range(readers)), given=given)

    def hear(self) -> Told:
        """Return what was told since this was last asked."""
        new = Told()
        for name, line in self.heard():
            new.take(name, line)
            self.all.take(name, line)
        return new

    def end(self) -> None:
        """Let each process finish what it does, and hear the rest."""
        for name, line in self.ended():
            self.all.take(name, line)

    def line(self, minute: float, told: Told) -> dict[str, Any]:
        """Return the line of a minute for soak.csv."""
        readers = [process.pid for name, process in self.processes.items() if name != "writer"]
        writer = self.processes["writer"].pid
        values: dict[str, float | int | None] = {
            "minute": minute, "runs": len(told.seconds), "run_p50_s": quantile(told.seconds, 0.5),
            "run_max_s": max(told.seconds, default=None), "rounds": len(told.rounds), "queries": len(told.of("ms")),
            "query_p50_ms": quantile(told.of("ms"), 0.5), "query_p99_ms": quantile(told.of("ms"), 0.99),
            "query_max_ms": max(told.of("ms"), default=None), "open_p50_ms": quantile(told.of("open_ms"), 0.5),
            "reader_errors": len(told.reader_errors), "breaches": len(told.breaches),
            "run_errors": len(told.run_errors), "writer_rss_mb": memory_mb("VmRSS", writer),
            "writer_peak_mb": memory_mb("VmHWM", writer),
            "readers_rss_mb": max((memory_mb("VmRSS", pid) for pid in readers), default=None),
            "prices_mb": _mb(self.out / "data/prices.duckdb"), "build_mb": _mb(self.out / "data/build.duckdb"),
            "events": sum(each["events"] for each in told.runs if "events" in each),
            "published": sum(each.get("published", False) for each in told.runs),
        }  # fmt: skip
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in values.items()}


def _mb(file: Path) -> float:
    return file.stat().st_size / 1e6 if file.exists() else 0.0


def summary(told: Told, lost: list[str], readers: int, minutes: float) -> dict[str, Any]:
    """Return the whole soak as a value for soak.json: counts, quantiles, questions, errors, and whether it held."""
    seconds = told.seconds
    by_number: dict[str, list[float]] = {}
    rows: dict[str, list[int]] = {}
    for each in told.rounds:
        for number, ms in each.get("ms", {}).items():
            by_number.setdefault(number, []).append(ms)
            rows.setdefault(number, []).append(each["rows"][number])
    tenth = max(len(seconds) // 10, 1)
    found: dict[str, Any] = {
        "minutes": round(minutes, 2), "readers": readers, "cores": os.cpu_count(),
        "runs": len(seconds), "runs_published": sum(each.get("published", False) for each in told.runs),
        "run_errors": len(told.run_errors), "run_p50_s": quantile(seconds, 0.5), "run_p99_s": quantile(seconds, 0.99),
        "run_max_s": max(seconds, default=None),
        "first_tenth_of_runs_p50_s": quantile(seconds[:tenth], 0.5),
        "last_tenth_of_runs_p50_s": quantile(seconds[-tenth:], 0.5),
        "events": sum(each["events"] for each in told.runs if "events" in each),
        "rounds": len(told.rounds), "files_seen": len({each.get("built_at") for each in told.rounds} - {None}),
        "rounds_held_open_over_a_publish": sum("held" in each for each in told.rounds),
        "queries": len(told.of("ms")), "query_p50_ms": quantile(told.of("ms"), 0.5),
        "query_p99_ms": quantile(told.of("ms"), 0.99), "query_max_ms": max(told.of("ms"), default=None),
        "open_p50_ms": quantile(told.of("open_ms"), 0.5), "open_p99_ms": quantile(told.of("open_ms"), 0.99),
        "checks_p50_ms": quantile(told.of("checks_ms"), 0.5),
        "reader_errors": len(told.reader_errors), "breaches": len(told.breaches),
        "processor_s_p50": {
            step: statistics.median(each["processor"].get(step, 0.0) for each in told.runs if "processor" in each)
            for step in ("load", "publish", "report", "house") if seconds
        },
        "questions": {
            number: {"p50_ms": quantile(took, 0.5), "p99_ms": quantile(took, 0.99), "rows_least": min(rows[number]),
                     "rows_most": max(rows[number])}
            for number, took in sorted(by_number.items(), key=lambda each: int(each[0]))
        },
        "lost": lost, "breaches_found": dict(Counter(told.breaches).most_common(20)),
        "errors_found": dict(Counter(told.reader_errors + told.run_errors).most_common(20)),
    }  # fmt: skip
    faults = found["reader_errors"] + found["breaches"] + found["run_errors"] + len(lost)
    return found | {"held": not faults and bool(seconds) and bool(told.rounds)}


def table(found: dict[str, Any]) -> Iterator[str]:
    """Yield the summary as lines for people."""
    for name, value in found.items():
        if isinstance(value, dict) and name == "questions":
            yield "question  p50 ms  p99 ms  rows"
            for number, of in value.items():
                yield f"{number:>8}  {of['p50_ms']:6.1f}  {of['p99_ms']:6.1f}  {of['rows_least']}-{of['rows_most']}"
        else:
            yield f"{name:<32}{round(value, 3) if isinstance(value, float) else value}"


def soak(
    out: Path,
    histories: list[Path],
    *,
    minutes: float,
    readers: int,
    questions: Sequence[int] = soak_roles.QUESTIONS,
) -> dict[str, Any]:
    """Let it run; return the summary. An empty data directory is begun with; what an earlier soak left is removed."""
    shutil.rmtree(out / "data", ignore_errors=True)
    for old in out.glob("*.jsonl"):
        old.unlink()
    out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    running = Soak(out, histories, readers, questions)
    try:
        with (out / "soak.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            while (left := began + minutes * 60 - time.time()) > 0:
                time.sleep(min(left, MINUTE_S))
                passed = (time.time() - began) / 60
                line = running.line(round(passed, 1), running.hear())
                writer.writerow(line)
                file.flush()
                print("  ".join(f"{name} {value}" for name, value in line.items()), flush=True)
                _save(out, summary(running.all, running.lost, readers, passed))
    finally:
        running.end()
        found = summary(running.all, running.lost, readers, (time.time() - began) / 60)
        _save(out, found)
        print("\n".join(table(found)), flush=True)
    return found


def _save(out: Path, found: dict[str, Any]) -> None:
    part = out / "soak.json.part"
    part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    part.replace(out / "soak.json")


def main() -> int:
    """Begin the processes, or be one of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the results and the data directory")
    parser.add_argument("--history", type=Path, nargs="*", default=[], help="CSVs of past prices, imported once")
    parser.add_argument("--questions", type=int, nargs="*", default=soak_roles.QUESTIONS, help="of docs/querying.md")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role:
        from querying import questions

        if given.role == "writer":
            soak_roles.write(given.out, given.history)
        else:
            asked = {number: sql for number, _, sql in questions()}
            soak_roles.read(given.out, given.role, [(number, asked[number]) for number in given.questions])
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends like a break: with a summary
    found = soak(
        given.out, given.history, minutes=given.minutes, readers=given.readers, questions=given.questions
    )  # fmt: skip
    return 0 if found["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
