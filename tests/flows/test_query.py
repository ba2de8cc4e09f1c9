"""`chipledger query` and `chipledger open`: formats, files, limits."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from looks import row
from purchase import P5, plan, putting, seen

from flows.cli.main import main
from flows.shared.child import Child

Call = Callable[..., Result]
ASKED = (
    "select unit_price, valid_from, commitment_term_hours as hours from int.price_history "
    "join core.offer using (offer_id) order by unit_price desc"
)


class Kept(Child):
    """A process that lives on after its question, for the next one: to start it takes most of a question's time."""

    def close(self) -> None:
        """Leave it running."""


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """A function that runs a command on a published file of two prices; one process answers all that write, or none."""
    folder = tmp_path_factory.mktemp("query")
    with putting(folder) as put:
        put(seen(0, "aws_price_list", row(P5, "55.04")), seen(0, "aws_savings_plans", plan(P5, "36.5")), at=0)
    kept: dict[bool, Kept] = {}

    def child(memory: int, module: str, *, writes: bool) -> Child:
        return kept.setdefault(writes, Kept(memory, module, writes=writes))

    def call(*words: object) -> Result:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("flows.shared.child.Child", child)
            return CliRunner().invoke(main, ["--data-dir", str(folder), *map(str, words)])

    yield call
    for each in kept.values():
        Child.close(each)


@pytest.mark.parametrize("width", ["80", None], ids=["terminal", "pipe"])
def test_a_table_is_for_reading(call: Call, monkeypatch: pytest.MonkeyPatch, width: str | None) -> None:
    """Computed numbers have six digits, large ones those before the point; amounts and programs' formats have all."""
    if width:
        monkeypatch.setenv("COLUMNS", width)
    sql = (
        "select 160.0 / 3 as age, 6173184.53::DOUBLE as usd, 1e-9 / 3 as small, 'nan'::DOUBLE as n, null::DOUBLE as u, "
        "1.2345678901 as amount, 1.2345678901::FLOAT as age"
    )
    words = call("query", sql).stdout.replace("│", " ").split()

    assert {"53.3333", "3.33333e-10", "nan", "1.2345678901", "1.23457"} <= {*words}
    assert {"6173185", "6173185.0"} & {*words}
    assert "53.333333333333336,6173184.53,3.3333333333333337e-10" in call("query", "--format", "csv", sql).stdout
    assert json.loads(call("query", "--json", sql).stdout)[0]["usd"] == 6173184.53


def test_formats_say_the_same(call: Call, tmp_path: Path) -> None:
    """JSON, CSV and Parquet have the same amounts with their digits, moments in UTC, and the unknown as unknown."""
    in_json = json.loads(call("query", "--format", "json", ASKED).stdout)
    in_csv = list(csv.DictReader(io.StringIO(call("query", "--format", "csv", ASKED).stdout)))
    assert call("query", "--output", tmp_path / "x.parquet", ASKED).exit_code == 0
    table = pq.read_table(tmp_path / "x.parquet")

    assert in_json == [
        {"unit_price": 55.04, "valid_from": "2026-01-01T00:00:00Z", "hours": None},
        {"unit_price": 36.5, "valid_from": "2026-01-01T00:00:00Z", "hours": 8760},
    ]
    assert in_csv == [
        {"unit_price": "55.04", "valid_from": "2026-01-01T00:00:00Z", "hours": ""},
        {"unit_price": "36.5", "valid_from": "2026-01-01T00:00:00Z", "hours": "8760"},
    ]
    assert [str(field.type) for field in table.schema] == ["decimal128(18, 10)", "timestamp[us, tz=UTC]", "int32"]
    assert [str(value.normalize()) for value in table["unit_price"].to_pylist()] == ["55.04", "36.5"]
    assert table["hours"].to_pylist() == [None, 8760]


def test_no_column_and_no_row_is_lost_in_silence(call: Call, tmp_path: Path) -> None:
    """Columns of one name get a number, as in DuckDB's tables; a table has 9,999 rows, and more are refused."""
    asked = "select 1 as a, 2 as a, 3 as a_1"
    assert json.loads(call("query", "--json", asked).stdout) == [{"a": 1, "a_2": 2, "a_1": 3}]
    assert call("query", "--output", tmp_path / "x.parquet", asked).exit_code == 0
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == [{"a": 1, "a_2": 2, "a_1": 3}]
    assert call("query", "from range(9999)").stdout.count("\n") > 9999
    untyped = call("query", "--output", tmp_path / "y.parquet", "select interval 1 day as i").stderr
    assert untyped.startswith("error: export: Parquet cannot hold this answer")
    refused = call("query", "from range(10001)")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "more than 9999 rows" in refused.stderr
    assert "write it as CSV or Parquet with --output" in refused.stderr


def test_output_goes_to_a_file_of_the_format_that_its_name_says(call: Call, tmp_path: Path) -> None:
    """Nothing but the file is written, and it is what stdout would have had."""
    for name, form in (("a.csv", "csv"), ("a.json", "json"), ("a.txt", "table")):
        result = call("query", "--output", tmp_path / name, ASKED)
        assert (result.exit_code, result.stdout) == (0, "")
        assert (tmp_path / name).read_text() == call("query", "--format", form, ASKED).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json", "a.txt"]


def test_a_file_is_replaced_only_with_force(call: Call, tmp_path: Path) -> None:
    """What stands there stays; with --force a link is replaced itself, not what it leads to."""
    kept, link = tmp_path / "kept.csv", tmp_path / "link.csv"
    kept.write_text("mine")
    link.symlink_to(kept)
    for target in (kept, link):
        result = call("query", "--output", target, "select 1 as a")
        assert result.exit_code == 1
        assert "already" in result.stderr
    assert call("query", "--output", link, "--force", "select 1 as a").exit_code == 0
    assert (kept.read_text(), link.read_text(), link.is_symlink()) == ("mine", "a\n1\n", False)


