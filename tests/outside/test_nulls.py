"""A NULL never ends a page: any offer, any column, all pages are written, and what fails says so in its place."""

import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
import weekly_file

from flows.collect import publisher
from flows.collect.summary import Summary
from flows.config.settings import Settings
from reports.pages import guard, site

NEVER = {"offer_id", "built_at"}
"""Columns that hold everything together: the log refuses a NULL there."""
TABLES = (
    "core.offer", "core.offer_unit", "int.accelerator_hour_price", "int.provider_price", "int.price_history",
    "int.price_move", "int.front_cell", "int.front_bill_table", "int.drift_report", "int.front_move",
    "int.headline_token_cost", "int.token_cost", "int.source_health",
)  # fmt: skip


@pytest.fixture
def file(offline_run: Path, tmp_path: Path) -> Iterator[Path]:
    """Return a published file of a test's own, which it may change."""
    own = tmp_path / "prices.duckdb"
    shutil.copy(offline_run / "prices.duckdb", own)
    own.chmod(0o644)
    yield own


def columns(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return table and column of everything that pages read as a table."""
    rows = con.execute(
        "select schema_name || '.' || table_name, column_name from duckdb_columns() where internal = false"
    ).fetchall()
    tables = {row[0] for row in con.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()}
    return [(table, name) for table, name in rows if table in TABLES and table in tables and name not in NEVER]


PARTS = [(0, 1)] + [pytest.param(part, 6, marks=pytest.mark.prove) for part in range(6)]


@pytest.mark.parametrize(("seed", "n_parts"), PARTS)
def test_a_null_in_any_column_ends_no_page(file: Path, tmp_path: Path, seed: int, n_parts: int) -> None:
    """In some rows of all columns, at length of one part of them: no part of any page fails, none is missing."""
    chosen = random.Random(seed)  # noqa: S311
    with duckdb.connect(str(file)) as con:
        every = columns(con)
        assert len(every) > 150
        for number, (table, name) in enumerate(sorted(every)):
            if number % n_parts == seed:
                part = chosen.randrange(5)
                con.execute(f'update {table} set "{name}" = null where abs(hash(rowid)) % 5 = {part}')
    with guard.noted() as failed:
        site.write(file, tmp_path / "reports", draw=True)
    assert failed == []
    assert {each.path for each in site.PAGES} <= {path.name for path in (tmp_path / "reports").glob("*.html")}


KEYS = ("accelerator_name", "cell", "index_level", "window_days", "purchase_option")
ALONE = ("core.offer", "core.offer_unit", "int.front_cell", "int.drift_report")
OF_NULLS = [
    pytest.param(("core.offer", "int.drift_report"), False, id="two", marks=pytest.mark.prove),
    pytest.param(("core.offer_unit", "int.front_cell"), False, id="two others", marks=pytest.mark.prove),
    *(
        pytest.param((table,), draw, id=f"{table}-{'charts' if draw else 'tables'}", marks=pytest.mark.prove)
        for table in ALONE
        for draw in (False, True)
    ),
]


@pytest.mark.parametrize(("tables", "draw"), OF_NULLS)
def test_a_table_of_nulls_ends_no_page(file: Path, tmp_path: Path, tables: tuple[str, ...], draw: bool) -> None:
    """Everything but the keys is unknown; one table alone, and with charts, only at length."""
    with duckdb.connect(str(file)) as con:
        for of, name in columns(con):
            if of in tables and name not in KEYS:
                con.execute(f'update {of} set "{name}" = null')
    with guard.noted() as failed:
        site.write(file, tmp_path / "reports", draw=draw)
    assert failed == []


def test_a_part_that_fails_costs_itself(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so in its place, all else is written, and the run's summary names it and is not well."""

    def broken(*_: object, **__: object) -> str:
        raise KeyError(None)

    monkeypatch.setattr("reports.pages.front_page.rendered", broken)
    monkeypatch.setattr("reports.pages.drift_page.render", broken)
    file = Path(shutil.copy(weekly_file.weeks(tmp_path_factory), tmp_path))
    summary = Summary(run_id="x", started_at=None, file=file)  # type: ignore[arg-type]
    publisher.report(
        Settings(data_dir=tmp_path, site={"charts": False}), summary, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC)
    )
    page, faults = summary.report, summary.page_faults
    assert page
    text = page.read_text(encoding="utf-8")
    assert "The bill could not be made" in text
    assert 'id="chips"' in text
    assert "could not be made" in (page.parent / "drift.html").read_text(encoding="utf-8")
    assert [fault.split(":")[0] for fault in faults] == ["Drift", "The bill"]
    assert summary.faulty
    assert [line for line in summary.lines() if "could not be made: The bill: KeyError" in line]


def test_without_anybody_noting_a_failure_is_raised() -> None:
    def broken() -> str:
        raise KeyError("x")

    with pytest.raises(KeyError):
        guard.part("x", broken)
