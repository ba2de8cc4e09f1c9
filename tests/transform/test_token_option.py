"""A token's cost under every way to buy the chips, on one table; and why there is none."""

from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from cost_file import P5, P5EN, P6, TRN1, lines, neocloud, values
from looks import row
from purchase import block, plan, putting, said, seen, spot, term

from transform.models import PUBLIC

ASKED = ("token_option", "headline_token_cost", "front_chip")
RATE = "output_rate_per_paid_accelerator"
PUBLIC_COST = next(mart for mart in PUBLIC if mart.name == "token_cost")
POINT = (
    "model_name = 'deepseek-r1' and scenario = '1k/1k' and precision = 'fp8' and decoding = 'one token a step' and "
    "interactivity = 50 and accelerator_name = 'H100'"
)


def zones(at: float, **prices: str) -> object:
    return seen(at, "aws_spot", *(spot(P5, zone.replace("_", "-"), price) for zone, price in prices.items()))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a file: p5 by every option, two zones of spot of which one is new, Trainium1 on demand alone."""
    with putting(tmp_path_factory.mktemp("options"), asked=ASKED) as put:
        yield put(
            zones(0, use1_az1="16"),
            zones(20, use1_az1="24"),
            zones(39, use1_az1="24", use1_az2="8"),
            seen(39.5, "aws_price_list", row(P5, "55.04"), row(P5EN, "63.296"), row(P6, "113.9328"), row(TRN1, "21.5"),
                 neocloud("H100 SXM", "20", "8"), neocloud("B300 SXM", "48", "8"),
                 neocloud("L4", "1", "1", statistic="floor"),
                 term(P5, "0", "All", "262800"), term(P5, "30", "No", "0", years=3)),
            seen(39.5, "aws_savings_plans", plan(P5, "40"), plan(P5, "36", "All"), plan(P5, "28", years=3),
                 plan(P5, "38", kind="EC2Instance")),
            seen(39.5, "aws_capacity_block_rates", block(P5, "41.528", None)),
            at=40,
        )  # fmt: skip


def terms(file: Path, option: str) -> dict[str | None, dict[str, object]]:
    """Return AWS's rows of an option at the point by their terms."""
    return {
        line["offer_terms"]: line
        for line in lines(file, f"from int.token_option where {POINT} and service_provider_name = 'AWS' and "
                                f"purchase_option = '{option}'")
    }  # fmt: skip


def test_each_plan_and_term_has_a_cost_of_its_own(file: Path) -> None:
    """Kinds of plan, terms and payments stand apart; each cost is its offer's price per chip-hour over the rate."""
    every = lines(
        file,
        f"from int.token_option where {POINT} and service_provider_name = 'AWS' and "
        "purchase_option in ('savings_plan', 'reserved')",
    )
    assert {(line["offer_terms"], line["commitment_class"], line["price_usd"] and line["price_usd"] * 8)
            for line in every} == {
        ("Compute plan, No Upfront", "one_year", 40), ("Compute plan, All Upfront", "one_year", 36),
        ("Compute plan, No Upfront", "three_years", 28), ("EC2Instance plan, No Upfront", "one_year", 38),
        ("standard, All Upfront", "one_year", 30), ("standard, No Upfront", "three_years", 30),
        ("EC2Instance plan", "three_years", None),
    }  # fmt: skip
    for line in every:
        if line["price_usd"]:
            assert line["usd_per_million_output_tokens"] == pytest.approx(line["price_usd"] * 1e6 / 3600 / line[RATE])
            (offered,) = values(
                file, "select price_per_accelerator_hour_usd from int.accelerator_hour_price "
                f"where offer_id = {line['offer_id']}",
            )[0]  # fmt: skip
            assert offered == line["price_usd"]


