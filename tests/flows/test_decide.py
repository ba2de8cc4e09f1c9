"""One decision: sums worked out by hand, a term that costs its term, what is missing, prices that stay private."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import simplejson
from breakeven_file import publish_breakeven
from choice_file import H100_RATE, H200_RATE, MODEL, choice_folder, training
from click.testing import CliRunner, Result
from cost_file import P5, TRN1, lines, putting_costs
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kept import once
from looks import row as seen_row
from purchase import block, putting, seen, term

from flows.cli import main
from flows.config.settings import Settings
from flows.decisions import decide, decide_page
from flows.decisions import regions as allowed
from flows.decisions.break_even import Range
from flows.decisions.cost_added import Added
from flows.decisions.decide import Load
from transform import models
from warehouse.errors import SettingsError

HOURS = 8760
ASKED = ("option_ladder", "price_window", "price_history", "price_change", "obtainable")
"""What the answer to a number of machines for some months is made of."""
SIXTEEN = Load(machine=P5, nodes=16, months=12, use=Range(low=0.6, likely=0.8, high=0.9))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the published file of choices; it stays open, as to open it takes a sixth of an answer."""
    found = choice_folder(tmp_path_factory) / "prices.duckdb"
    with duckdb.connect(str(found), read_only=True):
        yield found


def by_kind(found: dict[str, Any], seller: str = "AWS") -> dict[str, dict[str, Any]]:
    return {r["purchase_option"]: r for r in found["options"] if r["service_provider_name"] == seller}


def test_sixteen_nodes_for_a_year(file: Path) -> None:
    """On demand 16 x 55.04 for 80 % of 8,760 hours; a term for all of them; a block is no option for a year."""
    found = decide.answer(file, SIXTEEN)
    aws = by_kind(found)

    assert aws["on_demand"]["charged_usd"] == pytest.approx(16 * 55.04 * HOURS * 0.8)
    assert aws["on_demand"]["charged_usd_low"] == pytest.approx(16 * 55.04 * HOURS * 0.6)
    assert aws["on_demand"]["charged_usd_high"] == pytest.approx(16 * 55.04 * HOURS * 0.9)
    for option, hourly in (("reserved", 38), ("savings_plan", 40)):
        row = aws[option]
        ends = [row[name] for name in ("charged_usd_low", "charged_usd", "charged_usd_high")]
        assert ends == pytest.approx([16 * hourly * HOURS] * 3)
    assert "capacity_block: blocks last 182 days at most" in found["left_out"]
    assert "spot: spot may be interrupted" in found["left_out"]
    assert [row["charged_usd"] + row["capital_usd"] for row in found["options"]] == sorted(
        row["charged_usd"] + row["capital_usd"] for row in found["options"]
    )


