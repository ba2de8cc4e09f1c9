"""A day's load and all marts at multiples of today's rows, on a file and on a lake, and what becomes the limit.

    python bench/scale.py --out scale --times 1 10                     # times today's 2,500 offers, 30 days of history
    python bench/scale.py --out scale --times 10 100 1000 --days 30 --limit 7200
    python bench/scale.py --out scale --events 10000000 --limit 14400  # 100,000 prices, 1 % a day: 10,000 days
    python bench/scale.py --out scale --times 10 --catalogue postgres
    python bench/scale.py --out scale --times 100 --threads 1 2 4      # of DuckDB, its workers; else one for each core

For each size and warehouse four steps, each in a process of its own with a time limit: `make` (the log), `publish
whole` (nothing published before), `load a day`, `publish a day` (the file of the day before stands). Of the last three
only the work counts, not the start of Python nor the reading of the day's rows. A step that does not end is told so,
and those that need it are not tried. `before MB` is what the process had before the work, and is part of `peak MB`.

What limits a step is told by a rule, from what was measured, the first that applies:
  time        it was ended at --limit
  memory      it was ended above --most-memory GB, or DuckDB wrote rows to disk for want of memory
  disk        what it read from and wrote to the disk, at the speed that was measured, is half of the clock or more
  processor   the processor's seconds are 80 % of what all cores have, or more
  one core    they are 80 % of one core or more: the work runs one after the other
  others      its threads waited for a core for half of the clock or more: other work had them
  waiting     none of these: locks, the catalogue, the disk's answers
and beside it the longest statement, where it alone takes half of the clock or more.
"""

import argparse
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from bench import machine  # noqa: E402
from bench.machine import memory_mb  # noqa: E402
from warehouse.lake.place import Place, place  # noqa: E402

TODAY = 2_500
"""Offers of a day's whole run today."""
STEPS = ("make", "publish whole", "load a day", "publish a day")
KINDS = ("file", "lake")
HALF, MOST_OF = 0.5, 0.8
POLL_S = 0.2
Told = dict[str, Any]


def usage() -> tuple[float, float, float, float]:
    """Return the seconds of the clock and the processor, the MB read from and written to the disk, by this process.

    The fourth is the seconds that its threads, those that still are, waited for a core, added up.
    """
    lines = Path("/proc/self/io").read_text().splitlines()
    io = {name: int(value) for name, value in (line.split(": ") for line in lines)}
    waited = sum(int(each.read_text().split()[1]) for each in Path("/proc/self/task").glob("*/schedstat")) / 1e9
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), spent.ru_utime + spent.ru_stime, (io["read_bytes"] + io["write_bytes"]) / 1e6, waited


def run_step(step: str, where: Place, folder: Path, given: Told) -> Told:
    """Do one step in this process, and return what it measured."""
    from bench import scale_steps

    told: Told = {}

    @contextmanager
    def around() -> Iterator[None]:
        # The highest memory from here on.
        Path("/proc/self/clear_refs").write_text("5")
        told["memory_before_mb"] = memory_mb("VmRSS")
        statements.seconds.clear()
        statements.longest = ("", 0.0)
        began = usage()
        yield
        told.update(
            zip(("clock_s", "processor_s", "disk_mb", "waited_s"), map(float.__sub__, usage(), began), strict=True)
        )
        told["memory_mb"] = memory_mb("VmHWM")
        told["longest"] = statements.longest
        slowest = sorted(statements.seconds.items(), key=lambda each: -each[1])[:10]
        told["statements"] = {name: round(seconds, 3) for name, seconds in slowest}

    with scale_steps.timed_statements(given.get("threads")) as statements:
        if step == "make":
            with around():
                found = scale_steps.make(where, folder, n_prices=given["n_prices"], days=given["days"])
        elif step == "load a day":
            found = scale_steps.load_day(where, folder, n_changed=given["n_changed"], around=around)
        else:
            found = scale_steps.publish(where, around)
    return {**told, **found}


