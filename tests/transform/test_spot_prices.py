"""Spot prices over time: literal rows with answers worked out by hand, and a real history worked out another way."""

import gzip
import json
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from looks import Row, day, look, row
from published import records
from purchase import P5, REGION, Put, putting, said, seen, spot
from side_by_side import Case, World

ASKED = ("spot_zone_price", "spot_region_price")
A, B = "use1-az1", "use1-az2"
DAY = "epoch({} - timestamp '2026-01-01') / 86400 + 40.5"
world = World("spot-prices", *ASKED)


@pytest.fixture(scope="module", autouse=True)
def published(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Publish all cases of this module."""
    world.publish(tmp_path_factory)


def zones(case: Case, columns: str) -> dict[object, tuple[object, ...]]:
    """Return some columns of each zone."""
    return {
        line["availability_zone_id"]: tuple(line.values())[1:]
        for line in case.records(
            f"select availability_zone_id, {columns} from int.spot_zone_price where $own order by all"
        )
    }


def region(case: Case, columns: str) -> tuple[object, ...]:
    """Return some columns of the one region."""
    (line,) = case.records(f"select {columns} from int.spot_region_price where $own")
    return tuple(line.values())


ZONES = world.case(
    seen(0, "aws_price_list", row(P5, "20")), seen(25, "aws_price_list", row(P5, "30")),
    seen(0, "aws_spot", spot(P5, A, "10"), spot(P5, B, "15")),
    seen(20, "aws_spot", spot(P5, A, "20"), spot(P5, B, "15")),
    seen(37, "aws_spot", spot(P5, A, "40"), spot(P5, B, "15")),
    seen(40, "aws_spot", spot(P5, A, "40"), spot(P5, B, "12")),
    at=40.5,
)  # fmt: skip
"""Two zones over 40 days: A costs 10 from day 0, 20 from day 20, 40 from day 37; B costs 15, and 12 from day 40, the
last look. On demand costs 20 from day 0 and 30 from day 25.
"""


def test_means_are_weighted_by_time() -> None:
    """30 days: 10 of them at 10, 17 at 20, 3 at 40; 7 days: 4 at 20, 3 at 40; the last day: 40."""
    found = zones(ZONES, "unit_price::double, mean_price_1d, mean_price_7d, mean_price_30d")

    assert found[A] == pytest.approx((40, 40, (4 * 20 + 3 * 40) / 7, (10 * 10 + 17 * 20 + 3 * 40) / 30))
    assert found[B] == pytest.approx((12, 15, 15, 15))


def test_quantiles_are_weighted_by_time() -> None:
    """Up to 10: a third of the time; up to 20: nine tenths, past the half; up to 40: all, past 95 %."""
    found = zones(ZONES, "median_price_30d, p95_price_30d, max_price_30d, priced_share_30d")

    assert found == {A: (20, 40, 40, 1), B: (15, 15, 15, 1)}


def test_changes() -> None:
    """Both of A's changes lie within the 30 days; B's came with the last look; windows end there."""
    found = zones(
        ZONES,
        f"{DAY.format('last_changed_at')}, n_changes_30d, {DAY.format('window_end_at')}, is_current, "
        "price_per_accelerator_hour, source",
    )

    assert found == {A: (37, 2, 40, True, 5, "aws_spot"), B: (40, 1, 40, True, 1.5, "aws_spot")}


def test_share_of_time_below_on_demand() -> None:
    """A: 10 below 20 for 10 days, 20 not below 20 for 5, 20 below 30 for 12, 40 above 30 for 3: 22 of 30 days."""
    found = zones(ZONES, "below_on_demand_share_30d")

    assert found == {A: (pytest.approx(22 / 30),), B: (1,)}


def test_zones_of_a_region() -> None:
    """Now B is cheapest at 12, the median of 12 and 40 is 26; B's own mean, 15, is the lowest of a single zone."""
    assert region(
        ZONES,
        "cheapest_zone, cheapest_zone_price, price_per_accelerator_hour, median_zone_price, n_zones, "
        "lowest_mean_zone, lowest_mean_price_30d, is_current",
    ) == (B, 12, 1.5, 26, 2, B, 15, True)


def test_the_cheapest_zone_over_time() -> None:
    """Of 30 days A was cheapest for 10 at 10, then B for 20 at 15; the median was 12.5, 17.5 and 27.5."""
    assert region(
        ZONES,
        "mean_cheapest_price_30d, mean_median_price_30d, most_often_cheapest_zone, most_often_cheapest_share",
    ) == (
        pytest.approx((10 * 10 + 20 * 15) / 30), pytest.approx((10 * 12.5 + 17 * 17.5 + 3 * 27.5) / 30), B,
        pytest.approx(20 / 30),
    )  # fmt: skip


@world.shown(seen(35, "aws_spot", spot(P5, A, "10")), seen(40, "aws_spot", spot(P5, A, "20")), at=40)
def test_an_unknown_start_leaves_a_window_blank(case: Case) -> None:
    """Looked at for five days, only the one-day mean is known; without an on-demand price there is no share."""
    assert zones(
        case,
        "mean_price_1d, mean_price_7d, mean_price_30d, median_price_30d, p95_price_30d, max_price_30d, "
        "priced_share_30d, below_on_demand_share_30d, n_changes_30d",
    ) == {A: (10, None, None, None, None, None, None, None, None)}
    assert region(
        case, "cheapest_zone_price, mean_cheapest_price_30d, most_often_cheapest_zone, lowest_mean_price_30d"
    ) == (20, None, None, None)  # fmt: skip


@world.shown(*(seen(at, "aws_spot", spot("p5e.48xlarge", A, "10")) for at in (0, 40)), at=40)
def test_no_on_demand_price_gives_no_share(case: Case) -> None:
    """A type that is not sold on demand has means, and no share of time below a price that does not exist."""
    assert zones(case, "mean_price_30d, below_on_demand_share_30d, last_changed_at, n_changes_30d") == {
        A: (10, None, None, 0)
    }


LAX = "usw2-lax1-az1"


@world.shown(
    seen(0, "aws_price_list", row(P5, "20")),
    *(seen(at, "aws_spot", spot(P5, LAX, "22"), spot(P5, A, "22"), spot(P5, B, "19")) for at in (0, 40)),
    at=40,
)
def test_a_local_zone_is_not_compared_with_its_region(case: Case) -> None:
    """Machines there have on-demand prices of their own: g4dn.xlarge cost 0.631 in Los Angeles and 0.526 in Oregon."""
    assert zones(case, "mean_price_30d, below_on_demand_share_30d") == {A: (22, 0), B: (19, 1), LAX: (22, None)}


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "10"), spot(P5, B, "50")), seen(20, "aws_spot", spot(P5, B, "50")),
    seen(30, "aws_spot", spot(P5, A, "30"), spot(P5, B, "50")),
    seen(40, "aws_spot", spot(P5, A, "30"), spot(P5, B, "50")),
    at=40,
)  # fmt: skip
def test_time_without_an_offer_counts_in_no_mean(case: Case) -> None:
    """A was gone from day 20 to 30: 10 days at 10 and 10 at 30 have the mean 20, over two thirds of the time."""
    assert zones(case, "mean_price_30d, priced_share_30d")[A] == pytest.approx((20, 20 / 30))
    # At each moment the cheapest was A at 10, B at 50, A at 30.
    assert region(
        case, "mean_cheapest_price_30d, most_often_cheapest_zone, most_often_cheapest_share"
    ) == (pytest.approx(30), A, pytest.approx(20 / 30))  # fmt: skip