@pytest.mark.parametrize("n_loads", [2, pytest.param(100, marks=pytest.mark.prove)])
def test_a_term_costs_its_term(file: Path, n_loads: int) -> None:
    """Of all options: none charges less than machines x hours of whole terms x price; its cash is what it charges."""

    @settings(max_examples=n_loads, deadline=None)
    @given(st.floats(0.1, 60), st.floats(0.05, 1), st.integers(1, 40), st.integers(0, 2))
    @example(8, 0.5, 3, 0)
    @example(13, 1.0, 3, 1)
    def charged(months: float, share: float, nodes: int, spare: int) -> None:
        use = Range(low=share, likely=share, high=share)
        load = Load(months=months, use=use, spare=spare)
        for more in (
            {"machine": P5, "nodes": nodes, "tolerates_interruption": True, "spot_loss": 0.2},
            {"chips": ("h100", "h200"), "accelerators": 8 * nodes},
        ):
            found = decide.answer(file, replace(load, **more))
            assert found["options"]
            for row in found["options"]:
                paid = row["paid_accelerators"] * row["price_usd"]
                assert row["paid_accelerators"] == row["unit_accelerators"] * row["units"] >= 8 * nodes
                if row["purchase_option"] in decide.BINDING:
                    terms = -(-(months * 730) // row["commitment_term_hours"])
                    assert row["charged_usd"] == pytest.approx(paid * row["commitment_term_hours"] * terms)
                elif row["purchase_option"] == "capacity_block":
                    assert row["charged_usd"] >= paid * months * 730
                    assert row["charged_hours"] % 24 == 0
                else:
                    assert row["charged_usd"] == pytest.approx(paid * months * 730 * share)
                assert sum(row["cash_usd_by_month"]) == pytest.approx(row["charged_usd"])

    charged()


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a published file of terms of TRN1, of a year by the month, and of P5, of three years by month or all.

    And of a flex-start of Google's, and in euros, without a rate.
    """
    flex = {"service_provider_name": "Google Cloud", "accelerator_label": "NVIDIA H100 SXM 80GB", "tier": "flex-start"}
    offers = (
        seen_row(TRN1, "21.5"), term(TRN1, "13.2289", "No", "0"),
        seen_row("g5.xlarge", "1.006"), term("g5.xlarge", "0.63378", "No", "0"),
        seen_row("g5.4xlarge", "1.624"), term("g5.4xlarge", "1.02312", "No", "0"),
        block(P5, "41", count="1"), block(P5, "40", count="4"),
        seen_row(P5, "55.04"), term(P5, "0", "All", "700000", years=3), term(P5, "27", "No", "0", years=3),
        seen_row("a3-highgpu-8g", "38.32", accelerator_count="8", purchase_option="capacity_block", **flex),
        seen_row("g7e.12xlarge", "8"), seen_row("g7e.24xlarge", "16.4"), seen_row("g7e.48xlarge", "40"),
        *(seen_row(None, price, purchase_option="reserved", commitment_term_hours="336", minimum_quantity=least,
                   accelerator_count="1", service_provider_name="Lambda", tier="1-Click Clusters",
                   accelerator_label="NVIDIA HGX B200", capacity_unit="GPU")
          for least, price in (("16", "9.86"), ("256", "8.87"))),
        seen_row("H100-SXM-8-80G", "25.33", accelerator_count="8", pricing_currency="EUR",
                 service_provider_name="Scaleway", accelerator_label="NVIDIA H100 SXM 80GB"),
    )  # fmt: skip
    with putting(tmp_path_factory.mktemp("terms"), asked=ASKED) as put:
        yield put(seen(0, "aws_price_list", *offers), at=0)


def test_a_machine_that_a_cheaper_one_of_its_chip_hides(terms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS asks less for an A10G in g5.xlarge: who names g5.4xlarge gets its own prices, in any region or in one."""
    monkeypatch.setattr(models, "MACROS", tuple(each for each in models.MACROS if each.name in ASKED))
    monkeypatch.setattr(allowed, "DECISIONS", ("option_ladder",))
    named = Load(machine="g5.4xlarge", nodes=2, months=12)
    for found in (decide.answer(terms, named), decide.answer(terms, replace(named, regions=("us-east-1",)))):
        assert {row["purchase_option"]: (row["instance_type"], row["charged_usd"]) for row in found["options"]} == {
            "on_demand": ("g5.4xlarge", pytest.approx(2 * HOURS * 1.624)),
            "reserved": ("g5.4xlarge", pytest.approx(2 * HOURS * 1.02312)),
        }
        assert found["regions"]["left_out"] == []


def test_thirty_two_trn1_owe_a_year(terms: Path) -> None:
    """32 x 8,760 x 13.2289 = 3,708,325, for nine days as for a year; what outlasts the nine days is told."""
    found = decide.answer(terms, Load(machine=TRN1, nodes=32, months=9 * 24 / 730))
    aws = by_kind(found)

    assert aws["reserved"]["charged_usd"] == pytest.approx(3_708_325, abs=1)
    assert aws["reserved"]["owed_after_usd"] == pytest.approx(3_708_325 * (1 - 216 / HOURS), abs=1)
    assert aws["on_demand"]["charged_usd"] == pytest.approx(32 * 21.5 * 216)


def test_spot_counts_where_it_is_tolerated_and_its_loss_known(file: Path) -> None:
    """20 a node-hour with a fifth lost is 25; the loss not known leaves it out."""
    lossy = Load(machine=P5, nodes=2, months=1, tolerates_interruption=True, spot_loss=0.2)
    assert by_kind(decide.answer(file, lossy))["spot"]["charged_usd"] == pytest.approx(2 * 730 * 25)
    unknown = decide.answer(file, Load(machine=P5, nodes=2, months=1, tolerates_interruption=True))
    assert unknown["left_out"]["spot: spot of unknown loss"] == 1


def test_a_block_is_paid_whole_and_first(file: Path) -> None:
    """Nine days and the 30 minutes that nobody can use are ten days of 41.528 a node, all in the first month.

    No block has 182 days to use.
    """
    block = by_kind(decide.answer(file, Load(machine=P5, nodes=2, months=9 * 24 / 730)))["capacity_block"]
    assert (block["charged_hours"], block["charged_usd"]) == (240, pytest.approx(2 * 240 * 41.528))
    assert block["cash_usd_by_month"][0] == pytest.approx(block["charged_usd"])
    longest = decide.answer(file, Load(machine=P5, nodes=2, months=182 * 24 / 730))
    assert longest["left_out"]["capacity_block: blocks last 182 days at most"] == 1


def test_a_block_of_several_machines_hides_none_of_one(terms: Path) -> None:
    """One machine for a week: a block of one at 41 an hour costs less than one of four at 40, though not per chip.

    An offer of a block of the first of January is ranked until the end of the month, a price of a list for 90 days.
    """
    found, longer = (decide.answer(terms, Load(machine=P5, nodes=1, months=months)) for months in (167 / 730, 12))
    blocks = [
        row["charged_usd"]
        for row in found["options"]
        if row["purchase_option"] == "capacity_block" and row["service_provider_name"] == "AWS"
    ]
    assert blocks == pytest.approx([41 * 168, 4 * 40 * 168])
    assert [each["decide_again"][0]["when"] for each in (found, longer)] == ["2026-01-31", "2026-04-01"]


def test_terms_end_one_after_another(file: Path) -> None:
    """Of three years that are held by a year at a time, the first ends after 8,760 hours, and not with the third."""
    found = decide.answer(file, Load(machine=P5, nodes=4, months=36))
    ends = [each["when"] for each in found["decide_again"] if "one year, bought now" in each["why"]]

    assert by_kind(found)["reserved"]["charged_hours"] == 3 * HOURS
    assert ends == [str(found["as_of"] + timedelta(days=365))]


@pytest.mark.parametrize(
    ("chip", "wanted", "paid"),
    [("rtx-pro-6000", 4, [4 * 4.1, 8 * 5]), ("b200", 16, [16 * 9.86, 256 * 8.87])],
    ids=["machines", "clusters"],
)
def test_a_size_that_costs_less_a_chip_hides_no_other(terms: Path, chip: str, wanted: int, paid: list[float]) -> None:
    """A machine of two chips is none of four, and 16 chips are not paid as 256, whose price a chip is lower."""
    hours = 336
    found = decide.answer(terms, Load(chips=(chip,), accelerators=wanted, months=hours / 730))

    assert [row["charged_usd"] for row in found["options"]] == pytest.approx([each * hours for each in paid])


def test_a_price_of_no_stated_form_or_without_a_rate_is_left_out_and_named(file: Path, terms: Path) -> None:
    """Nobody knows if it is SXM or PCIe, or how many dollars it is; who sells it may."""
    load = Load(chips=("h100",), accelerators=1, months=1)

    assert decide.answer(file, load)["left_out"]["on_demand: form of the chip not stated, Toy"] == 1
    assert decide.answer(terms, load)["left_out"]["on_demand: no exchange rate of EUR, Scaleway"] == 1


def test_what_aws_says_of_its_blocks_is_of_no_other_seller(terms: Path) -> None:
    """A flex-start ends after days that no price says: it is no option of a month, and loses no 30 minutes."""
    found = decide.answer(terms, Load(machine=P5, nodes=1, months=1))

    assert found["left_out"]["capacity_block: of unknown length"] == 1
    assert {row["service_provider_name"] for row in found["options"]} == {"AWS"}
    (flex,) = lines(terms, "from int.cost_option where service_provider_name = 'Google Cloud'")
    assert (flex["price_usd"], flex["offer_terms"]) == (38.32 / 8, "flex-start")


def test_all_upfront_pays_for_its_capital(terms: Path) -> None:
    """Three years paid at once at 8 % a year: half of 36 months early in the mean, 12 %; by the month nothing."""
    monthly, upfront = (
        row for row in decide.answer(terms, Load(machine=P5, nodes=1, months=36))["options"]
        if row["purchase_option"] == "reserved"
    )  # fmt: skip
    assert upfront["cash_usd_by_month"] == [pytest.approx(700_000), *[0] * 35]
    assert upfront["capital_usd"] == pytest.approx(0.12 * 700_000, rel=0.03)
    assert upfront["support_usd"] == pytest.approx(1000 + 4900 + 8500 + 13_500 + 35 * 100)  # 100 a month at least
    assert monthly["cash_usd_by_month"] == pytest.approx([27 * 730] * 36)
    assert monthly["capital_usd"] == pytest.approx(0, abs=0.01)


def test_several_terms_and_a_share_each_quarter(file: Path) -> None:
    """Four p5 for a year: of AWS alone a year of Reserved at 38 pays above 69 % of the hours, else nothing does.

    Against Toy's H200 too, 31.76 a node-hour on demand, it does not. A quarter of the nodes each quarter waits 91, 182
    and 273 days, and owes whole terms. Thousands take no longer; a million are not enumerated.
    """
    load = Load(machine=P5, nodes=4, months=12, use=Range(low=0.8, likely=0.9, high=1.0))
    none = decide.answer(file, Load(chips=("h100", "h200"), accelerators=8, months=12))["together"]
    assert (none["cover_nodes"], none["purchases"]) == (0, [])

    together = decide.answer(file, replace(load, providers=("AWS",)))["together"]
    assert (together["cover_nodes"], together["units"]) == (4, 4)
    assert [each["commitment"] for each in together["purchases"]] == ["AWS reserved, 1 year, standard, No Upfront"]
    a_term = {"purchase_option": "reserved", "offer_terms": None, "is_contracted": False}
    lengths = {730: "1 month", 744: "31 days", 13_140: "18 months", 26_280: "3 years"}
    assert {n: decide.how(a_term | {"commitment_term_hours": n}) for n in lengths} == {
        n: f"reserved, {length}" for n, length in lengths.items()
    }
    assert together["expected_usd"] == pytest.approx(4 * 38 * HOURS)
    assert together["expected_usd_doing_nothing"] == pytest.approx(4 * 55.04 * HOURS * 0.9)
    assert [each["units"] for each in together["by_quarter"]] == [1, 1, 1, 1]
    for quarter, each in enumerate(together["by_quarter"]):
        assert each["committed_usd"] == pytest.approx(38 * HOURS)
        assert each["on_demand_before_usd"] == pytest.approx(91 * quarter * 24 * 55.04 * 0.9)
    many = decide.answer(file, replace(load, providers=("AWS",), nodes=9000))["together"]
    assert (many["cover_nodes"], many["expected_usd"]) == (9000, pytest.approx(9000 * 38 * HOURS))
    assert decide.answer(file, replace(load, providers=("AWS",), nodes=1e6))["together"] is None
    level = decide.answer(
        file, replace(load, providers=("AWS",), pattern="level", use=Range(low=0.5, likely=0.5, high=1))
    )
    assert level["together"]["cover_nodes"] < 4
    assert "Several terms, and a share each quarter" in [part.title for part in decide_page.sections(level)]


def test_what_is_added_is_in_the_total_and_the_rank(file: Path) -> None:
    """A share of the charge and USD a month; AWS's support by its bands, where none is stated, and in no total."""
    load = Load(machine=P5, nodes=1, months=12)
    added = (Added(name="tax", share=0.19), Added(name="engineering", usd_per_month=5000))
    for row in decide.answer(file, replace(load, added=added))["options"]:
        assert row["total_usd"] == pytest.approx(row["charged_usd"] * 1.19 + 60_000)
    monthly = 38 * 730
    plain = by_kind(decide.answer(file, load))["reserved"]
    assert plain["support_usd"] == pytest.approx(12 * (1000 + 0.07 * (monthly - 10_000)))
    assert plain["total_usd"] == plain["charged_usd"]
    own = replace(load, added=(Added(name="support", share=0.05),))
    assert by_kind(decide.answer(file, own))["reserved"]["support_usd"] is None
    words = ["decide", "--machine", P5, "--nodes", "1", "--months", "12"]
    told = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), *words, "--add", "egress=500"])
    assert "In the totals: egress, 500 USD a month (--add)." in told.stdout
    head = told.stdout.partition("in --json.")[2].partition("\nAWS")[0].split()
    assert {"how", "total", "units"} <= {*head}  # in a line of 100 characters
    assert "storage  " in told.stdout.partition("What no sum has")[2]
    assert "egress  " not in told.stdout.partition("What no sum has")[2]


