"""Every way to buy a type: cash, break-even, the promises of each option, and why a price is unknown."""

from decimal import Decimal

import pytest
from looks import Row, day, look, row
from purchase import P5, REGION, block, plan, said, seen, spot, term
from side_by_side import Case, World

ASKED = ("aws_purchase_options", "commitment_option", "source_health", "unknown_accelerator")
A, B = "use1-az1", "use1-az2"
G6 = "g6.xlarge"
YUAN: Row = {"region_id": "cn-north-1", "pricing_currency": "CNY"}
world = World("purchase-options", *ASKED)


@pytest.fixture(scope="module", autouse=True)
def published(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Publish all cases of this module."""
    world.publish(tmp_path_factory)


def options(case: Case, columns: str, where: str = "unknown_reason is null") -> list[tuple[object, ...]]:
    """Return some columns of the rows with a price, in the order of option, plan, term and payment."""
    lines = case.records(
        f"select {columns} from int.aws_purchase_options where $own and {where} order by purchase_option, "
        "commitment_discount_type, commitment_term_hours, purchase_payment_model, conditions, pricing_currency",
    )
    return [tuple(line.values()) for line in lines]


def unknown(case: Case, instance_type: str = P5) -> dict[object, object]:
    """Return the reason by option, and kind of plan, of each option of a type without a price."""
    return {
        line["option"]: line["unknown_reason"]
        for line in case.records(
            "select concat_ws(' ', purchase_option, commitment_discount_type) as option, unknown_reason "
            f"from int.aws_purchase_options where $own and instance_type = '{instance_type}' and unit_price is null",
        )
    }


@world.shown(
    seen(0, "aws_price_list", row(P5, "20"),
         term(P5, "4.5", "Partial", "39420"), term(P5, "0", "All", "70000"), term(P5, "10", "No", "0")),
    seen(0, "aws_savings_plans", plan(P5, "8", "All", 3), plan(P5, "9", "Partial", 3), plan(P5, "10", "No", 3)),
    seen(0, "aws_capacity_blocks", block(P5, "12", 24)),
    seen(0, "aws_capacity_block_rates", block(P5, "13", None)),
    seen(0, "aws_spot", spot(P5, A, "7")),
    at=0,
)  # fmt: skip
def test_cash_on_the_day_of_purchase(case: Case) -> None:
    """Reserved: the upfront price. Plans: rate x hours, half of it, nothing. A block: rate x hours. Else blank."""
    assert options(case, "purchase_option, purchase_payment_model, cash_upfront, effective_hourly_price") == [
        ("capacity_block", None, 12 * 24, 12),
        ("capacity_block", None, None, 13),
        ("on_demand", None, None, 20),
        ("reserved", "All Upfront", 70000, pytest.approx(70000 / 8760)),
        ("reserved", "No Upfront", 0, 10),
        ("reserved", "Partial Upfront", 39420, 4.5 + 39420 / 8760),
        ("savings_plan", "All Upfront", 8 * 26280, 8),
        ("savings_plan", "No Upfront", 0, 10),
        ("savings_plan", "Partial Upfront", 9 * 26280 / 2, 9),
        ("spot", None, None, 7),
    ]


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "15"), spot(P5, B, "16")),
    seen(40, "aws_spot", spot(P5, A, "18"), spot(P5, B, "16")),
    seen(40, "aws_price_list", row(P5, "20"), term(P5, "4.5", "Partial", "39420")),
    seen(40, "aws_capacity_blocks", block(P5, "25")),
    at=40,
)  # fmt: skip
def test_break_even(case: Case) -> None:
    """On demand 20, spot 15 on the 30-day mean of the zone with the lowest, a term at 9, a block at 25.

    9 / 20 = 0.45 of the time, 9 / 15 = 0.6 against spot, and a fall of the list price by 0.55 makes it a loss; the
    block, dearer than on-demand, never pays.
    """
    columns = "purchase_option, breakeven_share_on_demand, breakeven_share_spot, price_fall_that_erases"
    assert options(case, columns) == [
        ("capacity_block", 1.25, pytest.approx(25 / 15), -0.25),
        ("on_demand", None, None, None),
        ("reserved", pytest.approx(0.45), pytest.approx(0.6), pytest.approx(0.55)),
        ("spot", None, None, None),
    ]
    # The cheapest zone now is not the one with the lowest mean.
    assert options(case, "unit_price::int, availability_zone_id", "purchase_option = 'spot'") == [(16, B)]


PLAN_OF_THREE_YEARS = (
    seen(0, "aws_price_list", row(P5, "98.32")),
    seen(0, "aws_savings_plans", plan(P5, "60", "No", 3)),
)


@pytest.mark.parametrize(
    ("before", "after"),
    [(world.case(*PLAN_OF_THREE_YEARS, at=0),
      world.case(*PLAN_OF_THREE_YEARS, seen(1, "aws_price_list", row(P5, "55.04")), at=1))], ids=["shown"],
)  # fmt: skip
def test_a_cut_of_44_percent_makes_a_term_a_loss(before: Case, after: Case) -> None:
    """A three-year plan at 60.00 against 98.32 bears a fall of 39 %; AWS then cut the price to 55.04."""
    ((bears,),) = options(before, "price_fall_that_erases", "purchase_option = 'savings_plan' and unit_price > 0")
    assert bears == pytest.approx(1 - 60 / 98.32)
    assert bears < 1 - 55.04 / 98.32

    ((share,),) = options(after, "breakeven_share_on_demand", "purchase_option = 'savings_plan' and unit_price > 0")
    assert share > 1


@world.shown(
    seen(0, "aws_capacity_blocks", block("p5e.48xlarge", "47.76")),
    seen(0, "aws_spot", spot("p5e.48xlarge", A, "30")), at=0,
)  # fmt: skip
def test_without_a_list_price_nothing_is_compared(case: Case) -> None:
    """A type in spot and blocks only, and a window whose start is unknown, leave the shares blank."""
    assert options(case, "breakeven_share_on_demand, breakeven_share_spot, price_fall_that_erases") == [
        (None, None, None), (None, None, None)
    ]  # fmt: skip


@world.shown(
    seen(0, "aws_price_list", row(P5, "100", **YUAN), term(P5, "40", "No", "0", **YUAN), scope="cn-north-1"), at=0
)
def test_currencies_are_kept_apart(case: Case) -> None:
    """A term in yuan is compared with the price in yuan."""
    assert options(
        case, "purchase_option, pricing_currency, breakeven_share_on_demand", "unit_price is not null"
    ) == [("on_demand", "CNY", None), ("reserved", "CNY", 0.4)]  # fmt: skip


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "30"), spot(P5, B, "20")),
    seen(0, "aws_capacity_blocks",
         block(P5, "41", availability_zone="us-east-1a"), block(P5, "40", availability_zone="us-east-1b"),
         block(P5, "39", count="4"), block(P5, "38", hours=48)),
    at=0,
)  # fmt: skip
def test_the_cheapest_zone_stands_for_a_region(case: Case) -> None:
    """Of two zones the cheaper one is shown; blocks of another count or length are rows of their own."""
    assert options(case, "unit_price::int, commitment_term_hours, minimum_quantity::int, availability_zone_id") in (
        [(40, 24, 1, "us-east-1b"), (39, 24, 4, None), (38, 48, 1, None), (20, None, None, B)],
        [(39, 24, 4, None), (40, 24, 1, "us-east-1b"), (38, 48, 1, None), (20, None, None, B)],
    )


@world.shown(
    seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0"),
         term(P5, "10", "No", "0", offering_class="convertible")),
    seen(0, "aws_savings_plans", plan(P5, "8")),
    seen(0, "aws_capacity_blocks", block(P5, "12")),
    seen(0, "aws_spot", spot(P5, A, "7")),
    at=0,
)  # fmt: skip
def test_each_option_carries_its_promises(case: Case) -> None:
    """What ref.purchase_term says of an option, kind of plan and class stands in its row."""
    found = options(
        case,
        "purchase_option, offering_class, capacity_guaranteed, is_interruptible, is_cancellable, can_be_resold, "
        "longest_term_hours",
    )
    assert sorted(found, key=str) == [
        ("capacity_block", None, True, False, False, None, 4368),
        ("on_demand", None, False, False, True, None, None),
        ("reserved", "convertible", False, False, False, False, 26280),
        ("reserved", "standard", False, False, False, True, 26280),
        ("savings_plan", None, False, False, False, False, 26280),
        ("spot", None, False, True, True, None, None),
    ]


SAGEMAKER = [
    plan(f"ml.{P5}", rate, kind="SageMaker", conditions=part) for rate, part in (("50", "Host"), ("60", "Train"))
]


@world.shown(seen(0, "aws_price_list", row(P5, "20")), seen(0, "aws_savings_plans", *SAGEMAKER, plan(P5, "16")), at=0)
def test_sagemaker_has_the_chips_of_ec2_and_nothing_else(case: Case) -> None:
    """ml.p5.48xlarge counts eight H100, is compared with no EC2 price, and is not an unknown accelerator."""
    assert options(
        case,
        "instance_type, commitment_discount_type, conditions, accelerator_name, price_per_accelerator_hour, "
        "breakeven_share_on_demand",
        "purchase_option = 'savings_plan' and unit_price is not null",
    ) == [
        (P5, "Compute", None, "H100", 2, 0.8),
        (f"ml.{P5}", "SageMaker", "Host", "H100", 6.25, None),
        (f"ml.{P5}", "SageMaker", "Train", "H100", 7.5, None),
    ]
    assert case.records(
        "select distinct accelerator_name, accelerator_count::int as n from int.accelerator_hour_price where $own"
    ) == [{"accelerator_name": "H100", "n": 8}]  # fmt: skip
    assert case.records("from int.unknown_accelerator") == []
    assert case.records("select distinct n_without_accelerator as n from int.source_health") == [{"n": 0}]
    assert unknown(case, f"ml.{P5}") == {}


# --- why a price is unknown


@world.shown(
    seen(0, "aws_price_list", row(G6, "1")), seen(0, "aws_savings_plans", plan(G6, "0.8")),
    seen(0, "aws_spot", spot(G6, A, "0.5")), seen(0, "aws_capacity_blocks", block(P5, "30")), at=0,
)  # fmt: skip
def test_what_aws_does_not_list(case: Case) -> None:
    """A complete look without a price is an answer, with its date."""
    assert unknown(case) == {
        "on_demand": "AWS lists no on-demand price for this type in this region on 2026-01-01",
        "reserved": "AWS lists no Reserved term for this type in this region on 2026-01-01",
        "savings_plan Compute": "AWS lists no Compute Savings Plan rate for this type in this region on 2026-01-01",
        "savings_plan EC2Instance":
            "AWS lists no EC2 Instance Savings Plan rate for this type in this region on 2026-01-01",
        "spot": "no zone of this region had a spot price of this type on 2026-01-01",
    }  # fmt: skip
    assert unknown(case, G6)["capacity_block"] == (
        "not asked: the queries for Capacity Blocks in this region were about other types"
    )


@world.shown(
    look(0, row(P5, "30"), source="offline_archive", scope=REGION, complete=False, archived=True),
    look(0, source="aws_spot", scope=REGION, error="AuthFailure"),
    seen(0, "aws_price_list", row(P5, "30", region_id="us-west-2"), scope="us-west-2"),
    seen(0, "aws_price_list", row(G6, "2", region_id="us-west-2-lax-1"), scope="us-west-2-lax-1"),
    at=0,
)  # fmt: skip
def test_what_was_not_collected(case: Case) -> None:
    """No good look: the source that would tell is named, what it needs, and why the last look failed.

    Of a Local Zone there is none: its spot prices and blocks come with those of its region.
    """
    assert {unknown(case, G6)[option] for option in ("spot", "capacity_block")} == {
        "under its region, by zone: EC2 does not tell it of a Local Zone alone"
    }
    found = {
        line["option"]: line["unknown_reason"]
        for line in case.records(
            "select purchase_option as option, unknown_reason from int.aws_purchase_options "
            f"where region_id = '{case.region(REGION)}' and unit_price is null",
        )
    }
    assert found == {
        "reserved": "not collected: no good fetch of aws_price_list in this region, which needs no credentials",
        "savings_plan": "not collected: no good fetch of aws_savings_plans in this region, which needs no credentials",
        "spot": "not collected: no good fetch of aws_spot in this region, which needs AWS credentials with "
        "ec2:DescribeSpotPriceHistory; the last fetch failed: AuthFailure",
        "capacity_block": "not collected: no good fetch of aws_capacity_blocks in this region, which needs AWS "
        "credentials with ec2:DescribeCapacityBlockOfferings",
    }


def answer(**others: object) -> Row:
    """Return what a query for a block of one p5 for a day said: nothing, unless it says otherwise."""
    return {
        "region_id": REGION, "instance_type": P5, "capacity_unit": "instance", "queried_hours": 24,
        "queried_count": 1, "capacity_block_offering_id": "", "availability_zone_id": None,
        "availability_zone": None, "starts_at": None, "ends_at": None, "duration_minutes": None,
        "usable_minutes": None, "block_fee": None, "pricing_currency": None, "answer_error": None,
    } | others  # fmt: skip


UNPRICED = answer(capacity_block_offering_id="cb-1", availability_zone="us-east-1a", block_fee="720")
NOTHING_FOUND = (
    seen(0, "aws_price_list", row(P5, "30")), said(0, "aws_capacity_blocks", "capacity_block_answer", answer()),
)  # fmt: skip
REFUSED = said(1, "aws_capacity_blocks", "capacity_block_answer", answer(answer_error="not supported"))


@pytest.mark.parametrize(
    ("case", "reason"),
    [(world.case(*NOTHING_FOUND, at=0), "a query for 1 x 24 h on 2026-01-01 found no Capacity Block"),
     (world.case(*NOTHING_FOUND, REFUSED, at=1), "the query for Capacity Blocks was refused: not supported"),
     (world.case(REFUSED, said(2, "aws_capacity_blocks", "capacity_block_answer", answer()),
                 seen(5, "aws_capacity_blocks"), at=6),
      "a query for 1 x 24 h on 2025-12-31 found no Capacity Block"),
     (world.case(said(0, "aws_capacity_blocks", "capacity_block_answer", answer(queried_hours=48), UNPRICED), at=0),
      "a query for 1 x 24 h, 1 x 48 h on 2026-01-01 found a Capacity Block of unknown hourly rate")],
    ids=["empty", "refused", "no longer refused, and asked again", "of unknown rate"],
)  # fmt: skip
def test_what_a_query_did_not_find(case: Case, reason: str) -> None:
    """An empty answer is told with what was asked for; a refused query with its error; an offer without its rate."""
    assert unknown(case)["capacity_block"] == reason


CAPABILITY = {
    "region_id": REGION, "instance_type": "trn2u.48xlarge", "supports_on_demand": False, "supports_spot": False,
    "supports_capacity_block": False, "api_accelerator_name": None, "api_accelerator_count": None,
    "api_accelerator_memory_gib": None, "api_neuron_cores_per_accelerator": None,
}  # fmt: skip


@world.shown(said(0, "aws_instance_types", "instance_capability", CAPABILITY), at=0)
def test_what_the_api_says_is_not_sold(case: Case) -> None:
    """DescribeInstanceTypes knows which options a region has; a type seen there alone has a row for each option."""
    found = unknown(case, "trn2u.48xlarge")
    assert found["on_demand"] == "the EC2 API says that this type is not sold on demand in this region"
    assert found["spot"] == "the EC2 API says that this type is not sold as spot in this region"
    assert found["capacity_block"] == (
        "the EC2 API says that this type is not sold in Capacity Blocks in this region"
    )  # fmt: skip
    assert len(found) == 6


@world.shown(
    seen(-3, "aws_price_list", row(G6, "1"), row(P5, "98")), seen(-1, "aws_price_list", row(G6, "1")),
    look(0, row(G6, "1"), term(G6, "-1", "No", "0"), source="aws_price_list", scope=REGION), at=0,
)  # fmt: skip
def test_what_is_gone_or_waits(case: Case) -> None:
    """A price that ended says since when; a first price that was refused says that it waits."""
    assert unknown(case)["on_demand"] == "no longer offered: gone since 2025-12-31"
    assert str(unknown(case, G6)["reserved"]).startswith("a price was refused and waits in quarantine: ")


@world.shown(
    seen(0, "aws_price_list", row(P5, "98"), row(G6, "1")),
    look(1, row(P5, "20"), row(G6, "1"), source="aws_price_list", scope=REGION), at=1,
)  # fmt: skip
def test_a_price_in_doubt(case: Case) -> None:
    """A jump waits for confirmation: the old price stands, and is marked as contradicted until it is settled."""
    assert options(case, "instance_type, unit_price::int, is_contradicted, last_observed_at::date::varchar") in (
        [(P5, 98, True, "2025-12-31"), (G6, 1, False, "2026-01-01")],
        [(G6, 1, False, "2026-01-01"), (P5, 98, True, "2025-12-31")],
    )  # fmt: skip


@world.shown(
    seen(0, "aws_price_list", row(P5, "30"), row(G6, "1"), term(G6, "1", "No", "0")),
    seen(0, "aws_spot", spot(P5, A, "20", region_id="us-west-2"), scope="us-west-2"), at=0,
)  # fmt: skip
def test_every_type_and_region_has_every_option(case: Case) -> None:
    """For each type and region seen: six kinds of option, each with a price or a reason, never both or neither."""
    assert case.records(
        "select region_id, instance_type, count(distinct (purchase_option, commitment_discount_type)) as n, "
        "bool_and((unit_price is null) = (unknown_reason is not null)) as whole from int.aws_purchase_options "
        "where $own group by all order by all",
    ) == [
        {"region_id": REGION, "instance_type": G6, "n": 6, "whole": True},
        {"region_id": REGION, "instance_type": P5, "n": 6, "whole": True},
        {"region_id": "us-west-2", "instance_type": P5, "n": 6, "whole": True},
    ]


TWO_ZONES = (seen(0, "aws_spot", spot(P5, A, "1")), seen(100, "aws_spot", spot(P5, B, "5"), complete=False))
PRICED = "from int.aws_purchase_options where $own and effective_hourly_price is not null"


@pytest.mark.parametrize(
    ("case", "is_ranked"), [(world.case(*TWO_ZONES, at=101), True), (world.case(*TWO_ZONES, at=200), False)],
    ids=["ranked", "old"],
)  # fmt: skip
def test_a_ranked_zone_goes_before_a_cheaper_old_one(case: Case, is_ranked: bool) -> None:
    """One zone at 1, seen 101 days ago, the other at 5 yesterday; of two old ones the newer stands, not ranked."""
    (line,) = case.records(PRICED)
    assert (line["availability_zone_id"], line["effective_hourly_price"], line["is_ranked"]) == (B, 5, is_ranked)


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "1")), seen(40, "aws_spot", spot(P5, B, "5"), complete=False), at=40
)  # fmt: skip
def test_a_ranked_zone_needs_not_be_current(case: Case) -> None:
    """One zone at 1, seen forty days ago, is cheaper than the other at 5, which is current: both are ranked."""
    (line,) = case.records(PRICED)
    assert (line["availability_zone_id"], line["is_current"]) == (A, False)


@world.shown(
    seen(0, "aws_capacity_blocks", block(P5, "12"), complete=False),
    seen(0, "aws_capacity_block_rates", block(P5, "13", None)), at=31,
)  # fmt: skip
def test_an_offer_of_a_block_ranks_as_long_as_one_of_a_marketplace(case: Case) -> None:
    """After 31 days the published rate is ranked; the offer, of which no fetch may have said that it went, is not."""
    assert options(case, "unit_price::int, is_ranked") == [(12, False), (13, True)]


TERM = seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0"))
CUT = seen(200, "aws_price_list", row(P5, "10"), complete=False)


@pytest.mark.parametrize(
    ("case", "share"), [(world.case(TERM, at=1), 0.45), (world.case(TERM, CUT, at=200), None)], ids=["new", "old"]
)
def test_an_old_commitment_is_not_compared_with_todays_price(case: Case, share: float | None) -> None:
    """A term confirmed 200 days ago, beside on demand of today: in no table is there a share."""
    assert case.records(SHARES) == [{"share": share}, {"share": share}]


@world.shown(
    seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")),
    seen(0, "aws_price_list",
         row(P5, "20", region_id="us-gov-west-1"), term(P5, "3", "No", "0", region_id="us-gov-west-1"), scope="gov"),
    at=0,
)  # fmt: skip
def test_a_term_of_a_partition_apart_is_not_ranked(case: Case) -> None:
    """As its price on demand is not: GovCloud and China need an account of their own."""
    found = case.records("select region_id from int.commitment_option where $own and price_rank is not null")
    assert found == [{"region_id": REGION}]


def reserved(price: str, tier: str | None, hours: int, **others: object) -> Row:
    """Return a commitment that another provider names by its term in the tier."""
    return row(None, price, tier=tier, purchase_option="reserved", commitment_term_hours=hours, **others)


CHIP: Row = {"service_provider_name": "Toy", "accelerator_label": "H100 SXM", "accelerator_count": "1"}


@world.shown(
    seen(0, "aws_price_list",
         row(None, "5", tier="Clusters", **CHIP), reserved("4", "Clusters, 31-90 days", 744, **CHIP),
         row(None, "2", **CHIP), reserved("1095", "monthly", 730, pricing_unit="Months", **CHIP)), at=0,
)  # fmt: skip
def test_a_term_in_the_tier_makes_no_other_machine(case: Case) -> None:
    """Together names its clusters so, OVH its months."""
    found = case.records("select breakeven_share_on_demand as share from int.commitment_option where $own order by 1")
    assert [line["share"] for line in found] == [0.75, 0.8]


EURO: Row = CHIP | {"pricing_currency": "EUR"}
world.looks.append(
    said(0, "offline_archive", "fx_rate",
         *({"pricing_currency": "USD", "rate_date": day(at).date(), "units_per_eur": Decimal(usd)}
           for at, usd in ((-20, "1.25"), (0, "1.5")))),
)  # fmt: skip


@world.shown(
    seen(0, "aws_price_list", row(None, "2.1", **CHIP), reserved("1.5", None, 730, **EURO)),
    seen(20, "aws_price_list", row(None, "2", **EURO), complete=False), at=20,
)  # fmt: skip
def test_a_commitment_is_compared_in_its_own_currency(case: Case) -> None:
    """1.5 EUR, last seen at 1.25 USD, with 2 EUR of today at 1.5; not with 2.1 USD of the other company."""
    (found,) = case.records("select * from int.commitment_option where $own")
    assert (found["price_per_accelerator_hour_usd"], found["on_demand_price_usd"]) == (1.875, 3)
    assert found["breakeven_share_on_demand"] == 0.75


SHARES = """
select breakeven_share_on_demand as share from int.aws_purchase_options where $own and purchase_option = 'reserved'
    and effective_hourly_price is not null
union all
select breakeven_share_on_demand from int.commitment_option where $own and purchase_option = 'reserved'
"""
