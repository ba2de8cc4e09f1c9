"""How fast a bulk price list becomes a frame, beside gpuhunt's AWS parser, in the same run.

    python bench/bulk_door.py --generator ../shared/tools/make_offer_csv.py

Each reading has a process of its own; readings take turns, so that a busy machine is busy for all of them. The file
is in the page cache. gpuhunt's calls of the EC2 API are left out, as they need credentials; it reads on-demand prices
only, of all types. A full reading by the csv module, which shares no code with ours, has to give the same prices.
Budget: 3 x gpuhunt, 500 MB/s, 64 MB above the import floor.
"""

import argparse
import csv
import functools
import gzip
import hashlib
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

ROOT = Path(__file__).resolve().parent.parent
PEER = "gpuhunt==0.1.34"
READINGS = ("ours, from a file", "ours, over HTTP", "ours, over HTTP, gzip", "gpuhunt 0.1.34, from a file")
REFERENCE = "csv module, every line"
RATIO_BUDGET, SPEED_BUDGET_MB_S, MEMORY_BUDGET_MB = 3.0, 500.0, 64.0


# --- in the process of one reading


def memory_mb(name: str) -> float:
    """Return VmRSS or VmHWM of this process; ru_maxrss would start with the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name + ":"))


def ours(url: str) -> Callable[[], dict[str, object]]:
    """Return our reading of a file or an address, from its first byte to the frame."""
    from extract.aws_price_list import bulk, parse
    from extract.base import Context
    from extract.http import HttpWeb

    class Files(HttpWeb):
        @contextmanager
        def stream(self, url: str) -> Iterator[Iterator[bytes]]:
            with Path(url).open("rb", buffering=0) as file:
                yield iter(functools.partial(file.read, 1 << 20), b"")

    web = HttpWeb() if url.startswith("http") else Files()
    context = Context(web=web, settings={}, now=lambda: datetime.now(UTC))

    def read() -> dict[str, object]:
        document, _ = bulk.landed_or_cut(context, "", url)
        rows = parse(document).rows
        prices = rows.select("sku_id", "sku_price_id", "unit_price", "upfront_price").rows()
        return {"rows": rows.height, "prices": digest(prices)}

    return read


def peer(path: str) -> Callable[[], dict[str, object]]:
    """Return gpuhunt's reading of a file, without its calls of the EC2 API."""
    from gpuhunt.providers import aws

    aws._get_ec2_api_regions = lambda: set()
    aws.AWSProvider._fill_gpu_details = lambda self, offers: None
    aws.AWSProvider._with_spot_offers = lambda self, offers: offers
    return lambda: {"rows": len(aws.AWSProvider(cache_path=path).get())}


def reference(path: str) -> Callable[[], dict[str, object]]:
    """Return a reading of every line of a file by the csv module."""
    families = {"GPU instance", "Machine Learning ASIC Instances", "FPGA Instances", "Media Accelerator Instances"}
    wanted = {"Operating System": "Linux", "Tenancy": "Shared", "CapacityStatus": "Used", "MarketOption": "OnDemand",
              "operation": "RunInstances"}  # fmt: skip

    def read() -> dict[str, object]:
        terms: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
        with Path(path).open(newline="") as file:
            for _ in range(5):
                file.readline()
            for row in csv.DictReader(file):
                chip = row["GPU"] not in ("", "NA", "0") or row["Instance Family"] in families
                if chip and all(row[name] == value for name, value in wanted.items()):
                    amounts = terms.setdefault((row["SKU"], row["OfferTermCode"]), {})
                    amounts[row["Unit"]] = (row["RateCode"], row["PricePerUnit"])
        prices = []
        for (sku, code), amounts in terms.items():
            rate, hourly = amounts["Hrs"]
            upfront = amounts.get("Quantity", ("", "0"))[1] if code != "JRTCKXETXF" else None
            prices.append((sku, rate, f"{float(hourly):.10f}".rstrip("0").rstrip(".") or "0", upfront))
        return {"rows": len(prices), "prices": digest(prices)}

    return read


def digest(prices: list[tuple[object, ...]]) -> str:
    """Return a short hash of all prices, whatever their order."""
    return hashlib.sha256(json.dumps(sorted(prices, key=str)).encode()).hexdigest()[:16]


def measure(reading: str, where: str) -> None:
    """Print what one reading takes, as JSON."""
    read = peer(where) if reading == READINGS[3] else reference(where) if reading == REFERENCE else ours(where)
    floor = memory_mb("VmRSS")
    started = time.perf_counter()
    found = read()
    seconds = time.perf_counter() - started
    print(json.dumps({**found, "seconds": seconds, "peak_mb": memory_mb("VmHWM") - floor, "floor_mb": floor}))


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


def run(python: str, reading: str, where: str) -> dict[str, float]:
    """Return what one reading takes, measured in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"}
    command = [python, __file__, "--measure", reading, where]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(args: argparse.Namespace, folder: Path) -> bool:
    """Print the table; return whether the prices are the same and the budget is kept."""
    path = folder / "list.csv"
    subprocess.run([sys.executable, args.generator, path, "--rows", str(args.rows)], check=True, capture_output=True)
    with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    size_mb, url, with_peer = path.stat().st_size / 1e6, serve(folder), peer_python(folder)
    places = dict(zip(READINGS, (str(path), f"{url}/plain", f"{url}/gzip", str(path)), strict=True))
    runs: dict[str, list[dict[str, float]]] = {reading: [] for reading in READINGS}
    for _ in range(args.runs):
        for reading, where in places.items():
            python = with_peer if reading == READINGS[3] else sys.executable
            runs[reading].append(run(python, reading, where))
    full = run(sys.executable, REFERENCE, str(path))

    print(f"{args.rows} rows, {size_mb:.0f} MB CSV, {args.runs} runs each: median (min-max)\n")
    print("| reading | s | MB/s | peak MB above import floor | prices | x peer |\n|---|---|---|---|---|---|")
    slow = statistics.median(each["seconds"] for each in runs[READINGS[3]])
    for reading, results in {**runs, REFERENCE: [full]}.items():
        times = [each["seconds"] for each in results]
        middle, peak = statistics.median(times), max(each["peak_mb"] for each in results)
        print(
            f"| {reading} | {middle:.2f} ({min(times):.2f}-{max(times):.2f}) | {size_mb / middle:.0f} | {peak:.0f} "
            f"| {results[0]['rows']} | {slow / middle:.1f} |"
        )
    mine = [each for reading in READINGS[:3] for each in runs[reading]]
    same = {(each["rows"], each["prices"]) for each in [*mine, full]}
    fast = statistics.median(each["seconds"] for each in runs[READINGS[0]])
    kept = {
        "same prices as a full reading": len(same) == 1,
        f"at least {RATIO_BUDGET:.0f} x the peer": slow / fast >= RATIO_BUDGET,
        f"at least {SPEED_BUDGET_MB_S:.0f} MB/s": size_mb / fast >= SPEED_BUDGET_MB_S,
        f"at most {MEMORY_BUDGET_MB:.0f} MB": max(each["peak_mb"] for each in mine) <= MEMORY_BUDGET_MB,
    }
    print()
    for what, held in kept.items():
        print(f"{'kept' if held else 'MISSED'}: {what}")
    return all(kept.values())


def main() -> int:
    """Compare the readings; exit 0 where the budget is kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", type=Path, default=ROOT.parent / "shared" / "tools" / "make_offer_csv.py")
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
        return 0 if compare(args, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