GONE = (seen(-20, "aws_spot", spot(P5, A, "10"), spot(P5, B, "50")), seen(20, "aws_spot", spot(P5, B, "50")))


@pytest.mark.parametrize(
    ("first", "later"),
    [(world.case(*GONE, at=20), world.case(*GONE, seen(60, "aws_spot", spot(P5, B, "50")), at=60))], ids=["shown"],
)  # fmt: skip
def test_a_gone_zone_has_no_price_and_then_no_row(first: Case, later: Case) -> None:
    """No spot is not a price of zero: blank at first, left out when the last 30 days are without it."""
    assert zones(first, "unit_price::double, price_per_accelerator_hour") == {A: (None, None), B: (50, 6.25)}
    assert region(first, "cheapest_zone, n_zones, lowest_mean_zone, lowest_mean_price_30d") == (B, 1, B, 50)
    assert zones(later, "unit_price::double") == {B: (50,)}


@world.shown(
    look(0, row(P5, "1", purchase_option="spot", availability_zone="us-east-1a"), source="offline_archive",
         complete=False, archived=True, trusted=True),
    seen(5, "aws_spot", spot(P5, A, "10")), seen(40, "aws_spot", spot(P5, A, "10")), at=40,
)  # fmt: skip
def test_an_old_capture_is_no_zone_of_today(case: Case) -> None:
    """A capture of day 0 by zone name stays in its own row, and out of the region's present and means."""
    assert case.records(
        "select availability_zone, is_current from int.spot_zone_price where $own order by all"
    ) == [
        {"availability_zone": "us-east-1a", "is_current": False}, {"availability_zone": None, "is_current": True}
    ]  # fmt: skip
    assert region(case, "cheapest_zone, cheapest_zone_price, n_zones, mean_cheapest_price_30d") == (A, 10, 1, 10)


