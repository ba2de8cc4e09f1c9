"""Load on a shared warehouse: writers on scopes of their own, one publisher, and readers of publications and the log.

    python bench/shared.py --minutes 10 --writers 8 --readers 16 --kill --out load
    python bench/shared.py --minutes 1 --writers 3 --readers 4 --data-path s3 --out load

Each is a process of its own (bench/shared_roles.py), over a PostgreSQL that this starts (or a catalogue in SQLite) and
a folder (or a bucket of moto's server on loopback). First one writer writes alone, beside the publisher and all
readers; then all do. --kill ends the last writer halfway, between landing and loading. In the end what was landed,
what the writers told, and what stands in the log are compared. --out gets shared.csv, a line a minute; shared.json; and
a file of JSON lines for each process. The exit code is 1 where anything was lost or doubled, did not hold, failed, or
did not happen at all.
"""

import argparse
import csv
import json
import logging
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench"), str(ROOT / "tests")]

import shared_roles  # noqa: E402
import soak_roles  # noqa: E402
from shared_roles import AGAIN, Key, Load  # noqa: E402
from shared_world import World  # noqa: E402
from soak import MINUTE_S, SILENT_S, Processes, quantile  # noqa: E402

QUESTIONS = (1, 5, 7, 20)
"""Numbers of questions in docs/querying.md that each reader asks each round."""
ALONE_SHARE, ALONE_LEAST = 0.2, 0.5
"""How long one writer writes alone: this share of the minutes, but so many minutes at least."""
PUBLISHER = "publisher-0"
COLUMNS = (
    "minute", "looks", "rows", "round_p50_s", "round_max_s", "tried_again", "publications", "publish_p50_s", "reads",
    "file_p50_ms", "log_reads", "log_p50_ms", "writer_errors", "reader_errors", "breaches",
)  # fmt: skip


