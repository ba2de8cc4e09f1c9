"""The cheapest way to have machines for a time: what each option charges, what is left out, and who comes second."""

import math
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks import Row, look, row
from published import named
from purchase import P5, REGION, block, plan, seen, spot, term
from side_by_side import Case, World

A, B = "use1-az1", "use1-az2"
HALF_YEAR = 4380
world = World("best-option", "best_option")


@pytest.fixture(scope="module", autouse=True)
def published(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Publish all cases of this module."""
    world.publish(tmp_path_factory)


def best(
    case: Case, hours: float, *, share: float = 1, nodes: float = 1, spot_too: bool = False, regions: str = ""
) -> dict[str, object]:
    """Return the answer about the one type, in all regions of the case unless some are given."""
    asked = f"{hours}, {share}, {nodes}, {spot_too}, {regions or case.regions}"
    (line,) = case.records(f"from mart.best_option({asked})")
    return line


def said(line: dict[str, object], *columns: str) -> tuple[object, ...]:
    return tuple(line[column] for column in columns)


ANSWER = ("purchase_option", "charged_hours", "total_cost", "runner_up", "runner_up_cost", "margin")


RESERVED_WINS = ("reserved", 8760, 78840, "on-demand", 87600, 8760)
ON_DEMAND_WINS = ("on_demand", 4380, 87600, "Reserved standard, 8760 hours, No Upfront", 96360, 8760)


@pytest.mark.parametrize(
    ("case", "answer"),
    [(world.case(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=0), RESERVED_WINS),
     (world.case(seen(0, "aws_price_list", row(P5, "20"), term(P5, "11", "No", "0")), at=0), ON_DEMAND_WINS)],
    ids=["at 9", "at 11"],
)  # fmt: skip
def test_a_year_is_charged_whole_for_half_a_year(case: Case, answer: tuple[object, ...]) -> None:
    """Half a year on demand at 20 costs 87600; a one-year term at 9 costs 78840 used or not; at 11 it costs 96360."""
    assert said(best(case, HALF_YEAR), *ANSWER) == answer


@world.shown(
    seen(0, "aws_price_list", term(P5, "4.5", "Partial", "39420")),
    seen(0, "aws_savings_plans", plan(P5, "7", "All", 3)), at=0,
)  # fmt: skip
def test_a_term_is_bought_as_often_as_needed(case: Case) -> None:
    """13 months need two one-year terms: 17520 hours at 9; the three-year plan at 7 is charged for 26280."""
    assert said(best(case, 13 * 730), *ANSWER) == (
        "reserved", 17520, 157680, "Compute Savings Plan, 26280 hours, All Upfront", 183960, 26280
    )  # fmt: skip


@world.shown(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=0)
def test_use_counts_on_demand_only(case: Case) -> None:
    """At 40 % of a year on demand costs 70080, below the term's 78840; nodes multiply both."""
    assert said(best(case, 8760, share=0.4, nodes=3), "purchase_option", "nodes", "total_cost", "margin") == (
        "on_demand", 3, pytest.approx(3 * 70080), pytest.approx(3 * 8760)
    )  # fmt: skip
    assert best(case, 8760, share=0.5)["purchase_option"] == "reserved"


@world.shown(
    seen(0, "aws_spot", spot(P5, A, "10"), spot(P5, B, "12")),
    seen(40, "aws_spot", spot(P5, A, "15"), spot(P5, B, "12")),
    seen(40, "aws_price_list", row(P5, "20")), at=40,
)  # fmt: skip
def test_spot_only_where_interruption_is_tolerated(case: Case) -> None:
    """The lowest 30-day mean of a zone counts, not the price of the moment; where no mean is known, the current one."""
    answer = best(case, 100, spot_too=True)
    assert said(answer, *ANSWER) == ("spot", 100, 1000, "on-demand", 2000, 1000)
    assert said(answer, "price_basis", "is_interruptible") == (f"30-day mean of zone {A}", True)
    answer = best(case, 100)
    assert said(answer, *ANSWER) == ("on_demand", 100, 2000, None, None, None)
    assert answer["left_out"] == "no price known (4); spot may be interrupted (1)"


FEED = row(P5, "3", purchase_option="spot", conditions="region-level, public spot feed")


@pytest.mark.parametrize(
    ("feed", "zones"),
    [(world.case(seen(0, "aws_spot_feed", FEED), at=0),
      world.case(seen(0, "aws_spot_feed", FEED), seen(1, "aws_spot_feed", FEED),
                 seen(1, "aws_spot", spot(P5, A, "10"), spot(P5, B, "12")), at=1))], ids=["shown"],
)  # fmt: skip
def test_spot_without_a_mean(feed: Case, zones: Case) -> None:
    """Looked at for a day only: the current price of the cheapest zone, and it is said; the feed is the last resort."""
    assert said(best(feed, 100, spot_too=True), "total_cost", "price_basis") == (
        300, "region-level price of the public feed"
    )  # fmt: skip
    answer = best(zones, 100, spot_too=True)
    assert said(answer, "total_cost", "price_basis") == (1000, f"current price of zone {A}")
    assert "region-level spot price, as zones have prices (1)" in str(answer["left_out"])


BLOCK = world.case(seen(0, "aws_capacity_block_rates", block(P5, "10", None)), at=0)
"""The published rate of a block, 10, and nothing else."""


@pytest.mark.parametrize(
    ("hours", "charged"),
    [(1, 24), (23.5, 24), (24, 48), (335.5, 14 * 24), (14 * 24, 21 * 24), (HALF_YEAR - 20, 4368), (4367.5, 4368)],
)
def test_a_block_is_charged_in_the_lengths_that_are_sold(hours: float, charged: int) -> None:
    """Days up to 14, then weeks, up to 26 of them, all but 30 minutes usable; the share of use does not count."""
    columns = ("charged_hours", "total_cost", "price_basis", "capacity_guaranteed")
    assert said(best(BLOCK, hours, share=0.1), *columns) == (charged, 10 * charged, "published rate", True)


@world.shown(seen(0, "aws_price_list", row(P5, "20")), seen(0, "aws_capacity_block_rates", block(P5, "10", None)), at=0)
def test_no_block_is_longer_than_182_days(case: Case) -> None:
    """At 4367.5 hours the block wins, half an hour later it is left out, as it is for more than 256 machines."""
    assert said(best(case, 4367.5), *ANSWER) == ("capacity_block", 4368, 43680, "on-demand", 87350, 43670)
    for answer, reason in ((best(case, 4368), "last 4368 hours"), (best(case, 24, nodes=257), "hold 256 machines")):
        assert answer["purchase_option"] == "on_demand"
        assert f"Capacity Blocks {reason} at most" in str(answer["left_out"])


@world.shown(seen(0, "aws_capacity_blocks", block(P5, "10", 48, "4")), at=0)
def test_a_block_has_its_least_quantity_and_length(case: Case) -> None:
    """An offer of four machines for 48 hours is charged so for one machine and a day."""
    columns = ("nodes", "charged_hours", "total_cost", "price_basis")
    assert said(best(case, 23), *columns) == (4, 48, 1920, "rate of an offer of 48 hours")
    assert said(best(case, 100, nodes=6), *columns) == (6, 120, 7200, "rate of an offer of 48 hours")


@world.shown(
    seen(0, "aws_price_list", row(P5, "20"), term(P5, "19", "No", "0")),
    seen(0, "aws_price_list", row(P5, "18", region_id="us-west-2"), scope="us-west-2"), at=0,
)  # fmt: skip
def test_regions_are_asked_for(case: Case) -> None:
    """The cheapest region of those asked for wins; the runner-up is another kind of option, in any of them."""
    columns = ("region_id", "total_cost", "runner_up", "runner_up_region_id", "runner_up_cost")
    reserved = "Reserved standard, 8760 hours, No Upfront"
    assert said(best(case, 8760), *columns) == ("us-west-2", 157680, reserved, REGION, 166440)
    assert said(best(case, 8760, regions=str([case.region(REGION)])), *columns) == (
        REGION,
        166440,
        "on-demand",
        REGION,
        175200,
    )
    assert case.records("from mart.best_option(24, 1, 1, false, ['eu-west-1'])") == []
    with pytest.raises(duckdb.Error, match="no region of AWS: us-est-1"):
        case.records(f"from mart.best_option(24, 1, 1, false, ['{case.region(REGION)}', 'us-est-1'])")


@world.shown(
    seen(0, "aws_price_list", row(P5, "100", region_id="cn-north-1", pricing_currency="CNY"), scope="cn-north-1"), at=0
)
def test_yuan_are_left_out(case: Case) -> None:
    """A type priced in yuan alone has a row without an answer, and the reason."""
    assert said(best(case, 24), "total_cost", "left_out") == (None, "no price known (5); priced in CNY (1)")


@world.shown(
    seen(0, "aws_price_list", row(P5, "98")), look(1, row(P5, "20"), source="aws_price_list", scope=REGION), at=1
)
def test_a_price_in_doubt_is_left_out(case: Case) -> None:
    """While a jump waits in quarantine the old price answers nothing."""
    answer = best(case, 24)
    assert answer["total_cost"] is None
    assert "price in doubt, a later one waits in quarantine (1)" in str(answer["left_out"])


@world.shown(
    look(0, row(P5, "5"), source="offline_archive", scope=REGION, complete=False, archived=True),
    seen(9, "aws_savings_plans", plan(P5, "4")), at=10,
)  # fmt: skip
def test_an_answer_carries_its_dates(case: Case) -> None:
    """An archived price may win, and says its date and that it is not current; so does the runner-up's."""
    answer = best(case, 24)
    assert said(answer, "purchase_option", "is_current", "runner_up_is_current") == ("on_demand", False, True)
    assert [str(answer[name])[:10] for name in ("last_observed_at", "runner_up_last_observed_at")] == [
        "2025-12-22", "2025-12-31"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [("0, 1, 1", "horizon_hours"), ("24, 1.5, 1", "share_of_use"), ("24, 1, 0", "nodes"), ("null, 1, 1", "horizon")],
)
def test_a_question_without_sense_is_refused(arguments: str, parameter: str) -> None:
    """The parameter is named."""
    with pytest.raises(duckdb.Error, match=parameter):
        BLOCK.records(f"from mart.best_option({arguments}, false, null)")


# --- a property


WEST: Row = {"region_id": "us-west-2"}
EVERY_OPTION = world.case(
    seen(0, "aws_spot", spot(P5, A, "12"), spot(P5, B, "15")),
    seen(40, "aws_spot", spot(P5, A, "30"), spot(P5, B, "15")),
    seen(40, "aws_price_list", row(P5, "55.04"), term(P5, "20", "Partial", "87600"),
         term(P5, "21", "No", "0", 3, offering_class="convertible")),
    seen(40, "aws_price_list", row(P5, "50", **WEST), scope="us-west-2"),
    seen(40, "aws_savings_plans", plan(P5, "33"), plan(P5, "24", "All", 3), plan(P5, "30", kind="EC2Instance")),
    seen(40, "aws_capacity_blocks", block(P5, "41", 24, "2"), block(P5, "40", 168, "8")),
    seen(40, "aws_capacity_block_rates", block(P5, "41.528", None)),
    at=40,
)  # fmt: skip


@pytest.fixture(scope="module")
def market() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an open file with every option of a type, in two regions."""
    with duckdb.connect(str(world.file), read_only=True) as con:
        yield con


def cost(line: dict[str, object], hours: float, share: float, nodes: float) -> float:
    """Work out what an option charges, the plain way."""
    option, price = line["purchase_option"], float(str(line["effective_hourly_price"]))
    if option in ("reserved", "savings_plan"):
        length = int(str(line["commitment_term_hours"]))
        return math.ceil(hours / length) * length * price * nodes
    if option == "capacity_block":
        days = math.ceil((hours + 0.5) / 24)
        length = 24 * days if days <= 14 else 168 * math.ceil(days / 7)
        least = float(str(line["minimum_quantity"] or 0))
        return max(length, int(str(line["commitment_term_hours"] or 0))) * price * max(nodes, least)
    # Zone A's mean of 30 days.
    return hours * share * nodes * (12 if option == "spot" else price)


ASKED_FOR = (
    st.one_of(st.integers(1, 30000), st.floats(0.5, 9000)), st.floats(0, 1), st.integers(1, 40), st.booleans(),
)  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(*ASKED_FOR)
def test_nothing_eligible_is_cheaper(
    market: duckdb.DuckDBPyConnection, hours: float, share: float, nodes: int, tolerates: bool
) -> None:
    """The answer's cost equals the least of all eligible options', each worked out on its own, and so the margin."""
    check_least(market, hours, share, nodes, tolerates)


@pytest.mark.prove
@settings(max_examples=600, deadline=None)
@given(*ASKED_FOR)
def test_nothing_eligible_is_cheaper_at_length(
    market: duckdb.DuckDBPyConnection, hours: float, share: float, nodes: int, tolerates: bool
) -> None:
    """The same of hundreds of questions."""
    check_least(market, hours, share, nodes, tolerates)


def check_least(market: duckdb.DuckDBPyConnection, hours: float, share: float, nodes: int, tolerates: bool) -> None:
    """Ask one question, and work out what each option would cost."""
    answer = market.execute(
        f"from mart.best_option(?, ?, ?, ?, {EVERY_OPTION.regions})", [hours, share, nodes, tolerates]
    )
    (found,) = named(answer)
    rows = market.execute(
        "select purchase_option, effective_hourly_price, commitment_term_hours, minimum_quantity "
        "from int.aws_purchase_options where unit_price is not null and list_contains(?, region_id)",
        [[*EVERY_OPTION.names]],
    )
    costs = [
        cost(line, hours, share, nodes)
        for line in named(rows)
        if (tolerates or line["purchase_option"] != "spot")
        and (hours <= 4367.5 or line["purchase_option"] != "capacity_block")
    ]

    assert found["total_cost"] == pytest.approx(min(costs))
    assert found["runner_up_cost"] >= found["total_cost"]
    assert found["margin"] == pytest.approx(found["runner_up_cost"] - found["total_cost"])


@world.shown(
    seen(0, "aws_price_list", row(P5, "25"), term(P5, "1", "No", "0")),
    seen(100, "aws_savings_plans", plan(P5, "19", "No", 1)),
    seen(100, "aws_price_list", row(P5, "20"), complete=False), at=101,
)  # fmt: skip
def test_an_old_price_is_not_chosen_before_a_ranked_one(case: Case) -> None:
    """On demand at 20 a day ago; Reserved at 1, confirmed 101 days ago, is left out and counted."""
    answer = best(case, 8760)
    assert said(answer, *ANSWER) == (
        "savings_plan", 8760, 19 * 8760, "on-demand", 20 * 8760, 8760
    )  # fmt: skip
    assert "price beyond the limit of age, or not for everybody (1)" in str(answer["left_out"])


@world.shown(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=80)
def test_a_price_that_is_ranked_counts_without_being_current(case: Case) -> None:
    """Confirmed 80 days ago, far beyond what its source calls current."""
    assert said(best(case, 8760), "purchase_option", "is_current") == ("reserved", False)
