"""docs/deciding.md: its commands with an output under them print those lines, and its SQL gives its numbers."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from flows.cli.main import main
from flows.decisions.break_even import in_memory
from flows.shared.query import rows

TEXT = (Path(__file__).parents[2] / "docs" / "deciding.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```sh\nchipledger ([^`]*)```\n\n```text\n([^`]*)```", TEXT, flags=re.MULTILINE)
ANSWERS = re.findall(r"^\| [^|]+\? \| `chipledger ([^`]+)` \| ([^|]+) \|$", TEXT, flags=re.MULTILINE)
QUERIES = re.findall(r"^```sql\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("words", "lines"), EXAMPLES)
def test_examples_print_what_is_shown(words: str, lines: str, tmp_path: Path) -> None:
    """Each line that a document shows stands in the output, blanks apart."""
    call = ["--data-dir", str(tmp_path), *shlex.split(words.replace("\\\n", " "))]
    result = CliRunner().invoke(main, call)

    printed = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert [line for line in lines.splitlines() if line not in printed] == []


def test_there_are_examples() -> None:
    assert (len(EXAMPLES), len(QUERIES)) == (3, 2)


def test_queries_give_what_is_shown() -> None:
    """The move's tokens, and the table of stretches to the token."""
    sums = in_memory()
    found, (move,) = (rows(sums.con, each.strip().removesuffix(";"), []) for each in QUERIES)
    shown = re.findall(r"^\| (\d+) \| ([\d,]+) \| ([\d,]*) ?\|$", TEXT, flags=re.MULTILINE)

    assert move["break_even_tokens"] == pytest.approx(36_000 / 0.33 * 1e6)
    assert [tuple("" if value is None else f"{value:,.0f}" for value in row.values()) for row in found] == shown


@pytest.mark.prove
@pytest.mark.parametrize(("words", "answer"), ANSWERS)
def test_the_ten_answers_are_those_of_the_archive(words: str, answer: str, offline_run: Path) -> None:
    """Each amount that the table of questions shows is in what its command prints, the market's as the market's."""
    result = CliRunner().invoke(main, ["--data-dir", str(offline_run), *shlex.split(words)])

    amounts = re.findall(r"\d{1,3}(?:,\d{3})+", answer)
    assert amounts
    assert [amount for amount in amounts if amount not in result.stdout] == []
    for market in re.findall(r"market(?: on demand)? (\d[\d,]*\d)", answer):
        assert f"The market on demand: {market} USD" in result.stdout


def test_the_ten_questions_are_found() -> None:
    assert len(ANSWERS) == 10
