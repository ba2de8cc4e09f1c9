"""The published file: whole or not at all, read while it is replaced, described to the last column."""

import shutil
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import duckdb
import kept
import pytest
from few_marts import LEAST_MARTS, undescribed
from looks import ParsedLook, day, look, row
from published import content, query

from transform.models import create_formulas
from warehouse import db, publish
from warehouse.columns import COLUMNS, FOCUS_COLUMNS
from warehouse.errors import ChipledgerError
from warehouse.load import load
from warehouse.schemas import DERIVED_TABLES, TABLES

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


def documented(con: duckdb.DuckDBPyConnection, *looks: ParsedLook) -> None:
    """Load looks, with the documents that they name."""
    for each in looks:
        con.execute(
            "insert into core.document by name select ? as document_sha256, ? as source, ? as scope",
            [each.document_sha256, each.source, each.scope],
        )
        load(con, [each], recorded_at=each.observed_at)


def put(con: duckdb.DuckDBPyConnection, data_dir: Path, at: float = 1) -> Path:
    return publish.publish(
        con, data_dir, marts=LEAST_MARTS, formulas=create_formulas, sources=SOURCES, built_at=day(at), version="test"
    )


def one_price(data_dir: Path, price: str, at: float = 0) -> Path:
    """Add a price of P5 to a data directory and publish it, without comments."""
    with db.writer(data_dir) as con, undescribed():
        documented(con, look(at, row("p5.48xlarge", price), row("g6.xlarge", "1")))
        return put(con, data_dir, at)


@pytest.fixture(scope="session")
def first_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with one published price, of 55, with comments; read it, or copy it."""

    def make(folder: Path) -> None:
        with db.writer(folder) as con:
            documented(con, look(0, row("p5.48xlarge", "55"), row("g6.xlarge", "1")))
            put(con, folder, 0)

    return kept.once(tmp_path_factory, "one-price", make)


@pytest.fixture(scope="session")
def second_file(first_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that is published when the price has gone to 60; read it, or copy it."""

    def make(folder: Path) -> None:
        shutil.copytree(first_folder, folder, dirs_exist_ok=True)
        one_price(folder, "60", 1)

    return kept.once(tmp_path_factory, "two-prices", make) / publish.FILE_NAME


@pytest.fixture
def file(first_folder: Path, tmp_path: Path) -> Path:
    """Return the published file of a data directory of one's own, with the one price of 55."""
    return shutil.copytree(first_folder, tmp_path, dirs_exist_ok=True) / publish.FILE_NAME


def ask(child: subprocess.Popen[str]) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("again\n")
    child.stdin.flush()
    return child.stdout.readline().strip()


