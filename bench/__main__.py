"""Every budget, measured: `make bench`, or `python -m bench --only bulk`.

Each benchmark is a process of its own, so that none is measured in what another left behind; one that breaks is told
and the others go on. Printed are a table (what, measured, budget, met or missed, how many times as good as each peer in
the same run), the machine with its calibration loop, and what each benchmark used; --json keeps all of it. Budgets in
seconds are multiples of that loop. The exit code is 1 where a budget is missed or a benchmark broke.
With --growth the warehouses of one and ten years are made and measured too.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bench import machine
from bench.result import Result

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = {
    "bulk": "bulk_door",
    "shell": "shell",
    "collect": "collect_regions",
    "import": "import_history",
    "published": "published",
    "backfill": "backfill",
    "cost": "cost",
    "neoclouds": "neoclouds",
    "days": "days",
}
"""By name: the module whose `results` are measured."""
NEED_DATA = ("bulk", "import", "published", "cost")
"""Those that cannot do without the folder of reference data."""
GROWTH = "growth"
DEFAULT_OUT = ROOT / "dist" / "bench.json"


def measure(name: str, folder: Path, shared: Path) -> list[Result]:
    """Return the results of one benchmark, in this process."""
    module = importlib.import_module(f"bench.{BENCHMARKS.get(name, name)}")
    return list(module.measure(folder) if name == GROWTH else module.results(folder, shared))


def measured_apart(name: str, shared: Path) -> tuple[list[Result], str, str]:
    """Return the results of one benchmark, measured in a process of its own, what broke it, and what it used."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        target = Path(folder) / "results.json"
        given = ["--measure", name, folder, "--shared", str(shared.resolve()), "--json", str(target)]
        command = [sys.executable, "-m", "bench", *given]
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        used = (
            f"{time.perf_counter() - began:.0f} s of the clock, {usage.ru_utime + usage.ru_stime:.0f} s of the "
            f"processor, peak memory {usage.ru_maxrss / 1024:.0f} MB"
        )
        if process.returncode:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            return [], lines[-1] if lines else f"ended with {process.returncode}", used
        return [Result(**each) for each in json.loads(target.read_text(encoding="utf-8"))], "", used


def table(found: Iterable[Result]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| what | measured | budget | | times as good as | note |"
    yield "| --- | ---: | ---: | --- | --- | --- |"
    for each in found:
        sign = "≤" if each.better == "less" else "≥"
        budget = "" if each.budget is None else f"{sign} {each.budget:g} {each.unit}"
        verdict = {None: "", True: "met", False: "**missed**"}[each.met]
        beside = ", ".join(f"{name} {ratio:.2g}" for name, ratio in each.ratios().items())
        yield f"| {each.name} | {each.measured:.4g} {each.unit} | {budget} | {verdict} | {beside} | {each.note} |"


def document(found: list[Result], broken: dict[str, str], on: dict[str, str]) -> dict[str, Any]:
    """Return all that was found, for JSON."""
    missed = [each.name for each in found if each.met is False]
    return {"machine": on, "missed": missed, "broken": broken, "results": [each.as_json() for each in found]}


def main() -> int:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=(*BENCHMARKS, GROWTH), help="only this one; may repeat")
    parser.add_argument("--growth", action="store_true", help="also the warehouses of one and ten years (minutes)")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    parser.add_argument("--json", type=Path, default=DEFAULT_OUT, help=f"where all is kept [{DEFAULT_OUT}]")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.json.parent.mkdir(parents=True, exist_ok=True)
    if args.measure:
        name, folder = args.measure
        try:
            results = [vars(each) for each in measure(name, Path(folder), args.shared)]
        except Exception as error:  # noqa: BLE001 - told by the process that began this one
            traceback.print_exc()
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1
        args.json.write_text(json.dumps(results), encoding="utf-8")
        return 0
    wanted = args.only or [*BENCHMARKS, *([GROWTH] if args.growth else [])]
    with tempfile.TemporaryDirectory() as folder:
        on = machine.describe(Path(folder))
    found: list[Result] = []
    broken: dict[str, str] = {}
    for name in wanted:
        if name in NEED_DATA and not (args.shared / "data").is_dir():
            broken[name] = f"no reference data in {args.shared}: name its folder with --shared"
        else:
            made, fault, on[f"used by {name}"] = measured_apart(name, args.shared)
            found += made
            print(f"{name}: {fault or len(made)}; {on[f'used by {name}']}", file=sys.stderr, flush=True)
            if fault:
                broken[name] = fault
    on["load average after"] = machine.load()
    print("\n".join(table(found)), end="\n\n")
    print("\n".join(f"{name}: {value}" for name, value in on.items()))
    kept = document(found, broken, on)
    args.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    for name, fault in broken.items():
        print(f"BROKEN: {name}: {fault}")
    print(f"{len(found)} measured, {len(kept['missed'])} missed, {len(broken)} broken; kept in {args.json}")
    return int(bool(kept["missed"] or broken))


if __name__ == "__main__":
    sys.exit(main())
