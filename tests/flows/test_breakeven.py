"""The command `breakeven`: its words, its sums, and what it says where there is no evidence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breakeven_file import publish_breakeven
from click.testing import CliRunner, Result
from kept import once

from flows.cli.main import main
from flows.decisions.break_even_sides import read
from warehouse.errors import SettingsError

Call = Callable[..., Result]
PROVIDERS = ("AWS", "Toy", "Hot Aisle", "Vast.ai")
WORK = ("--engineers", "2", "--rate", "150", "--migration-weeks", "3")


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Call:
    """Return a function that runs `breakeven` on the published file of `breakeven_file`."""
    folder = once(tmp_path_factory, "breakeven", publish_breakeven)

    def ask(*words: str, work: tuple[str, ...] = WORK, data: Path = folder) -> Result:
        return CliRunner().invoke(main, ["--data-dir", str(data), "breakeven", *words, *work])

    return ask


def answer(call: Call, *words: str, work: tuple[str, ...] = WORK) -> dict[str, Any]:
    """Return the answer of a question that has one."""
    result = call(*words, "--json", work=work)
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h200 spot toy", ("H200", None, "spot", "Toy", None, None, None)),
        ("Hot Aisle MI300X on-demand", ("MI300X", None, "on_demand", "Hot Aisle", None, None, None)),
        ("on demand, h100 sxm, vast.ai, node", ("H100", "SXM", "on_demand", "Vast.ai", None, "node", None)),
        ("trn2 capacity_block", ("Trainium2", None, "capacity_block", "AWS", None, None, "trn2")),
        ("savings plan p5.48xlarge one_year", ("H100", "SXM", "savings_plan", "AWS", "one_year", None, "p5.48xlarge")),
        ("trainium3 capacity block", ("Trainium3", None, "capacity_block", None, None, None, None)),
        ("rtx pro 6000 spot", ("RTX-PRO-6000", None, "spot", None, None, None, None)),
    ],
)
def test_words_of_a_side(text: str, expected: tuple[object, ...]) -> None:
    """Chip or AWS type, option, provider, length and size, in any order."""
    side = read(text, field="--from", providers=PROVIDERS)

    found = (
        side.accelerator_name, side.form_factor, side.purchase_option, side.provider, side.commitment_class,
        side.capacity_class, side.machine,
    )  # fmt: skip
    assert found == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("h200 spot banana", "the word 'banana' is not understood"),
        ("h200 x8 spot", "the word 'x8' is not understood"),
        ("hot h200 spot", "the word 'hot' is not understood"),
        ("trn2 ultra spot", "the word 'ultra' is not understood"),
        ("h200", "names no purchase option"),
        ("spot toy", "names no chip"),
        ("", "names no chip"),
        ("h200 spot on_demand", "names two of one kind (purchase option): spot and on_demand"),
        ("h200 spot toy aws", "names two of one kind (provider): Toy and AWS"),
        ("trn2 spot toy", "trn2 is sold by AWS, not by Toy"),
        ("h100 h200 spot", "is not understood"),
        ("inf spot", "the word 'inf' is not understood"),
        ("a100 on_demand aws", "Name one: A100-40GB, A100-80GB"),
    ],
)
def test_words_that_are_not_understood(text: str, said: str) -> None:
    """Nothing is guessed: the word is named, and what is allowed."""
    with pytest.raises(SettingsError, match=said.replace("(", r"\(").replace(")", r"\)")) as error:
        read(text, field="--from", providers=PROVIDERS)

    assert error.value.field == "--from"
    if "is not understood" in said:
        assert "on_demand, reserved, savings_plan, spot, capacity_block" in error.value.hint
        assert "Hot Aisle" in error.value.hint


def test_the_published_sum(call: Call, tmp_path: Path) -> None:
    """109 billion tokens, 109 days at a billion a day; given costs need no published file."""
    words = ("--from-cpm", "0.61", "--to-cpm", "0.28")
    (case,) = answer(call, *words, "--tokens-per-day", "1B")["cases"]
    slow = call(*words, "--tokens-per-day", "10M", data=tmp_path / "none")
    without = answer(call, *words)

    assert case["likely"]["break_even_tokens"] == pytest.approx(36_000 / 0.33 * 1e6)
    assert case["answer"] == "pays"
    assert case["flips"][0]["name"] == "from_usd"
    assert "The move saves money, and does not pay within 12 months." in slow.stdout
    assert "29.89" in slow.stdout
    assert (without["answer"], without["cases"][0]["flips"]) == (None, [])
    assert without["cases"][0]["likely"]["break_even_tokens"] == case["likely"]["break_even_tokens"]


def test_a_dearer_side_never_pays(call: Call) -> None:
    found = answer(call, "--from-cpm", "0.28", "--to-cpm", "0.61", "--tokens-per-day", "1B")

    assert found["answer"] == "never"
    assert found["cases"][0]["likely"]["break_even_tokens"] is None
    assert "never" in call("--from-cpm", "0.28", "--to-cpm", "0.61", "--tokens-per-day", "1B").stdout


def test_both_sides_at_one_point(call: Call) -> None:
    """Only the run that both have counts: 6.88 USD at 200 tokens/s against 3 USD at 300, by hand."""
    found = answer(
        call, "--from", "h100 on_demand p5.4xlarge", "--to", "toy h200 on_demand", "--model", "llama-3-70b",
        "--tokens-per-day", "1B", "--utilisation", "0.5",
    )  # fmt: skip
    (case,) = found["cases"]
    before, after = 6.88e6 / 3600 / 200 / 0.5, 3e6 / 3600 / 300 / 0.5

    assert case["point"]["input_length"] == 500
    assert case["from"]["likely"] == pytest.approx(before)
    assert case["to"]["likely"] == pytest.approx(after)
    assert case["likely"]["break_even_tokens"] == pytest.approx(36_000 / (before - after) * 1e6)
    assert (case["from"]["service_provider_name"], case["to"]["service_provider_name"]) == ("AWS", "Toy")
    assert case["from"]["price_document_sha256"]
    assert (case["from"]["evidence_grade"], case["to"]["measured_on"]) == ("C", "2026-01-02")
    assert case["from"]["share_of_bound"] > 0
    # 1e9 / 86400 tokens a second: 115.7 machines of one H100, 9.65 machines of eight H200
    whole = case["whole_units"]
    assert (whole["from_accelerators"], whole["to_accelerators"]) == (116, 80)
    assert whole["to_usd_per_month"] == pytest.approx(80 * 3 * 730)
    assert whole["break_even_months"] == pytest.approx(36_000 / ((116 * 6.88 - 80 * 3) * 730))
    flips = {flip["name"]: flip for flip in case["flips"]}
    assert flips["to_price"]["flips_at"] / 3 == pytest.approx(flips["to_usd"]["flips_at"] / after)
    assert flips["to_rate"]["flips_at"] * flips["to_price"]["flips_at"] == pytest.approx(300 * 3)
    assert (flips["to_rate"]["pays"], flips["to_price"]["pays"]) == ("above", "below")


def test_whole_machines_may_answer_otherwise(call: Call) -> None:
    """A small load on a machine of eight chips: by the token it saves, in whole machines it never does."""
    words = ("--from", "h100 on_demand p5.4xlarge", "--to", "toy h200 on_demand", "--model", "llama-3-70b")
    found = answer(call, *words, "--tokens-per-day", "15M", work=("--engineers", "0", "--rate", "0", *WORK[4:]))

    assert found["cases"][0]["likely"]["move_verdict"] == "pays"
    assert found["cases"][0]["whole_units"]["verdict"] == "never"
    assert found["answer"] == "depends"


def test_a_side_without_a_run_has_no_answer(call: Call) -> None:
    """Trainium3 has neither price nor a run: no number, and why."""
    words = ("--to", "trainium3 capacity_block", "--model", "llama-3-70b", "--tokens-per-day", "1B")
    found = answer(call, "--from", "h100 on_demand p5.4xlarge", *words)

    assert (found["answer"], found["cases"], found["needed"]) == ("unknown", [], [])
    assert "no measured run of Trainium3 at this point, nor at any other" in found["unknown"]
    assert "no price of Trainium3, capacity_block, any provider" in found["unknown"]
    assert "no point at which both H100 and Trainium3 were measured" in found["unknown"]
    assert "unknown: no measured run of Trainium3" in call("--from", "h100 on_demand p5.4xlarge", *words).stdout


def test_a_price_without_a_run_tells_what_it_takes(call: Call) -> None:
    """Trainium2 was not measured there: at its block's price it must make so many tokens a second and chip."""
    found = answer(
        call, "--from", "h100 on_demand p5.4xlarge", "--to", "trn2 capacity_block", "--model", "llama-3-70b",
        "--tokens-per-day", "1B",
    )  # fmt: skip
    (needed,) = (one for one in found["needed"] if one["side"] == "to")
    price, cost = 35.7608 / 16, 6.88e6 / 3600 / 200
    running = 12 - 3 * 168 / 730
    to_pay = cost - 36_000 / (1000 * 730 / 24) / running

    assert found["answer"] == "unknown"
    assert needed["price"]["price_usd"] == pytest.approx(price)
    assert needed["rate_to_be_equal"] == pytest.approx(price * 1e6 / 3600 / cost)
    assert needed["rate_to_pay"] == pytest.approx(price * 1e6 / 3600 / to_pay)
    assert 0 < needed["equal_share_of_bound"] < 1
    words = "--from", "h100 on_demand p5.4xlarge", "--to", "trn2 capacity_block", "--model", "llama-3-70b"
    (head,) = (line for line in call(*words).stdout.splitlines() if line.startswith("side"))
    assert "at the point" in head and "tok/s a chip" in head
    given = answer(call, "--from-cpm", "0.61", "--to", "trn2 capacity_block")["needed"]
    assert [one["rate_to_be_equal"] for one in given] == [pytest.approx(price * 1e6 / 3600 / 0.61)]
    assert given[0]["rate_to_pay"] is None


