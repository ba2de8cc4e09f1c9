"""Backfill of 100 archived versions of a price list, beside others that only read the same files, in the same run.

    python bench/backfill.py

`chipledger backfill aws` does the steps that are measured here: each version is fetched from a stand-in on loopback
(bench/price_archive.py) and its excerpt landed, all are loaded, and the file is published. Done again, it has nothing
to fetch. Each reading has a process of its own; the stand-in is in the first one. Peers read the same files from the
page cache and keep no history; `requests alone` fetches them, and reads nothing.

Of AWS's lines one in ten is of the operation that has to be looked at, here every second one is: by the megabyte, this
archive takes longer to cut than a real one. `--only bulk` measures that.

Checked: the published file says, for the moment of each version, the very prices that the csv module, DuckDB and polars
find in that version's file; and there are as many price events as prices that changed or came.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import bulk_door, bulk_peers  # noqa: E402
from bench.machine import memory_mb  # noqa: E402
from bench.result import Result  # noqa: E402

VERSIONS, COPIES, OTHERS = 100, 10, 400
"""About 5 MB a version, 840 of its lines prices, and from the middle on 924: as many as a large region has."""
OURS, AGAIN, REQUESTS = "ours", "ours, again", "requests alone"
PEERS: dict[str, Callable[[str], bulk_peers.Reading]] = {
    bulk_door.GPUHUNT: bulk_peers.gpuhunt,
    **{name: bulk_door.PEERS[name] for name in bulk_door.SAME_PRICES},
}
STEPS = ("fetch and land", "load", "publish")
AS_OF = """
select o.sku_id, o.sku_price_id, p.unit_price, p.upfront_price
from core.sku_price as p
inner join core.offer as o using (offer_id)
where p.source = 'aws_price_list' and p.valid_from <= $at and coalesce(p.valid_to > $at, true)
"""


# --- in the process of one reading


def ours(data: Path, url: str, region: str) -> dict[str, Any]:
    """Do what the command does; return its seconds by step, what came of it, and the prices of each version."""
    from extract import source_named
    from flows.collect import importer, steps
    from flows.config.settings import Settings

    settings = Settings(data_dir=data, sources={"aws_price_list": {"bulk_url": url}})
    floor, clock, processor = memory_mb("VmRSS"), [time.perf_counter()], [time.process_time()]
    with steps.open_run(settings) as one:
        for step in (
            lambda: importer.backfill(one, source_named("aws_price_list"), [region], since=None, until=None),
            one.load,
            lambda: one.finish(report=False),
        ):
            step()
            clock.append(time.perf_counter())
            processor.append(time.process_time())
        summary = one.summary
    return {
        "seconds": _between(clock),
        "processor": _between(processor),
        "peak_mb": memory_mb("VmHWM") - floor,
        "rows": sum(each.n_rows for each in summary.results),
        "events": summary.n_events,
        "statuses": sorted({each.status for each in summary.results}),
        "looks": len(summary.results),
    }


def _between(marks: list[float]) -> dict[str, float]:
    return dict(zip(STEPS, (end - start for start, end in itertools.pairwise(marks)), strict=True))


def published(file: Path, moments: list[datetime]) -> dict[str, Any]:
    """Return, of a published file, the hash of the prices at each moment, and how many changed or came in all."""
    import duckdb

    found: list[str] = []
    before: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    moved = 0
    with duckdb.connect(str(file), read_only=True) as con:
        for moment in moments:
            rows = con.execute(AS_OF, {"at": moment.astimezone(UTC).replace(tzinfo=None)}).fetchall()
            now = {(sku, rate): (_plain(amount), _plain(upfront)) for sku, rate, amount, upfront in rows}
            found.append(bulk_peers.digest((*key, *amounts) for key, amounts in now.items()))
            moved += sum(before.get(key) != amounts for key, amounts in now.items())
            before = now
    return {"prices": found, "moved": moved}


def _plain(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.10f}".rstrip("0").rstrip(".") or "0"


def read_all(name: str, files: list[Path]) -> dict[str, Any]:
    """Return what a peer takes for all files, one after the other, and the prices that it finds in each."""
    readings = [PEERS[name](str(file)) for file in files]
    floor, start = memory_mb("VmRSS"), time.perf_counter()
    found = [read() for read in readings]
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak_mb": memory_mb("VmHWM") - floor,
        "rows": sum(int(str(each["rows"])) for each in found),
        "prices": [each.get("prices") for each in found],
    }


def requested(urls: list[str]) -> dict[str, Any]:
    """Return what it takes to fetch all files and to do nothing with them."""
    start = time.perf_counter()
    for url in urls:
        with urllib.request.urlopen(url) as answer:  # noqa: S310 - of the stand-in
            while answer.read(1 << 20):
                pass
    return {"seconds": time.perf_counter() - start}


# --- in the first process


def in_process(python: str, **asked: Any) -> dict[str, Any]:
    """Return what one reading takes, measured in a process of its own. Raises CalledProcessError."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"}
    command = [python, __file__, "--measure", json.dumps(asked, default=str)]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked of this process."""
    name = asked["name"]
    if name in (OURS, AGAIN):
        return ours(Path(asked["data"]), asked["url"], asked["region"])
    if name == REQUESTS:
        return requested(asked["urls"])
    return read_all(name, [Path(file) for file in asked["files"]])


def readings(folder: Path, *, versions: int, copies: int, others: int) -> dict[str, dict[str, Any]]:
    """Make and serve an archive in a folder; return by name what each reading of it took."""
    from bench import price_archive

    archive, data = folder / "archive", folder / "data"
    files = price_archive.make(archive, price_archive.Size(versions=versions, copies=copies, others=others))
    size_mb = sum(len(file.read_bytes()) for file in files) / 1e6  # and all are in the page cache
    taken: dict[str, dict[str, Any]] = {}
    with price_archive.served(archive) as standin:
        for name in (OURS, AGAIN):
            standin.forget()
            asked = {"name": name, "data": data, "url": standin.url, "region": price_archive.REGION}
            taken[name] = in_process(sys.executable, **asked)
            taken[name] |= {"fetched": standin.count("bulk:prices"), "requests": standin.count()}
        urls = [f"{standin.url}/{file.relative_to(archive)}" for file in files]
        taken[REQUESTS] = in_process(sys.executable, name=REQUESTS, urls=urls)
    moments = [datetime.strptime(f"{each}+0000", "%Y%m%d%H%M%S%z") for each in price_archive.names(versions)]
    taken[OURS] |= {"size_mb": size_mb, **published(data / "prices.duckdb", moments)}
    python = bulk_door.peer_python(folder)
    for name in PEERS:
        with_peer = python if name == bulk_door.GPUHUNT else sys.executable
        taken[name] = in_process(with_peer, name=name, files=files)
    return taken


def results(
    folder: Path, shared: Path | None = None, *, versions: int = VERSIONS, copies: int = COPIES, others: int = OTHERS
) -> list[Result]:
    """Return what a backfill takes. Raises ValueError where peers find other prices, or events are not the changes."""
    _ = shared  # nothing of it is needed
    return results_of(readings(folder, versions=versions, copies=copies, others=others), versions=versions)


def results_of(taken: dict[str, dict[str, Any]], *, versions: int) -> list[Result]:
    """Return the results of readings. Raises ValueError where peers find other prices, or events are no changes."""
    mine, again = taken[OURS], taken[AGAIN]
    for name in bulk_door.SAME_PRICES:
        differing = sum(a != b for a, b in zip(mine["prices"], taken[name]["prices"], strict=True))
        if differing or taken[name]["rows"] != mine["rows"]:
            raise ValueError(f"{differing} of {versions} versions, or the rows of all, are not as {name} finds them")
    if mine["events"] != mine["moved"]:
        raise ValueError(f"{mine['events']} price events of {mine['moved']} prices that changed or came")
    if (mine["looks"], mine["statuses"], again["statuses"]) != (versions, ["ok"], ["known"]):
        raise ValueError(f"{mine['looks']} looks: {mine['statuses']}, then {again['statuses']}")
    seconds = {name: sum(each["seconds"].values()) for name, each in taken.items() if name in (OURS, AGAIN)}
    peers = {name: taken[name]["seconds"] for name in (*PEERS, REQUESTS)}
    peaks = {name: taken[name]["peak_mb"] for name in PEERS}
    alike = f"at the moment of each version the same prices by {', '.join(bulk_door.SAME_PRICES)}"
    steps = ", ".join(f"{name} {took:.2f} s" for name, took in mine["seconds"].items())
    used = {name: f"{sum(taken[name]['processor'].values()):.1f} s of the processor" for name in (OURS, AGAIN)}
    parts = ", ".join(f"{took:.1f}" for took in mine["processor"].values())
    what = f"backfill of {versions} versions"
    return [
        Result(
            what, seconds[OURS], "s", None, peers=peers,
            note=f"{mine['size_mb']:.0f} MB; {steps}; {used[OURS]} ({parts}); {alike}",
        ),
        Result(
            f"{what}: documents fetched", mine["fetched"], "files", versions,
            note=f"{mine['requests']} requests with the indexes",
        ),
        Result(
            f"{what}: rows", mine["rows"], "rows", None, "more",
            peers={name: taken[name]["rows"] for name in PEERS}, note="gpuhunt reads on-demand prices alone",
        ),
        Result(f"{what}: price events", mine["events"], "events", mine["moved"], note="prices that changed or came"),
        Result(f"{what}: memory above the import floor", mine["peak_mb"], "MB", None, peers=peaks),
        Result(f"{what} again", seconds[AGAIN], "s", None, note=used[AGAIN]),
        Result(
            f"{what} again: documents fetched", again["fetched"], "files", 0, note=f"{again['requests']} requests"
        ),
    ]  # fmt: skip


def main() -> int:
    """Print the results; exit 0 where the budgets are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--versions", type=int, default=VERSIONS)
    parser.add_argument("--measure", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = results(Path(folder), versions=args.versions)
    print("\n".join(each.line() for each in found))
    print("\n".join(f"{each.name}: {each.note}" for each in found if each.note))
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
