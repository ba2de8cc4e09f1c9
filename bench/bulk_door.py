"""How fast a bulk price list becomes a frame, beside gpuhunt's AWS parser and other readers, in the same run.

    python bench/bulk_door.py --generator ../shared/tools/make_offer_csv.py

Each reading has a process of its own; readings take turns, so that a busy machine is busy for all of them. The file
is in the page cache, but for the reading from the disk. bench/bulk_peers.py has what others take: those that share no
code with ours, but read the same prices, have to give the same ones.
Seconds are of the processor, over all threads of the process, and of the clock; threads are those that took processor
time. Of the runs of one reading the one of the fewest processor seconds counts.
Budget: 3 x gpuhunt and 500 MB/s, both in processor seconds, as the clock of a busy machine measures its neighbours;
64 MB above the import floor, nothing written to disk.
"""

import argparse
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import bulk_peers  # noqa: E402
from bench.machine import memory_mb  # noqa: E402
from bench.result import Result  # noqa: E402

PEER = "gpuhunt==0.1.34"
GENERATOR = Path("tools/make_offer_csv.py")
"""Of the folder of reference data: writes a list of any size in AWS's format."""
OURS = ("ours, from a file", "ours, over HTTP", "ours, over HTTP, gzip")
GPUHUNT = "gpuhunt 0.1.34"
PEERS: dict[str, Callable[[str], bulk_peers.Reading]] = {
    GPUHUNT: bulk_peers.gpuhunt,
    "DuckDB": bulk_peers.duckdb,
    "polars": bulk_peers.polars,
    "raw read": bulk_peers.raw_read,
    "raw byte search": bulk_peers.byte_search,
    "disk read": bulk_peers.disk_read,
    "python csv": bulk_peers.csv_module,
}
ONCE = ("python csv",)
"""Takes longest, and is needed for its prices: read once, not in turns."""
SAME_PRICES = ("DuckDB", "polars", "python csv")
RATIO_BUDGET, SPEED_BUDGET_MB_S, MEMORY_BUDGET_MB, WRITTEN_BUDGET_MB = 3.0, 500.0, 64.0, 0.0


# --- in the process of one reading


def ours(url: str) -> Callable[[], dict[str, object]]:
    """Return our reading of a file or an address, from its first byte to the frame."""
    import blake3  # noqa: F401 -- with polars: ours imports them when it first reads, the peers at once
    import polars  # noqa: F401

    from extract.aws.bulk import landed_or_cut
    from extract.aws.price_list import NAME, cut, parse
    from extract.base import Context
    from extract.web.http import HttpWeb

    class Files(HttpWeb):
        @contextmanager
        def stream(self, url: str) -> Iterator[Iterator[bytes]]:
            with Path(url).open("rb", buffering=0) as file:
                yield iter(functools.partial(file.read, 1 << 20), b"")

    web = HttpWeb() if url.startswith("http") else Files()
    context = Context(web=web, settings={}, now=lambda: datetime.now(UTC))

    def read() -> dict[str, object]:
        document, _ = landed_or_cut(context, "", url, source=NAME, cut=cut)
        rows = parse(document).rows
        prices = rows.select("sku_id", "sku_price_id", "unit_price", "upfront_price").rows()
        return {"rows": rows.height, "prices": bulk_peers.digest(prices)}

    return read


def written_mb() -> float:
    """Return what this process has written so far, to files and pipes."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) / 1e6 for line in lines if line.startswith("wchar:"))


def thread_ticks() -> dict[str, int]:
    """Return the processor time of each thread of this process so far, in clock ticks."""
    ticks = {}
    for thread in Path("/proc/self/task").iterdir():
        fields = (thread / "stat").read_text().rpartition(")")[2].split()
        ticks[thread.name] = int(fields[11]) + int(fields[12])
    return ticks


def measure(reading: str, where: str) -> None:
    """Print what one reading takes, as JSON."""
    read = ours(where) if reading in OURS else PEERS[reading](where)
    floor, written, ticks = memory_mb("VmRSS"), written_mb(), thread_ticks()
    started, processor = time.perf_counter(), time.process_time()
    found = read()
    more = {
        "seconds": time.perf_counter() - started,
        "processor_s": time.process_time() - processor,
        "threads": sum(now > ticks.get(name, 0) for name, now in thread_ticks().items()),
        "peak_mb": memory_mb("VmHWM") - floor,
        "floor_mb": floor,
        "written_mb": written_mb() - written,
    }
    print(json.dumps({**found, **more}))


# --- in the first process


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the file; the address /gzip sends it compressed."""

    folder: Path

    def do_GET(self) -> None:
        packed = self.path == "/gzip"
        with (self.folder / ("list.csv.gz" if packed else "list.csv")).open("rb") as file:
            self.send_response(200)
            self.send_header("Content-Length", str(os.fstat(file.fileno()).st_size))
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.flush()
            self.connection.sendfile(file)

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path) -> str:
    """Serve a folder's price list on loopback and return the address."""
    Handler.folder = folder
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def peer_python(folder: Path) -> str:
    """Return a Python that has the peer: this one, or one in a temporary environment."""
    if subprocess.run([sys.executable, "-c", "import gpuhunt.providers.aws"], capture_output=True).returncode == 0:
        return sys.executable
    uv = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    python = folder / "peer" / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "peer"], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, PEER, "boto3", "requests"], check=True)
    return str(python)