@dataclass
class Heard:
    """What processes told, of a minute, of a phase, or of all: (process, what) in the order in which it was heard."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def between(self, begin: float, end: float) -> "Heard":
        return Heard([(name, line) for name, line in self.lines if begin <= line["at"] < end])

    def values(self, what: str) -> list[Any]:
        return [line[what] for _, line in self.lines if what in line]

    def errors(self, role: str) -> list[str]:
        return [line["error"] for name, line in self.lines if "error" in line and name.startswith(role)]

    @property
    def breaches(self) -> list[str]:
        return [words for each in self.values("breaches") for words in each]

    @property
    def looks(self) -> list[list[Any]]:
        return [look for each in self.values("looks") for look in each]

    @property
    def warnings(self) -> Counter[str]:
        return sum((Counter(each) for each in self.values("warnings")), Counter())

    def line(self, minute: float) -> dict[str, Any]:
        """Return the line of a minute for shared.csv."""
        values = {
            "minute": minute, "looks": len(self.looks), "rows": sum(look[4] for look in self.looks),
            "round_p50_s": quantile(self.values("seconds"), 0.5),
            "round_max_s": max(self.values("seconds"), default=None),
            "tried_again": self.warnings[AGAIN], "publications": len(self.values("published_s")),
            "publish_p50_s": quantile(self.values("published_s"), 0.5), "reads": len(self.values("file_ms")),
            "file_p50_ms": quantile(self.values("file_ms"), 0.5), "log_reads": len(self.values("log_ms")),
            "log_p50_ms": quantile(self.values("log_ms"), 0.5),
            "writer_errors": len(self.errors("writer") + self.errors("publisher")),
            "reader_errors": len(self.errors("reader")), "breaches": len(self.breaches),
        }  # fmt: skip
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in values.items()}


class Running(Processes):
    """The processes of one load, and what they told."""

    def __init__(self, load: Load) -> None:
        super().__init__(__file__, load.out)
        self.all = Heard()

    def hear(self) -> None:
        """Take what was told since this was last asked."""
        self.all.lines += self.heard()

    def wait_for(self, *names: str, what: str) -> None:
        """Wait until each of these told something. Raises TimeoutError."""
        until = time.monotonic() + SILENT_S
        while missing := set(names) - {name for name, line in self.all.lines if what in line}:
            if self.lost or time.monotonic() > until:
                raise TimeoutError(f"no {what} from {sorted(missing)}: {self.lost}")
            time.sleep(0.2)
            self.hear()

    def kill(self, name: str) -> None:
        """Kill a writer as soon as it has landed a round that it has not loaded. Raises TimeoutError."""
        until = time.monotonic() + SILENT_S
        while True:
            new = [(name, line) for line in self.tails[name].lines()]
            self.all.lines += new
            if new and "landed" in new[-1][1]:
                break
            if time.monotonic() > until or self.processes[name].poll() is not None:
                raise TimeoutError(f"{name} landed nothing")
            time.sleep(0.002)
        self.killed.add(name)
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()
        print(f"killed {name}", flush=True)

    def end(self) -> None:
        """Let each process finish what it does, and hear the rest."""
        self.all.lines += self.ended()


def told_looks(heard: Heard) -> dict[Key, list[int]]:
    """Return the rows of each look that a process told as committed, once for each time."""
    found: dict[Key, list[int]] = {}
    for look in heard.looks:
        found.setdefault(shared_roles.key_of(look), []).append(look[4])
    return found


def left_by(name: str, heard: Heard) -> dict[str, int]:
    """Return by whom how many looks of a killed writer were loaded, beside itself."""
    source = f"load_{name.rpartition('-')[2]}"
    return dict(
        Counter(by for by, line in heard.lines for look in line.get("looks", []) if look[0] == source and by != name)
    )


def rate(heard: Heard, begin: float, end: float) -> dict[str, float]:
    """Return looks and rows that were written in a minute of a phase, seconds and rounds of it.

    Of a round that lasted beyond the phase its share within counts, as a phase may be no more than a few rounds.
    """
    looks = rows = 0.0
    for _, line in heard.lines:
        seconds = max(line.get("seconds", 0.0), 0.001)
        share = max(min(line["at"], end) - max(line["at"] - seconds, begin), 0.0) / seconds
        looks += share * len(line.get("looks", []))
        rows += share * sum(look[4] for look in line.get("looks", []))
    within, minutes = heard.between(begin, end), (end - begin) / 60
    return {
        "seconds": round(end - begin, 1), "looks_a_minute": round(looks / minutes, 1),
        "rows_a_minute": round(rows / minutes, 1), "round_p50_s": quantile(within.values("seconds"), 0.5) or 0.0,
        "round_p99_s": quantile(within.values("seconds"), 0.99) or 0.0,
    }  # fmt: skip


def summary(
    heard: Heard, phases: dict[str, tuple[float, float]], ended: dict[str, Any], lost: list[str], killed: set[str]
) -> dict[str, Any]:
    """Return the whole load as a value for shared.json: rates, counts, errors, and whether it held."""
    rates = {name: rate(heard, *phase) for name, phase in phases.items()}
    alone, together = rates.get("alone", {}), rates.get("together", {})
    left = {name: left_by(name, heard) for name in sorted(killed)}
    found: dict[str, Any] = {
        "cores": os.cpu_count(),
        **{f"{name}_{what}": value for name, each in rates.items() for what, value in each.items()},
        "looks_together_by_alone": round(together["looks_a_minute"] / alone["looks_a_minute"], 2)
        if alone.get("looks_a_minute") and together else None,
        **ended, "writer_errors": len(heard.errors("writer") + heard.errors("publisher")),
        "reader_errors": len(heard.errors("reader")), "breaches": len(heard.breaches),
        "publications": len(heard.values("published_s")), "publish_p50_s": quantile(heard.values("published_s"), 0.5),
        "reads_of_files": len(heard.values("file_ms")), "files_seen": len(set(heard.values("built_at"))),
        "file_p50_ms": quantile(heard.values("file_ms"), 0.5), "file_p99_ms": quantile(heard.values("file_ms"), 0.99),
        "reads_of_the_log": len(heard.values("log_ms")), "log_p50_ms": quantile(heard.values("log_ms"), 0.5),
        "log_p99_ms": quantile(heard.values("log_ms"), 0.99),
        "publications_compared_with_snapshots": len(heard.values("compared")),
        "commits_tried_again": heard.warnings[AGAIN], "killed_writers_looks_loaded_by": left, "processes_lost": lost,
        "other_warnings": {words: number for words, number in heard.warnings.most_common(20) if words != AGAIN},
        "breaches_found": dict(Counter(heard.breaches).most_common(20)),
        "errors_found": dict(Counter(error for role in ("writer", "publisher", "reader")
                                     for error in heard.errors(role)).most_common(20)),
    }  # fmt: skip
    wrong = ("lost", "doubled", "not_landed", "told_otherwise", "breaches_at_the_end", "writer_errors",
             "reader_errors", "breaches", "processes_lost")  # fmt: skip
    needed = ("looks_in_log", "publications", "reads_of_files")
    held = all(name in found and not found[name] for name in wrong) and all(found.get(name) for name in needed)
    # A kill that left nothing behind, or whose looks nobody loaded, showed nothing.
    return found | {"held": held and all(left.values())}


def load_it(load: Load, *, minutes: float, readers: int, kill: bool) -> dict[str, Any]:
    """Let it run over a warehouse; return the summary. What an earlier load left in its folder is removed."""
    load.save()
    running = Running(load)
    writers = [f"writer-{number}" for number in range(load.world.n_writers)]
    phases: dict[str, tuple[float, float]] = {}
    ended: dict[str, Any] = {}
    try:
        with (load.out / "shared.csv").open("w", newline="", encoding="utf-8") as file:
            lines = csv.DictWriter(file, COLUMNS)
            lines.writeheader()
            running.begin(writers[0], PUBLISHER, *(f"reader-{number}" for number in range(readers)))
            running.wait_for(*writers[:1], what="seconds")
            running.wait_for(*(f"reader-{number}" for number in range(readers)), what="file_ms")
            phases["alone"] = _phase(running, lines, max(minutes * ALONE_SHARE, ALONE_LEAST))
            running.begin(*writers[1:])
            running.wait_for(*writers, what="seconds")
            phases["together"] = _phase(running, lines, minutes, victim=writers[-1] if kill else None)
    finally:
        running.end()
        try:
            if phases:
                ended, left = shared_roles.settled(load, told_looks(running.all))
                running.all.lines.append(("end", {"at": time.time(), "looks": left}))
        finally:
            found = summary(running.all, phases, ended, running.lost, running.killed)
            (load.out / "shared.json").write_text(json.dumps(found, indent=1, default=str), encoding="utf-8")
            print("\n".join(f"{name:<40}{value}" for name, value in found.items()), flush=True)
    return found


def _phase(
    running: Running, lines: "csv.DictWriter[str]", minutes: float, victim: str | None = None
) -> tuple[float, float]:
    """Wait, with a line a minute; kill a writer halfway; return begin and end."""
    began = last = time.time()
    end = began + minutes * 60
    while (now := time.time()) < end:
        if victim and now >= (began + end) / 2:
            running.kill(victim)
            victim = None
        time.sleep(min(0.5, max(end - now, 0.01)))
        running.hear()
        if time.time() - last >= MINUTE_S or time.time() >= end:
            line = running.all.between(last, time.time()).line(round((time.time() - began) / 60, 1))
            last = time.time()
            lines.writerow(line)
            print("  ".join(f"{name} {value}" for name, value in line.items()), flush=True)
    return began, time.time()


@contextmanager
def warehouse(out: Path, catalogue: str, data_path: str) -> Iterator[dict[str, str]]:
    """Start what the warehouse needs; yield the table [warehouse] of the settings."""
    with ExitStack() as held:
        table = {"url": f"ducklake:sqlite:{out / 'catalog.sqlite'}"}
        if catalogue == "postgres":
            import own_postgres

            programs = own_postgres.programs()
            if programs is None:
                raise FileNotFoundError("no PostgreSQL: apt-get install postgresql")
            server = held.enter_context(own_postgres.running(programs, log=out / "postgres.log"))
            words = f"host={server.environment['PGHOST']} port={server.port} user=postgres dbname=postgres"
            table["url"] = f"ducklake:postgres:{words}"
        if data_path != "s3":
            yield table | {"data_path": str(out / "lake"), "landing": str(out / "landing")}
            return
        import boto3
        import landing_places

        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        os.environ.update(landing_places.s3_environment(out))
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it tells of each request
        endpoint = held.enter_context(landing_places.s3_server())
        boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="load")
        yield table | {"data_path": "s3://load/lake/", "landing": "s3://load/landing/", "s3_endpoint": endpoint}


def be(name: str, out: Path) -> None:
    """Be one of the processes."""
    load, go_on = Load.saved(out), soak_roles.running(out)
    if name.startswith("writer"):
        shared_roles.write(load, name, go_on)
    elif name.startswith("publisher"):
        shared_roles.publish(load, name, go_on)
    else:
        from querying import questions

        asked = {number: sql for number, _, sql in questions()}
        shared_roles.read(load, name, [(number, asked[number]) for number in QUESTIONS], go_on)


def main() -> int:
    """Begin the processes, or be one of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--scopes", type=int, default=3, help="of each writer")
    parser.add_argument("--offers", type=int, default=40, help="of each scope")
    parser.add_argument("--publish-every", type=float, default=10, help="seconds from one publication to the next")
    parser.add_argument("--catalogue", choices=("postgres", "sqlite"), default="postgres")
    parser.add_argument("--data-path", choices=("folder", "s3"), default="folder")
    parser.add_argument("--kill", action="store_true", help="kill one writer halfway")
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder, or that of an earlier load")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    given = parser.parse_args()
    out = given.out.resolve()
    if given.role:
        be(given.role, out)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends like a break: with a summary
    if (out / "load.json").exists():
        shutil.rmtree(out)
    elif out.exists() and any(out.iterdir()):
        parser.error(f"{out} holds something that is not of an earlier load")
    out.mkdir(parents=True, exist_ok=True)
    world = World(n_writers=given.writers, n_scopes=given.scopes, n_offers=given.offers)
    with warehouse(out, given.catalogue, given.data_path) as table:
        load = Load(out=out, world=world, warehouse=table, publish_every_s=given.publish_every)
        found = load_it(load, minutes=given.minutes, readers=given.readers, kill=given.kill)
    return 0 if found["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
