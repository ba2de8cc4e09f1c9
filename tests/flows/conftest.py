"""What the flows' tests publish: few marts, no comments, or the least."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from few_marts import FEW_MACROS, FEW_MARTS, no_pages, published_with

from warehouse.log.events import naive
from warehouse.publish.chains import SKU_PRICE
from warehouse.reference import throughput


@pytest.fixture
def few_marts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish without the marts of cost, drift and audit, and without pages, which take longer than all else."""
    monkeypatch.setattr("flows.collect.publisher.MARTS", FEW_MARTS)
    monkeypatch.setattr("flows.collect.publisher.PUBLIC", ())
    monkeypatch.setattr("flows.collect.publisher.MACROS", FEW_MACROS)
    monkeypatch.setattr("flows.collect.publisher.audit_tables.TABLES", ())
    monkeypatch.setattr("flows.collect.publisher.report", no_pages)


@pytest.fixture
def least_marts() -> Iterator[None]:
    """Publish prices as they were, and no mart that is made of them."""
    with published_with(least=()):
        yield


@pytest.fixture
def log_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish tables of the log and its prices, and no mart: a tenth of the time, where a test asks for the log."""

    def publish(con: duckdb.DuckDBPyConnection, folder: Path, *, built_at: datetime, **_: object) -> Path:
        file = folder / "prices.duckdb"
        file.unlink(missing_ok=True)
        con.execute(f"attach '{file}' as alone")
        con.execute("create schema alone.core")
        for table in ("document", "offer", "price_event", "quarantine", "scope_run", "throughput"):
            con.execute(f"create table alone.core.{table} as from core.{table}")
        con.execute(f"create table alone.core.sku_price as {SKU_PRICE}")
        con.execute("create schema alone.meta")
        con.execute(
            "create table alone.meta.build as select history_id, ?::timestamp as built_at from meta.history",
            [naive(built_at)],
        )
        con.execute("detach alone")
        if con.execute("from core.throughput limit 1").fetchone():
            with duckdb.connect(str(file)) as made:
                throughput.complete(made, "(from core.throughput limit 0)")
        return file

    monkeypatch.setattr("flows.collect.publisher.publish", publish)