def test_the_same_question_has_the_same_bytes(file: Path) -> None:
    """Regrets are over all windows, none drawn: text, JSON and page of two runs are equal."""
    nodes, training = ["--machine", P5, "--nodes", "4", "--months", "12"], ["--workload", "pretraining-175b"]
    for asked in ([*nodes, "--json"], [*nodes, "--html"], training, [*training, "--json"]):
        words = ["--data-dir", str(file.parent), "decide", *asked]
        first, second = (CliRunner().invoke(main.main, words).stdout_bytes for _ in range(2))
        assert first == second != b""


def test_a_commitment_is_weighed_against_the_market(file: Path) -> None:
    """AWS 6.88 and Toy's node of H200 at 3 a chip-hour: the lower quartile of two is 3.97; 4.75 for a year loses."""
    both = decide.answer(file, Load(chips=("h100", "h200"), accelerators=8, months=12))
    assert both["market"]["providers"] == {
        "AWS": pytest.approx(8 * 6.88 * HOURS), "Toy": pytest.approx(8 * 3 * HOURS),
    }  # fmt: skip
    assert both["market"]["quarter_usd"] == pytest.approx(8 * HOURS * (3 + 0.25 * 3.88))
    (against,) = both["waiting"]
    assert against["fall_at_once"] == pytest.approx(1 - 4.75 / 3.97)
    assert against["regret_if_no_change_usd"]["0%"] == 0
    assert "Do not commit to AWS" in " ".join(decide_page.sections(both)[0].lines)

    alone = decide.answer(file, Load(machine=P5, nodes=1, months=12, providers=("aws",)))
    (pays,) = alone["waiting"]
    assert pays["fall_at_once"] == pytest.approx(1 - 38 / 55.04)
    assert pays["share_of_hours_to_pay"] == pytest.approx(38 / 55.04)
    assert pays["regret_if_no_change_usd"]["0%"] == pytest.approx((55.04 - 38) * HOURS)
    assert (pays["share_of_windows_that_lost"], pays["regret_by_history_usd"]) == (None, None)
    cheap = [row | {"charged_usd": 1} if row["purchase_option"] == "on_demand" else row for row in alone["options"]]
    of_both = [" ".join(decide_page.sections(each)[0].lines) for each in (alone, alone | {"options": cheap})]
    limit = alone | {"needs": [alone["options"][0] | {"reach": "at most"}]}  # every run was faster for a user
    told = [decide_page.sections(each)[0].lines[2] for each in (limit, alone)]
    assert ["That is at most: every run of its chip was faster" in line for line in told] == [True, False]
    beside = "Against the market, not the cheapest on demand: It pays to commit to AWS"
    assert [("It pays to commit to AWS" in words, beside in words) for words in of_both] == [
        (True, False),
        (True, True),
    ]