def test_a_from_price_is_no_cost(call: Call) -> None:
    """What is only sold "from" a price has a reason and no number, neither a cost nor one to reach."""
    found = answer(call, "--from", "h100 on_demand", "--to", "mi300x on_demand toy", "--model", "llama-3-70b")

    assert (found["answer"], found["needed"]) == ("unknown", [])
    assert any("a from-price, which nobody may be offered" in reason for reason in found["unknown"])


def test_ranges_depend(call: Call) -> None:
    """Of a range the soonest and the latest end are told; where they differ it depends."""
    words = ("--from-cpm", "0.45..0.50..0.60", "--to-cpm", "0.28..0.40", "--tokens-per-day", "3B")
    work = ("--engineers", "2", "--rate", "150", "--effort", "rewrite", "--models", "2", "--upkeep-per-month", "2000")
    found = answer(call, *words, work=work)
    (case,) = found["cases"]

    assert found["answer"] == "depends"
    assert case["soonest"]["engineering_usd"] == 2 * 4 * 40 * 300
    assert case["likely"]["engineering_usd"] == 2 * 5 * 40 * 300
    assert case["latest"]["engineering_usd"] == 2 * 6 * 40 * 300
    assert (case["soonest"]["from_usd_per_million"], case["soonest"]["to_usd_per_million"]) == (0.6, 0.28)
    assert case["likely"]["to_usd_per_million"] == pytest.approx(0.34)
    assert case["latest"]["net_saving_usd_per_month"] == pytest.approx(3000 * 730 / 24 * 0.05 - 2000)
    assert "no measurement" in call(*words, work=work).stdout