def test_spot_is_a_mean_by_zone_or_says_why_it_is_none(file: Path) -> None:
    """The old zone: 30 days with 10.5 at 16 and 19.5 at 24, 7 days at 24; the new one has a sighting, and no mean."""
    found = terms(file, "spot")
    assert {terms: line["price_usd"] and round(line["price_usd"] * 8, 6) for terms, line in found.items()} == {
        "mean of 30 days, use1-az1, of 2 zones, at 1 to 3": round((11 * 16 + 19 * 24) / 30, 6),
        "mean of 7 days, use1-az1, of 2 zones, at 1 to 3": 24,
        "last seen, no mean, use1-az1, of 2 zones, at 1 to 3": 24,
        "mean of 30 days, use1-az2, of 2 zones, at 1 to 3": None,
        "mean of 7 days, use1-az2, of 2 zones, at 1 to 3": None,
        "last seen, no mean, use1-az2, of 2 zones, at 1 to 3": 8,
    }
    missing = found["mean of 30 days, use1-az2, of 2 zones, at 1 to 3"]
    assert missing["cost_basis"] == "unknown: the price at the start of the 30 days was not seen"
    assert missing["usd_per_million_output_tokens"] is None
    ranked = f"from ({PUBLIC_COST.sql}) where {POINT} and offer_terms like '%use1-az1%'"
    ranks = dict(values(file, f"select split_part(offer_terms, ',', 1), cost_rank {ranked}"))
    assert ranks == {"mean of 30 days": 1, "mean of 7 days": 1, "last seen": 2}