def test_a_training_takes_the_smallest_cluster_in_time(file: Path) -> None:
    """Eight H100 at 1000 tokens a second and chip, eight H200 at 1500: 10^10 tokens, 15 % beside, 90 % goodput.

    With none stated, eight chips are interrupted each 45,561 / 8 hours for 16.7 minutes.
    """
    load = Load(model=MODEL, training_tokens=1e10, deadline_days=30, goodput=0.9)
    found = decide.answer(file, load)
    hours = {"H100": 1e10 * 1.15 / (3600 * 8 * H100_RATE * 0.9), "H200": 1e10 * 1.15 / (3600 * 8 * H200_RATE * 0.9)}
    for need in decide.answer(file, replace(load, goodput=None))["needs"]:
        assert need["goodput_share"] == pytest.approx(1 - 8 / 45561 * 16.7 / 60)
        assert need["hours"] * need["goodput_share"] == pytest.approx(hours[need["accelerator_name"]] * 0.9)

    assert {need["accelerator_name"]: need["hours"] for need in found["needs"]} == pytest.approx(hours)
    assert by_kind(found)["reserved"]["charged_usd"] == pytest.approx(38 * HOURS)
    h200 = next(r for r in found["options"] if r["accelerator_name"] == "H200" and r["service_provider_name"] == "AWS")
    assert h200["charged_usd"] == pytest.approx(63.296 * hours["H200"])
    tight = decide.answer(file, replace(load, deadline_days=13))
    assert {need["accelerator_name"] for need in tight["needs"]} == {"H200"}
    late = r"no cluster that was measured ends in time; the fastest takes 12\.3 days .* --tokens 10000000000$"
    with pytest.raises(SettingsError, match=late):
        decide.answer(file, replace(load, deadline_days=5))