def test_upkeep_by_releases(call: Call) -> None:
    """Five days at each of four releases a year at 150 USD are 2,000 USD a month."""
    words = ("--from-cpm", "0.61", "--to-cpm", "0.28", "--tokens-per-day", "1B")
    found = answer(call, *words, "--upkeep-days-per-release", "5", "--releases-per-year", "4")

    assert found["inputs"]["upkeep"] == 2000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "not stated yet: --from or --from-cpm"),
        (("--from-cpm", "0.6", "--from", "h200 spot", "--to-cpm", "0.3"), "give either --from or --from-cpm"),
        (("--from-cpm", "0", "--to-cpm", "0.3"), "a cost must be above 0"),
        (("--from-cpm", "0.6", "--to-cpm", "0.5..0.3"), "does not rise"),
        (("--from-cpm", "0.6", "--to-cpm", "cheap"), "is not a number or range"),
        (("--from-cpm", "0.6", "--to-cpm", "0.3", "--effort", "port"), "either --migration-weeks or --effort"),
        (("--from-cpm", "0.6", "--to-cpm", "0.3", "--upkeep-per-month", "9"), "require --tokens-per-day"),
        (("--from-cpm", "0.6", "--to-cpm", "0.3", "--releases-per-year", "4"), "upkeep is incomplete, or set twice"),
        (("--from", "h200 spot lunch", "--to-cpm", "0.3"), "the word 'lunch' is not understood"),
        (("--from", "p5.48xlarge savings_plan", "--to", "h200 on_demand", "--model", "llama-9"), "no such model"),
    ],
)
def test_a_wrong_question_says_what_is_allowed(call: Call, words: tuple[str, ...], said: str) -> None:
    result = call(*words)

    assert result.exit_code != 0
    assert result.stdout == ""
    assert said in result.stderr


def test_the_page_needs_nothing_else_and_escapes(call: Call) -> None:
    """The page shows what the terminal shows; text from outside is text there."""
    from flows.decisions import break_even_page

    page = call("--from-cpm", "0.61", "--to-cpm", "0.28", "--tokens-per-day", "1B", "--html").stdout
    made = break_even_page.render([break_even_page.Section("<script>", ["<i>"], [{"<b>": "<u>"}])], "<script>")

    assert page.startswith("<!DOCTYPE html>")
    assert "109,100,000,000" in page
    assert not any(word in page for word in ("<script", "src=", "href=", "@import"))
    assert "<script>" not in made
    assert all(f"&lt;{each}&gt;" in made for each in ("i", "b", "u"))
