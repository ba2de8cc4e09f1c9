"""A made-up fleet is covered as arithmetic by hand says, at list and at contracted prices, which never mix."""

import math
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import simplejson
from click.testing import CliRunner, Result
from looks import START, day, row
from purchase import P5, plan, putting, seen, spot, term

from flows.cli import main
from flows.config.settings import DecisionSettings, Settings
from flows.decisions import commitments
from flows.decisions.commitments import Term
from warehouse.errors import SettingsError

TODAY = date(2026, 11, 21)
YEARS = 1095
HOURS = YEARS * 24
TRN1 = "trn1.32xlarge"
ASKED = ("commitment_option", "price_change", "accelerator_hour_price", "cheapest")


def option(price: float, years: int = 1, **others: Any) -> dict[str, Any]:
    """Return a row of int.commitment_option: a Savings Plan on eight chips at 6.88 USD on demand."""
    return {
        "on_demand_offer_id": 1, "offer_id": 10 + years, "on_demand_price_usd": 6.88, "accelerator_count": 8,
        "price_per_accelerator_hour_usd": price, "purchase_option": "savings_plan", "offering_class": None,
        "commitment_discount_type": "EC2Instance", "commitment_term_hours": 8760 * years, "paid_first": 0,
        "purchase_payment_model": "No Upfront", "is_current": True, "on_demand_is_current": True,
        "is_ranked": True, "on_demand_is_ranked": True,
        "last_observed_at": datetime(2026, 11, 20), "on_demand_last_observed_at": datetime(2026, 11, 20),  # noqa: DTZ001
    } | others  # fmt: skip


def line(**others: Any) -> dict[str, Any]:
    """Return a row of fleet_line: six p5 on a plan that ends in 30 days."""
    return {
        "line_number": 1, "label": "training", "nodes": 6, "share_of_use": 0.7, "offer_id": 10, "reason": None,
        "purchase_option": "savings_plan", "commitment_ends_on": TODAY + timedelta(days=30),
        "accelerators_per_node": 8,
    } | others  # fmt: skip


MOVE = {"n_falls": 1, "deepest_fall": -0.44}
OPTIONS = [option(5.0), option(3.125, years=3)]


def covered(
    of: Mapping[str, Any] | None = None, *, contracted: Mapping[int, float] | None = None,
    move: Mapping[str, Any] | None = None, options: list[dict[str, Any]] = OPTIONS, **decision: Any,
) -> dict[str, Any]:  # fmt: skip
    asked = DecisionSettings.model_validate(decision)
    moves = [] if move is None else [move]
    return commitments.covered(of or line(), options, moves, contracted or {}, asked, today=TODAY, days=YEARS)


def at_list(found: Mapping[str, Any]) -> Mapping[str, Any]:
    answer: Mapping[str, Any] = found["answers"][0]
    assert answer["prices"] == "list"
    return answer


def test_six_nodes_whose_plan_ends_next_month() -> None:
    """Owned today and for 30 days; then 55.04 on demand at 70 %, or 25 for three years from day 31, charged whole."""
    found = covered()
    answer = at_list(found)

    assert found["owned"] == [{"nodes": 6, "days_left": 30}]
    assert answer["expected_usd_doing_nothing"] == pytest.approx(6 * 0.7 * (YEARS - 31) * 24 * 55.04)  # 5,903,106
    assert answer["expected_usd_full_cover"] == pytest.approx(6 * HOURS * 25)  # 3,942,000
    assert (answer["cover_nodes"], answer["expected_usd"]) == (6, answer["expected_usd_full_cover"])
    assert [(p["from_day"], p["terms"], p["commitment"]) for p in answer["purchases"]] == [
        (31, 6, "EC2Instance Savings Plan, 3 years, No Upfront")
    ]


def test_the_range_is_that_of_use_and_prices() -> None:
    """At use of 30, 50 or 80 %: below 25 / 55.04 = 45.4 % nothing pays; after a fall by 44 % below 81.1 %."""
    found = covered(line(purchase_option="on_demand", offer_id=1), move=MOVE,
                    use={"training": {"low": 0.3, "likely": 0.5, "high": 0.8}})  # fmt: skip
    answer = at_list(found)
    cases = {(each["use"], each["prices"]): each["cover_nodes"] for each in answer["best_in_each_case"]}

    assert found["yearly_move"] == 0
    assert answer["expected_usd_doing_nothing"] == pytest.approx(6 * 0.53 * HOURS * 55.04)
    assert cases == {
        ("low", "expected"): 0, ("low", "fallen"): 0, ("likely", "expected"): 6, ("likely", "fallen"): 0,
        ("high", "expected"): 6, ("high", "fallen"): 0,
    }  # fmt: skip
    assert (answer["cover_nodes_low"], answer["cover_nodes"], answer["cover_nodes_high"]) == (0, 6, 6)


