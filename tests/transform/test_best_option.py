"""The cheapest way to have machines for a time: what each option charges, what is left out, and who comes second."""

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks import look, row
from purchase import P5, REGION, Put, block, plan, putting, records, seen, spot, term

ASKED = ("best_option",)
A, B = "use1-az1", "use1-az2"
HALF_YEAR = 4380


def best(
    file: Path, hours: float, *, share: float = 1, nodes: float = 1, spot_too: bool = False, regions: str = "null"
) -> dict[str, object]:
    """Return the answer about the one type."""
    (line,) = records(file, f"from mart.best_option({hours}, {share}, {nodes}, {spot_too}, {regions})")
    return line


def said(line: dict[str, object], *columns: str) -> tuple[object, ...]:
    return tuple(line[column] for column in columns)


ANSWER = ("purchase_option", "charged_hours", "total_cost", "runner_up", "runner_up_cost", "margin")


def test_a_year_is_charged_whole_for_half_a_year(put: Put) -> None:
    """Half a year on demand at 20 costs 87600; a one-year term at 9 costs 78840 used or not; at 11 it costs 96360."""
    file = put(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=0)
    assert said(best(file, HALF_YEAR), *ANSWER) == ("reserved", 8760, 78840, "on-demand", 87600, 8760)

    file = put(seen(1, "aws_price_list", row(P5, "20"), term(P5, "11", "No", "0")), at=1)
    assert said(best(file, HALF_YEAR), *ANSWER) == (
        "on_demand", 4380, 87600, "Reserved standard, 8760 hours, No Upfront", 96360, 8760
    )  # fmt: skip


def test_a_term_is_bought_as_often_as_needed(put: Put) -> None:
    """13 months need two one-year terms: 17520 hours at 9; the three-year plan at 7 is charged for 26280."""
    file = put(
        seen(0, "aws_price_list", term(P5, "4.5", "Partial", "39420")),
        seen(0, "aws_savings_plans", plan(P5, "7", "All", 3)), at=0,
    )  # fmt: skip

    assert said(best(file, 13 * 730), *ANSWER) == (
        "reserved", 17520, 157680, "Compute Savings Plan, 26280 hours, All Upfront", 183960, 26280
    )  # fmt: skip


def test_use_counts_on_demand_only(put: Put) -> None:
    """At 40 % of a year on demand costs 70080, below the term's 78840; nodes multiply both."""
    file = put(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=0)

    assert said(best(file, 8760, share=0.4, nodes=3), "purchase_option", "nodes", "total_cost", "margin") == (
        "on_demand", 3, pytest.approx(3 * 70080), pytest.approx(3 * 8760)
    )  # fmt: skip
    assert best(file, 8760, share=0.5)["purchase_option"] == "reserved"


def test_spot_only_where_interruption_is_tolerated(put: Put) -> None:
    """The lowest 30-day mean of a zone counts, not the price of the moment; where no mean is known, the current one."""
    file = put(
        seen(0, "aws_spot", spot(P5, A, "10"), spot(P5, B, "12")),
        seen(40, "aws_spot", spot(P5, A, "15"), spot(P5, B, "12")),
        seen(40, "aws_price_list", row(P5, "20")), at=40,
    )  # fmt: skip

    answer = best(file, 100, spot_too=True)
    assert said(answer, *ANSWER) == ("spot", 100, 1000, "on-demand", 2000, 1000)
    assert said(answer, "price_basis", "is_interruptible") == (f"30-day mean of zone {A}", True)
    answer = best(file, 100)
    assert said(answer, *ANSWER) == ("on_demand", 100, 2000, None, None, None)
    assert answer["left_out"] == "no price known (4); spot may be interrupted (1)"


def test_spot_without_a_mean(put: Put) -> None:
    """Looked at for a day only: the current price of the cheapest zone, and it is said; the feed is the last resort."""
    feed = row(P5, "3", purchase_option="spot", conditions="region-level, public spot feed")
    file = put(seen(0, "aws_spot_feed", feed), at=0)
    assert said(best(file, 100, spot_too=True), "total_cost", "price_basis") == (
        300, "region-level price of the public feed"
    )  # fmt: skip

    file = put(seen(1, "aws_spot_feed", feed), seen(1, "aws_spot", spot(P5, A, "10"), spot(P5, B, "12")), at=1)
    answer = best(file, 100, spot_too=True)
    assert said(answer, "total_cost", "price_basis") == (1000, f"current price of zone {A}")
    assert "region-level spot price, as zones have prices (1)" in str(answer["left_out"])


