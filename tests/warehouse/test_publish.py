"""The published file: whole or not at all, read while it is replaced, described to the last column."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from few_marts import LEAST_MARTS, formulas_of
from log_rows import add_documents
from looks import ParsedFetch, day, look, row
from published import content, query

from warehouse.errors import ChipledgerError
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import frame, published_file
from warehouse.schema.columns import columns as declared_columns
from warehouse.schema.columns import focus_columns
from warehouse.schema.tables import DERIVED_TABLES, TABLES

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
]
READER = """
import sys, duckdb
query = "select max(unit_price)::int from core.current_price"
con = duckdb.connect(sys.argv[1], read_only=True)
print(con.execute(query).fetchone()[0], flush=True)
for line in sys.stdin:
    print(con.execute(query).fetchone()[0], flush=True)
"""


def documented(con: duckdb.DuckDBPyConnection, *looks: ParsedFetch) -> None:
    """Load looks, with the documents that they name."""
    for each in looks:
        add_documents(con, each)
        load(con, [each], recorded_at=each.observed_at)


def put(con: duckdb.DuckDBPyConnection, data_dir: Path, at: float = 1, *, from_nothing: bool = False) -> Path:
    return published_file.publish(
        con, data_dir, marts=LEAST_MARTS, formulas=formulas_of(LEAST_MARTS), sources=SOURCES, built_at=day(at),
        version="test", from_nothing=from_nothing,
    )  # fmt: skip


def one_price(data_dir: Path, price: str, at: float = 0) -> Path:
    with db.writer(data_dir) as con:
        documented(con, look(at, row("p5.48xlarge", price), row("g6.xlarge", "1")))
        return put(con, data_dir, at)


@pytest.fixture(scope="module")
def amended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published file that was amended: what may differ from the one before is checked."""
    folder = tmp_path_factory.mktemp("amended")
    one_price(folder, "55")
    file = one_price(folder, "60", 1)
    assert query(file, "select changed_from is not null from meta.build") == [(True,)]
    return file


def ask(child: subprocess.Popen[str]) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("again\n")
    child.stdin.flush()
    return child.stdout.readline().strip()


