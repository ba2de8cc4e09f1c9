"""The command `makeorbuy`: hosted prices from a CSV beside machines of one's own."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bedrock_file import write
from breakeven_file import publish_breakeven
from click.testing import CliRunner, Result
from kept import once

from flows.cli.main import main
from flows.decisions.self_hosting import read_hosted
from warehouse.errors import ChipledgerError

HEAD = "provider,model,input_usd_per_million,output_usd_per_million,cached_input_usd_per_million,as_of,url\n"
LINE = "Host,llama-3-70b,0.5,2,,2026-11-01,https://example.com/pricing\n"
Ask = Callable[..., Result]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Return a function that runs `makeorbuy` with lines of a CSV on the published file of `breakeven_file`."""
    folder = once(tmp_path_factory, "breakeven", publish_breakeven)
    hosted = tmp_path_factory.mktemp("hosted") / "hosted.csv"

    def call(*words: str, lines: str | None = LINE) -> Result:
        csv = () if lines is None else (str(hosted),)
        hosted.write_text(HEAD + (lines or ""), encoding="utf-8")
        own = () if "--own" in words else ("--own", "toy h200 on_demand")
        model = () if "--model" in words else ("--model", "llama-3-70b")
        return CliRunner().invoke(main, ["--data-dir", str(folder), "makeorbuy", *csv, *own, *model, *words])

    return call


def answer(ask: Ask, *words: str, lines: str | None = LINE) -> dict[str, Any]:
    result = ask(*words, "--json", lines=lines)
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def test_where_they_cross(ask: Ask) -> None:
    """Eight H200 at 24 USD make 2,400 tokens/s; hosted, two tokens of input come with each of output: 3 USD."""
    found = answer(ask, "--tokens-per-day", "250M")
    case = next(each for each in found["cases"] if each["point"]["input_length"] == 500)
    cross = 24 * 730 / 3 * 1e6 * 24 / 730

    assert case["hosted_usd_per_million_output"] == 3
    assert case["make_likely"][0]["make_from_tokens_per_day"] == pytest.approx(cross)
    assert case["hosted_usd_per_month"] == pytest.approx(250 * 730 / 24 * 3)
    assert case["own_usd_per_month"] == pytest.approx(2 * 24 * 730)
    assert case["cheaper"] == "buy"
    # Two units of 207.36 million tokens a day; the second pays above 384 million
    assert case["make_likely"] == [
        {"unit_count": 1, "make_from_tokens_per_day": pytest.approx(192e6),
         "make_until_tokens_per_day": pytest.approx(207.36e6)},
        *case["make_likely"][1:],
    ]  # fmt: skip
    assert case["make_likely"][1]["make_from_tokens_per_day"] == pytest.approx(384e6)
    assert case["make_likely"][-1]["make_until_tokens_per_day"] is None
    assert case["hosted"]["url"] == "https://example.com/pricing"


def test_a_run_at_another_ratio_is_left_out(ask: Ask) -> None:
    """Runs at 2 and at 16 input tokens to one of output: of the traffic's 16 one is the same, the other is counted."""
    found = answer(ask, "--input-per-output", "16")

    assert [case["point"]["input_length"] for case in found["cases"]] == [4000]
    assert found["cases"][0]["hosted_usd_per_million_output"] == 10
    assert ["measured at 2 input tokens to one of output" in line for line in found["left_out"]] == [True]


def test_cached_input_has_its_own_price(ask: Ask) -> None:
    """Half of the input at 0.1 USD: 2 + 2 x 0.3; without a price of cached input nothing is known."""
    words = ("--cached-share", "0.5", "--input-per-output", "2")
    (case,) = answer(ask, *words, lines=LINE.replace(",,", ",0.1,"))["cases"]
    (unknown,) = answer(ask, *words)["cases"]

    assert case["hosted_usd_per_million_output"] == pytest.approx(2.6)
    assert (unknown["hosted_usd_per_million_output"], unknown["make_likely"]) == (None, None)