@pytest.fixture(scope="module")
def published_block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the published rate of a block, 10, and nothing else."""
    with putting(tmp_path_factory.mktemp("block"), asked=ASKED) as put:
        return put(seen(0, "aws_capacity_block_rates", block(P5, "10", None)), at=0)


@pytest.mark.parametrize(
    ("hours", "charged"),
    [(1, 24), (24, 24), (25, 48), (14 * 24, 14 * 24), (14 * 24 + 1, 21 * 24), (HALF_YEAR - 12, 4368), (4368, 4368)],
)
def test_a_block_is_charged_in_the_lengths_that_are_sold(published_block: Path, hours: int, charged: int) -> None:
    """Days up to 14, then weeks, up to 26 of them; the share of use does not count."""
    columns = ("charged_hours", "total_cost", "price_basis", "capacity_guaranteed")
    assert said(best(published_block, hours, share=0.1), *columns) == (charged, 10 * charged, "published rate", True)


def test_no_block_is_longer_than_182_days(put: Put) -> None:
    """At 4368 hours the block wins, an hour later it is left out."""
    file = put(
        seen(0, "aws_price_list", row(P5, "20")), seen(0, "aws_capacity_block_rates", block(P5, "10", None)), at=0
    )

    assert said(best(file, 4368), *ANSWER) == ("capacity_block", 4368, 43680, "on-demand", 87360, 43680)
    answer = best(file, 4369)
    assert answer["purchase_option"] == "on_demand"
    assert "Capacity Blocks last 4368 hours at most (1)" in str(answer["left_out"])


def test_a_block_has_its_least_quantity_and_length(put: Put) -> None:
    """An offer of four machines for 48 hours is charged so for one machine and a day."""
    file = put(seen(0, "aws_capacity_blocks", block(P5, "10", 48, "4")), at=0)

    columns = ("nodes", "charged_hours", "total_cost", "price_basis")
    assert said(best(file, 24), *columns) == (4, 48, 1920, "rate of an offer of 48 hours")
    assert said(best(file, 100, nodes=6), *columns) == (6, 120, 7200, "rate of an offer of 48 hours")


def test_regions_are_asked_for(put: Put) -> None:
    """The cheapest region of those asked for wins; the runner-up is another kind of option, in any of them."""
    west = {"region_id": "us-west-2"}
    file = put(
        seen(0, "aws_price_list", row(P5, "20"), term(P5, "19", "No", "0")),
        seen(0, "aws_price_list", row(P5, "18", **west), scope="us-west-2"), at=0,
    )  # fmt: skip

    columns = ("region_id", "total_cost", "runner_up", "runner_up_region_id", "runner_up_cost")
    reserved = "Reserved standard, 8760 hours, No Upfront"
    assert said(best(file, 8760), *columns) == ("us-west-2", 157680, reserved, REGION, 166440)
    assert said(best(file, 8760, regions=f"['{REGION}']"), *columns) == (REGION, 166440, "on-demand", REGION, 175200)
    assert records(file, "from mart.best_option(24, 1, 1, false, ['eu-west-1'])") == []


def test_yuan_are_left_out(put: Put) -> None:
    """A type priced in yuan alone has a row without an answer, and the reason."""
    yuan = row(P5, "100", region_id="cn-north-1", pricing_currency="CNY")
    file = put(seen(0, "aws_price_list", yuan, scope="cn-north-1"), at=0)

    assert said(best(file, 24), "total_cost", "left_out") == (None, "no price known (5); priced in CNY (1)")


def test_a_price_in_doubt_is_left_out(put: Put) -> None:
    """While a jump waits in quarantine the old price answers nothing."""
    file = put(
        seen(0, "aws_price_list", row(P5, "98")), look(1, row(P5, "20"), source="aws_price_list", scope=REGION), at=1
    )

    answer = best(file, 24)
    assert answer["total_cost"] is None
    assert "price in doubt, a later one waits in quarantine (1)" in str(answer["left_out"])


def test_an_answer_carries_its_dates(put: Put) -> None:
    """An archived price may win, and says its date and that it is not current; so does the runner-up's."""
    file = put(
        look(0, row(P5, "5"), source="offline_archive", scope=REGION, complete=False, archived=True),
        seen(9, "aws_savings_plans", plan(P5, "4")), at=10,
    )  # fmt: skip

    answer = best(file, 24)
    assert said(answer, "purchase_option", "is_current", "runner_up_is_current") == ("on_demand", False, True)
    assert [str(answer[name])[:10] for name in ("last_observed_at", "runner_up_last_observed_at")] == [
        "2026-01-01", "2026-01-10"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [("0, 1, 1", "horizon_hours"), ("24, 1.5, 1", "share_of_use"), ("24, 1, 0", "nodes"), ("null, 1, 1", "horizon")],
)
def test_a_question_without_sense_is_refused(published_block: Path, arguments: str, parameter: str) -> None:
    """The parameter is named."""
    with pytest.raises(duckdb.Error, match=parameter):
        records(published_block, f"from mart.best_option({arguments}, false, null)")