OF_FEED: Row = {"purchase_option": "spot", "conditions": "region-level, public spot feed"}
ADVICE = {"region_id": REGION, "instance_type": P5, "operating_system": "Linux"}


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "10")), seen(40, "aws_spot", spot(P5, A, "10")),
    seen(40, "aws_spot_feed", row(P5, "2", **OF_FEED), row("g5.xlarge", "0.4", **OF_FEED),
         *(row(P5, "1", availability_zone=f"us-east-1-bos-{n}a", **OF_FEED) for n in range(8))),
    said(39, "aws_spot_feed", "spot_advice", ADVICE | {"savings_percent": 60, "interruption_band": "<5%"}),
    said(40, "aws_spot_feed", "spot_advice",
         ADVICE | {"savings_percent": 70, "interruption_band": ">20%"},
         ADVICE | {"operating_system": "Windows", "savings_percent": 1, "interruption_band": "5-10%"}),
    at=40,
)  # fmt: skip
def test_the_feed_stays_apart(case: Case) -> None:
    """The feed's price of a region, no Local Zone's, has its own column; the newest advice counts; it may be alone."""
    assert case.records(
        "select instance_type, cheapest_zone_price, mean_cheapest_price_30d, feed_price, savings_percent, "
        "interruption_band, n_zones from int.spot_region_price where $own order by 1",
    ) == [
        {"instance_type": "g5.xlarge", "cheapest_zone_price": None, "mean_cheapest_price_30d": None,
         "feed_price": 0.4, "savings_percent": None, "interruption_band": None, "n_zones": 0},
        {"instance_type": P5, "cheapest_zone_price": 10, "mean_cheapest_price_30d": 10,
         "feed_price": 2, "savings_percent": 70, "interruption_band": ">20%", "n_zones": 1},
    ]  # fmt: skip


# --- a real history


def capture(shared: Path, name: str) -> dict[str, dict[datetime, str]]:
    """Return price by time by zone of a DescribeSpotPriceHistory capture of 2021, Linux only."""
    path = shared / "data" / "aws_samples" / f"spot_history_us_east_1_{name}_20210530.json.gz"
    history: dict[str, dict[datetime, str]] = defaultdict(dict)
    for item in json.loads(gzip.decompress(path.read_bytes()))["SpotPriceHistory"]:
        if item["ProductDescription"] == "Linux/UNIX":
            history[item["AvailabilityZone"]][datetime.fromisoformat(item["Timestamp"])] = item["SpotPrice"]
    return history


def mean_by_walk(prices: dict[datetime, str], end: datetime, days: int) -> float:
    """Return the mean worked out the plain way: each record's price times the seconds until the next."""
    start = end - timedelta(days=days)
    times = sorted(prices)
    total = 0.0
    for time, after in zip(times, [*times[1:], end], strict=True):
        total += float(prices[time]) * max(0.0, (min(after, end) - max(time, start)).total_seconds())
    return total / (days * 86400)


def cheapest_by_walk(history: dict[str, dict[datetime, str]], end: datetime, days: int) -> tuple[float, str, float]:
    """Return the mean of the cheapest zone, the zone most often cheapest and its share, hour stretch by stretch."""
    start = end - timedelta(days=days)
    bounds = sorted({start, end} | {time for prices in history.values() for time in prices if start < time < end})
    total, time_cheapest = 0.0, defaultdict(float)
    for time, after in pairwise(bounds):
        seconds = (after - time).total_seconds()
        now = {
            zone: float(prices[max(t for t in prices if t <= time)])
            for zone, prices in history.items()
            if min(prices) <= time
        }
        total += min(now.values()) * seconds
        for zone, price in now.items():
            if price == min(now.values()):
                time_cheapest[zone] += seconds
    zone = min(time_cheapest, key=lambda name: (-time_cheapest[name], name))
    return total / (days * 86400), zone, time_cheapest[zone] / (days * 86400)