def run(python: str, reading: str, where: str) -> dict[str, Any]:
    """Return what one reading takes, measured in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"}
    command = [python, __file__, "--measure", reading, where]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def readings(folder: Path, generator: Path, *, rows: int, runs: int) -> tuple[float, dict[str, list[dict[str, Any]]]]:
    """Make a list in a folder; return its size in MB, and by reading what each run of it took."""
    path = folder / "list.csv"
    subprocess.run([sys.executable, generator, path, "--rows", str(rows)], check=True, capture_output=True)
    with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    url, with_peer = serve(folder), peer_python(folder)
    places = dict(zip(OURS, (str(path), f"{url}/plain", f"{url}/gzip"), strict=True)) | dict.fromkeys(PEERS, str(path))
    taken: dict[str, list[dict[str, Any]]] = {reading: [] for reading in places}
    for turn in range(runs):
        for reading, where in places.items():
            if reading not in ONCE or turn == 0:
                python = with_peer if reading == GPUHUNT else sys.executable
                taken[reading].append(run(python, reading, where))
    return path.stat().st_size / 1e6, taken


def results(folder: Path, shared: Path, *, rows: int = 500_000, runs: int = 3) -> list[Result]:
    """Return what a bulk list of so many rows takes. Raises ValueError where readings give other prices than ours."""
    return results_of(*readings(folder, shared / GENERATOR, rows=rows, runs=runs), rows=rows)


def results_of(size_mb: float, taken: dict[str, list[dict[str, Any]]], *, rows: int) -> list[Result]:
    """Return the results of readings, each at its best. Raises ValueError where some give other prices than ours."""
    best = {name: min(runs, key=lambda each: each["processor_s"]) for name, runs in taken.items()}
    found = {(each["rows"], each["prices"]) for name in (*OURS, *SAME_PRICES) for each in taken[name]}
    if len(found) != 1:
        raise ValueError(f"readings of one list differ: {found}")
    speed = {name: size_mb / min(each["seconds"] for each in runs) for name, runs in taken.items()}
    peers = {name: speed[name] for name in PEERS}
    processor = {name: each["processor_s"] for name, each in best.items()}
    of_peers = {name: processor[name] for name in PEERS}
    threads = "threads: " + ", ".join(f"{name} {each['threads']}" for name, each in best.items())
    mine = [each for name in OURS for each in taken[name]]
    peaks = {name: max(each["peak_mb"] for each in taken[name]) for name in (GPUHUNT, *SAME_PRICES)}
    note = f"{rows} rows, {size_mb:.0f} MB; {found.pop()[0]} prices, the same by {', '.join(SAME_PRICES)}"
    return [
        Result("bulk list to frame, from a file", speed[OURS[0]], "MB/s", None, "more", peers, note),
        Result("bulk list to frame, over HTTP", speed[OURS[1]], "MB/s", None, "more", peers, "from loopback"),
        Result("bulk list to frame, over HTTP, gzip", speed[OURS[2]], "MB/s", None, "more", peers, "of what unpacks"),
        *(
            Result(f"bulk list, {name.removeprefix('ours, ')}: processor", processor[name], "s", None, "less", of_peers)
            for name in OURS
        ),
        Result(
            "bulk list to frame: of a processor second", size_mb / processor[OURS[0]], "MB", SPEED_BUDGET_MB_S, "more",
        ),
        Result(
            "bulk list: gpuhunt's processor seconds to ours", processor[GPUHUNT] / processor[OURS[0]], "times",
            RATIO_BUDGET, "more", note=threads,
        ),
        Result(
            "bulk list: memory above the import floor", max(each["peak_mb"] for each in mine), "MB", MEMORY_BUDGET_MB,
            "less", peaks, "peak of all three ways",
        ),
        Result(
            "bulk list: written while reading", max(each["written_mb"] for each in mine), "MB", WRITTEN_BUDGET_MB,
            note="the excerpt is kept afterwards",
        ),
    ]  # fmt: skip


def lines(size_mb: float, taken: dict[str, list[dict[str, Any]]], *, rows: int) -> Iterator[str]:
    """Yield a table of all readings."""
    yield f"{rows} rows, {size_mb:.0f} MB CSV: median (min-max)\n"
    yield "| reading | processor s | clock s | threads | MB/s | peak MB above import floor | prices | x gpuhunt |"
    yield "|---|---|---|---|---|---|---|---|"
    slow = statistics.median(each["processor_s"] for each in taken[GPUHUNT])
    for reading, runs in taken.items():
        clock, processor = ([each[name] for each in runs] for name in ("seconds", "processor_s"))
        shown = [f"{statistics.median(each):.2f} ({min(each):.2f}-{max(each):.2f})" for each in (processor, clock)]
        speed, peak = size_mb / statistics.median(clock), max(each["peak_mb"] for each in runs)
        ratio = slow / max(statistics.median(processor), 0.001)
        threads = max(each["threads"] for each in runs)
        yield (
            f"| {reading} | {shown[0]} | {shown[1]} | {threads} | {speed:.0f} | {peak:.0f} "
            f"| {runs[0]['rows']} | {ratio:.1f} |"
        )


def main() -> int:
    """Compare the readings; exit 0 where the budget is kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", type=Path, default=ROOT.parent / "shared" / GENERATOR)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--measure", nargs=2, metavar=("READING", "WHERE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(*args.measure)
        return 0
    if not args.generator.is_file():
        print(f"no generator at {args.generator}: name one with --generator", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        size_mb, taken = readings(Path(folder), args.generator, rows=args.rows, runs=args.runs)
    found = results_of(size_mb, taken, rows=args.rows)
    print("\n".join([*lines(size_mb, taken, rows=args.rows), "", *(each.line() for each in found)]))
    return int(any(each.met is False for each in found))


if __name__ == "__main__":
    sys.exit(main())