@pytest.mark.parametrize("days", [1, 365, 366, 800, 1095, 1100, 1460])
def test_a_chain_of_terms_costs_least_of_all_chains(days: int) -> None:
    """One and three years, each whole, cover any time: tried out are all numbers of both."""
    terms = [Term(name="one", hours=8760, hourly=40), Term(name="three", hours=26280, hourly=25)]
    found = commitments.cheapest_terms(terms, days)
    every = [
        ones * terms[0].usd + threes * terms[1].usd
        for ones in range(6) for threes in range(4) if 365 * ones + 1095 * threes >= days
    ]  # fmt: skip
    assert sum(n * term.usd for term, n in found.items()) == pytest.approx(min(every))
    month = Term(name="month", hours=730, hourly=1)  # 273.75 days are nine of them, not ten
    assert commitments.cheapest_terms([month], 274) == {month: 9}


def test_more_use_never_lowers_the_best_cover_and_each_size_is_its_sum() -> None:
    """For every share: cover is what is held of terms and what runs beyond it, and grows with use."""
    sizes = []
    for share in (0.1, 0.3, 0.454, 0.455, 0.7, 1.0):
        answer = at_list(covered(line(purchase_option="on_demand", share_of_use=share)))
        sizes.append(answer["cover_nodes"])
        for size in answer["sizes"]:
            k = size["cover_nodes"]
            assert size["committed_usd"] == pytest.approx(k * HOURS * 25)
            assert size["on_demand_usd"] == pytest.approx((6 - k) * share * HOURS * 55.04)
        assert answer["expected_usd"] == pytest.approx(min(size["expected_usd"] for size in answer["sizes"]))
    assert sizes == [0, 0, 0, 6, 6, 6]


def test_being_wrong_costs_in_both_directions() -> None:
    """Six for three years at 25, all prices as they are: at 20 % use too many, at 90 % the right number."""
    answer = at_list(covered(line(purchase_option="on_demand"), use={
        "training": {"low": 0.2, "likely": 0.6, "high": 0.9},
    }))  # fmt: skip
    none, six = answer["sizes"][0], answer["sizes"][6]

    assert (answer["cover_nodes_low"], answer["cover_nodes"], answer["cover_nodes_high"]) == (0, 6, 6)
    assert six["regret_usd_if_use_low"] == pytest.approx(6 * HOURS * (25 - 0.2 * 55.04))
    assert six["regret_usd_if_use_high"] == 0
    assert none["regret_usd_if_use_high"] == pytest.approx(6 * HOURS * (0.9 * 55.04 - 25))
    assert six["unused_share_of_cover"] == pytest.approx(1 - (0.3 * 0.2 + 0.4 * 0.6 + 0.3 * 0.9))


def test_a_fall_is_no_forecast_and_its_regret_is_told() -> None:
    """Six at 25 from day 30 on; had on demand fallen by 44 % that day, six on demand at 70 % would have cost less."""
    found = covered(move=MOVE)
    six = at_list(found)["sizes"][6]

    assert six["regret_usd_if_prices_expected"] == 0
    assert six["regret_usd_if_prices_fallen"] == pytest.approx(
        6 * HOURS * 25 - 6 * 24 * 0.7 * 55.04 * 0.56 * (YEARS - 31)
    )
    own = covered(move=MOVE, yearly_price_move=-0.1)
    assert own["yearly_move"] == -0.1
    mean = (1 - math.exp(-0.3)) / 0.3  # of the level over three years, at 10 % a year less
    assert at_list(own)["sizes"][0]["expected_usd"] == pytest.approx(6 * 0.7 * (YEARS - 31) * 24 * 55.04 * mean)


