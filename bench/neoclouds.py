"""All neocloud sources in one run: wall time, requests and prices, each source asked at a site of its own on loopback.

    python bench/neoclouds.py
    python bench/neoclouds.py --without-pauses

The sites answer with the fixtures of tests/neoclouds. The pauses that hosts get are those of a real run, a second
after each request, and are most of the time that fetching takes; --without-pauses shows the rest. Steps: fetch asks and
lands, load parses and compares, publish writes the file that is queried.
"""

import argparse
import functools
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from neoclouds.case import MOMENT, cases  # noqa: E402
from neoclouds.servers import Site, keys, open_sites  # noqa: E402

import extract.polite  # noqa: E402
from extract import SOURCES  # noqa: E402
from flows import steps  # noqa: E402
from flows.settings import Settings  # noqa: E402
from flows.summary import Summary  # noqa: E402


def measure(folder: Path, sites: dict[str, Site], workers: int) -> tuple[Summary, dict[str, float]]:
    """Return the summary of a run over these sites, and the seconds of each of its steps."""
    tables = {source.name: {"enabled": False} for source in SOURCES} | {
        name: site.settings for name, site in sites.items()
    }
    settings = Settings(data_dir=folder, sources=tables, workers=workers)
    seconds: dict[str, float] = {}
    with steps.open_run(settings, clock=lambda: MOMENT) as run:
        planned = run.plan(run.sources())
        for name, step in (("fetch", lambda: run.fetch_all(planned)), ("load", run.load), ("publish", run.publish)):
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


def main() -> None:
    """Run once and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-pauses", action="store_true", help="ask this machine as fast as it answers")
    parser.add_argument("--workers", type=int, default=8, help="scopes fetched side by side (default: 8)")
    args = parser.parse_args()
    if args.without_pauses:
        extract.polite.PoliteWeb = functools.partial(extract.polite.PoliteWeb, spare_loopback=False)  # type: ignore[assignment, misc]
    every = [case for case in cases() if not case.gaps]
    os.environ.pop("DIGITALOCEAN_TOKEN", None)  # its API has an address that no setting moves
    os.environ.update(keys(every))
    with tempfile.TemporaryDirectory() as folder, open_sites(every) as sites:
        show(*measure(Path(folder), sites, args.workers), sites)


if __name__ == "__main__":
    main()
