"""The command `cost`: sums of two numbers with their bounds, and answers from a published file."""

import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from choice_file import choice_folder
from click.testing import CliRunner, Result

from flows.cli.main import main
from flows.decisions import cost
from flows.shared import output, query

Call = Callable[..., Result]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Return a function that runs `cost` on the published file of choices, which stays open: that takes a while."""
    folder = choice_folder(tmp_path_factory)

    def run(*words: str, data: Path = folder, settings: Path | None = None) -> Result:
        named = ["--settings", str(settings)] if settings else []
        return CliRunner().invoke(main, [*named, "--data-dir", str(data), "cost", *words])

    with duckdb.connect(str(folder / "prices.duckdb"), read_only=True):
        yield run


@pytest.fixture(scope="module", autouse=True)
def answered_once() -> Iterator[None]:
    """Let who asks for text after JSON read the same answer, as to make it takes half a second."""
    answer = functools.cache(cost.serving)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "serving", lambda file, **asked: {**answer(file, **asked)})
        yield


def sums(call: Call, *words: str) -> dict[str, Any]:
    """Return the one row of a bare sum."""
    result = call(*words, "--json")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)["rows"]
    return dict(row)


@pytest.mark.parametrize(
    ("price", "throughput", "cost"), [("4.54", "1500", 0.84), ("3.31", "1500", 0.61), ("5.34", "2200", 0.67),
                                      ("1.80", "1800", 0.28)],
)  # fmt: skip
def test_bare_sums(call: Call, price: str, throughput: str, cost: float) -> None:
    """Price x 10^6 / (3600 x throughput); without chip and model nothing is said of what is possible.

    Hours that are paid and do not run, overhead and goodput count as on an offer.
    """
    row = sums(call, "--price", price, "--throughput", throughput)

    assert row["usd_per_million_tokens"] == pytest.approx(cost, abs=0.005)
    assert row["bound"] == "no bound: give chip and model"
    half = sums(call, "--price", price, "--throughput", throughput, "--beat", "1", "--spot-loss", "0.5")
    assert half["usd_per_million_tokens"] == pytest.approx(2 * row["usd_per_million_tokens"])
    assert half["million_tokens_per_month"] == pytest.approx(row["million_tokens_per_month"] / 2)
    assert half["price_to_beat"] * half["usd_per_million_tokens"] == pytest.approx(float(price))
    assert half["rate_to_beat"] / half["usd_per_million_tokens"] == pytest.approx(float(throughput))
    words = ("--task", "training", "--commitment-use", "0.8", "--overhead", "0.15", "--goodput", "0.9")
    trained = sums(call, "--price", price, "--throughput", throughput, *words)["usd_per_million_tokens"]
    assert trained == pytest.approx(row["usd_per_million_tokens"] * 1.15 / 0.9 / 0.8)


@pytest.mark.parametrize(
    ("price", "chips", "name", "value"),
    [("21.50", "16", "usd_per_month", 15695), ("98.32", "8", "price_per_accelerator_hour", 12.29),
     ("55.04", "8", "price_per_accelerator_hour", 6.88)],
)  # fmt: skip
def test_hours_months_and_chips(call: Call, price: str, chips: str, name: str, value: float) -> None:
    assert sums(call, "--price", price, "--chips", chips)[name] == pytest.approx(value, abs=0.005)
    assert f"{value:,}" in call("--price", price, "--chips", chips).stdout


@pytest.mark.parametrize(
    ("chip", "throughput", "batch", "chips", "said"),
    [("h200 sxm", "1500", "8", "1", "IMPOSSIBLE"),
     pytest.param("b200", "2200", "8", "1", "IMPOSSIBLE", marks=pytest.mark.prove),
     ("trainium3", "1800", "32", "0.125", "IMPOSSIBLE"), ("h200 sxm", "400", "8", "1", "ask for the run log"),
     ("h200 sxm", "1500", "64", "1", "possible: ")],
)  # fmt: skip
def test_a_sum_is_held_against_its_bound(
    call: Call, chip: str, throughput: str, batch: str, chips: str, said: str
) -> None:
    """Llama 3 70B in FP8: 1,500 output tokens/s of one H200 at batch 8 are 2.7 times what its memory can read.

    With speculation, or with tokens of the input, they are possible: what is not stated excludes nothing.
    """
    words = ("--price", "1", "--throughput", throughput, "--chip", chip, "--model", "llama-3-70b", "--chips", chips)
    words = (*words, "--batch", batch, "--precision", "fp8")
    row = sums(call, *words, "--accepted-tokens", "1")
    loose = sums(call, *words)

    assert said in row["bound"]
    assert loose["bound"].startswith("possible")
    assert loose["rate_bound"] > row["rate_bound"]
    assert len(loose["readings"]) == 4
    assert (row["share_of_bound"] > 1) == (said == "IMPOSSIBLE")


TOLD = (
    "model_name", "scenario", "benchmark", "decoding", "precision", "software", "most_accelerators", "measured_by",
    "measured_on", "evidence_grade", "reach", "last_observed_at", "purchase_option", "source_url", "price_basis",
)  # fmt: skip


def test_each_cost_says_what_it_rests_on(call: Call) -> None:
    """Model, point, decoding, precision, engine, chips, who, when, grade, reach, day of the price and option."""
    rows = json.loads(call("--model", "deepseek-r1", "--interactivity", "30", "--json").stdout)["rows"]
    costs = [row for row in rows if row["benchmark_family"] == "inferencex" and row["reach"] != "unreachable"]
    head, first = call("--model", "deepseek-r1", "--interactivity", "30", "--wide").stdout.splitlines()[3:5]

    assert len(costs) > 20
    assert [name for row in costs for name in TOLD if row[name] is None] == []
    for name in ("known", "run on", "engine", "grade", "measured", "by", "price of", "option"):
        assert re.search(rf"(^|  ){name}(  |$)", head), name
    assert re.search(r" \d+ chips? ", first)


def test_at_most_is_never_ranked(call: Call) -> None:
    """A rate below the slowest run is a limit: its cost has no rank, however low, where others have one."""
    rows = json.loads(call("--model", "deepseek-r1", "--interactivity", "30", "--json").stdout)["rows"]
    of = {
        reach: [row["cost_rank"] for row in rows if row["reach"] == reach] for reach in ("at most", "between two runs")
    }
    assert len(of["at most"]) > 20
    assert set(of["at most"]) == {None}
    assert 1 in of["between two runs"]


def test_the_number_to_beat(call: Call) -> None:
    """0.61 a million takes 3.294 USD/h at 1,500 tokens/s, or 2,067 tokens/s at 4.54 USD/h."""
    row = sums(call, "--price", "4.54", "--throughput", "1500", "--beat", "0.61")

    assert row["price_to_beat"] == pytest.approx(0.61 * 3600 * 1500 / 1e6)
    assert row["rate_to_beat"] == pytest.approx(4.54e6 / 3600 / 0.61)


def test_an_option_says_what_it_needs_to_win(call: Call) -> None:
    """At its price to beat an offer costs just that; a rate above the bound is marked as impossible."""
    found = json.loads(call("--model", "llama-2-70b", "--beat", "0.61", "--json").stdout)["rows"]
    text = call("--model", "llama-2-70b", "--beat", "0.001").stdout

    reached = [row for row in found if row["reach"] != "unreachable"]
    assert len(reached) > 20
    for row in reached:
        rate = row["median_output_rate"] * row["utilisation"] * row["running_share"]
        at_it = row["price_to_beat"] * 1e6 / 3600 / rate
        assert at_it == pytest.approx(0.61)
        assert row["rate_to_beat"] == pytest.approx(row["median_output_rate"] * row["all_in_output_usd_median"] / 0.61)
    assert "IMPOSSIBLE" in text


def test_a_ranked_cost_is_shown_before_a_cheaper_one_of_an_old_price() -> None:
    """Of one point the best cost_rank stands for all, then the cheapest "at most", then the newest price."""
    old, older, dear, cheap = (
        {"scenario": "Server", "cost_rank": rank, "age_days": age, "offer_id": 1}
        for rank, age in ((None, 100.0), (None, 200.0), (2, 1.0), (1, 80.0))
    )

    new, most = (
        old | {"age_days": age, "is_price_ranked": True, "all_in_output_usd_median": usd}
        for age, usd in ((2.0, 7.0), (80.0, 5.0))
    )

    assert cost.cheapest([older, old, dear, cheap]) == [cheap]
    assert cost.cheapest([older, new, most, old]) == [most]
    assert cost.cheapest([older, cheap | {"scenario": "Offline"}, old]) == [old, cheap | {"scenario": "Offline"}]


def test_without_a_speed_the_least_cost_on_demand_of_each_stands(call: Call) -> None:
    """A cost "at most" may be the least; a speed that no chip on demand reaches has no line, and --all has all."""
    words = ("--model", "deepseek-r1")
    found = json.loads(call(*words, "--json").stdout)["rows"]
    text = call(*words).stdout
    least: dict[tuple[Any, ...], float] = {}
    for row in found:
        is_cost = row["utilisation"] == 1 and row["is_price_ranked"] and row["reach"] != "unreachable"
        if is_cost and row["purchase_option"] == "on_demand":
            point = tuple(row[name] for name in query.columns(cost.POINT))
            least[point] = min(least.get(point, math.inf), row["all_in_output_usd_median"])
    tables = [part.splitlines() for part in text.split("\n\n")[1:-1]]
    lines = [line for _, _, *lines in tables for line in lines if not line.startswith("In all rows")]

    assert len(lines) == len(least) > 20
    assert sorted(line.split()[-3] for line in lines) == sorted(str(output.rounded(usd)) for usd in least.values())
    assert len(call(*words, "--all").stdout.splitlines()) > 5 * len(lines)


def test_serving_a_load(call: Call) -> None:
    """A billion tokens a day on B200: whole machines, all month; the table has each utilisation."""
    words = ("--model", "llama-2-70b", "--task", "serving", "--tokens-per-day", "1B", "--interactivity", "25")
    found = json.loads(call(*words, "--chip", "b200", "--json").stdout)
    text = call(*words, "--wide").stdout

    assert {row["utilisation"] for row in found["rows"]} == {1, 0.7, 0.5, 0.3}
    assert {row["scenario"] for row in found["rows"]} == {"Interactive"}
    for row in found["rows"]:
        units = -(-1e9 / 86400 / row["median_output_rate"] / row["utilisation"] // 8)
        assert row["paid_accelerators"] == units * 8
        assert row["usd_per_month_at_load"] == pytest.approx(units * 113.9328 * 730)
        assert row["usd_per_million_at_load"] == pytest.approx(row["usd_per_month_at_load"] * 24 / 730 / 1000)
    assert "USD/month at 30%" in text
    assert "Not included: egress, storage, support, tax, engineering, cost of capital." in text
    assert "points whose runs promise less than 25 tokens per second and user" in text


def test_training_by_the_command(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured runs come first; where there is none, an assumed share of the peak stands, graded D, unless refused.

    For people, what is compared with one another is one table, whatever the number of chips, of whole dollars; what is
    left out is counted of all models.
    """
    words = ("--model", "gpt-3-175b", "--task", "training", "--tokens", "300B")
    found = json.loads(call(*words, "--json").stdout)
    grades = [row["evidence_grade"] for row in found["rows"]]
    measured = json.loads(call(*words, "--measured-only", "--json").stdout)["rows"]
    only_assumed = json.loads(call("--model", "llama-3-8b", "--task", "training", "--tokens", "300B", "--json").stdout)
    monkeypatch.setattr(output, "line_width", lambda: 100)
    text = call(*words).stdout
    tables = [part.splitlines() for part in text.split("\n\n")[1:-1]]

    assert found["inputs"]["assumed_mfu"] == 0.4
    assert "tokens 300,000,000,000, overhead 0, goodput 1" in text
    assert len(tables) == len({title for title, *_ in tables}) > 1
    assert all(" chips " in heads for _, heads, *_ in tables)
    assert f"{found['rows'][0]['training_usd_median']:,.0f}" in text
    assert "Left out of all models and chips: " in text
    assert grades == sorted(grades, key=lambda grade: grade == "D")
    assert {"A", "D"} <= set(grades)
    assert len(measured) == len([grade for grade in grades if grade != "D"])
    assert {row["tokens"] for row in measured} == {300e9}
    assert {row["evidence_grade"] for row in only_assumed["rows"]} == {"D"}


