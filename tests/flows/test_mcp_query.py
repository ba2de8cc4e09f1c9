"""Free SQL for programs: what is answered, what is refused, and what is cut."""

import os
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from flows.read_api import free_sql, server
from flows.read_api.free_sql import wire
from flows.read_api.server import ADDRESS_SPACE_BYTES, ANSWERS
from flows.shared.child import Child
from warehouse.errors import ChipledgerError

SECRET = "what another file says"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return a file with one table of a thousand rows, and a secret beside it."""
    folder = tmp_path_factory.mktemp("query")
    with duckdb.connect(str(folder / "prices.duckdb")) as con:
        con.execute(
            "create schema meta; create schema mart; create table meta.build as select now()::TIMESTAMP as built_at, "
            "'test' as version; create table mart.data_dictionary (column_name VARCHAR, unit VARCHAR); "
            "create table numbers as select i::BIGINT as i, (i / 7)::DECIMAL(18,10) as amount from range(1000) t(i)"
        )
    (folder / "secret.csv").write_text(f"secret\n{SECRET}\n")
    with duckdb.connect(str(folder / "private.duckdb")) as con:
        con.execute(f"create table fleet as select '{SECRET}' as secret")
    return folder / "prices.duckdb"


@pytest.fixture(scope="module")
def asker(tmp_path_factory):
    """Give one process for all questions, which waits less than the product's for one that does not end."""
    folder = tmp_path_factory.mktemp("impatient")
    (folder / "impatient.py").write_text(f"import __main__\nimport {ANSWERS}\n__main__.GRACE_S = 0.2\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        one = Child(ADDRESS_SPACE_BYTES, "impatient")
        yield one
        one.close()


def asked(asker, file, sql, *, rows=200, seconds=5.0):
    """Return what the tool `query` answers, as the server has it."""
    return asker.ask(
        f"{ANSWERS}:answer", seconds=seconds, path=file, now=datetime.now(UTC), tool="query",
        arguments={"sql": sql, "rows": rows, "seconds": seconds},
    )  # fmt: skip


def test_an_answer_has_columns_types_and_rows(asker, file):
    """Amounts are text with all their digits; two columns of one name are two columns."""
    found = asked(asker, file, "select i, i, amount from numbers where i = 1;")

    assert found["columns"] == [
        {"name": "i", "type": "BIGINT"}, {"name": "i", "type": "BIGINT"}, {"name": "amount", "type": "DECIMAL(18,10)"},
    ]  # fmt: skip
    assert (found["rows"], found["truncated"]) == ([[1, 1, "0.1428571429"]], None)


@pytest.mark.parametrize("sql", ["with a as (select 1 as x) from a", "values (1)", "describe numbers", "from numbers"])
def test_every_way_to_read_is_answered(asker, file, sql):
    """SELECT has many forms."""
    assert asked(asker, file, sql)["rows"]


def test_rows_and_bytes_are_limited_and_the_cut_is_told(asker, file):
    """Exactly as many rows as asked for are no cut; a row too great for an answer is left out, whole."""
    assert asked(asker, file, "from numbers limit 10", rows=10)["truncated"] is None
    cut = asked(asker, file, "from numbers", rows=10)
    assert cut["truncated"] == "the first 10 rows are shown, and there are more: name fewer, or raise rows"
    assert len(cut["rows"]) == 10
    great = asked(asker, file, "select repeat('x', 60000) from range(100)")
    assert len(great["rows"]) == 3
    assert great["truncated"] == "the first 3 rows are shown: more than 200000 bytes; name fewer columns"
    assert asked(asker, file, "select repeat('x', 300000)")["rows"] == []
    assert asked(asker, file, "select * from range(1000000000000)", rows=3)["rows"] == [[0], [1], [2]]


HOSTILE = [
    "attach '{folder}/private.duckdb' as p",
    "detach prices",
    "copy numbers to '{folder}/new.csv'",
    "export database '{folder}/new'",
    "from read_csv('{folder}/secret.csv')",
    "from '{folder}/secret.csv'",
    "select * from read_text('{folder}/secret.csv')",
    "from glob('{folder}/*')",
    "from read_duckdb('{folder}/private.duckdb')",
    "from query('attach ''{folder}/private.duckdb'' as p')",
    "install httpfs",
    "from read_csv('https://example.com/x.csv')",
    "pragma version",
    "call enable_logging()",
    "set memory_limit = '64GB'",
    "set enable_external_access = true",
    "use system",
    "create table t as select 1",
    "insert into numbers values (1, 1)",
    "drop table numbers",
    "merge into numbers using numbers as n on true when matched then delete",
    "vacuum",
    "prepare q as select 1",
    "explain analyze select 1",
    "select 1; select 2",
    "select 1\0; drop table numbers",
    "-- nothing",
    "select $1",
    "select " + "+".join(["1"] * 5000),
]
LIKE_THEM = [
    "attach '{folder}/new.duckdb' as p", "copy (select 1) to '/dev/stdout'", "import database '{folder}/new'",
    "from read_blob('/proc/self/environ')", "from sniff_csv('{folder}/secret.csv')",
    "from parquet_metadata('{folder}/secret.csv')", "load httpfs", "pragma enable_profiling",
    "reset lock_configuration", "set variable x = 1", "create temp table t as select 1", "create macro m() as 1",
    "update numbers set i = 0", "delete from numbers", "alter table numbers add column x int",
    "comment on table numbers is 'x'", "checkpoint", "begin", "update extensions", "select 1; drop table numbers",
    "select",
]  # fmt: skip


@pytest.mark.parametrize("hostile", [HOSTILE, pytest.param(LIKE_THEM, marks=pytest.mark.prove)], ids=["", "more"])
def test_nothing_but_reading_the_file_is_answered(asker, file, hostile):
    """Refused in words; no file appears, no row of another is told, and the next question is answered."""
    before = sorted(file.parent.rglob("*"))

    for sql in hostile:
        with pytest.raises(ChipledgerError) as refusal:
            asked(asker, file, sql.format(folder=file.parent))
        assert refusal.value.field == "sql", sql
        assert refusal.value.hint, sql
        assert SECRET not in refusal.value.message, sql
        assert sorted(file.parent.rglob("*")) == before, sql
        assert asked(asker, file, "select count(*) from numbers")["rows"] == [[1000]], sql


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("create temp table t as select 1", "CREATE is not answered, only SELECT is"),
        ("pragma version", "only SELECT is answered"),
        ("select 1; select 2", "2 statements; one is answered at a time"),
        ("-- nothing", "0 statements; one is answered at a time"),
    ],
)
def test_a_refusal_says_what_was_asked(asker, file, sql, said):
    """By DuckDB's own reading of it."""
    with pytest.raises(ChipledgerError) as refusal:
        asked(asker, file, sql)

    assert refusal.value.message == said