def watched(command: list[str], folder: Path, *, limit_s: float, most_mb: float) -> Told:
    """Run a command that writes `told.json` into a folder, and end it above a time or memory; say what became of it.

    `spilled_mb` is the most that lay in DuckDB's temporary folders at once; `memory_mb` that of the process, unless the
    step told its own.
    """
    answer, began, spilled, ended, peak = folder / "told.json", time.monotonic(), 0.0, "", 0.0
    answer.unlink(missing_ok=True)
    with (folder / "step.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            while process.poll() is None:
                spilled = max(spilled, size_mb(folder.rglob("*.tmp/*")))
                now = memory_mb("VmRSS", process.pid)
                peak = max(peak, now)
                over = time.monotonic() - began > limit_s
                if over or now > most_mb:
                    ended = "time" if over else "memory"
                    break
                time.sleep(POLL_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    told: Told = {"ended": ended, "process_s": time.monotonic() - began, "spilled_mb": spilled, "memory_mb": peak}
    if process.returncode and not ended:
        last = (folder / "step.log").read_text(errors="replace").strip().splitlines()[-1:]
        told["ended"] = (
            "memory" if process.returncode == -signal.SIGKILL or "Out of Memory" in "".join(last) else "error"
        )
        told["error"] = last[0] if last else f"ended with {process.returncode}"
    return {**told, **json.loads(answer.read_text())} if answer.exists() else told


def limit(told: Told, *, cores: int, disk_mb_s: float) -> str:
    """Return what limits a step, by the rule in this module's words."""
    if told["ended"]:
        return str(told["ended"])
    clock = max(told["clock_s"], 1e-9)
    shares = {
        "memory": told["spilled_mb"] > 0,
        "disk": told["disk_mb"] / disk_mb_s >= HALF * clock,
        "processor": told["processor_s"] >= MOST_OF * cores * clock,
        "one core": told["processor_s"] >= MOST_OF * clock,
        "others": told["waited_s"] >= HALF * clock,
    }
    name = next((name for name, applies in shares.items() if applies), "waiting")
    statement, seconds = told["longest"]
    return f"{name}; {statement} ({seconds / clock:.0%})" if seconds >= HALF * clock else name


def size_mb(files: Iterator[Path]) -> float:
    """Return the size of files, in MB; what goes meanwhile counts nothing."""
    total = 0
    for each in files:
        try:
            total += each.stat().st_size if each.is_file() else 0
        except FileNotFoundError:
            continue
    return total / 1e6


def sizes(where: Place) -> Told:
    """Return the sizes of what a warehouse left, in MB, and the number of its files of rows."""
    rows = [where.data_dir / "build.duckdb"] if not where.is_shared else list(Path(where.data_path).rglob("*.parquet"))
    return {
        "log_mb": size_mb(iter(rows)),
        "n_files": sum(1 for each in rows if each.exists()),
        "catalogue_mb": catalogue_mb(where),
        "published_mb": size_mb(iter([where.data_dir / "prices.duckdb"])),
    }


def catalogue_mb(where: Place) -> float | None:
    """Return the size of a lake's catalogue; None of a file."""
    if not where.is_shared:
        return None
    if not where.is_postgres:
        return size_mb(Path(where.catalogue).parent.glob(f"{Path(where.catalogue).name}*"))
    import psycopg

    with psycopg.connect(where.catalogue) as con:
        row = con.execute(
            "select sum(pg_total_relation_size(c.oid)) from pg_class as c inner join pg_namespace as n "
            "on n.oid = c.relnamespace where n.nspname = %s and c.relkind = 'r'",
            [where.schema],
        ).fetchone()
    return float(row[0] or 0) / 1e6 if row else None


def measure(name: str, kind: str, where: Place, folder: Path, given: Told, args: argparse.Namespace) -> Iterator[Told]:
    """Yield what each step of one size on one warehouse measured; after one that does not end only what can go on."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given, broken = dict(given), set[str]()
    for step in STEPS:
        told: Told = {"case": name, "warehouse": kind, "step": step, "n_prices": given["n_prices"]}
        needs = {"make", "load a day"} if step == "publish a day" else {"make"}
        if needs & broken:
            yield {**told, "ended": f"not tried: no {min(needs & broken)}", "limit": "not tried"}
            continue
        fields = {each: str(getattr(where, each)) for each in ("data_dir", "url", "data_path", "schema")}
        words = json.dumps({"step": step, "place": fields, "folder": str(folder), "given": given})
        command = [sys.executable, str(Path(__file__)), "--step", words]
        told |= watched(command, folder, limit_s=args.limit, most_mb=args.most_memory * 1000)
        told["limit"] = limit(told, cores=os.cpu_count() or 1, disk_mb_s=args.disk_mb_s)
        if told["ended"]:
            broken.add(step)
        elif step == "make":
            given["n_changed"] = told["n_changed"]
        yield {**told, **sizes(where)}


def growth(found: list[Told]) -> Iterator[str]:
    """Yield how a step's seconds grow with a day's prices, from each size to the next: with which power of them."""
    for kind in KINDS:
        for step in STEPS:
            same = [each for each in found if (each["warehouse"], each["step"]) == (kind, step) and not each["ended"]]
            same = sorted((each for each in same if each["case"].endswith("times")), key=lambda each: each["n_prices"])
            for small, large in pairwise(same):
                rows = math.log(large["n_prices"] / small["n_prices"])
                power = math.log(large["clock_s"] / small["clock_s"]) / rows
                cpu = math.log(max(large["processor_s"], 0.01) / max(small["processor_s"], 0.01)) / rows
                yield (
                    f"{kind}, {step}: from {small['case']} to {large['case']} the clock grows as rows^{power:.2f}, "
                    f"the processor as rows^{cpu:.2f}"
                )


COLUMNS = (
    "size", "warehouse", "step", "prices", "events", "clock s", "processor s", "waited s", "peak MB", "before MB",
    "spilled MB", "disk MB", "log MB", "files", "catalogue MB", "published MB", "limit",
)  # fmt: skip
FIELDS = (
    "case", "warehouse", "step", "n_prices", "n_events", "clock_s", "processor_s", "waited_s", "memory_mb",
    "memory_before_mb", "spilled_mb", "disk_mb", "log_mb", "n_files", "catalogue_mb", "published_mb", "limit",
)  # fmt: skip


def line(told: Told) -> str:
    """Return one step as a line of the table; empty is what was not measured."""
    values = (told.get(name) for name in FIELDS)
    cells = ("" if each is None else f"{each:.1f}" if isinstance(each, float) else f"{each}" for each in values)
    return f"| {' | '.join(cells)} |"


def cases(args: argparse.Namespace) -> Iterator[tuple[str, Told]]:
    """Yield each size by its name: prices of a day, days of history, and how many threads DuckDB shall have."""
    sizes = [(f"{times} times", {"n_prices": TODAY * times, "days": args.days}) for times in args.times]
    if args.events:
        # A hundredth of the prices changes each day.
        days = max(2, args.events * 100 // args.prices)
        sizes.append((f"{args.events} events", {"n_prices": args.prices, "days": days}))
    for name, given in sizes:
        for threads in args.threads:
            yield f"{name}, {threads} threads", given | {"threads": threads}
        if not args.threads:
            yield name, given


def place_for(kind: str, folder: Path, catalogue: str, words: str, number: int) -> Place:
    """Return the place of a warehouse in a folder."""
    if kind == "file":
        return place(folder)
    if catalogue == "sqlite":
        return place(folder, url=f"ducklake:sqlite:{folder / 'catalogue' / 'lake.sqlite'}", data_path=f"{folder}/rows/")
    return place(folder, url=f"ducklake:postgres:{words}", data_path=f"{folder}/rows/", schema=f"scale_{number}")


def main() -> int:
    """Measure, print and keep; exit 1 where a step broke for another reason than time or memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a folder; what stands in its subfolders of the same names is removed")
    parser.add_argument("--times", type=int, nargs="*", default=[], help=f"multiples of {TODAY} offers")
    parser.add_argument("--days", type=int, default=30, help="of history before the day that is measured [30]")
    parser.add_argument("--events", type=int, help="a log of so many changes, of --prices prices")
    parser.add_argument("--prices", type=int, default=100_000, help="with --events [100000]")
    parser.add_argument("--threads", type=int, nargs="*", default=[], help="DuckDB's, each size with each [all cores]")
    parser.add_argument("--on", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--catalogue", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each step [1800]")
    parser.add_argument("--most-memory", type=float, help="GB for each step [80 %% of the machine's]")
    parser.add_argument("--keep", action="store_true", help="the warehouses too")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        asked = json.loads(args.step)
        fields = asked["place"] | {"data_dir": Path(asked["place"]["data_dir"])}
        told = run_step(asked["step"], Place(**fields), Path(asked["folder"]), asked["given"])
        (Path(asked["folder"]) / "told.json").write_text(json.dumps(told))
        return 0
    if not args.out or not (args.times or args.events):
        parser.error("--out, and --times or --events")
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    args.most_memory = args.most_memory or MOST_OF * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    args.disk_mb_s = machine.write_mb_s(out)
    on = machine.describe(out) | {"disk of the rule": f"{args.disk_mb_s:.0f} MB/s"}
    found: list[Told] = []
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    with ExitStack() as held:
        words = ""
        if "lake" in args.on and args.catalogue == "postgres":
            import own_postgres

            programs = own_postgres.programs() or parser.error("no PostgreSQL: apt-get install postgresql")
            server = held.enter_context(own_postgres.running(programs, log=out / "postgres.log"))
            words = f"host={server.environment['PGHOST']} port={server.port} user=postgres dbname=postgres"
        for number, (name, given) in enumerate(cases(args)):
            for kind in args.on:
                folder = out / f"{name.replace(',', '').replace(' ', '-')}-{kind}"
                where = place_for(kind, folder, args.catalogue, words, number)
                for told in measure(name, kind, where, folder, given, args):
                    found.append(told)
                    print(line(told), flush=True)
                    kept = {"machine": on, "catalogue": args.catalogue, "days": args.days, "results": found}
                    (out / "scale.json").write_text(json.dumps(kept, indent=1))
                if not args.keep:
                    shutil.rmtree(folder)
    on["load average after"] = machine.load()
    print("\n".join(["", *growth(found), "", *(f"{name}: {value}" for name, value in on.items())]))
    (out / "scale.json").write_text(json.dumps(kept | {"growth": list(growth(found))}, indent=1))
    broken = [each for each in found if each["ended"] == "error"]
    for each in broken:
        print(f"BROKEN: {each['case']}, {each['warehouse']}, {each['step']}: {each['error']}")
    return int(bool(broken))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
