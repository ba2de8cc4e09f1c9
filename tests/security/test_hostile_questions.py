"""Questions that want more than an answer: each is refused in words, by `query` and by the tool `query` alike."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import duckdb
import pytest

from flows.read_api.server import ADDRESS_SPACE_BYTES, ANSWERS
from flows.shared import query
from flows.shared.child import Child
from warehouse.errors import ChipledgerError

FUNCTIONS = (
    "read_csv", "read_csv_auto", "read_text", "read_blob", "read_json", "read_json_auto", "read_ndjson",
    "read_json_objects", "read_ndjson_objects", "read_parquet", "parquet_scan", "parquet_metadata", "parquet_schema",
    "parquet_file_metadata", "parquet_kv_metadata", "sniff_csv", "glob", "query_table", "read_xlsx", "st_read",
    "delta_scan", "iceberg_scan",
)  # fmt: skip
PLACES = ("{folder}/secret.csv", "/etc/passwd", "/proc/self/environ", "http://127.0.0.1:9/x", "s3://bucket/x", "../*")
STATEMENTS = (
    "copy numbers to '{folder}/new.csv'",
    "copy (select 1) to '/dev/stdout'",
    "copy (select 1) to '{folder}/x' (format json)",
    "copy numbers from '{folder}/secret.csv'",
    "copy from database prices to memory",
    "export database '{folder}/new'",
    "import database '{folder}'",
    "attach '{folder}/new.duckdb'",
    "attach '{folder}/secret.duckdb' as s",
    "attach ':memory:' as m",
    "attach '' as m",
    "attach 'ducklake:x' as l",
    "attach 'postgres:host=127.0.0.1' as p (type postgres)",
    "detach prices",
    "install httpfs",
    "force install httpfs",
    "install httpfs from community",
    "install '{folder}/x.duckdb_extension'",
    "load httpfs",
    "load '{folder}/x.duckdb_extension'",
    "update extensions",
    "create secret s (type s3)",
    "create persistent secret s (type s3, key_id 'a', secret 'b')",
    "drop secret s",
    "create table t as select 1",
    "create temp table t as select 1",
    "create or replace table numbers as select 1",
    "create view v as select 1",
    "create temp view v as select 1",
    "create macro m() as 1",
    "create temp macro m() as table from read_text('/etc/passwd')",
    "create function f(x) as x",
    "create type t as enum ('a')",
    "create sequence s",
    "create schema s",
    "create index i on numbers (i)",
    "insert into numbers values (1)",
    "insert or replace into numbers values (1)",
    "update numbers set i = 0",
    "delete from numbers",
    "truncate numbers",
    "drop table numbers",
    "drop schema main cascade",
    "alter table numbers add column x int",
    "alter database prices rename to y",
    "comment on table numbers is 'x'",
    "merge into numbers using numbers as n on true when matched then delete",
    "vacuum",
    "vacuum full",
    "analyze",
    "checkpoint",
    "force checkpoint",
    "call force_checkpoint()",
    "call checkpoint()",
    "begin",
    "begin transaction read write",
    "commit",
    "rollback",
    "prepare q as select 1",
    "execute q",
    "deallocate q",
    "use system",
    "set schema = 'system'",
    "set search_path = 'system'",
    "set variable x = 1",
    "set timezone = 'UTC'",
    "reset all",
    "explain select 1",
    "explain analyze delete from numbers",
    "explain analyze copy numbers to '{folder}/x'",
    "call pragma_version()",
    "call enable_logging(storage = 'file', storage_path = '{folder}/log')",
    "call enable_profiling()",
    "call disable_logging()",
    "call start_ui()",
    "call start_ui_server()",
    "call truncate_duckdb_logs()",
    "call add_parquet_key('k', '0123456789112345')",
    "pragma add_parquet_key('k', '0123456789112345')",
    "pragma enable_profiling = 'json'",
    "pragma profiling_output = '{folder}/p'",
    "pragma import_database('{folder}')",
    "pragma enable_object_cache",
    "pragma threads = 64",
    "pragma memory_limit = '1TB'",
    "select getenv('HOME')",
    "select getvariable('x') from nowhere",
    "select nextval('s')",
    "select error('x')",
    "select * from query('drop table numbers')",
    "select * from query('select 1; select 2')",
    "select * from query('copy (select 1) to ''{folder}/x''')",
    "from query('attach ''{folder}/secret.duckdb'' as s')",
    "select 1; select 2",
    "select 1; drop table numbers",
    "select 1;; select 2",
    "select 1 /* ; */ ; /* */ select 2",
    "select 1\0; drop table numbers",
    "\0",
    "",
    ";",
    "-- nothing",
    "/* nothing */",
    "select",
    "selec 1",
    "select $1",
    "select ?",
    "select $name",
    "from '{folder}/secret.csv'",
    'from "{folder}/secret.csv"',
    "from '{folder}/*.csv'",
    "from '/etc/passwd'",
    "from 'https://127.0.0.1:9/x.parquet'",
    "from file",
    "from sys.modules",
    "from arrow_scan(1, 2, 3)",
    "from pandas_scan(1)",
    "from python_map_function(1)",
    "from sqlite_scan('{folder}/x', 'y')",
    "from postgres_scan('host=127.0.0.1', 'a', 'b')",
    "from mysql_query('x', 'select 1')",
    "from http_get('http://127.0.0.1:9/')",
    "from shellfs('ls |')",
    "from 'ls |'",
    "with x as (delete from numbers returning *) from x",
    "with x as (insert into numbers values (1) returning *) from x",
    "select (copy numbers to '{folder}/x')",
    "from (drop table numbers)",
    "select * from numbers into outfile '{folder}/x'",
    "pivot numbers on i using count(*)",
    "from json_execute_serialized_sql('x')",
    "pragma json_execute_serialized_sql('x')",
    "select system('ls')",
    "select load_extension('x')",
    "select pg_read_file('/etc/passwd')",
    "from read_duckdb('{folder}/secret.duckdb')",
    "select " + "+".join(["1"] * 5000),
    "select " + "-" * 3 + "1 from",
    "select '" + "x" * 10,
    "\ufeff",
)
SETTINGS = (
    "enable_external_access", "lock_configuration", "allow_community_extensions", "autoload_known_extensions",
    "autoinstall_known_extensions", "allow_unsigned_extensions", "allowed_directories", "allowed_paths", "memory_limit",
    "max_memory", "temp_directory", "max_temp_directory_size", "threads", "home_directory", "secret_directory",
    "extension_directory", "custom_extension_repository", "access_mode", "log_query_path", "profiling_output",
    "enable_profiling", "python_enable_replacements", "http_proxy", "s3_secret_access_key", "disabled_filesystems",
)  # fmt: skip
GENERATED = (
    *(f"from {function}('{place}')" for function, place in product(FUNCTIONS, PLACES)),
    *(f"set {name} = '{{folder}}'" for name in SETTINGS),
    *(f"set global {name} = 'true'" for name in SETTINGS),
    *(f"reset {name}" for name in SETTINGS),
)
HOSTILE = (*STATEMENTS, *GENERATED)
SECRET = "word42"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    for name in ("prices", "secret"):
        with duckdb.connect(str(folder / f"{name}.duckdb")) as con:
            word = SECRET if name == "secret" else ""
            con.execute("create table numbers as select i, ? as w from range(1000) as r(i)", [word])
            con.execute("create schema meta; create schema mart")
            con.execute("create table meta.build as select now()::TIMESTAMP as built_at, 'test' as version")
            con.execute("create table mart.data_dictionary (column_name VARCHAR, unit VARCHAR)")
    (folder / "secret.csv").write_text(f"{SECRET}\n")
    return folder / "prices.duckdb"


@pytest.fixture(scope="module")
def asker() -> Iterator[Child]:
    made = Child(ADDRESS_SPACE_BYTES, ANSWERS)
    yield made
    made.close()


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_there_are_hundreds() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) > 300


@pytest.mark.prove
@pytest.mark.parametrize("door", ["query", "mcp"])
def test_each_is_refused_at_each_door(file: Path, asker: Child, door: str) -> None:
    assert refused_all(file, asker, door, HOSTILE) == []


@pytest.mark.parametrize(
    ("door", "asked"), [("query", (*STATEMENTS[::3], *GENERATED[::40])), ("mcp", (*STATEMENTS[::12], *GENERATED[::60]))]
)
def test_each_is_refused_in_words_and_leaves_nothing(
    file: Path, asker: Child, door: str, asked: tuple[str, ...]
) -> None:
    """Some of all, as each costs the opening of a file; the long proof asks all of them at both doors."""
    assert refused_all(file, asker, door, asked) == []


def refused_all(file: Path, asker: Child, door: str, asked: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what was not refused in words, or told of another file; no file may appear or change meanwhile."""
    before, wrong = state(file.parent), []
    for sql in (each.replace("{folder}", str(file.parent)) for each in asked):
        try:
            if door == "query":
                said = query.answer(file, sql, form="json", timeout=5)
            else:
                arguments = {"sql": sql, "rows": 10, "seconds": 5}
                said = str(asker.ask(f"{ANSWERS}:answer", seconds=5, path=file, now=datetime.now(UTC),
                                     tool="query", arguments=arguments))  # fmt: skip
            wrong.append((sql[:80], said[:80]))
        except ChipledgerError as error:
            if SECRET in str(error) or not error.message or not error.hint:
                wrong.append((sql[:80], str(error)))
    assert state(file.parent) == before
    assert "1000" in query.answer(file, "select count(*) from numbers", form="csv", timeout=5)
    return wrong


