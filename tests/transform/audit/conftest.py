"""One published file for all tests of the audit: the archive, four years of AWS in us-east-1, the shipped catalogue."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import kept
import pytest
from few_marts import published_with

from flows.collect import importer, steps
from flows.config.settings import Settings
from transform.audit.judge import Judged
from transform.audit.tables import audit
from warehouse.reference import claims
from warehouse.reference.claims import Claim

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HEADER = "claim_id,article,subject,metric,value,low,high,unit,conditions,as_of"
ASKED = ("throughput", "serving_rate", "training_rate", "cost_left_out", "serving_cost", "training_run_cost")
Read = Callable[..., list[Claim]]
Ask = Callable[..., dict[str, Judged]]


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    """Return a file published with the archive and an import of past prices."""

    def make(folder: Path) -> None:
        with published_with(*ASKED, audit=True), steps.open_run(Settings(data_dir=folder), clock=lambda: NOW) as one:
            one.collector.fetch_in_threads(one.plan(one.collector.sources(offline=True)), one.land)
            importer.land(one, importer.landed(shared / "data/aws_on_demand_observations.csv", one.clock()))
            one.load()
            one.publisher.publish()

    return kept.once(tmp_path_factory, "audited", make) / "prices.duckdb"


@pytest.fixture
def con(audited: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a reader's connection to it."""
    with duckdb.connect(str(audited), read_only=True) as opened:
        yield opened


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads claims of lines of a CSV."""

    def function(*lines: str, header: str = HEADER) -> list[Claim]:
        file = tmp_path / "claims.csv"
        file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return claims.read_table(file)

    return function


@pytest.fixture
def ask(con: duckdb.DuckDBPyConnection, read: Read) -> Ask:
    """Return a function that gives the verdict on lines of a CSV, by id."""

    def function(*lines: str) -> dict[str, Judged]:
        return {one.claim.claim_id: one for one in audit(con, read(*lines))[0]}

    return function


@pytest.fixture(scope="session")
def shipped(audited: Path) -> dict[str, Judged]:
    """Return the verdict on each shipped claim, by id."""
    with duckdb.connect(str(audited), read_only=True) as opened:
        return {one.claim.claim_id: one for one in audit(opened, claims.shipped())[0]}
