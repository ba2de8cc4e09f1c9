"""All neocloud sources in one run: wall time, requests and prices, each source asked at a site of its own on loopback.

    python bench/neoclouds.py
    python bench/neoclouds.py --without-pauses

The sites answer with the fixtures of tests/neoclouds. The pauses that hosts get are those of a real run, a second
after each request, and are most of the time that fetching takes; --without-pauses shows the rest. Steps: fetch asks and
lands, load parses and compares, publish writes the file that is queried. Nothing beats the pauses of the site that is
asked most, and, without pauses, the same requests by urllib, one after the other.
"""

import argparse
import os
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from neoclouds.case import MOMENT, cases  # noqa: E402
from neoclouds.servers import Site, keys, open_sites  # noqa: E402

from bench.result import Result  # noqa: E402
from extract import SOURCES  # noqa: E402
from extract.web.polite import PAUSE_S, PAUSES_S  # noqa: E402
from flows.collect import steps  # noqa: E402
from flows.collect.summary import Summary  # noqa: E402
from flows.config.settings import Settings  # noqa: E402


def measure(folder: Path, sites: dict[str, Site], workers: int) -> tuple[Summary, dict[str, float]]:
    """Return the summary of a run over these sites, and the seconds of each of its steps."""
    tables = {source.name: {"enabled": False} for source in SOURCES} | {
        name: site.settings for name, site in sites.items()
    }
    settings = Settings(data_dir=folder, sources=tables, workers=workers)
    seconds: dict[str, float] = {}
    with steps.open_run(settings, clock=lambda: MOMENT) as run:
        planned = run.plan(run.collector.sources())
        for name, step in (
            ("fetch", lambda: run.collector.fetch_in_threads(planned, run.land)),
            ("load", run.load),
            ("publish", run.publisher.publish),
        ):
            started = time.perf_counter()
            step()
            seconds[name] = time.perf_counter() - started
        return run.summary, seconds


def show(summary: Summary, seconds: dict[str, float], sites: dict[str, Site]) -> None:
    """Print a line for each source, and the whole."""
    prices = Counter(dict.fromkeys(sites, 0))
    for result in summary.results:
        prices[result.source] += result.n_rows
    print(f"{'source':<16}{'requests':>9}{'robots.txt':>12}{'prices':>8}")
    for name, site in sorted(sites.items()):
        robots = sum(path == "/robots.txt" for _, path in site.asked)
        print(f"{name:<16}{len(site.asked) - robots:>9}{robots:>12}{prices[name]:>8}")
    total = sum(len(site.asked) for site in sites.values())
    print(f"\n{len(sites)} sources, {total} requests, {sum(prices.values())} prices, {len(summary.failed)} failed")
    print("; ".join(f"{name} {value:.2f} s" for name, value in [*seconds.items(), ("all", sum(seconds.values()))]))


@contextmanager
def opened() -> Iterator[dict[str, Site]]:
    """Open a site for each source, and set the keys that they ask for."""
    every = [case for case in cases() if not case.gaps]
    os.environ.pop("DIGITALOCEAN_TOKEN", None)  # its API has an address that no setting moves
    os.environ.update(keys(every))
    with open_sites(every) as sites:
        yield sites


@contextmanager
def without_pauses() -> Iterator[None]:
    """Let this machine be asked as fast as it answers."""
    PAUSES_S["127.0.0.1"] = 0.0
    try:
        yield
    finally:
        del PAUSES_S["127.0.0.1"]


def asked_again(sites: dict[str, Site]) -> float:
    """Return the seconds in which urllib asks for the same once more, one request after the other."""
    asked = [(site, method, path) for site in sites.values() for method, path in site.asked]
    started = time.perf_counter()
    for site, method, path in asked:
        body = b"{}" if method == "POST" else None
        with urllib.request.urlopen(urllib.request.Request(site.server.url + path, body, method=method)) as answer:  # noqa: S310
            answer.read()
    return time.perf_counter() - started


def results(folder: Path, shared: Path | None = None, *, workers: int = 8) -> list[Result]:
    """Return what a run over all sources takes, with the pauses of hosts and without."""
    _ = shared  # nothing of it is needed
    with opened() as sites:
        summary, paced = measure(folder / "paced", sites, workers)
        pauses = (max(len(site.asked) for site in sites.values()) - 1) * PAUSE_S
    with opened() as sites, without_pauses():
        again, free = measure(folder / "free", sites, workers)
        total = sum(len(site.asked) for site in sites.values())
        alone = asked_again(sites)
    n_prices = sum(result.n_rows for result in again.results)
    failed = {result.source for run in (summary, again) for result in run.failed}
    what, n = f"neoclouds, {len(sites)} sources", f"{total} requests, {n_prices} prices"
    return [
        Result(f"{what}: fetch", paced["fetch"], "s", None, peers={"pauses of one site alone": pauses}, note=n),
        Result(f"{what}: fetch without pauses", free["fetch"], "s", None, peers={"requests alone": alone}, note=n),
        Result(f"{what}: load", free["load"], "s", None, note=n),
        Result(f"{what}: publish", free["publish"], "s", None, note=n),
        Result(f"{what}: failed", len(failed), "sources", 0, note=", ".join(sorted(failed))),
    ]


def main() -> None:
    """Run once and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-pauses", action="store_true", help="ask this machine as fast as it answers")
    parser.add_argument("--workers", type=int, default=8, help="scopes fetched side by side (default: 8)")
    args = parser.parse_args()
    pauses = without_pauses() if args.without_pauses else nullcontext()
    with tempfile.TemporaryDirectory() as folder, opened() as sites, pauses:
        show(*measure(Path(folder), sites, args.workers), sites)


if __name__ == "__main__":
    main()