# --- a property


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an open file with every option of a type, in two regions."""
    west = {"region_id": "us-west-2"}
    with putting(tmp_path_factory.mktemp("market"), asked=ASKED) as put:
        file = put(
            seen(0, "aws_spot", spot(P5, A, "12"), spot(P5, B, "15")),
            seen(40, "aws_spot", spot(P5, A, "30"), spot(P5, B, "15")),
            seen(40, "aws_price_list", row(P5, "55.04"), term(P5, "20", "Partial", "87600"),
                 term(P5, "21", "No", "0", 3, offering_class="convertible")),
            seen(40, "aws_price_list", row(P5, "50", **west), scope="us-west-2"),
            seen(40, "aws_savings_plans", plan(P5, "33"), plan(P5, "24", "All", 3), plan(P5, "30", kind="EC2Instance")),
            seen(40, "aws_capacity_blocks", block(P5, "41", 24, "2"), block(P5, "40", 168, "8")),
            seen(40, "aws_capacity_block_rates", block(P5, "41.528", None)),
            at=40,
        )  # fmt: skip
    with duckdb.connect(str(file), read_only=True) as con:
        yield con


def cost(line: dict[str, object], hours: float, share: float, nodes: float) -> float:
    """Work out what an option charges, the plain way."""
    option, price = line["purchase_option"], float(str(line["effective_hourly_price"]))
    if option in ("reserved", "savings_plan"):
        length = int(str(line["commitment_term_hours"]))
        return math.ceil(hours / length) * length * price * nodes
    if option == "capacity_block":
        days = math.ceil(hours / 24)
        length = 24 * days if days <= 14 else 168 * math.ceil(days / 7)
        least = float(str(line["minimum_quantity"] or 0))
        return max(length, int(str(line["commitment_term_hours"] or 0))) * price * max(nodes, least)
    # Zone A's mean of 30 days.
    return hours * share * nodes * (12 if option == "spot" else price)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.integers(1, 30000), st.floats(0.5, 9000)), st.floats(0, 1), st.integers(1, 40), st.booleans())
def test_nothing_eligible_is_cheaper(
    market: duckdb.DuckDBPyConnection, hours: float, share: float, nodes: int, tolerates: bool
) -> None:
    """The answer's cost equals the least of all eligible options', each worked out on its own, and so the margin."""
    answer = market.execute("from mart.best_option(?, ?, ?, ?, null)", [hours, share, nodes, tolerates])
    names = [column[0] for column in answer.description or ()]
    (found,) = (dict(zip(names, line, strict=True)) for line in answer.fetchall())
    rows = market.execute(
        "select purchase_option, effective_hourly_price, commitment_term_hours, minimum_quantity "
        "from int.aws_purchase_options where unit_price is not null"
    )
    names = [column[0] for column in rows.description or ()]
    costs = [
        cost(line, hours, share, nodes)
        for line in (dict(zip(names, values, strict=True)) for values in rows.fetchall())
        if (tolerates or line["purchase_option"] != "spot")
        and (hours <= 4368 or line["purchase_option"] != "capacity_block")
    ]

    assert found["total_cost"] == pytest.approx(min(costs))
    assert found["runner_up_cost"] >= found["total_cost"]
    assert found["margin"] == pytest.approx(found["runner_up_cost"] - found["total_cost"])


def test_an_old_price_is_not_chosen_before_a_ranked_one(put: Put) -> None:
    """On demand at 20 a day ago; Reserved at 1, confirmed 101 days ago, is left out and counted."""
    file = put(
        seen(0, "aws_price_list", row(P5, "25"), term(P5, "1", "No", "0")),
        seen(100, "aws_savings_plans", plan(P5, "19", "No", 1)),
        seen(100, "aws_price_list", row(P5, "20"), complete=False), at=101,
    )  # fmt: skip

    answer = best(file, 8760)
    assert said(answer, *ANSWER) == (
        "savings_plan", 8760, 19 * 8760, "on-demand", 20 * 8760, 8760
    )  # fmt: skip
    assert "price beyond the limit of age, or not for everybody (1)" in str(answer["left_out"])


def test_a_price_that_is_ranked_counts_without_being_current(put: Put) -> None:
    """Confirmed 80 days ago, far beyond what its source calls current."""
    file = put(seen(0, "aws_price_list", row(P5, "20"), term(P5, "9", "No", "0")), at=80)

    assert said(best(file, 8760), "purchase_option", "is_current") == ("reserved", False)