def test_logging_writes_no_file(asker, file):
    """A function that could is kept from it: by DuckDB's own lock, and by the limit of the process."""
    before = sorted(file.parent.rglob("*"))

    with pytest.raises(ChipledgerError, match="ended without an answer"):
        asked(asker, file, f"from enable_logging(storage = 'file', storage_path = '{file.parent / 'log'}')")

    assert asked(asker, file, "select 1")["rows"] == [[1]]
    assert sorted(file.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from range(1000000000000)",
        "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r",
    ],
)
def test_an_endless_question_is_stopped(asker, file, sql):
    """After the time allowed, and said so."""
    with pytest.raises(ChipledgerError, match=r"stopped after 0\.2 s"):
        asked(asker, file, sql, seconds=0.2)


@pytest.mark.prove
def test_a_question_that_cannot_be_interrupted_is_ended_with_its_process(asker, file):
    """The distance of two long texts is one step to DuckDB; the next question has a new process."""
    endless = "select levenshtein(repeat('a', 300000), repeat('b', 300000))"
    before = asker.start().pid

    with pytest.raises(ChipledgerError, match=r"stopped after 0\.1 s"):
        asked(asker, file, endless, seconds=0.1)

    assert asked(asker, file, "select 1")["rows"] == [[1]]
    assert asker.start().pid != before


@pytest.mark.parametrize(
    "sql",
    [
        f"select length(repeat('x', {ADDRESS_SPACE_BYTES}))",
        "select string_agg(repeat(i::VARCHAR, 500)) from range(1000000) t(i)",
    ],
)
def test_memory_is_limited(asker, file, sql):
    """Neither one great value nor a great many of them take more than the process may have."""
    with pytest.raises(ChipledgerError, match="Out of Memory"):
        asked(asker, file, sql)

    assert asked(asker, file, "select 1")["rows"] == [[1]]


def test_values_that_json_has_not_are_text_or_null(asker, file):
    """Integers past what a double holds are text; NaN and infinities are null; bytes are hexadecimal; times are UTC."""
    found = asked(
        asker, file,
        "select 9007199254740993, 'nan'::DOUBLE, 'ab'::BLOB, {'a': 1.10::DECIMAL(4,2)}, "
        "timestamp '2026-01-01 10:00:00', [date '2026-01-01'], interval 1 day, true, null",
    )  # fmt: skip

    assert found["rows"] == [
        ["9007199254740993", None, "6162", {"a": "1.1"}, "2026-01-01T10:00:00Z", ["2026-01-01"], "1 day, 0:00:00", True,
         None],
    ]  # fmt: skip


def test_wire_keeps_what_is_exact():
    """A double is a number with its digits, and what JSON has stays as it is."""
    assert wire([0.1, 3, True, "x", None, (1, 2), float("inf")]) == [0.1, 3, True, "x", None, [1, 2], None]


def test_the_page_has_the_limits() -> None:
    """docs/exports.md states each limit of `query` as it is in force."""
    text = " ".join((Path(__file__).parents[2] / "docs/exports.md").read_text(encoding="utf-8").split())
    memory = f"{server.ADDRESS_SPACE_BYTES // 1024**3} GiB of memory (DuckDB: {free_sql.MEMORY.replace('MB', ' MB')};"
    rows = f"({free_sql.MAX_ROWS:,} with `rows`) and {free_sql.MAX_BYTES:,} bytes"
    seconds = f"({free_sql.MAX_SECONDS:.0f} with `seconds`)"
    waiting = f"{server.MAX_WAITING} more of each"
    limits = (memory, rows, seconds, waiting, f"at most {free_sql.MAX_CHARACTERS:,} characters")
    assert [limit for limit in limits if limit not in text] == []
