"""Words of others reach a terminal, a spreadsheet, a mail and a page as words, and as nothing else."""

import csv
import io
import json
import time
from datetime import UTC, datetime
from email import policy
from email.parser import BytesParser

import pytest

from flows.alerts import channels
from flows.alerts.findings import Message
from flows.scheduling.run_page import escaped
from flows.shared import output, tabular
from reports.weekly import mail as letters
from reports.weekly.mail import Letter
from warehouse.errors import ChipledgerError, visible

ESCAPES = (
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x90q\x9c",
    "\x07",
    "\x08\x08",
    "\r",
    "\x7f",
    "\u202egpj.exe",
    "\u2066x\u2069",
    "\u200f",
    "\x85",
    "\u2028",
)
OBEYED = [chr(code) for code in (*range(0x00, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))]


def obeyed(text: str) -> list[str]:
    return [character for character in OBEYED if character in text]


@pytest.mark.parametrize("words", ESCAPES, ids=ascii)
def test_no_output_for_people_obeys(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, lines, errors as text and as JSON, the log."""
    name = f"Provider {words} end"
    error = ChipledgerError(name, source=name, field=name, value=name, hint=name)
    output.echo(output.text_table([{"name": name}]))
    output.echo(name)
    output.echo(output.as_json({"name": name}))
    for in_json in (False, True):
        with pytest.raises(SystemExit):
            output.refuse(error, in_json=in_json)
    said = capsys.readouterr()
    assert obeyed(said.out + said.err) == []
    assert json.loads(output.as_json({"name": name})) == {"name": name}
    assert obeyed(str(error)) == []


def test_what_is_shown_says_what_was_there() -> None:
    """Letters of all languages stay; what is unseen is written out; halves of characters do not break the output."""
    assert visible("Zürich 東京 \t\n") == "Zürich 東京 \t\n"
    assert visible("\x1b[31m\x9b\u202e\udc80") == r"\x1b[31m\x9b\u202e\udc80"


def test_progress_shows_no_markup_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name in brackets is a name; rich would take it for a style, or a link."""
    shown = []

    class Status:
        def __enter__(self) -> "Status":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, text: str) -> None:
            shown.append(text)

    monkeypatch.setattr("sys.stderr", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    monkeypatch.setattr("rich.console.Console.status", lambda self, text: Status())
    monkeypatch.setattr(output, "SILENCE_S", 0)
    with output.progress(quiet=False) as tell:
        tell("[link=http://evil]x[/link] \x1b[2J")
        time.sleep(0.5)
    assert shown[-1] == r"\[link=http://evil]x\[/link] \x1b[2J, 0 s"


CELLS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1",
    "=cmd|'/c calc'!A1",
    "x;=1+1",
    "x; =1+1;y",
    "x|=1",
    "x\t=1",
    "x\n=1+1",
    "x\r\n@a",
    ";=1",
    "a;b;+c",
    '";=1',
    "'=1;=2",
)
STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.mark.parametrize("word", CELLS, ids=ascii)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_no_cell_begins_as_a_formula(word: str, delimiter: str) -> None:
    """However a spreadsheet splits the file: with quotes minded or not, and whatever its separator."""
    file = io.StringIO()
    tabular.write_csv(["name", "list", "price"], [[word, [word], -1.5]], file)
    for text in (file.getvalue(), file.getvalue().replace('"', "")):
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            for each in row:
                started = each.lstrip(' "\t\r\n')
                assert not started.startswith(STARTS) or started == "-1.5" or each.endswith("-1.5"), (row, text)


def test_numbers_and_lists_stay_what_they_are() -> None:
    """A disarmed cell is no other number, and JSON in a cell is the same JSON."""
    assert tabular.cell(-1.5) == -1.5
    assert tabular.cell("p5.48xlarge") == "p5.48xlarge"
    assert tabular.cell("a; b - c") == "a; b - c"
    assert json.loads(str(tabular.cell(["x;=1|y"]))) == ["x;=1|y"]


@pytest.mark.parametrize(
    "title",
    [
        "moved\r\nBcc: victim@example.com", "x\ny", "x\r", "\x00x", "=?utf-8?q?=0ABcc:x?=",
        "=?utf-8?b?eApCY2M6IHg=?=",
    ],
)  # fmt: skip
def test_a_title_adds_no_header_to_a_mail(title: str) -> None:
    """It is on one line, and there is one recipient: in alerts, and in the mail of a week."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    told = Message(kind="move", ids=("1",), title=title, text="x")
    week = Letter(week="2026-W01", subject=title, text="x", html="<p>x</p>", pictures=())
    for made in (
        channels.letter(told, sender="a@example.com", to="b@example.com", at=at),
        letters.message(week, sender="a@example.com", to="b@example.com", at=at),
    ):
        parsed = BytesParser(policy=policy.default).parsebytes(made.as_bytes())
        assert parsed["To"] == "b@example.com"
        assert parsed["Bcc"] is None
        assert "\n" not in str(parsed["Subject"])


@pytest.mark.parametrize(
    "words", ["[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", "| a |\n# b", "`x`", "![i](http://x)"]
)
def test_artifacts_hold_no_markup_of_others(words: str) -> None:
    shown = escaped(words)
    assert "\n" not in shown
    for mark in "[]<>|`#!":
        assert shown.count(mark) == shown.count(f"\\{mark}")