def test_a_failed_question_leaves_no_file(call: Call, tmp_path: Path) -> None:
    """An error on the way leaves neither the file nor a part of it."""
    for name in ("x.csv", "x.parquet"):
        result = call("query", "--output", tmp_path / name, "select error('no') from range(3)")
        assert result.exit_code == 2
    assert call("query", "--output", tmp_path / "x.parquet", "select interval 1 day as i").exit_code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sql",
    [
        "copy (select 1) to '{}/x.csv'", "from read_csv('{}/secret')", "from read_text('{}/secret')",
        "from glob('{}/*')", "attach '{}/y.duckdb'", "export database '{}/e'", "install httpfs", "load httpfs",
        "set enable_external_access = true", "reset enable_external_access", "set lock_configuration = false",
        "pragma threads = 1", "create secret (type s3)", "call start_ui_server()", "create table core.x as select 1",
        "from '{}/secret.csv'", "from file",
    ],
)  # fmt: skip
def test_a_question_reaches_nothing_else(call: Call, tmp_path: Path, sql: str) -> None:
    """Neither other files nor the network nor settings, and nothing of the process that asks."""
    (tmp_path / "secret").write_text("word")
    (tmp_path / "secret.csv").write_text("word")
    result = call("query", sql.format(tmp_path))
    assert result.exit_code in (1, 2)
    assert "word" not in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "secret.csv"]


def test_the_list_names_tables_and_macros(call: Call) -> None:
    """Each with what a row of it is; macros with their parameters."""
    listed = {line["name"]: line for line in json.loads(call("query", "--list", "--all", "--json").stdout)}
    assert listed["mart.price_on()"]["parameters"] == "moment"
    assert listed["int.price_history"]["parameters"] is None
    assert [name for name, line in listed.items() if not line["row"] and name.startswith("mart.")] == []


@pytest.mark.parametrize("comment", ["-- one number", "--one number"])
def test_sql_may_begin_with_a_comment(call: Call, comment: str) -> None:
    """It is no option, as which words before it still count."""
    result = call("query", "--json", f"{comment}\nselect 1 as one")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [{"one": 1}])


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "--format", "csv", "select 1"), ("--format", "parquet", "select 1"), (),
        ("from mart.price_on('2025-13-45')",), ("select error('no such chip')",),
        ("--formt", "select 1"),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_usage(call: Call, words: tuple[str, ...]) -> None:
    """Two formats, Parquet on a terminal, no question, and a wrong argument of a macro are wrong usage."""
    assert call("query", *words).exit_code == 2


@pytest.mark.parametrize(
    "command",
    [["report"], ["chips"], ["decide", "--machine", "p5.48xlarge", "--nodes", "1", "--days", "9"], ["query", "--list"]],
    ids=str,
)
def test_a_command_names_a_file_of_the_version_before(tmp_path: Path, command: list[str]) -> None:
    """A command that needs this version's tables ends with an error and what to do, not with a traceback."""
    with duckdb.connect(str(tmp_path / "prices.duckdb")) as con:
        con.execute("create schema meta")
        con.execute("create table meta.build as select now()::TIMESTAMP as built_at, '2026.1' as version")
    done = CliRunner().invoke(main, ["--data-dir", str(tmp_path), *command])
    assert (done.exit_code, done.exception.__class__) == (1, SystemExit)
    assert "`chipledger build` publishes the file again, by this version" in done.stderr


def test_a_file_of_the_version_before_says_so(call: Call, tmp_path: Path) -> None:
    """It has no schema `int`, and no public tables; a wrong name in a file of this version is no such matter."""
    with duckdb.connect(str(tmp_path / "prices.duckdb")) as con:
        con.execute("create schema mart; create table mart.accelerator_hour_price (offer_id BIGINT)")
    words = "`chipledger build` publishes the file again, by this version"
    before = CliRunner().invoke(main, ["--data-dir", str(tmp_path), "query", "from mart.price_now"])
    assert before.exit_code == 1
    assert words in before.stderr
    assert CliRunner().invoke(main, ["--data-dir", str(tmp_path), "query", "select 1"]).exit_code == 0
    assert words not in call("query", "from mart.no_such_table").stderr


def test_open_uses_the_shell_on_path(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB's shell gets the file read-only, and its exit code is ours."""
    shell = tmp_path / "duckdb"
    shell.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/told\nexit 3\n')
    shell.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert call("open").exit_code == 3
    option, file = (tmp_path / "told").read_text().split()
    assert option == "-readonly"
    with duckdb.connect(file, read_only=True) as con:
        assert con.execute("select count(*) from core.offer").fetchall() == [(2,)]


def test_open_without_shell_or_extension_says_what_to_do(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline there is no extension to fetch: an error with advice, and no traceback."""
    monkeypatch.setenv("PATH", "/nowhere")
    connect = duckdb.connect

    def without_network(*given: object, **named: object) -> object:
        con = connect(*given, **named)
        con.execute("set autoinstall_known_extensions = false")
        con.execute("set extension_directory = '/nowhere'")
        return con

    monkeypatch.setattr("duckdb.connect", without_network)
    result = call("open")
    assert result.exit_code == 1
    assert "no `duckdb` on PATH" in result.stderr
    assert "duckdb.org/docs/installation" in result.stderr
