"""What a terminal shows: tables that fit, names that were meant, exit codes, JSON, progress, colour."""

import io
import json
import sys
import time

import pytest
from click.testing import CliRunner, Result
from test_cli_help import COMMANDS

from flows.cli import sections
from flows.cli.main import main
from flows.shared import output
from warehouse.errors import did_you_mean, nearest

VIEWS = (
    "chips",
    "chips H100 --against H200",
    "fit --model llama-3-70b",
    "benchmark list --chip H100",
    "audit --article 000",
    "sources",
    "settings",
    "cost --model deepseek-r1 --chip H200",
    "decide --machine p5.48xlarge --nodes 16 --use 0.8 --months 12",
    "decide move --from-cpm 2.1 --to-cpm 1.4 --migration-weeks 3 --engineers 2 --rate 120",
    "doctor --offline",
)
MEANT = (
    ("chips h10", "H100"),
    ("cost --model llama-70b", "llama-2-70b"),
    ("fit --model llama-3-7b", "llama-3-8b"),
    ("benchmark list --chip H10", "H100"),
    ("decide --machine p5.48xlage --nodes 2 --months 12", "p5.48xlarge"),
    ("decide --machine p5.48xlarge --nodes 2 --months 12 --region us-eest-1", "us-east-1"),
    ("decide --machine p5.48xlarge --nodes 2 --months 12 --provider verdaa", "Verda"),
    ("run --source aws_pricelist", "aws_price_list"),
    ("check-live --source lamda", "lambda"),
    ("collect --regions us-east-1,us-est-1", "us-east-1"),
    ("withdraw offline_archive/us-est-1/2026-10-15 --reason x", "offline_archive/us-east-1"),
    ("export x --mart price_nov", "price_now"),
    ("querry x", "query"),
    ("reproduce --chip H100 --provider AWS --option on_demand --region us-eest-1", "us-east-1"),
    ("release x --with-source lamda", "lambda"),
    ("quarantine accept --source lamda", "lambda"),
    ("chips --agains H100", "--against"),
)
"""What was typed, and the name that was meant: of each command that takes names, and of each kind of name."""
ALSO_MEANT = (
    ("chips H1000", "H100"),
    ("chips trn22", "trn2"),
    ("cost --model llama-2-70b --chip p5.48xlage", "p5.48xlarge"),
    ("collect --regions us-east1", "us-east-1"),
    ("benchmark list --model llama-70b", "llama-2-70b"),
    ("cost --price 4.54 --throughput 1500 --chip H10", "H100"),
    ("reproduce --chip H100 --provider AWS --option on_demand --model llama-70b", "llama-2-70b"),
    ("quarantine list --source lamda", "lambda"),
)
WRONG = (
    ('query "selct 1"', "selct"),
    ('query "from private.fleet_cost"', 'schema "private" does not exist.'),
    ('query "from private.fleet_cost"', ". The next run makes these tables"),
    ('query "select 1" --output x.xls', "no format has the suffix of x.xls; give --format"),
    ("export prices.csv", "a folder of several files"),
    ("benchmark show 99", "no such run"),
    ("fit --model llama-3-70b --precision int3", "precision_name must be fp32,"),
    ("fit --model llama-3-70b --precision int3", "(field precision, value int3)"),
    ("fit --model llama-3-70b --context 9m", "at most 8192 (field context, value 9437184)"),
    ("quarantine accept", "Name ids, --source"),
    ("quarantine accept 999999", "no such row"),
    ("withdraw nothing --reason x", "no fetch that counts is of such a run or document"),
    ("mail --week 2025-60", "2025-W26"),
    ("decide move", "not stated yet"),
    ("decide --use 80%", "0.8, not 80 %"),
    ("decide --utilisation 80%", "write a percentage as a share, 0.8"),
    ("cost --price 4,54", "is not a valid number"),
)


OWN = {"benchmark add", "decide fleet", "fleet", "fleet check", "fleet import", "sources new"}
"""Commands that read a file of the user's own."""
READING = [
    words for words in COMMANDS
    if words.split()[0] in (*sections.SECTIONS["ask"], *sections.SECTIONS["decide"]) and words not in OWN
]  # fmt: skip