def test_a_training_runs_on_every_size_that_is_sold(tmp_path: Path) -> None:
    """Eight H100 at 2.60 a chip cost less than the twelve that are sold at 2.50, which hid them."""
    clusters = [
        seen_row(None, str(price * count), service_provider_name="Verda", accelerator_label="H100 SXM",
                 accelerator_count=str(count), tier="instant cluster")
        for count, price in ((8, 2.6), (12, 2.5))
    ]  # fmt: skip
    with putting_costs(tmp_path, training("H100", H100_RATE), asked=(*ASKED, "training_need")) as put:
        file = put(seen(0, "aws_price_list", *clusters), at=0)
    found = decide.options(file, Load(model=MODEL, training_tokens=1e10, deadline_days=30, goodput=0.9))
    hours = 1e10 * 1.15 / (3600 * 8 * H100_RATE * 0.9)

    assert [row["charged_usd"] for row in found] == pytest.approx([hours * 8 * 2.6, hours * 12 * 2.5])


def test_spot_must_end_a_training_in_time_too(file: Path) -> None:
    """12.3 days of H200 with a tenth of the hours lost are 13.7 days: no option for 13, one for 14."""
    load = Load(model=MODEL, training_tokens=1e10, goodput=0.9, chips=("h100",), tolerates_interruption=True)
    days = 1e10 * 1.15 / (3600 * 8 * H100_RATE * 0.9) / 24
    late = decide.answer(file, replace(load, spot_loss=0.1, deadline_days=days / 0.91))
    assert late["left_out"]["spot: spot, with what it loses, ends after the deadline"] == 1
    spot = by_kind(decide.answer(file, replace(load, spot_loss=0.1, deadline_days=days / 0.89)))["spot"]
    assert spot["charged_usd"] == pytest.approx(20 * days * 24 / 0.9)


def test_the_tokens_of_a_training_may_be_a_setting(file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "chipledger.toml"
    settings.write_text(f'data_dir = "{file.parent}"\n[decision]\ntraining_tokens = 1e10\n')
    words = ["--settings", str(settings), "decide", "--model", MODEL, "--deadline-days", "30", "--json"]
    for more, tokens in (([], 1e10), (["--training-tokens", "20B"], 2e10)):
        told = CliRunner().invoke(main.main, [*words, *more])
        assert told.exit_code == 0, told.stderr
        assert json.loads(told.stdout)["inputs"]["training_tokens"] == tokens


@pytest.mark.parametrize(
    ("load", "lacking"),
    [
        (Load(), ["--machine, --chip or --model", "--months or --days"]),
        (Load(machine=P5), ["--nodes", "--months or --days"]),
        (Load(chips=("h100",)), ["--accelerators", "--months or --days"]),
        (Load(model="x"), ["--tokens-per-day", "--peak", "--months or --days", "--interactivity or --batch"]),
        (Load(deadline_days=3), ["--model", "--training-tokens"]),
        (SIXTEEN, []),
    ],
)
def test_all_that_is_missing_is_said_at_once(load: Load, lacking: list[str]) -> None:
    assert load.missing() == lacking


def test_every_example_of_a_refusal_has_what_it_needs(file: Path) -> None:
    """The refusal names an example; as a command of its own it lacks nothing."""
    told = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), "decide", "--model", "gpt-oss-120b"])
    assert told.exit_code == 2
    assert "not stated yet: --tokens-per-day; --peak; --months or --days; --interactivity or --batch" in told.stderr
    assert decide.EXAMPLES[1] in " ".join(told.stderr.split())
    for command in decide.EXAMPLES:
        words = ["--data-dir", str(file.parent), *command.split()[1:]]
        assert "not stated yet" not in CliRunner().invoke(main.main, words).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--machine", "p99.huge", "--nodes", "1", "--months", "1"], "this machine's chips are not known"),
        (["--machine", P5, "--nodes", "1", "--months", "1", "--use", "1.2"], "is above 0 and at most 1"),
        (["--machine", P5, "--nodes", "1", "--months", "1", "--use", "0"], "is above 0 and at most 1"),
        (["--machine", P5, "--nodes", "1", "--months", "1", "--hosted-price", "-1", "2"], "'--hosted-price'"),
        (["--machine", P5, "--nodes", "1e20", "--months", "1"], "'--nodes'"),
        (["--machine", P5, "--nodes", "1", "--months", "1e9"], "'--months'"),
        (["--workload", "mining"], "no such workload"),
        (["--model", "resnet152", "--training-tokens", "1B", "--deadline-days", "9"], "no run of this model is known"),
        (["--model", "gpt5", "--training-tokens", "1B", "--deadline-days", "9"], "no such model"),
        (["--machine", P5, "--nodes", "1", "--days", "9", "--region", "us-esat-1"], "no price is of this region"),
        (["--machine", "p5", "--nodes", "1", "--days", "9"], "Did you mean p5.4xlarge"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_refused(file: Path, words: list[str], said: str) -> None:
    told = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), "decide", *words])
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr


def test_every_sum_is_a_query_of_the_file(file: Path) -> None:
    """The command's JSON and mart.option_ladder on the published file agree in each price and total."""
    words = ["decide", "--machine", P5, "--nodes", "16", "--use", "0.8", "--months", "12"]
    told, text = (CliRunner().invoke(main.main, ["--data-dir", str(file.parent), *words, *j]) for j in (["--json"], []))
    assert ": the price of the cheapest option is then too old to rank.\n" in text.stdout
    found = simplejson.loads(told.stdout)
    need = (
        f"{{'accelerator_name': 'H100', 'form_factor': 'SXM', 'instance_type': '{P5}', 'accelerators': 128.0, "
        "'spare_units': 0, 'least_unit': 8.0, 'unit_accelerators': null::DOUBLE, 'network': null::VARCHAR, "
        "'hours': null::DOUBLE, 'hours_left': null::DOUBLE}"
    )
    shares = "{'low': 0.8, 'likely': 0.8, 'high': 0.8}"
    asked = lines(file, "select offer_id, price_usd, charged_usd from mart.option_ladder("
                  f"[{need}], {shares}, 12, false, null, null) where left_out is null")  # fmt: skip
    assert {row["offer_id"]: (row["price_usd"], row["charged_usd"]) for row in asked} == {
        row["offer_id"]: (pytest.approx(float(row["price_usd"])), pytest.approx(float(row["charged_usd"])))
        for row in found["options"]
    }


def test_a_page_that_prints(file: Path) -> None:
    """One page without other files: tables in frames that scroll, no script, what was left out, links to prices."""
    words = ["decide", "--machine", P5.upper(), "--nodes", "16", "--months", "12"]
    page = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), *words, "--html"]).stdout

    assert "<script" not in page
    assert "<h1>What to do</h1>" in page
    assert page.count('<div class="frame"') == page.count("<table>") > 6
    assert "Left out, and why" in page
    unsold = ["decide", "--chip", "A100", "--accelerators", "8", "--months", "1"]
    for place, where in (([], ""), (["--region", "us-east-1"], " in these regions")):
        told = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), *unsold, *place])
        assert f"No price of a chip of this name and form may be ranked{where}: " in told.stdout
    assert "https://x.test" in page or "://" in page


@pytest.fixture
def discounted(file: Path, tmp_path: Path) -> Iterator[Settings]:
    """Ten percent on AWS's p5, in a file of the user's own."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[[discount]]\nprovider = "AWS"\nfamily = "p5"\npercent = 10\nvalid_from = 2020-01-01\n')
    yield Settings(data_dir=file.parent, private={"prices": str(prices)})


def test_a_private_discount_moves_its_own_options_alone(file: Path, discounted: Settings, tmp_path: Path) -> None:
    """AWS's p5 by exactly a tenth, Toy's and the market not at all; and nothing of it in the published file."""
    words = ["decide", "--machine", P5, "--nodes", "16", "--months", "12", "--json"]
    toml = tmp_path / "chipledger.toml"
    toml.write_text(f'data_dir = "{file.parent}"\n[private]\nprices = "{discounted.private.prices}"\n')
    before = file.read_bytes()
    plain = simplejson.loads(CliRunner().invoke(main.main, ["--data-dir", str(file.parent), *words]).stdout)
    done = CliRunner().invoke(main.main, ["--settings", str(toml), *words])
    own = simplejson.loads(done.stdout)

    listed = {row["offer_id"]: row for row in plain["options"]}
    assert len(own["options"]) == len(listed) > 2
    for row in own["options"]:
        share = 0.9 if row["service_provider_name"] == "AWS" else 1
        for name in ("price_usd", "charged_usd", "charged_usd_low", "charged_usd_high"):
            assert float(row[name]) == pytest.approx(float(listed[row["offer_id"]][name]) * share, rel=1e-12)
        assert row["is_contracted"] == (row["service_provider_name"] == "AWS")
    assert own["market"] == plain["market"]
    assert file.read_bytes() == before
    assert done.stderr == ""


Ask = Callable[..., Result]
HEAD = "provider,model,input_usd_per_million,output_usd_per_million,cached_input_usd_per_million,as_of,url\n"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Return a function that decides for Llama 3 70B on the published file of `breakeven_file`, hosted at 0.5 and 2."""
    folder = once(tmp_path_factory, "breakeven", publish_breakeven)
    hosted = tmp_path_factory.mktemp("hosted") / "hosted.csv"

    def call(*words: str, host: str = "Host", former: bool = False) -> Result:
        days = {"2026-10-01": "0.1,0.2", "2026-11-01": "0.5,2", "2999-01-01": "0.1,0.1"}
        lines = (f"{host},llama-3-70b,{usd},,{day},https://example.com/pricing\n" for day, usd in days.items())
        hosted.write_text(HEAD + "".join(lines))
        start = ["makeorbuy", str(hosted)] if former else ["decide", "--hosted", str(hosted)]
        load = ["--model", "llama-3-70b", "--tokens-per-day", "250M"]
        return CliRunner().invoke(main.main, ["--data-dir", str(folder), *start, *load, *words])

    return call


