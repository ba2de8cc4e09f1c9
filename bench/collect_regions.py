"""How long many regions take side by side, with every fault switched on, beside the slowest region's own requests.

    python bench/collect_regions.py

A run over the stand-in for AWS (tests/standin), through both doors of aws_price_list and for aws_spot. Every request
waits 50 ms; one region is slow, and comes last. Some regions are throttled or answer 503 once, and have to come
complete; others fail for good, and have to be named. What was collected is compared with the stand-in's own catalogue:
nothing lost, nothing doubled. Pages are short or empty, and the last has an empty token. A body that is cut once is
begun again through the bulk door; boto3 takes it for whole, so that the region fails, by its name.

The slow region takes about as long as the pauses of boto3 (up to 15 s before the fifth attempt at a region that fails),
as these are not what is measured; `--slow 0` shows them.

Seconds are those of fetching (Run.fetch_all); the series is the sum of what the stand-in recorded for each request of
the slowest region, without any pause between them. Budget: 1.5 x the series, with the default number of workers or,
where these do not reach it, with 32.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from standin import aws, ec2, ec2_cloud, facts, faults, world  # noqa: E402
from standin.catalogue import HOURLY, Catalogue  # noqa: E402

from bench.result import Result  # noqa: E402
from extract import SOURCES  # noqa: E402
from flows.collect import steps  # noqa: E402
from flows.collect.summary import Summary  # noqa: E402
from flows.config.settings import Settings  # noqa: E402

HOME = "us-east-1"
REGIONS = (
    "af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
    "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5",
    "ap-southeast-7", "ca-central-1", "ca-west-1", "eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1",
    "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "il-central-1", "me-central-1", "mx-central-1", "us-east-2",
    "us-west-2",
)  # fmt: skip
DOORS = ("aws_price_list api", "aws_price_list bulk", "aws_spot")
LABELS = {DOORS[0]: "api:GetProducts:{}", DOORS[1]: "bulk:{}", DOORS[2]: "ec2:DescribeSpotPriceHistory:{}"}
PAGE_SIZES = (7, 0, 1000)
WORKERS = (Settings().workers, 32)
BUDGET = 1.5

CUT, UNAVAILABLE = faults.Truncate(at=0.5), faults.Status(503)
FOR_GOOD: Mapping[str, Mapping[str, tuple[faults.Effect, int]]] = {
    DOORS[0]: {
        "repeated token": (faults.EndlessToken(same=True), 0),
        "denied": (faults.ACCESS_DENIED, 0),
        "cut": (CUT, 0),
        "503": (UNAVAILABLE, 0),
        "credentials expire": (faults.ApiError("ExpiredTokenException"), 1),
    },
    DOORS[1]: {
        "gzip without its end": (faults.CutGzip(keep=0.5), 0),
        "denied": (faults.Status(403), 0),
        "cut": (CUT, 0),
        "503": (UNAVAILABLE, 0),
        "a page for people": (faults.Html(), 0),
    },
    DOORS[2]: {
        "repeated token": (ec2.RepeatToken(), 0),
        "denied": (ec2.UNAUTHORIZED, 0),
        "cut": (CUT, 0),
        "503": (UNAVAILABLE, 0),
        "credentials expire": (ec2.EXPIRED, 1),
    },
}
"""What makes one region fail, and after how many of its requests."""
ONCE: Mapping[str, tuple[faults.Effect, ...]] = {
    DOORS[0]: (faults.THROTTLED, faults.THROTTLED, faults.THROTTLED, UNAVAILABLE, faults.Reset()),
    DOORS[1]: (faults.Status(429, retry_after=1), faults.Status(429), faults.CutGzip(), UNAVAILABLE, CUT),
    DOORS[2]: (ec2.THROTTLED, ec2.THROTTLED, ec2.THROTTLED, UNAVAILABLE, faults.Reset()),
}
"""What happens to one request of one region each, which has to come complete all the same."""

Price = tuple[str, str, str, Decimal]
"""Region; rate code, or instance type; zone, or nothing; amount."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which regions are asked for, which one is slow, and which fail and why."""

    regions: tuple[str, ...]
    slow: str
    failing: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gave: its summary, the prices in force, the time of fetching, and what is wrong with all this."""

    summary: Summary
    seconds: float
    requests: int
    series: float
    wrong: tuple[str, ...]


# --- the world


def regions(count: int) -> tuple[str, ...]:
    """Return that many regions in order, the one that is asked for the list among them."""
    return tuple(sorted({HOME, *REGIONS[: count - 2], REGIONS[-1]}))


def catalogue(names: tuple[str, ...]) -> Catalogue:
    """Return a price list in which each region has its own prices."""
    prices = {
        name: {
            kind: price if price == facts.CAPACITY_BLOCK_ONLY else str(Decimal(price) + Decimal(number) / 100)
            for kind, price in facts.PRICES["us-west-2"].items()
        }
        for number, name in enumerate(names)
    }
    return Catalogue(partition="aws", currency="USD", editions=(world.edition(facts.CURRENT, prices),))


def cloud(names: tuple[str, ...]) -> ec2_cloud.Cloud:
    """Return an EC2 in which each region has three zones with four types that moved once in three days."""
    made: dict[str, ec2_cloud.Region] = {}
    for number, name in enumerate(names):
        zones = tuple(ec2_cloud.Zone(name=f"{name}{'abc'[n]}", zone_id=f"z{number}-az{n + 1}") for n in range(3))
        spot = tuple(
            record
            for n, zone in enumerate(zones)
            for kind in ("p5.48xlarge", "p4d.24xlarge", "trn1.32xlarge", "g6.48xlarge")
            for record in moved_once(zone.zone_id, kind, f"{10 + n}.{number:02d}")
        )
        made[name] = ec2_cloud.Region(name=name, zones=zones, spot=spot)
    return ec2_cloud.Cloud(regions=made, page_sizes=PAGE_SIZES)


def moved_once(zone_id: str, kind: str, price: str) -> Iterator[ec2_cloud.Spot]:
    """Yield three days of one offer, whose price moved on the last."""
    for days, amount in ((2, "9.5"), (1, "9.5"), (0, price)):
        at = ec2_cloud.NOW - timedelta(days=days, hours=2)
        yield ec2_cloud.Spot(zone_id=zone_id, instance_type=kind, price=amount, at=at)


def prepare(standin: aws.StandIn, door: str, names: tuple[str, ...], *, slow_s: float) -> Plan:
    """Fill the stand-in, switch on the faults of a door, and return what is to be expected."""
    standin.heal()
    standin.forget()
    standin.catalogues["aws"], standin.cloud = catalogue(names), cloud(names)
    standin.page_sizes, standin.empty_last_token = PAGE_SIZES, True
    others = [name for name in names if name != HOME]
    slow, bad = others.pop(), FOR_GOOD[door]
    # Spread out, as a region that fails holds its worker for as long as it is tried again.
    failing = dict(zip(others[::2], bad, strict=False))
    well = [name for name in others if name not in failing]
    for name, reason in failing.items():
        effect, after = bad[reason]
        standin.fault(LABELS[door].format(name), effect, after=after)
    for name, effect in zip(well, ONCE[door], strict=False):
        standin.fault(LABELS[door].format(name), effect, times=1)
    standin.fault(LABELS[door].format(slow), faults.Delay(slow_s))
    return Plan(regions=names, slow=slow, failing=failing)


def settings(door: str, url: str, data_dir: Path, workers: int) -> Settings:
    """Return settings under which the door is the only one asked."""
    source, _, way = door.partition(" ")
    tables: dict[str, dict[str, object]] = {each.name: {"enabled": False} for each in SOURCES}
    tables[source] = {"regions": "all"} | ({"access": way, "bulk_url": url} if way else {})
    return Settings(data_dir=data_dir, workers=workers, sources=tables)


# --- the run


def collect(standin: aws.StandIn, door: str, plan: Plan, data_dir: Path, workers: int) -> Outcome:
    """Do one run, and compare what it gave with the stand-in's catalogue."""
    chosen = settings(door, standin.url, data_dir, workers)
    with steps.open_run(chosen, clock=lambda: ec2_cloud.NOW) as run:
        planned = run.plan(run.collector.sources())
        started = time.perf_counter()
        run.collector.fetch_in_threads(planned, run.land)
        seconds = time.perf_counter() - started
        summary = run.finish(report=False)
        found = prices_in(run, door)
        refused = run.con.execute("select count(*) from core.quarantine").fetchall()[0][0]
    wrong = list(differences(found, expected(standin, door, plan)))
    named = {result.scope for result in summary.failed}
    statuses = Counter(result.scope for result in summary.results)
    if named != set(plan.failing):
        wrong.append(f"named as failed {sorted(named)}, expected {sorted(plan.failing)}")
    if statuses != Counter(plan.regions):
        wrong.append(f"looks: {dict(statuses)}")
    lines = "\n".join(summary.lines())
    wrong += [f"{name} is not in the summary" for name in plan.failing if f" {name}: " not in lines]
    if refused or any(result.n_refused for result in summary.results):
        wrong.append(f"{refused} rows in quarantine")
    return Outcome(
        summary=summary,
        seconds=seconds,
        requests=standin.count(),
        series=series(standin, door, plan.slow),
        wrong=tuple(wrong),
    )