@pytest.fixture(scope="module")
def risky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a file of p5 by spot in four regions: without advice, with two bands of it, and with a zone mostly gone."""
    regions = {"us-east-1": "use1", "us-west-2": "usw2", "eu-west-1": "euw1"}
    both = [
        spot(P5, f"{short}-{zone}", price, region_id=region)
        for region, short in regions.items() for zone, price in (("az1", "16"), ("az2", "20"))
    ]  # fmt: skip
    east = [spot(P5, f"use2-{zone}", price, region_id="us-east-2") for zone, price in (("az1", "16"), ("az2", "20"))]
    listed = [row(P5, "20", region_id=region) for region in regions]
    of_type = {"instance_type": P5, "operating_system": "Linux", "savings_percent": 70}
    advice = [
        of_type | {"region_id": region, "interruption_band": band}
        for region, band in (("us-west-2", "<5%"), ("eu-west-1", ">20%"))
    ]
    with putting(tmp_path_factory.mktemp("risky"), asked=ASKED[:1]) as put:
        yield put(
            seen(0, "aws_price_list", *listed), seen(0, "aws_spot", *both, *east),
            seen(14, "aws_spot", *both, east[1]), seen(32, "aws_spot", *both, *east),
            seen(40, "aws_spot", *both, *east),
            seen(40, "aws_price_list", *listed, row(P5, "55.04", region_id="us-east-2")),
            said(40, "aws_spot_feed", "spot_advice", *advice),
            at=40,
        )  # fmt: skip


def of_zone(file: Path, zone: str) -> dict[str, dict[str, object]]:
    """Return the rows of a zone of the risky file by the kind of their price."""
    found = terms(file, "spot").items()
    return {str(line["price_kind"]): line for words, line in found if f" {zone}, of 8 zones," in str(words)}


def test_a_zone_that_was_mostly_gone_has_no_mean(risky: Path) -> None:
    """A zone with a price in 12 of 30 days has no mean of 30 days, and the reason says so."""
    found = of_zone(risky, "use2-az1")
    assert found["mean_30d"]["cost_basis"] == "unknown: the zone had a price in less than half of the 30 days"
    assert found["mean_7d"]["price_usd"] == 2


def test_spot_carries_its_risk(risky: Path) -> None:
    """Of the Spot Advisor's band the upper end, -ln(0.95) / 730 interruptions an hour of 17 minutes each, is lost work.

    The range over zones and the share of 30 days at the on-demand price stand beside it; a band without an end loses
    an unknown share, and is named.
    """
    lost = -log(0.95) / 730 * (2 / 60 + 0.25)
    plain, banded, open_end = (of_zone(risky, f"{short}-az1")["mean_30d"] for short in ("use1", "usw2", "euw1"))
    assert (plain["price_usd"], plain["lost_share"]) == (2, None)
    assert (banded["price_usd"], banded["lost_share"]) == (pytest.approx(2 / (1 - lost)), pytest.approx(lost))
    assert (open_end["price_usd"], open_end["lost_share"]) == (2, None)
    words = "mean of 30 days, use1-az1, of 8 zones, at 2 to 2.5, not below on demand in 0 % of 30 days"
    assert plain["offer_terms"] == words
    assert banded["offer_terms"].endswith("of 30 days, interrupted <5% a month")
    assert open_end["offer_terms"].endswith("of 30 days, interrupted >20% a month")
    rate = plain["output_rate_per_paid_accelerator"]
    assert banded["usd_per_million_output_tokens"] == pytest.approx(2 / (1 - lost) * 1e6 / (3600 * rate))


def test_a_capacity_block_is_priced_per_usable_hour(file: Path) -> None:
    """Of 24 paid hours 23.5 can be used; the published rate names no length, and the terms say what was assumed."""
    ((said, line),) = terms(file, "capacity_block").items()
    assert said == "published rate, per usable hour of a block of 24 hours (length assumed)"
    assert line["price_usd"] == pytest.approx(41.528 / 8 * 24 / 23.5)


def test_what_aws_sells_and_nobody_saw_says_so_and_what_to_beat(file: Path) -> None:
    """No three-year EC2 Instance plan was seen: no cost, and the on-demand cost that a share of use must beat."""
    (line,) = lines(
        file,
        f"from int.token_option where {POINT} and commitment_discount_type = 'EC2Instance' and "
        "commitment_class = 'three_years'",
    )
    on_demand = terms(file, "on_demand")[None]["usd_per_million_output_tokens"]
    assert (line["price_usd"], line["usd_per_million_output_tokens"], line["is_cost_ranked"]) == (None, None, False)
    assert line["usd_to_beat"] == on_demand
    assert line["cost_basis"] == f"unknown: not collected yet; pays below {on_demand:.3g} x share of its hours used"
    reasons = values(
        file,
        "select distinct purchase_option, unknown_reason from int.cost_option where accelerator_name = 'Trainium1' and "
        "price_usd is null order by all",
    )
    # Plans and spot of the region were fetched, and AWS lists none for this type; nobody fetched Capacity Blocks.
    assert [option for option, reason in reasons if reason == "not collected yet"] == ["capacity_block"]
    assert {reason.partition(" ")[0] for option, reason in reasons if option == "savings_plan"} == {"AWS"}


def test_the_headline_is_of_ranked_costs_alone(file: Path) -> None:
    """On demand, the best plan of a year and the mean of spot, at AWS and elsewhere; each as its own row says."""
    found = {
        (line["option_kind"], line["place"]): (line["price_usd"] and line["price_usd"] * 8, line["offer_terms"])
        for line in lines(file, "from int.headline_token_cost where accelerator_name = 'H100'")
    }
    assert found["on_demand", "AWS"] == (55.04, None)
    # It ran on 16 H100: eight of them without a network do not hold the model.
    assert found["on_demand", "elsewhere"] == (None, None)
    assert found["one_year", "AWS"] == (pytest.approx(30), "standard, All Upfront")
    words = "mean of 30 days, use1-az1, of 2 zones, at 1 to 3"
    assert found["spot", "AWS"] == (pytest.approx((11 * 16 + 19 * 24) / 30), words)
    assert found["one_year", "elsewhere"] == (None, None)
    (point,) = lines(file, "from int.headline_point")
    assert (point["model_name"], point["n_chips"]) == ("deepseek-r1", 4)
    for line in lines(file, "from int.headline_token_cost"):
        assert (line["usd_per_million_output_tokens"] is None) is line["cost_basis"].startswith("unknown: ")


def test_the_front_page_has_what_only_others_sell_at_their_cost(file: Path) -> None:
    """AWS sells B300 too, but no price of it is known; of L4 there is a "from" price of today, which is not old."""
    chips = "select token_place, token_on_demand_usd > 0 from int.front_chip where accelerator_name = '{}'"
    assert values(file, chips.format("B300")) == [("elsewhere", True)]
    assert values(file, chips.format("H100")) == [("AWS", True)]
    cell = "select unknown_reason from int.front_cell where accelerator_name = 'L4' and cell = 'elsewhere'"
    assert values(file, cell) == [("only from prices",)]