def test_a_commitment_is_weighed_against_the_market() -> None:
    """What runs beyond the cover is bought where it costs less: at 2.50 a chip-hour a term at 3.125 binds nobody."""
    own = line(purchase_option="on_demand")
    market = {"usd_per_chip_hour": 2.5, "n_providers": 4, "median_usd": 3, "lowest_usd": 2, "lowest_provider": "X"}
    asked = {"today": TODAY, "days": YEARS, "decision": DecisionSettings(), "contracted": {}, "moves": []}
    alone = at_list(commitments.covered(own, OPTIONS, **asked))  # type: ignore[arg-type]
    beside = at_list(commitments.covered(own, OPTIONS, market=market, **asked))  # type: ignore[arg-type]

    assert alone["cover_nodes"] == 6
    assert beside["cover_nodes"] == 0
    assert beside["uncovered_usd_per_node_hour"] == 20
    assert beside["on_demand_usd_per_node_hour"] == pytest.approx(55.04)
    assert beside["expected_usd"] == pytest.approx(6 * 0.7 * HOURS * 20)  # 2,207,520 in place of 3,942,000
    dear = at_list(commitments.covered(own, OPTIONS, market=market | {"usd_per_chip_hour": 9.0}, **asked))  # type: ignore[arg-type]
    assert dear == alone


def test_list_and_contracted_are_two_answers() -> None:
    """A contract on the plan and on on demand is an answer of its own; with one of the two missing there is none."""

    _, nothing = covered()["answers"]
    assert nothing == {"prices": "contracted", "reason": "no contracted on-demand price of this machine"}
    _, half = covered(contracted={1: 0.9})["answers"]
    assert half["reason"] == "no contracted price of a commitment for this machine"

    on_list, own = covered(contracted={1: 0.9, 11: 0.8})["answers"]
    assert own["on_demand_usd_per_node_hour"] == pytest.approx(0.9 * 55.04)
    assert {p["commitment"] for p in own["purchases"]} <= {"EC2Instance Savings Plan, 1 year, No Upfront"}
    assert {size["cover_nodes"]: size["committed_usd"] for size in own["sizes"]}[6] == pytest.approx(
        6 * 3 * 8760 * 0.8 * 40
    )
    assert on_list["on_demand_usd_per_node_hour"] == pytest.approx(55.04)
    assert on_list["expected_usd"] == at_list(covered())["expected_usd"]


@pytest.mark.parametrize(
    ("of", "options", "reason"),
    [
        (line(offer_id=None, reason="no such type"), OPTIONS, "no such type"),
        (line(purchase_option="spot"), OPTIONS, "it runs on spot: a commitment is weighed against on demand only"),
        (line(), [], "no commitment is known for this machine in this region that has an on-demand price too"),
        (line(share_of_use=None), OPTIONS, "its share of use is not known"),
    ],
)
def test_what_has_no_answer_says_why(of: dict[str, Any], options: list[dict[str, Any]], reason: str) -> None:
    """A missing number is no zero and no guess."""
    found = covered(of, options=options)
    assert found["reason"].startswith(reason)
    assert found["answers"] == []


def test_old_prices_are_no_terms() -> None:
    """A plan at half the price that was last seen years ago is not bought; nor is anything from an old price alone."""
    old = {"is_ranked": False, "is_current": False, "last_observed_at": datetime(2023, 6, 1)}  # noqa: DTZ001
    cheap = option(1.5, years=3, offer_id=99, **old)
    assert covered(options=[*OPTIONS, cheap]) == covered()
    alone = covered(options=[cheap])
    assert alone["answers"] == []
    assert alone["reason"] == (
        "no commitment of this machine has a price that is ranked, and a ranked one on demand: both were last "
        "seen on 2023-06-01"
    )
    assert covered(options=[option(5.0, on_demand_is_ranked=False)])["answers"] == []


