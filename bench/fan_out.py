"""Collection by one, two and four processes of each kind, against a stand-in whose answers take their time.

    python bench/fan_out.py --json dist/fan_out.json

The stand-in for AWS (tests/standin) waits before each answer; one region is slow. The daily flow collects all regions
in threads, in a Dask cluster, and by workers of a Prefect work pool, each from nothing, twice: the second run knows how
long each region took. Every process has `--threads` of them; so "2" of Dask or workers means two processes with as many
threads each, and "2" of threads one process with twice as many.

`s` is from the first request to the last, as the stand-in saw them: what collecting takes. `with start` is from the
call of `collect_all` to its end: the start of a cluster, or of the workers' flow runs, is in it, and the log's work
isn't. Everything runs on one machine, whose processors all share, the stand-in too: see the note of the table.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import own_postgres  # noqa: E402
from prefect_server import running, wait_for  # noqa: E402
from standin import aws, faults  # noqa: E402

from bench import collect_regions, machine  # noqa: E402
from extract import SOURCES  # noqa: E402
from flows.scheduling import deploy, launch  # noqa: E402

KINDS = ("threads", "dask", "workers")
COUNTS = (1, 2, 4)

TIMED = """
import json, sys, time
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
from prefect.flows import load_flow_from_entrypoint
if __name__ == "__main__":
    from flows.collect import steps
    from flows.config import settings
    daily = load_flow_from_entrypoint("flows/daily.py:daily")
    module = sys.modules[daily.__module__]
    from prefect import flow
    @flow(name="bench")
    def timed():
        with steps.open_run(settings.read()) as one:
            planned = one.plan(one.sources())
            began = time.perf_counter()
            module.collect_all(one, planned)
            seconds = time.perf_counter() - began
            one.load()
            events = one.con.execute(
                "select count(*), count(distinct (scope, offer_id)) from core.price_event"
            ).fetchone()
            return {"seconds": seconds, "events": list(events), "failed": len(one.summary.failed),
                    "ok": len({r.scope for r in one.summary.results if r.status == "ok"})}
    Path(sys.argv[2]).write_text(json.dumps(timed()))
"""
"""One collection in a process of its own: the seconds of `collect_all`, and what it left in the log."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One collection. `seconds`: first request to last; `with_start`: all of `collect_all`; `in_series`: the sum of all
    requests; `longest`: that of the slowest region."""

    kind: str
    count: int
    is_second: bool
    regions: int
    requests: int
    seconds: float
    with_start: float
    in_series: float
    longest: float
    ok: int
    failed: int
    events: int


@contextmanager
def server(home: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a Prefect server of the bench's own, the deployments made."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CHIPLEDGER_"))}
    port = own_postgres.free_port()
    env |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_LOGGING_LEVEL": "WARNING"}
    launch.prepare(home, env)
    with running("server", "start", "--port", str(port), env=env, log=home / "server.log"):
        wait_for(env["PREFECT_API_URL"])
        deploy.deploy(ROOT, {"daily": "off", "weekly": "off"}, environ=env)
        yield env


def settings_file(folder: Path, standin: aws.StandIn, names: tuple[str, ...]) -> Path:
    """Write settings under which regions of the price list's bulk files are all that is asked for."""
    off = [each.name for each in SOURCES if each.kind == "live" and each.name != "aws_price_list"]
    told = folder / "chipledger.toml"
    told.write_text(
        f'data_dir = "{folder / "data"}"\n[sources.aws_price_list]\ndoor = "bulk"\nbulk_url = "{standin.url}"\n'
        f"regions = {json.dumps(names)}\n" + "".join(f"[sources.{name}]\nenabled = false\n" for name in off)
    )
    return told


def measure(env: Mapping[str, str], kind: str, count: int, args: argparse.Namespace) -> Iterator[Measured]:
    """Yield the first collection of a kind and count, and the second."""
    names = collect_regions.regions(args.regions)
    with (
        tempfile.TemporaryDirectory() as temporary,
        aws.StandIn(latency=args.latency) as standin,
        ExitStack() as around,
    ):
        folder = Path(temporary)
        standin.catalogues["aws"] = collect_regions.catalogue(names)
        slow = [name for name in names if name != collect_regions.HOME][-1]
        standin.fault(f"bulk:{slow}", faults.Delay(args.slow))
        world = {
            **env, **standin.environment(), "CHIPLEDGER_SETTINGS": str(settings_file(folder, standin, names)),
            "CHIPLEDGER_WORKERS": str(args.threads * count), "CHIPLEDGER_RUN__FAN_OUT": kind,
            "CHIPLEDGER_RUN__PROCESSES": str(count),
        }  # fmt: skip
        for number in range(count if kind == "workers" else 0):
            pool = ("worker", "start", "--pool", deploy.POOL, "--name", f"bench {number}", "--limit", "1")
            around.enter_context(running(*pool, env=world, log=folder / f"worker{number}.log"))
        for is_second in (False, True)[: args.runs]:
            standin.forget()
            target = folder / "told.json"
            done = subprocess.run(
                [sys.executable, "-c", TIMED, str(ROOT), str(target)],
                cwd=ROOT, env=world, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            told = json.loads(target.read_text())
            seen = standin.seen("bulk")
            events, distinct = told["events"]
            if events != distinct:
                raise ValueError(f"{events - distinct} events doubled")
            took = {name: sum(each.until - each.at for each in seen if each.region == name) for name in names}
            yield Measured(
                kind=kind, count=count, is_second=is_second, regions=len(names), requests=len(seen),
                seconds=max(each.until for each in seen) - min(each.at for each in seen), with_start=told["seconds"],
                in_series=sum(each.until - each.at for each in seen), longest=max(took.values()), ok=told["ok"],
                failed=told["failed"], events=events,
            )  # fmt: skip


def main() -> int:
    """Measure, print and keep; exit 1 where anything failed, is missing, or differs from kind to kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--regions", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2, help="of each process [2]")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds before each answer [1]")
    parser.add_argument("--slow", type=float, default=8.0, help="more seconds for each file of one region [8]")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this one; may repeat")
    parser.add_argument("--count", type=int, action="append", help="only so many processes; may repeat")
    parser.add_argument("--runs", type=int, choices=(1, 2), default=2, help="1: only from nothing [2]")
    parser.add_argument("--json", type=Path, help="where all is kept")
    args = parser.parse_args()
    found: list[Measured] = []
    print("| kind | processes | run | requests | s | with start | in series, s | slowest region, s | times in series |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as home, server(Path(home)) as env:
        for kind in args.kind or KINDS:
            for count in args.count or COUNTS:
                for one in measure(env, kind, count, args):
                    found.append(one)
                    print(
                        f"| {kind} | {count} | {'second' if one.is_second else 'first'} | {one.requests} "
                        f"| {one.seconds:.1f} | {one.with_start:.1f} | {one.in_series:.1f} | {one.longest:.1f} "
                        f"| {one.in_series / one.seconds:.1f} |", flush=True,
                    )  # fmt: skip
        on = machine.describe(Path(home))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": on, "results": [asdict(each) for each in found]}, indent=1))
    wrong = [each for each in found if each.failed or each.ok != each.regions or each.events != found[0].events]
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