@pytest.fixture(scope="module")
def call(offline_run):
    """Return a function that runs a line of words on the data of one offline run."""

    def called(words: str, **more: object) -> Result:
        quoted = [part.strip('"') for part in words.split('"')] if '"' in words else [words]
        parts = [*quoted[0].split(), *quoted[1:2], *"".join(quoted[2:]).split()]
        return CliRunner().invoke(main, ["--data-dir", str(offline_run), *parts], **more)

    return called


@pytest.mark.parametrize("words", ["", *COMMANDS])
def test_every_command_takes_json(words: str) -> None:
    """Of each command and group wrong usage is one object, and a group without a command lists its own."""
    result = CliRunner().invoke(main, [*words.split(), "--json", "--no-such-option"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr.splitlines()[-1]).keys() == {"error", "source", "field", "value", "hint"}
    listed = {"quarantine", "data", "benchmark", ""} & {words}
    for before, after in ((["--json"], []), ([], ["--json"])) if listed else ():
        rows = json.loads(CliRunner().invoke(main, [*before, *words.split(), *after]).stdout)
        assert {"list", "backup", "add", "query"} & {row["command"] for row in rows}
        assert all(row["help"] for row in rows)


@pytest.mark.parametrize("words", VIEWS)
def test_a_default_view_fits_a_hundred_characters(call, words: str) -> None:
    """No line is longer; what is not shown is counted by name, and --wide shows it."""
    lines = call(words, env={"COLUMNS": "100"}).stdout.splitlines()
    assert lines
    assert [line for line in lines if len(line) > 100 and " " in line.strip()] == []
    hidden = [line for line in lines if line.startswith("Not shown: ")]
    for line in hidden[:1]:
        name = line.removeprefix("Not shown: ").split(",")[0].split(";")[0]
        wide = call(f"{words} --wide").stdout
        assert name in wide
        assert "Not shown" not in wide


def test_a_query_on_a_terminal_shows_what_a_reader_wants_first(call) -> None:
    """Provider, option, price and what tells two cheapest apart are among what fits; piped, all columns are there."""
    question = "query \"from mart.cheapest('H100')\""
    for width in (100, 80, 60):
        text = call(question, env={"COLUMNS": f"{width}"}).stdout
        assert max(map(len, text.splitlines())) <= width
        assert all(word in text for word in ("Hyperstack", "on_demand", "3.2", "Not shown: "))
        assert width == 60 or {"form_factor", "under_a_year"} <= {*text.partition("In all rows")[0].split()}
    assert "document_sha256" in call(question).stdout.partition("\n├")[0]


@pytest.mark.parametrize("words", READING)
def test_an_example_of_help_answers_on_the_archive(call, words: str) -> None:
    """As it stands, for whoever has only run `chipledger run --offline`."""
    result = call((COMMANDS[words].epilog or "").removeprefix("Example: chipledger "))
    assert (result.exit_code, result.stderr, bool(result.stdout)) == (0, "", True)


@pytest.mark.parametrize(
    ("words", "shown"),
    (
        ("benchmark show 900451387545744", "  RedHat\n"),
        ("query \"select name, sql from meta.model where name = 'price_change'\"", "select"),
        (
            "query \"select column_name, meaning from mart.data_dictionary where table_name = 'price_now'\"",
            "Who sells it",
        ),
        (
            "query \"select document_sha256, fetched_at from core.document where scope = 'azure_2026-07'\"",
            "aee0dd4ac49f00a2cca2db6c31730e8af52c5a74f83a4c80871458793edec692",
        ),
        ("query \"select subject, example from int.truth_check where check_name = 'generation'\"", "deepseek-r1"),
    ),
)
def test_a_long_text_is_read_in_several_lines(call, words: str, shown: str) -> None:
    """What other columns leave of a line goes to texts and addresses; a hash, which is copied, is in one line."""
    text = call(words, env={"COLUMNS": "100"}).stdout
    assert (shown in text, "Not shown" in text) == (True, False)


@pytest.mark.parametrize(
    ("words", "meant"), [*MEANT, *(pytest.param(*each, marks=pytest.mark.prove) for each in ALSO_MEANT)]
)
def test_a_name_that_is_not_known_is_answered_with_the_nearest(call, words: str, meant: str) -> None:
    """Exit code 2, one line of at most 300 characters that names what may have been meant."""
    result = call(words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert meant in result.stderr.partition("Did you mean")[2]
    assert len(result.stderr) < 450


@pytest.mark.parametrize(("words", "said"), WRONG)
def test_a_wrong_argument_is_usage(call, words: str, said: str) -> None:
    """Exit code 2, whichever command it is of, and what is wrong or allowed."""
    result = call(words)
    assert (result.exit_code, said in result.stderr) == (2, True)


def test_a_move_names_all_that_is_missing_at_once(call) -> None:
    """One error, with an example, for what took one try each."""
    text = call("decide move --from h100").stderr
    assert "--to or --to-cpm, --migration-weeks or --effort, --engineers, --rate" in text
    assert "Such as: chipledger decide move --from-cpm" in text


@pytest.mark.parametrize("word", ["p5.48xlarge", "P5", "H100 SXM"])
def test_an_instance_type_stands_for_its_chip(call, word: str) -> None:
    """Where a chip is named, an AWS type or family of one chip is, too."""
    rows = json.loads(call(f'chips --json "{word}"').stdout)
    assert {(row["accelerator_name"], row["form_factor"]) for row in rows["chips"]} == {("H100", "SXM")}


def test_nearest_names_come_first_and_none_is_made_up() -> None:
    """By likeness of letters, whatever case and hyphens; nothing far is named, and long lists are counted."""
    assert nearest("LLAMA 70b", ["llama-2-70b", "mixtral-8x7b", "llama-3-70b"]) == ["llama-3-70b", "llama-2-70b"]
    assert nearest("us-eest-1", ["us-east-1", "us-east1", "eu-west-1"]) == ["us-east-1", "us-east1", "eu-west-1"]
    assert nearest("x", ["H100", "A100"]) == []
    assert did_you_mean("zzz", [f"n{number}" for number in range(12)], "More") == (
        "Known: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more; More"
    )
    assert did_you_mean("zzz", [], "More") == "More"


def test_numbers_have_their_points_in_one_column() -> None:
    """Right of texts, digits as they are, and an unknown value is a dash."""
    rows = [{"chip": name, "price": price} for name, price in (("H100", 6.88), ("B200", 14), ("x", None), ("y", 0.5))]
    lines = output.text_table(rows).splitlines()
    assert lines == ["chip  price", "H100   6.88", "B200  14", "x      -", "y      0.5"]


def test_what_all_rows_share_is_said_once() -> None:
    """A table that is too wide drops no column without its name."""
    rows = [{"a": "x" * 30, "same": "y" * 40, "b": n, "c": "z" * 40} for n in range(3)]
    text = output.text_table(rows, width=60)
    assert "In all rows: a " in text
    assert max(map(len, text.splitlines())) <= 60
    shown = text.splitlines()[0].split()
    assert all(name in shown or f" {name} " in " ".join(text.split()) for name in rows[0])


def test_colour_is_for_terminals_and_no_color_ends_it(call) -> None:
    """Names of columns are bold where colours are asked for; NO_COLOR and a pipe have none."""
    assert "\x1b[1m" in call("chips H100", color=True).stdout
    assert "\x1b[31merror:" in call("chips x", color=True).stderr
    for text in (call("chips H100").stdout, call("chips H100", color=True, env={"NO_COLOR": "1"}).stdout):
        assert "\x1b" not in text


def test_progress_comes_after_a_second_with_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing for what is quick; then what is going on, and for how long; nothing where nobody watches."""
    written = type("Terminal", (io.StringIO,), {"isatty": lambda self: True})()
    monkeypatch.setattr("sys.stderr", written)
    with output.progress(quiet=False) as tell:
        tell("3 of 27 documents")
    assert written.getvalue() == ""
    monkeypatch.setattr(output, "SILENCE_S", 0)
    with output.progress(quiet=False) as tell:
        tell("3 of 27 documents")
        time.sleep(0.5)
    assert "3 of 27 documents, 0 s" in written.getvalue()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with output.progress(quiet=False) as tell:
        tell("x")
        time.sleep(0.3)
    assert "x" not in sys.stderr.getvalue()