def reader(file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", READER, str(file)], stdin=-1, stdout=-1, text=True)


def test_readers_see_no_error_and_one_state(file: Path, tmp_path: Path) -> None:
    """A reader that keeps the file open reads on, and the old data, while it is replaced; a new one reads the new."""
    with reader(file) as old:
        assert old.stdout is not None
        assert old.stdout.readline() == "55\n"
        one_price(tmp_path, "60", 1)
        assert ask(old) == "55"
        with reader(file) as new:
            assert new.stdout is not None
            assert new.stdout.readline() == "60\n"
            one_price(tmp_path, "65", 2)
            assert (ask(old), ask(new)) == ("55", "60")
            assert new.stdin is not None
            new.stdin.close()
        assert old.stdin is not None
        old.stdin.close()
    assert (old.returncode, new.returncode) == (0, 0)


def test_the_file_is_read_only_and_alone(first_folder: Path) -> None:
    """Nobody writes into a product: mode 0444; no part, no write-ahead log beside it."""
    assert stat.S_IMODE((first_folder / "prices.duckdb").stat().st_mode) == 0o444
    assert sorted(path.name for path in first_folder.iterdir()) == ["build.duckdb", "prices.duckdb", "writer.lock"]


def test_a_stale_write_ahead_log_is_removed(file: Path, tmp_path: Path) -> None:
    """A .wal that somebody left beside the target would be replayed into the new file: it goes."""
    wal = file.with_name("prices.duckdb.wal")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("set checkpoint_threshold = '1GB'")
        other.execute("create table smuggled as select 1 as x")
        other.execute("pragma disable_checkpoint_on_shutdown")
        wal.write_bytes((tmp_path / "other.duckdb.wal").read_bytes())
    assert wal.stat().st_size > 0

    one_price(tmp_path, "60", 1)

    assert not wal.exists()
    assert query(file, "select count(*) from duckdb_tables() where table_name = 'smuggled'") == [(0,)]


SPOILT = {
    "intervals of one offer and source overlap": "update core.sku_price set valid_to = valid_to + interval 1 hour",
    "an offer has two open intervals from one source": "insert into core.sku_price from core.sku_price "
    "where valid_to is null",
    "an interval ends before it begins": "update core.sku_price set valid_to = valid_from where valid_to is not null",
    "an interval was last confirmed outside itself": "update core.sku_price set last_observed_at = valid_to "
    "where valid_to is not null",
    "a spliced price was last confirmed outside itself": "update mart.price_history set last_observed_at = valid_from "
    "- interval 1 hour",
    "a price event has no document": "delete from core.document",
    "a price event has no offer": "delete from core.offer where instance_type = 'p5.48xlarge'",
    "a price per chip-hour is not positive": "update mart.accelerator_hour_price set price_per_accelerator_hour = 0",
    "FOCUS SkuPrice: a record is not unique": "insert into mart.price_history from mart.price_history",
}


def spoiling(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Have what is published harmed before it is verified, by the check of that name alone."""
    verify = publish._verify

    def spoil(part: Path) -> None:
        with duckdb.connect(str(part)) as con:
            con.execute(SPOILT[name])
        verify(part)

    monkeypatch.setattr(publish, "_verify", spoil)
    monkeypatch.setattr(publish, "CHECKS", [check for check in publish.CHECKS if check[0] == name])


def refused(file: Path, name: str) -> None:
    """Hold that publishing over a file fails by name, that the old file stays, and no part of the new one."""
    before, inode = file.read_bytes(), file.stat().st_ino

    with pytest.raises(ChipledgerError, match=f"not published: {name}"):
        one_price(file.parent, "60", 1)

    assert (file.read_bytes(), file.stat().st_ino) == (before, inode)
    assert list(file.parent.glob("*.part*")) == []


@pytest.mark.parametrize("name", [name for name, _ in publish.CHECKS])
def test_a_failing_check_leaves_the_old_file(
    file: Path, second_file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check is seen to fail, on a file that was built before."""
    monkeypatch.setattr(publish, "_build", lambda con, part, **_: shutil.copyfile(second_file, part))
    spoiling(monkeypatch, name)

    refused(file, name)


def test_what_is_built_and_fails_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, all the way from the log."""
    spoiling(monkeypatch, "a price event has no offer")

    refused(file, "a price event has no offer")


def test_prices_of_no_registered_source_are_not_published(tmp_path: Path) -> None:
    """A source that nothing says how far to believe is named."""
    with db.writer(tmp_path) as con:
        documented(con, look(0, row("p5.48xlarge", "55"), source="rumour"))
        with pytest.raises(ChipledgerError, match="not registered") as caught:
            put(con, tmp_path)

    assert caught.value.value == "rumour"


def test_every_table_view_and_column_is_described(first_folder: Path) -> None:
    """Each has a COMMENT; columns have the words and units of warehouse/schemas.py, in the dictionary too."""
    file = first_folder / publish.FILE_NAME
    tables = query(
        file,
        "select schema_name || '.' || table_name, comment from duckdb_tables() union all "
        "select schema_name || '.' || view_name, comment from duckdb_views() where not internal",
    )
    columns = query(
        file,
        "select schema_name, table_name, column_name, comment from duckdb_columns() "
        "where schema_name in ('core', 'mart') and not internal",
    )
    dictionary = query(
        file,
        "select table_schema, table_name, column_name, meaning || coalesce(' [' || unit || ']', '') "
        "from mart.data_dictionary",
    )

    assert [name for name, comment in tables if not comment and str(name).split(".")[0] in ("core", "mart")] == []
    assert [line for line in columns if not line[3]] == []
    assert {line for line in columns if line[1] != "data_dictionary"} <= set(dictionary)
    declared = COLUMNS | FOCUS_COLUMNS
    assert {line[3] for line in dictionary if line[1] != "data_dictionary"} == {
        declared[str(line[2])].comment for line in dictionary if line[1] != "data_dictionary"
    }


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
    "focus_sku_price": tuple(FOCUS_COLUMNS),
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
    file = offline_run / publish.FILE_NAME
    found: dict[str, dict[str, str]] = {}
    for schema, table, name, kind in query(
        file, "select schema_name, table_name, column_name, data_type from duckdb_columns() order by column_index"
    ):
        found.setdefault(f"{schema}.{table}", {})[str(name)] = str(kind)

    for table in (*TABLES, *DERIVED_TABLES):
        assert found[table.qualified] == {name: COLUMNS[name].type for name in table.columns}, table.name
    for mart, names in MART_COLUMNS.items():
        columns = found[f"mart.{mart}"]
        assert [name for name in names if name not in columns] == [], mart
        declared = COLUMNS | FOCUS_COLUMNS
        assert {name: declared[name].type for name in columns} == columns, mart


def test_publishing_twice_gives_the_same_content(tmp_path: Path) -> None:
    """The file is a function of the log and the moment; the old part of it is not."""
    with db.writer(tmp_path) as con:
        documented(con, look(0, row("p5.48xlarge", "55")), look(1, row("p5.48xlarge", "60")))
        first = content(put(con, tmp_path))
        second = content(put(con, tmp_path))

    assert first == second
    assert len(first["core.sku_price"]) == 2


def test_nothing_of_a_killed_publish_remains(file: Path, tmp_path: Path) -> None:
    """The next run clears away the parts and their write-ahead logs."""
    for name in ("prices.duckdb.4711.part", "prices.duckdb.4711.part.wal"):
        (tmp_path / name).write_bytes(b"half")
    one_price(tmp_path, "60", 1)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["build.duckdb", file.name, "writer.lock"]


def test_the_published_file_answers_as_of_a_moment(second_file: Path, tmp_path: Path) -> None:
    """core.price_known_at is in the file: what was known when, without the writer's file."""
    file = Path(shutil.copy(second_file, tmp_path))
    asked = "select unit_price::int from core.price_known_at(timestamp '{}') where unit_price > 1 order by 1"
    assert query(file, asked.format(day(0.5).replace(tzinfo=None))) == [(55,)]
    assert query(file, asked.format(day(1).replace(tzinfo=None))) == [(55,), (60,)]
    assert query(file, asked.format((day(0) - timedelta(days=1)).replace(tzinfo=None))) == []