@pytest.mark.parametrize("name", ["p3.2xlarge", pytest.param("g4dn.xlarge", marks=pytest.mark.prove)])
def test_a_real_history_worked_out_another_way(shared: Path, put: Put, name: str) -> None:
    """Means of 90 real days equal those of a plain walk through the same records; at length of a second type, too."""
    history = capture(shared, name)
    end = max(max(times) for times in history.values()) + timedelta(hours=1)
    past: list[Row] = [
        row(name, price, purchase_option="spot", availability_zone=zone,
            observed_at=time.replace(tzinfo=None), observed_at_utc=time.isoformat())
        for zone, prices in history.items() for time, price in prices.items()
    ]  # fmt: skip
    last = [
        row(name, prices[max(prices)], purchase_option="spot", availability_zone=zone)
        for zone, prices in history.items()
    ]
    at = (end - day(0)) / timedelta(days=1)
    file = put(
        seen(at, "aws_spot", *past, complete=False, archived=True, document="the past"),
        seen(at, "aws_spot", *last, document="the present"),
        at=at,
    )

    found = records(
        file,
        "select availability_zone, mean_price_1d, mean_price_7d, mean_price_30d, max_price_30d, p95_price_30d, "
        "unit_price::double as price from int.spot_zone_price order by 1",
    )
    assert len(found) == len(history) > 1
    for line in found:
        prices = history[str(line["availability_zone"])]
        expected = [mean_by_walk(prices, end, days) for days in (1, 7, 30)]
        assert [line["mean_price_1d"], line["mean_price_7d"], line["mean_price_30d"]] == pytest.approx(expected)
        assert line["price"] == float(prices[max(prices)])
        assert line["mean_price_30d"] <= line["max_price_30d"]

    cheapest, most_often, share = cheapest_by_walk(history, end, 30)
    (line,) = records(
        file,
        "select mean_cheapest_price_30d, most_often_cheapest_zone, most_often_cheapest_share "
        "from int.spot_region_price",
    )
    assert tuple(line.values()) == (pytest.approx(cheapest), most_often, pytest.approx(share))


# --- properties

EDGES = (0, 9, 10, 11, 20, 33, 38, 39, 40)
"""Days about the ends of the windows of 30, 7 and 1 days."""


def series(days: st.SearchStrategy[int]) -> st.SearchStrategy[list[dict[int, str]]]:
    """Return a strategy for the zones of a region: the prices of each by the day on which they began."""
    prices = st.dictionaries(days, st.sampled_from(["1", "2.5", "7", "30"]), min_size=1, max_size=8)
    return st.lists(prices, min_size=1, max_size=4)


SEVERAL = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(SEVERAL, max_examples=2)
@given(st.lists(series(st.sampled_from(EDGES)), min_size=6, max_size=12))
def test_means_lie_between_the_least_and_the_highest_price(
    tmp_path_factory: pytest.TempPathFactory, regions: list[list[dict[int, str]]]
) -> None:
    """Whatever the prices: every mean and quantile lies between the least and the highest price shown, and the
    region's cheapest mean is not above any zone's own. The series of an example are regions of one file.
    """
    check_means(tmp_path_factory.mktemp("series"), regions)


@pytest.mark.prove
@settings(SEVERAL, max_examples=30)
@given(st.lists(series(st.integers(0, 40)), min_size=1, max_size=12))
def test_means_lie_between_them_on_any_day(
    tmp_path_factory: pytest.TempPathFactory, regions: list[list[dict[int, str]]]
) -> None:
    """The same of changes on any day, at length."""
    check_means(tmp_path_factory.mktemp("series"), regions)


def check_means(folder: Path, regions: list[list[dict[int, str]]]) -> None:
    """Publish regions of zones with these prices, and hold what is said of each against them."""
    zone_prices = {
        (f"r{place}", f"r{place}-az{number}"): prices
        for place, zones in enumerate(regions)
        for number, prices in enumerate(zones)
    }
    days = sorted({0, 40} | {at for prices in zone_prices.values() for at in prices})
    in_force = {
        zone: {at: prices[max((d for d in prices if d <= at), default=min(prices))] for at in days}
        for zone, prices in zone_prices.items()
    }
    with putting(folder, asked=ASKED) as put:
        looks = [
            seen(at, "aws_spot", *(spot(P5, zone, told[at], region_id=name) for (name, zone), told in in_force.items()),
                 archived=True)
            for at in days
        ]  # fmt: skip
        file = put(*looks, at=40, at_last=True)
    lines = records(file, "from int.spot_zone_price")
    assert {(line["region_id"], line["availability_zone_id"]) for line in lines} == set(in_force)
    for line in lines:
        zone = str(line["region_id"]), str(line["availability_zone_id"])
        shown = [float(price) for price in in_force[zone].values()]
        for name in ("mean_price_1d", "mean_price_7d", "mean_price_30d", "median_price_30d", "p95_price_30d"):
            assert min(shown) - 1e-9 <= line[name] <= max(shown) + 1e-9
        assert line["median_price_30d"] <= line["p95_price_30d"] <= line["max_price_30d"]
    wholes = records(file, "from int.spot_region_price")
    assert {whole["region_id"] for whole in wholes} == {name for name, _ in in_force}
    for whole in wholes:
        assert whole["mean_cheapest_price_30d"] <= whole["lowest_mean_price_30d"] + 1e-9
        zones = len(regions[int(str(whole["region_id"])[1:])])
        assert 1 / zones - 1e-9 <= whole["most_often_cheapest_share"] <= 1 + 1e-9