SETTINGS = """
[costs]
egress = 5000
support = "10%"
"""


def settled(call: Call, folder: Path, *words: str) -> dict[str, Any]:
    """Return the answer on Llama-2-70B where the settings have a month of egress and a share of support."""
    file = folder / "chipledger.toml"
    file.write_text(SETTINGS)
    return dict(json.loads(call("--model", "llama-2-70b", "--json", *words, settings=file).stdout))


def test_added_costs_are_lines_of_their_own(call: Call, tmp_path: Path) -> None:
    """Each stands beside the chips with who says it; `--add` comes before the settings, and the rest stays excluded."""
    words = ("--tokens-per-day", "1B", "--add", "support=20%", "--add", "storage=3000")
    found = settled(call, tmp_path, *words)

    assert {each["name"]: each["origin"] for each in found["added"]} == {
        "egress": "settings", "support": "--add", "storage": "--add",
    }  # fmt: skip
    assert found["not_included"] == ["tax", "engineering", "cost of capital"]
    reached = [row for row in found["rows"] if row["reach"] != "unreachable"]
    assert len(reached) > 20
    for row in reached:
        assert row["added_support_usd"] == pytest.approx(0.2 * row["usd_per_million_at_load"])
        assert row["added_egress_usd"] == pytest.approx(5000 / (1000 * 730 / 24))
        assert row["added_storage_usd"] == pytest.approx(3000 / (1000 * 730 / 24))
        assert row["usd_with_added"] == pytest.approx(
            row["usd_per_million_at_load"] * 1.2 + row["added_egress_usd"] + row["added_storage_usd"]
        )