def test_use_may_be_a_profile_or_level() -> None:
    """Two always and four more for a tenth of the hours: two are covered; at one level 70 % of six are 4.2 nodes."""
    stepped = covered(use={"training": {"hours": [0.9, 0.1], "nodes": [2, 6]}}, of=line(purchase_option="on_demand"))
    assert at_list(stepped)["cover_nodes"] == 2
    even = covered(line(purchase_option="on_demand"), pattern="level")
    assert [size["cover_nodes"] for size in at_list(even)["sizes"]] == [0, 1, 2, 3, 4, 5]
    assert at_list(even)["cover_nodes"] == 4  # the fifth is used for a fifth of the hours


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"share_of_use": 1.2}, "decision.share_of_use"),
        ({"share_of_use": {"low": 0.9, "likely": 0.5, "high": 1}}, "decision.share_of_use"),
        ({"use": {"a": {"hours": [0.5], "nodes": [1]}}}, "decision.use"),
        ({"horizon": 3}, "decision.horizon"),
    ],
)
def test_a_wrong_setting_is_named(table: dict[str, Any], field: str) -> None:
    """The table is checked as a whole, and an unknown name is an error."""
    with pytest.raises(SettingsError) as caught:
        Settings(decision=table)
    assert str(caught.value.field).startswith(field)


@pytest.mark.parametrize(
    ("bought", "payment", "hourly", "fee", "share"),
    [
        ("reserved", "Partial Upfront", 40, 350_400, 0.5), ("reserved", "All Upfront", 0, 700_800, 1),
        ("savings_plan", "All Upfront", 80, None, 1), ("savings_plan", "Partial Upfront", 80, None, 0.5),
        ("savings_plan", "No Upfront", 80, None, 0),
    ],
)  # fmt: skip
def test_what_is_paid_first_is_in_dollars(
    bought: str, payment: str, hourly: float, fee: float | None, share: float
) -> None:
    """80 yuan an hour, 1.60 USD a chip-hour: of a year at 12.80 a machine the fee's part; of a plan what AWS takes."""
    found = option(
        1.6, offer_id=1, purchase_option=bought, purchase_payment_model=payment, unit_price=hourly, upfront_price=fee
    )
    del found["paid_first"]
    with duckdb.connect() as con:
        con.register("frame", pl.DataFrame([found], schema_overrides={"upfront_price": pl.Float64}).to_arrow())
        con.execute("create schema int; create table int.commitment_option as from frame")
        answer = at_list(covered(options=commitments.rows(con, commitments.OPTIONS, {"offer": 1})))
    (purchase,) = answer["purchases"]
    assert purchase["upfront_usd_today"] == pytest.approx(12.8 * 8760 * share * purchase["terms"])


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Publish p5's cut of June 2025 as it was, plans and a Reserved term beside it, and a fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    others = (
        ("Alpha", "24", "8", "instance", {}), ("Beta", "32", "8", "instance", {}), ("Gamma", "1.50", "1", "GPU", {}),
        ("Delta", "8", "8", "instance", {"statistic": "floor"}),
    )  # fmt: skip
    with putting(folder, asked=ASKED) as put:
        put(
            seen(-400, "aws_price_list", row(P5, "98.32"), row(TRN1, "21.5")),
            seen(0, "aws_price_list", row(P5, "55.04"), row(TRN1, "21.5"), term(P5, "0", "All", "300000")),
            seen(0, "aws_savings_plans", plan(P5, "40"), plan(P5, "25", years=3)),
            seen(0, "aws_spot", spot(P5, "use1-az1", "20")),
            *(
                seen(0, "aws_spot_feed", row(
                    None, price, service_provider_name=name, accelerator_count=count, capacity_unit=unit,
                    accelerator_label="NVIDIA H100 SXM", **more,
                ), scope=name)
                for name, price, count, unit, more in others
            ),
            at=0,
        )  # fmt: skip
    (folder / "fleet.csv").write_text(
        "label,provider,offer,region,option,nodes,share_of_use,commitment_end,term,payment,plan\n"
        f"training,AWS,{P5},us-east-1,savings_plan,6,0.7,{day(30).date()},1y,No Upfront,Compute\n"
        f"batch,AWS,{TRN1},us-east-1,on_demand,4,0.5,,,,\n"
        "chat,Nobody,H100,us-east-1,on_demand,32,1,,,,\n"
        f"spare,AWS,{P5},us-east-1,spot,2,0.5,,,,\n"
    )
    (folder / "prices.toml").write_text(
        '[[discount]]\nprovider = "AWS"\nfamily = "p5"\noption = "on_demand"\npercent = 10\nvalid_from = 2025-01-01\n'
    )
    yield folder


def decided(data_dir: Path, files: Path | None, *words: str) -> Result:
    named = f"[private]\nfleet = '{files}/fleet.csv'\nprices = '{files}/prices.toml'\n" if files else ""
    (toml := data_dir / "chipledger.toml").write_text(named)
    call = ["--settings", str(toml), "--data-dir", str(data_dir), "decide", "fleet", *words]
    return CliRunner().invoke(main.main, call)