@pytest.mark.parametrize(
    "sql",
    [
        "from enable_logging(storage = 'file', storage_path = '{folder}/log', level = 'trace')",
        "select write_log('x') from enable_logging(storage = 'file', storage_path = '{folder}/log')",
        "from checkpoint()", "from duckdb_settings()", "from duckdb_secrets()",
    ],
)  # fmt: skip
def test_functions_that_would_do_something_do_nothing(file: Path, sql: str) -> None:
    """They are SELECTs; what they would write to is out of reach."""
    before = state(file.parent)
    try:
        said = query.answer(file, sql.replace("{folder}", str(file.parent)), form="json", timeout=5)
    except ChipledgerError as error:
        said = str(error)
    assert SECRET not in said
    assert state(file.parent) == before


@pytest.mark.parametrize("form", ["json", "csv", "table"])
def test_a_cross_join_of_millions_is_stopped(file: Path, form: str) -> None:
    with pytest.raises(ChipledgerError, match=r"stopped after 0\.2 s"):
        query.answer(file, "select count(*) from range(10000000) as a, range(10000000) as b", form=form, timeout=0.2)


def test_an_answer_that_drips_is_stopped_too(file: Path, tmp_path: Path) -> None:
    """While it is written, piece by piece; nothing of it stays."""
    with pytest.raises(ChipledgerError, match=r"stopped after 0\.2 s"):
        query.save(file, "from range(100000000)", tmp_path / "x.csv", form="csv", timeout=0.2, force=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_answer_on_stdout_has_a_limit(file: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "EVERYTHING", 999)
    with pytest.raises(ChipledgerError, match="more than 999 rows"):
        query.answer(file, "from numbers", form=form, timeout=5)
    monkeypatch.setattr(query, "EVERYTHING", 1000)
    assert "word42" not in query.answer(file, "from numbers", form=form, timeout=5)


def test_memory_has_a_limit_and_nothing_spills(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MEMORY", "30MB")
    with pytest.raises(ChipledgerError, match="Out of Memory"):
        query.answer(file, "select list(i) from range(20000000) as r(i)", form="csv", timeout=20)
    assert [path.name for path in file.parent.iterdir() if "tmp" in path.name] == []


@pytest.mark.parametrize(
    "sql", ["describe numbers", "show tables", "summarize numbers", "with x as (select 1 as a) from x", "values (1)"]
)
def test_every_way_to_read_is_answered(file: Path, sql: str) -> None:
    assert query.answer(file, sql, form="json", timeout=5).startswith("[{")