def reader(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", READER, str(file)], stdin=-1, stdout=-1, text=True)


def test_readers_see_no_error_and_one_state(tmp_path: Path) -> None:
    """A reader that keeps the file open reads on, and the old data, while it is replaced; a new one reads the new."""
    file = one_price(tmp_path, "55")
    with reader(file) as old:
        assert old.stdout is not None
        assert old.stdout.readline() == "55\n"
        one_price(tmp_path, "60", 1)
        assert ask(old) == "55"
        with reader(file) as new:
            assert new.stdout is not None
            assert new.stdout.readline() == "60\n"
            assert ask(old) == "55"
            assert new.stdin is not None
            new.stdin.close()
        assert old.stdin is not None
        old.stdin.close()
    assert (old.returncode, new.returncode) == (0, 0)


@pytest.mark.of_file("names build.duckdb among the files of the data directory")
def test_the_file_is_read_only_and_alone(amended: Path, tmp_path: Path) -> None:
    """Nobody writes into a product: mode 0444; no part, no write-ahead log beside it.

    Parts that a killed run left are cleared away. A .wal that somebody left beside the target would be replayed into
    the new file: it goes.
    """
    for name in ("build.duckdb", "prices.duckdb"):
        shutil.copy(amended.with_name(name), tmp_path)
    file = tmp_path / amended.name
    for name in ("prices.duckdb.4711.part", "prices.duckdb.4711.part.wal"):
        (tmp_path / name).write_bytes(b"half")
    wal, other = file.with_name("prices.duckdb.wal"), tmp_path / "other.duckdb"
    with duckdb.connect(str(other)) as con:
        con.execute("set checkpoint_threshold = '1GB'")
        con.execute("create table smuggled as select 1 as x")
        con.execute("pragma disable_checkpoint_on_shutdown")
        wal.write_bytes(other.with_suffix(".duckdb.wal").read_bytes())
    assert wal.stat().st_size > 0
    for each in tmp_path.glob("other.*"):
        each.unlink()

    one_price(tmp_path, "65", 2)

    assert stat.S_IMODE(file.stat().st_mode) == 0o444
    # Reference tables are in the cache where Python keeps no compiled modules.
    names = {path.name for path in tmp_path.iterdir()} - {"cache"}
    assert names == {"build.duckdb", "prices.duckdb", "writer.lock"}
    assert query(file, "select count(*) from duckdb_tables() where table_name = 'smuggled'") == [(0,)]


SPOILT = {
    "intervals of one offer and source overlap": "insert into core.sku_price_other "
    "select * replace (valid_from + interval 1 hour as valid_from) from core.sku_price",
    "an offer has two open intervals from one source": "insert into core.sku_price_other "
    "from core.sku_price where valid_to is null",
    "an interval ends before it begins": "insert into core.sku_price_other "
    "select * replace (valid_from as valid_to) from core.sku_price",
    "an interval was last confirmed outside itself": "insert into core.sku_price_other "
    "select * replace (valid_to as last_observed_at) from core.sku_price",
    "a spliced price was last confirmed outside itself": "insert into core.price_history_other "
    "select * replace (valid_from - interval 1 hour as last_observed_at) from int.price_history",
    "a price event has no document": "delete from log.document",
    "a price event has no offer": "delete from core.offer where instance_type = 'p5.48xlarge'",
    "a price per chip-hour is not positive": "update int.accelerator_hour_price set price_per_accelerator_hour = 0",
    "FOCUS SkuPrice: a record is not unique": "insert into core.price_history_other from int.price_history",
}


@pytest.mark.parametrize(
    ("name", "spoil"),
    [(name, SPOILT[name]) for name, _ in published_file.CHECKS]
    + [("a price event has no document", "update log.document set recorded_at = null")],
)
def test_a_failing_check_leaves_the_old_file(
    amended: Path, tmp_path: Path, name: str, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check is seen to fail: it is named, the old file stays, and no part of the new one."""
    file = tmp_path / published_file.FILE_NAME
    file.write_bytes(b"old")

    def build(part: Path) -> None:
        part.write_bytes(amended.read_bytes())
        with duckdb.connect(str(part)) as con:
            con.execute(spoil)

    monkeypatch.setattr(published_file, "CHECKS", [check for check in published_file.CHECKS if check[0] == name])

    with pytest.raises(ChipledgerError, match=f"not published: {name}"):
        published_file.make_whole(file, build=build, verify=lambda part: published_file._verify(part, {}))

    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("from_nothing", [True, False])
def test_a_file_that_lost_rows_when_it_was_written_is_not_published(
    amended: Path, from_nothing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a checkpoint between the commits of two connections: the table and both numbers are named."""
    before, attached = amended.read_bytes(), frame.attached

    @contextmanager
    def losing(con: duckdb.DuckDBPyConnection, part: Path) -> Iterator[str]:
        with attached(con, part) as log:
            yield log
        with duckdb.connect(str(part)) as other:
            other.execute("delete from core.offer")

    monkeypatch.setattr(frame, "attached", losing)
    with db.writer(amended.parent) as con, pytest.raises(ChipledgerError, match="not what was written") as caught:
        put(con, amended.parent, 4, from_nothing=from_nothing)

    assert caught.value.value == "core.offer has 0 of 2 rows"
    assert amended.read_bytes() == before


def test_a_file_is_verified_as_it_is_published(amended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked there is what is published here."""
    before = amended.read_bytes()
    monkeypatch.setattr(published_file, "CHECKS", [("nothing holds", "select 1")])

    with pytest.raises(ChipledgerError, match="not published: nothing holds"):
        one_price(amended.parent, "70", 3)

    assert amended.read_bytes() == before
    assert list(amended.parent.glob("*.part*")) == []


def test_a_mart_that_cannot_be_made_is_named_by_its_own_error(tmp_path: Path) -> None:
    """And not by the transaction that it left open; the connection is of use after it."""
    alone = [replace(LEAST_MARTS[0], name="front_move")]
    with db.writer(tmp_path) as con:
        with pytest.raises(duckdb.CatalogException, match="price_move does not exist"):
            published_file.publish(con, tmp_path, marts=alone, sources=SOURCES, built_at=day(1), version="test")
        assert put(con, tmp_path).exists()


def test_prices_of_no_registered_source_are_not_published(tmp_path: Path) -> None:
    """A source that nothing says how far to believe is named."""
    with db.writer(tmp_path) as con:
        documented(con, look(0, row("p5.48xlarge", "55"), source="rumour"))
        with pytest.raises(ChipledgerError, match="not registered") as caught:
            put(con, tmp_path)

    assert caught.value.value == "rumour"


def test_every_table_view_and_column_is_described(amended: Path) -> None:
    """Each has a COMMENT; columns have the words and units of warehouse/schema/tables.py, in the dictionary too."""
    tables = query(
        amended,
        "select schema_name || '.' || table_name, comment from duckdb_tables() union all "
        "select schema_name || '.' || view_name, comment from duckdb_views() where not internal",
    )
    columns = query(
        amended,
        "select schema_name, table_name, column_name, comment from duckdb_columns() "
        "where schema_name in ('core', 'ref', 'int', 'mart', 'focus') and not internal "
        "and (schema_name, table_name) not in "
        "(select (schema_name, view_name) from duckdb_views() where starts_with(comment, 'Deprecated'))",
    )
    dictionary = query(
        amended,
        "select table_schema, table_name, column_name, meaning || coalesce(' [' || unit || ']', '') "
        "from mart.data_dictionary",
    )

    assert [
        name
        for name, comment in tables
        if not comment and str(name).split(".")[0] in ("core", "ref", "int", "mart", "focus")
    ] == []
    assert [line for line in columns if not line[3]] == []
    assert {line for line in columns if line[1] != "data_dictionary"} <= set(dictionary)
    declared = declared_columns() | focus_columns()
    assert {line[3] for line in dictionary if line[1] != "data_dictionary"} == {
        declared[str(line[2])].comment for line in dictionary if line[1] != "data_dictionary"
    }
    # Columns of several kinds of rows say what each has.
    assert "A price: a list price" in declared["is_ranked"].meaning
    assert "Of an index: " in declared["drift_log"].meaning


MART_COLUMNS = {
    "accelerator_hour_price": (
        "service_provider_name", "region_id", "availability_zone_id", "instance_type", "accelerator_name",
        "accelerator_count", "capacity_unit", "purchase_option", "commitment_term_hours", "purchase_payment_model",
        "tier", "pricing_currency", "source", "unit_price", "upfront_price", "effective_hourly_price",
        "price_per_accelerator_hour", "price_per_neuron_core_hour", "price_per_accelerator_hour_usd", "valid_from",
        "last_observed_at", "age_days", "is_current", "document_sha256", "offer_id",
    ),
    "price_change": (
        "service_provider_name", "region_id", "availability_zone_id", "instance_type", "accelerator_name",
        "accelerator_count", "capacity_unit", "purchase_option", "commitment_term_hours", "purchase_payment_model",
        "tier", "pricing_currency", "source", "unit_price_before", "unit_price_after", "change_ratio", "effective_at",
        "last_observed_before_at", "observed_at", "change_kind", "source_before", "document_sha256", "offer_id",
    ),
    "source_health": (
        "service_provider_name", "source", "scope", "status", "last_tried_at", "last_good_at", "age_days",
        "is_current", "n_rows", "n_refused", "n_disagreements", "n_without_accelerator", "error",
    ),
    "sku_price": tuple(focus_columns()),
    "price_history": (
        "offer_id", "valid_from", "valid_to", "last_observed_at", "unit_price", "upfront_price", "source",
        "last_source", "document_sha256",
    ),
    "unknown_accelerator": (
        "service_provider_name", "instance_type", "valid_from", "last_observed_at", "n_offers",
    ),
}  # fmt: skip
"""What readers may count on. Columns that mean the same are named the same in every mart."""


def test_marts_and_tables_have_the_documented_columns(offline_run: Path) -> None:
    """Tables of core have exactly the declared columns with their types; marts have at least those above."""
    file = offline_run / "prices.duckdb"
    found: dict[str, dict[str, str]] = {}
    for schema, table, name, kind in query(
        file, "select schema_name, table_name, column_name, data_type from duckdb_columns() order by column_index"
    ):
        found.setdefault(f"{schema}.{table}", {})[str(name)] = str(kind)

    for table in (*TABLES, *DERIVED_TABLES):
        assert found[table.qualified] == {name: declared_columns()[name].type for name in table.columns}, table.name
    for mart, names in MART_COLUMNS.items():
        columns = found[f"{'focus' if mart == 'sku_price' else 'int'}.{mart}"]
        assert [name for name in names if name not in columns] == [], mart
        declared = declared_columns() | focus_columns()
        assert {name: declared[name].type for name in columns} == columns, mart


def test_publishing_twice_gives_the_same_content(tmp_path: Path) -> None:
    """The file is a function of the log and the moment; the old part of it is not."""
    with db.writer(tmp_path) as con:
        documented(con, look(0, row("p5.48xlarge", "55")), look(1, row("p5.48xlarge", "60")))
        first = content(put(con, tmp_path))
        second = content(put(con, tmp_path))

    assert first == second
    assert len(first["core.sku_price"]) == 2


def test_the_published_file_answers_as_of_a_moment(amended: Path, tmp_path: Path) -> None:
    """core.price_known_at is in the file: what was known when, without the writer's file."""
    file = Path(shutil.copy(amended, tmp_path))

    asked = "select unit_price::int from core.price_known_at(timestamp '{}') where unit_price > 1 order by 1"
    assert query(file, asked.format(day(0.5).replace(tzinfo=None))) == [(55,)]
    assert query(file, asked.format(day(1).replace(tzinfo=None))) == [(55,), (60,)]
    assert query(file, asked.format((day(0) - timedelta(days=1)).replace(tzinfo=None))) == []