def series(standin: aws.StandIn, door: str, region: str) -> float:
    """Return what the requests of a region took one after the other; through the bulk door two indexes come first."""
    own = standin.seen(LABELS[door].format(region))
    seconds = sum(each.until - each.at for each in own if each.until is not None)
    return seconds + (2 * standin.latency if "bulk" in door else 0)


def prices_in(run: steps.Run, door: str) -> list[Price]:
    """Return the prices in force in the published file, one for each row."""
    import duckdb

    what = "instance_type, coalesce(availability_zone_id, '')" if door == DOORS[2] else "o.sku_price_id, ''"
    if run.summary.file is None:
        return []
    with duckdb.connect(str(run.summary.file), read_only=True) as con:
        rows = con.execute(
            f"select region_id, {what}, p.unit_price from core.sku_price as p join core.offer as o using (offer_id) "
            "where p.valid_to is null"
        ).fetchall()
    return [(region, name, zone, Decimal(amount)) for region, name, zone, amount in rows]


def expected(standin: aws.StandIn, door: str, plan: Plan) -> list[Price]:
    """Return the prices that the stand-in has for the regions that do not fail."""
    well = [name for name in plan.regions if name not in plan.failing]
    if door == DOORS[2]:
        last = {record.series: (name, record) for name in well for record in standin.cloud.regions[name].spot}
        return [(name, each.instance_type, each.zone_id, Decimal(each.price)) for name, each in last.values()]
    return [
        (product.region, f"{product.sku}.{term.code}.{rate.code}", "", Decimal(rate.amount))
        for product in standin.catalogues["aws"].current.products
        if product.region in well and faults.is_linux_on_demand(product) and product.instance_type != "m5.xlarge"
        for term, rate in product.rates()
        if rate.code == HOURLY
    ]