def test_bedrock_instead_of_a_csv_or_beside_it(ask: Ask, tmp_path: Path) -> None:
    """Llama 3 70B at 2.65 and 3.50 USD: with two of input 8.80, told with version, day and hash of the list."""
    words = ("--bedrock", str(write(tmp_path / "index.json")), "--input-per-output", "2")
    found = answer(ask, *words, lines=None)
    (case,) = found["cases"]
    page = " ".join(ask(*words).stdout.split())

    assert case["hosted_usd_per_million_output"] == pytest.approx(8.8)
    assert (case["hosted"]["provider"], case["hosted"]["as_of"]) == ("Amazon Bedrock us-east-1", "2026-09-01")
    assert (found["bedrock"]["hosted"], found["bedrock"]["published_at"]) == (4, "2026-09-01T00:00:00Z")
    assert [each["hosted"]["provider"] for each in answer(ask, *words)["cases"]] == ["Host", "Amazon Bedrock us-east-1"]
    assert "version 20260901000000, published 2026-09-01, SHA-256 " + found["bedrock"]["document_sha256"] in page
    assert "left out: batch 1, cached input 1." in page
    assert "left out of it: Claude 2.0 in us-east-1: no price of output" in page


def test_a_cheap_host_is_always_cheaper(ask: Ask) -> None:
    """Full machines cost 2.78 USD a million there: at 1 USD one's own never pay."""
    found = ask("--input-per-output", "2", lines=LINE.replace("0.5,2,", "0,1,"))

    assert "never" in found.stdout
    assert "people who run the machines" in found.stdout


def test_without_evidence_there_is_no_answer(ask: Ask) -> None:
    """Trainium2 has a price and no such run."""
    found = answer(ask, "--own", "trn2 capacity_block")

    assert found["cases"] == []
    assert any("no measured run of Trainium2 at this point" in reason for reason in found["unknown"])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "the table is empty"),
        (LINE.replace("0.5", "cheap"), "line 2: not a number (field input_usd_per_million, value cheap)"),
        (LINE.replace("0.5", "-1"), "line 2: below 0 (field input_usd_per_million, value -1)"),
        (LINE.replace("0.5", "NaN"), "line 2: not a number (field input_usd_per_million, value NaN)"),
        (LINE.replace("0.5", ""), "line 2: empty (field input_usd_per_million"),
        (LINE.replace("2026-11-01", "yesterday"), "not a date such as 2026-11-21"),
        (LINE.replace("https://example.com/pricing", "a page"), "not an address"),
        (LINE + LINE.replace("0.5", "0.6"), "line 3: a second price of the same model, provider and day"),
        (LINE.replace("Host,", ""), "more or fewer cells than columns"),
    ],
)
def test_a_wrong_cell_is_named(lines: str, said: str, tmp_path: Path) -> None:
    """Line, field and value are told."""
    file = tmp_path / "hosted.csv"
    file.write_text(HEAD + lines, encoding="utf-8")

    with pytest.raises(ChipledgerError, match=re.escape(said)):
        read_hosted(file)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "llama-2-70b"), "no hosted price is of that model"),
        (("--model", "llama-9"), "no such model"),
        (("--own", "h200 lunch on_demand"), "the word 'lunch' is not understood"),
    ],
)
def test_a_wrong_question_says_what_is_allowed(ask: Ask, words: tuple[str, ...], said: str) -> None:
    result = ask(*words)

    assert (result.exit_code != 0, result.stdout) == (True, "")
    assert said in result.stderr


def test_the_page_escapes(ask: Ask) -> None:
    """A provider's name from the CSV is text on the page."""
    page = ask("--input-per-output", "2", "--html", lines=LINE.replace("Host", "<b>Host</b>")).stdout

    assert "&lt;b&gt;Host&lt;/b&gt;" in page
    assert "<b>" not in page