def test_the_command_on_a_published_file(data_dir: Path) -> None:
    """Options, moves and the fleet are found in their files: the fall is 44 % once in 400 days, terms all three."""
    told = decided(data_dir, data_dir, "--horizon", "36", "--json")
    assert told.exit_code == 0, told.output
    found = simplejson.loads(told.output)
    training, batch, chat, spare = found["lines"]

    fall = 55.04 / 98.32 - 1
    assert found["inputs"]["as_of"] == START.date().isoformat()
    assert training["yearly_move"] == 0
    assert training["price_history"]["n_falls"] == 1
    assert training["price_history"]["deepest_fall"] == pytest.approx(fall)
    (answer, own) = training["answers"]
    assert answer["sizes"][0]["cover_nodes"] == 0
    assert answer["on_demand_usd_per_node_hour"] == pytest.approx(55.04)
    # 3.00, 4.00 and AWS's 6.88 a chip-hour of a node: one card at 1.50 is no node, and a "from" price no price.
    sheet = training["negotiation"]
    assert [sheet[name] for name in ("list_usd", "median_usd", "number_to_beat_usd", "lowest_usd")] == [6.88, 4, 3.5, 3]
    assert sheet["lowest_provider"] == "Alpha"
    assert [move["ratio"] for move in sheet["last_moves"]] == [pytest.approx(fall)]
    worth = 0.01 * 3.5 * 48 * 8760 * float(training["share_of_use"])
    assert sheet["percent_usd_a_year"] == pytest.approx(worth)
    assert training["market"]["n_providers"] == 3
    assert training["market"]["usd_per_chip_hour"] == pytest.approx(3.5)
    assert training["market"]["prices"] == "Alpha 3.0, Beta 4.0, AWS 6.88"
    assert answer["uncovered_usd_per_node_hour"] == pytest.approx(28)
    assert own["reason"] == "no contracted price of a commitment for this machine"
    assert batch["reason"].startswith("no commitment is known")
    assert batch["negotiation"]["list_usd"] == pytest.approx(21.5 / 16)
    assert chat["reason"] == "no price of this provider is known"
    assert spare["reason"].startswith("it runs on spot")
    assert spare["negotiation"]["list_usd"] == 6.88

    words = decided(data_dir, data_dir)
    assert words.exit_code == 0, words.output
    assert f"at list prices: cover {answer['cover_nodes']} nodes (from " in words.output
    assert "owned: 6 nodes for 30 days more" in words.output
    assert re.search(rf"^ +{answer['cover_nodes']} +{answer['expected_usd']:,.0f} ", words.output, re.MULTILINE)
    assert f"lowest 3 (Alpha); to beat: 3.5, a percent of it {worth:,.0f} USD a year" in words.output
    assert f"last moves of its list price: -44% on {sheet['last_moves'][0]['on']}" in words.output
    assert "market: 3.5 USD a chip-hour on demand, lower quartile of 3 providers (Alpha 3.0, " in words.output
    assert (
        "beyond them: 28.0000 USD a node-hour on demand, the market's, as a node-hour here costs 55.0400"
        in words.output
    )


def test_the_fleet_beside_the_archive_s_file_is_found(tmp_path: Path, data_dir: Path) -> None:
    """Where only the archive of the package was published; the fleet is the user's file as it is now."""
    shutil.copytree(data_dir, tmp_path / "offline")
    fleet = tmp_path / "offline" / "fleet.csv"
    fleet.write_text(fleet.read_text().replace("savings_plan,6,", "savings_plan,5,"))
    told = decided(tmp_path, tmp_path / "offline")
    assert (told.exit_code, "owned: 5 nodes" in told.output) == (0, True), told.output


def test_without_a_fleet_the_command_says_what_to_do(tmp_path: Path, data_dir: Path) -> None:
    """Nothing is made up: exit code 2, and the name of the setting."""
    (tmp_path / "prices.duckdb").write_bytes((data_dir / "prices.duckdb").read_bytes())
    told = decided(tmp_path, None)
    assert told.exit_code == 2
    assert 'Write [private] with fleet = "fleet.csv"' in told.stderr