def test_a_month_of_the_settings_stays_excluded_where_no_load_is_asked(call: Call, tmp_path: Path) -> None:
    """Nobody can share 5,000 USD a month out over tokens whose number is unknown: it is named as excluded."""
    found = settled(call, tmp_path)
    text = call("--model", "llama-2-70b", "--all", settings=tmp_path / "chipledger.toml").stdout
    assert "100% used; USD/chip-h is of the offer named, spot last seen" in text
    assert "one token a step, MLPerf Inference, 25 tok/s/user\n" in text
    assert "savings_plan 1 year " in text  # of which another line may be of 3 years

    assert [each["name"] for each in found["added"]] == ["support"]
    assert found["not_included"] == ["egress", "storage", "tax", "engineering", "cost of capital"]
    assert all("added_egress_usd" not in row for row in found["rows"])
    assert "Not included: egress, storage, tax, engineering, cost of capital." in text
    assert "Added: support, 10 % of the bill for chips (settings)." in text


@pytest.mark.parametrize("line", ["lunch = 3", "tax = -1", 'tax = "ten%"', "tax = true", "tax = nan", "tax = inf"])
def test_wrong_costs_in_the_settings_are_named(call: Call, tmp_path: Path, line: str) -> None:
    file = tmp_path / "chipledger.toml"
    file.write_text(f"[costs]\n{line}\n")
    result = call("--price", "1", "--throughput", "1", settings=file)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"costs.{line.split(' ')[0]}" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "--model is missing; or give --throughput and --price"),
        (("--throughput", "1500"), 2, "a price to beat"),
        (("--model", "llama-9"), 2, "no such model"),
        (("--model", "llama-3-70b", "--tokens", "3B"), 2, "--tokens and --task training need each other"),
        (("--model", "llama-3-70b", "--task", "training", "--tokens", "3X"), 2, "not a number of tokens"),
        (("--model", "mixtral-8x7b", "--chip", "H1000"), 2, "unknown chip"),
        (("--model", "llama-2-70b", "--add", "lunch=3"), 2, "not NAME=AMOUNT"),
        (("--model", "llama-2-70b", "--add", "egress=3"), 2, "needs --tokens-per-day"),
        (("--price", "1", "--throughput", "1", "--model", "llama-3-70b", "--chip", "h100"), 2, "in one form"),
        (("--price", "1", "--throughput", "1", "--tokens", "3B"), 2, "means nothing for a bare sum: leave it out"),
        (("--price", "1", "--throughput", "1", "--tokens-per-day", "1B"), 2, "--tokens-per-day"),
        (("--price", "1", "--throughput", "1", "--interactivity", "30"), 2, "--interactivity"),
        (("--price", "1", "--throughput", "1", "--goodput", "0.9"), 2, "--goodput"),
        (("--model", "llama-2-70b", "--goodput", "0.9"), 2, "means nothing for serving: leave it out"),
        (("--model", "llama-2-70b", "--precision", "fp7"), 2, "Its runs are in bf16, "),
        (("--model", "llama-2-70b", "--utilisation", "0"), 2, "--utilisation"),
    ],
)
def test_a_wrong_question_says_what_is_allowed(call: Call, words: tuple[str, ...], code: int, said: str) -> None:
    result = call(*words)

    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr


def test_a_model_without_evidence_has_no_estimate(call: Call) -> None:
    """Nobody measured it on a chip that is sold: that is said, and no number."""
    result = call("--model", "mixtral-8x7b", "--chip", "B300")

    assert result.exit_code == 0
    assert "No measured run of mixtral-8x7b fits the question" in result.stdout
    assert re.search(r"Left out.*: 1 (prices|runs|end of ranges)", result.stdout) is None
    assert json.loads(call("--model", "mixtral-8x7b", "--chip", "B300", "--json").stdout)["rows"] == []


def test_the_page_needs_nothing_else_and_escapes(call: Call, tmp_path: Path) -> None:
    """The page shows what the terminal shows; text from outside is text there."""
    settings = tmp_path / "chipledger.toml"
    settings.write_text(SETTINGS)
    page = call("--model", "llama-2-70b", "--all", "--html", settings=settings).stdout
    made = cost.render(
        {"inputs": {"task": "serving", "model": "<script>"}, "formula": "", "not_included": [], "added": [],
         "left_out": [], "rows": []},
        [{"<b>": "<i>"}],
    )  # fmt: skip

    assert page.startswith("<!DOCTYPE html>")
    assert "Not included: egress" in page
    assert "p5.48xlarge" in page
    assert not any(word in page for word in ("<script", "src=", "href=", "@import"))
    assert "<script>" not in made
    assert "&lt;i&gt;" in made
    assert call("--price", "1", "--throughput", "1", data=tmp_path / "none").exit_code == 0