def test_hosted_tokens_are_an_option_beside_machines(ask: Ask) -> None:
    """Two tokens of input with each of output cost 3 USD a million; eight H200 at 24 serve 207.36 million a day.

    What the host asked before, or will in another year, is left out. Two units are paid all month; one's own is cheaper
    above 192 million tokens a day, then in steps. With a spare one 14 units serve what 13 can, above 14 x 192; a unit
    for a peak of 3 serves a third, which never pays.
    """
    words = ("--batch", "--peak", "1", "--months", "1", "--spare", "0", "--input-per-output", "2", "--chip", "h200")
    result = ask(*words, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    options = {row["service_provider_name"]: row for row in found["options"]}

    assert options["Host"]["charged_usd"] == pytest.approx(250 * 730 / 24 * 3)
    assert (len(options), found["left_out"]["hosted tokens: price of another day"]) == (len(found["options"]), 2)
    assert options["Toy"]["charged_usd"] == pytest.approx(2 * 24 * 730)
    first, second, *_ = found["own_is_cheaper"]
    assert first["make_from_tokens_per_day"] == pytest.approx(192e6)
    assert first["make_until_tokens_per_day"] == pytest.approx(207.36e6)
    assert second["make_from_tokens_per_day"] == pytest.approx(384e6)
    assert "Machines beat hosted tokens from 192,000,000 output" in ask(*words).stdout
    spared = json.loads(ask(*words, "--spare", "1", "--json").stdout)["own_is_cheaper"]
    assert (spared[0]["unit_count"], spared[0]["make_from_tokens_per_day"]) == (14, pytest.approx(14 * 192e6))
    assert json.loads(ask(*words, "--peak", "3", "--json").stdout)["own_is_cheaper"] == []
    other = ask(*words[:-4], "--chip", "h200", "--input-per-output", "8")
    assert "no run of this model is known at this point" in other.stderr
    assert "at this point on these chips" in ask(*words[:-1], "h200 nvl").stderr  # measured is the SXM


def test_chips_that_are_named_choose_the_point(ask: Ask) -> None:
    """Trainium2 ran in BF16 alone, then the point, and is sold for days alone; beside H200 it is named as missing.

    The first line names the point: answers at two of them are not to be compared.
    """
    words = ("--batch", "--peak", "1", "--months", "12", "--input-per-output", "2", "--chip", "trainium2")
    alone, beside = ask(*words).stdout, ask(*words, "--chip", "h200").stdout
    measured = [answer.splitlines()[1].partition("Measured at ")[2] for answer in (alone, beside)]
    assert [point.split(", ")[:4] for point in measured] == [
        ["own", "vLLM bench serve", precision, "500 tokens in"] for precision in ("bf16", "fp8")
    ]
    assert "No machine is ranked for such runs" in alone
    assert "at no load" not in alone
    assert "No run at this point is known of trainium2." in beside
    assert "Machines beat hosted tokens from" in beside


def test_chips_are_no_fewer_than_fit_says(ask: Ask, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The least that runs the model at the lengths of the point: the same numbers, and no need is below them."""
    found = json.loads(ask("--batch", "--peak", "1", "--months", "1", "--input-per-output", "2", "--json").stdout)
    file = once(tmp_path_factory, "breakeven", publish_breakeven) / "prices.duckdb"
    length = round(found["point"]["input_length"] + found["point"]["output_length"])
    fits = {
        (row["accelerator_name"], row["form_factor"]): row["accelerators_needed"]
        for row in lines(file, f"from mart.fit('llama-3-70b', 'fp8', {length}, 1)")
    }
    least = {(need["accelerator_name"], need["form_factor"]): need["accelerators_needed"] for need in found["needs"]}
    assert least == {chip: fits[chip] for chip in least}
    assert set(least.values()) != {None}
    assert all(need["accelerators"] >= (need["accelerators_needed"] or 0) for need in found["needs"])


def test_a_spare_is_a_whole_copy_of_the_model(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What ran on 32 chips takes two machines of 16: fewer replace no copy. The run was longer than the model takes."""
    file = once(tmp_path_factory, "breakeven", publish_breakeven) / "prices.duckdb"
    load = Load(model="llama-3.1-405b", scenario="own", tokens_per_day=1e6, peak=1.0, is_batch=True, months=1.0)
    found = decide.answer(file, load)
    assert [(row["spare_units"], row["most_accelerators"]) for row in found["needs"]] == [(2, 32)]
    assert {row["units"] for row in found["options"]} == {found["needs"][0]["accelerators"] / 16 + 2}
    costs = "mart.serving_cost('llama-3.1-405b', null, 1, 1, 1, 1e6)"
    paid = lines(file, f"select paid_accelerators from {costs} where scenario = 'own'")
    assert {row["paid_accelerators"] for row in paid} == {found["needs"][0]["accelerators"]}


def test_a_file_of_an_earlier_version_is_named(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Where its macro lacks a column, the answer says so, and what to do; it and the doctor ended with a KeyError."""
    file = Path(shutil.copy(once(tmp_path_factory, "breakeven", publish_breakeven) / "prices.duckdb", tmp_path))
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("create table mart.need as from mart.serving_need('llama-3.1-405b', null, 1e6, 1)")
        con.execute("alter table mart.need drop column most_accelerators")
        con.execute("create or replace macro mart.serving_need(model, speed, load, use) as table from mart.need")
    words = ("--model", "llama-3.1-405b", "--tokens-per-day", "1M", "--peak", "1", "--batch", "--months", "1")
    done = CliRunner().invoke(main, ["--data-dir", str(tmp_path), "decide", *words])
    assert done.exit_code == 1
    assert "`chipledger build` publishes the file again, by this version" in done.stderr


def test_the_load_from_which_machines_pay_is_of_any_that_is_sold() -> None:
    """At 10 USD a million: small units at 30 USD a day serve 1 million, and never pay; large ones at 60 serve 12."""
    chips = {"small": (1.0, 30.0, 1e6), "large": (2.0, 60.0, 12e6)}
    needs, options = [], [{"offer_id": None, "purchase_option": "hosted tokens", "usd_per_million_tokens": 10.0}]
    for n, (name, (unit, usd_a_day, tokens_a_day)) in enumerate(chips.items()):
        same = {"accelerator_name": name, "form_factor": None, "unit_accelerators": unit, "network": None}
        rate = tokens_a_day / unit / 86400
        needs.append(same | {"spare_units": 1, "units_per_copy": 1, "output_rate_per_accelerator": rate,
                             "accelerators_needed": 1})  # fmt: skip
        options.append(same | {"offer_id": n, "charged_usd": usd_a_day, "units": 1, "hours_needed": 24.0})
    *_, last = first, *_ = decide._own_is_cheaper(options, needs, Load(peak=1.0))
    assert (first["make_from_tokens_per_day"], first["offer_id"]) == (pytest.approx(18e6), 1)
    assert last["make_until_tokens_per_day"] is None


def test_an_unknown_cost_of_hosted_tokens_is_left_out_and_counted(ask: Ask) -> None:
    """Half of the input is cached, at a price that is not stated: no option, above all none that costs nothing."""
    words = ("--batch", "--peak", "1", "--months", "1", "--input-per-output", "2", "--chip", "h200")
    found = json.loads(ask(*words, "--cached-share", "0.5", "--json").stdout)

    assert {row["service_provider_name"] for row in found["options"]} == {"Toy"}
    assert found["left_out"]["hosted tokens: price of cached input not stated"] == 1
    assert found["own_is_cheaper"] == []
    assert "price of cached input not stated" in ask(*words, "--cached-share", "0.5").stdout


def test_the_former_commands_still_answer(ask: Ask, file: Path) -> None:
    """`makeorbuy` and `choose` warn on stderr, and give the answer of `decide`."""
    done = ask("--own", "toy h200 on_demand", "--input-per-output", "2", "--wide", former=True)
    assert done.exit_code == 0, done.stderr
    assert "`chipledger makeorbuy` is now `chipledger decide`" in done.stderr
    assert "https://example.com/pricing" in done.stdout
    told = CliRunner().invoke(main.main, ["--data-dir", str(file.parent), "choose", "--workload", "pretraining-175b"])
    assert told.exit_code == 0, told.stderr
    assert "`chipledger choose` is now `chipledger decide`" in told.stderr
    assert "gpt-3-175b trained on 300,000,000,000 tokens" in told.stdout


def test_a_name_from_a_csv_is_text_on_the_page(ask: Ask) -> None:
    page = ask(
        "--own", "toy h200 on_demand", "--input-per-output", "2", "--html", host="<b>Host</b>", former=True
    ).stdout
    assert "&lt;b&gt;Host&lt;/b&gt;" in page
    assert "<b>" not in page