def differences(found: list[Price], wanted: list[Price]) -> list[str]:
    """Return what is lost, and what is there twice or wrongly, in words."""
    lost, more = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    told = []
    if lost:
        told.append(f"{lost.total()} of {len(wanted)} prices lost, such as {next(iter(lost))}")
    if more:
        told.append(f"{more.total()} prices too many, such as {next(iter(more))}")
    return told if wanted else ["nothing was expected"]


# --- the table


def is_kept(outcome: Outcome) -> bool:
    """Return whether everything is right, and fast enough."""
    return not outcome.wrong and outcome.seconds <= BUDGET * outcome.series


def measure(door: str, workers: int, args: argparse.Namespace, say: Callable[[str], None]) -> Outcome:
    """Print one line of the table; return what the run gave."""
    with tempfile.TemporaryDirectory() as folder, aws.StandIn(latency=args.latency) as standin:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        none = {name: str(Path(folder) / "none") for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")}
        os.environ.update({**standin.environment(), **none})
        plan = prepare(standin, door, regions(args.regions), slow_s=args.slow)
        outcome = collect(standin, door, plan, Path(folder) / "data", workers)
    ratio = outcome.seconds / outcome.series if outcome.series else float("inf")
    prices = sum(result.n_rows for result in outcome.summary.results)
    say(
        f"| {door} | {workers} | {len(plan.regions)} | {outcome.requests} | {prices} | {len(outcome.summary.failed)} "
        f"| {outcome.seconds:.1f} | {outcome.series:.1f} ({plan.slow}) | {ratio:.2f} |"
    )
    args.named[door] = [
        f"{result.scope} ({plan.failing.get(result.scope, 'UNEXPECTED')}): {' '.join(str(result.error).split())[:110]}"
        for result in sorted(outcome.summary.failed, key=lambda each: each.scope)
    ]
    return replace(outcome, wrong=tuple(f"{door}, {workers} workers: {each}" for each in outcome.wrong))


def chosen(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--regions", type=int, default=30)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer [0.05]")
    parser.add_argument("--slow", type=float, default=2.0, help="more seconds for each answer of one region [2]")
    parser.add_argument("--door", choices=DOORS, action="append", help="only this one; may repeat")
    args = parser.parse_args(arguments)
    args.named = {}
    return args


def measure_all(args: argparse.Namespace, say: Callable[[str], None]) -> Iterator[tuple[str, int, Outcome]]:
    """Yield door, workers and outcome, with more workers where the first do not keep the budget."""
    slow_s = args.slow
    for door in args.door or DOORS:
        # A region is one file through the bulk door, four pages of the API, six of the spot history.
        args.slow = slow_s * {DOORS[0]: 1.5, DOORS[1]: 6, DOORS[2]: 1}[door]
        for workers in WORKERS:
            outcome = measure(door, workers, args, say)
            yield door, workers, outcome
            if is_kept(outcome):
                break


def results(folder: Path, shared: Path | None = None) -> list[Result]:
    """Return the ratio of each door, at its best; peers are the slowest region's requests in series, and all regions'.

    Raises ValueError where anything that was collected is wrong.
    """
    _ = folder, shared  # stand-ins make their own
    best: dict[str, Result] = {}
    args = chosen([])
    for door, workers, outcome in measure_all(args, lambda line: None):
        if outcome.wrong:
            raise ValueError("; ".join(outcome.wrong))
        ratio = outcome.seconds / outcome.series
        if door not in best or ratio < best[door].measured:
            note = (
                f"{args.regions} regions, {workers} workers, {outcome.requests} requests, {outcome.seconds:.1f} s; "
                f"slowest region {outcome.series:.1f} s; {len(outcome.summary.failed)} failing regions named"
            )
            peers = {"slowest region in series": 1.0}
            best[door] = Result(f"collection: {door}", ratio, "x series", BUDGET, "less", peers, note)
    return list(best.values())


def main() -> int:
    """Measure each door; exit 0 where everything is right and the budget is kept."""
    args = chosen()
    kept: dict[str, str] = {}
    wrong: list[str] = []
    print("| source | workers | regions | requests | rows | failing | s | slowest region in series, s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for door, workers, outcome in measure_all(args, lambda line: print(line, flush=True)):
        wrong += outcome.wrong
        kept[door] = f"with {workers} workers" if is_kept(outcome) else ""
    for door, named in args.named.items():
        print(f"\n{door}, named in the summary:", *named, sep="\n  ")
    print()
    for each in wrong:
        print(f"WRONG: {each}")
    for door, how in kept.items():
        print(f"{'kept' if how else 'MISSED'}: {door}: at most {BUDGET} x the slowest region {how}")
    return 0 if all(kept.values()) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
