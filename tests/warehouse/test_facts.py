"""Facts beside prices: written when they are new, and again only when they change."""

from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest

from warehouse.log import db
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch, no_rows

START = datetime(2026, 1, 1, tzinfo=UTC)


def advice(*rows: tuple[str, int]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"region_id": "us-east-1", "instance_type": name, "operating_system": "Linux",
             "savings_percent": percent, "interruption_band": "<5%", "document_sha256": "ab"}
            for name, percent in rows
        ]
    )  # fmt: skip


def look(day: int, frame: pl.DataFrame) -> ParsedFetch:
    return ParsedFetch(
        run_id="run", source="aws_spot_feed", scope="all", observed_at=START + timedelta(days=day), complete=True,
        archived=False, document_sha256=f"ab{day}", rows=no_rows(), facts={"spot_advice": frame},
    )  # fmt: skip


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        db.migrate(connection)
        yield connection


def test_a_fact_is_written_again_only_when_it_changes(con):
    """The same saving three days running is one row; another saving, and the first again, are two more."""
    for day, percent in enumerate([60, 60, 60, 70, 60]):
        (result,) = load(con, [look(day, advice(("p5.48xlarge", percent)))], recorded_at=START + timedelta(days=day))
        assert result.status == "ok"
    rows = con.execute("select savings_percent, day(observed_at) from core.spot_advice order by observed_at").fetchall()
    assert rows == [(60, 1), (70, 4), (60, 5)]


def test_facts_carry_source_time_and_document(con):
    """A fact leads back to the document that says it."""
    load(con, [look(0, advice(("p5.48xlarge", 60), ("g5.xlarge", 50)))], recorded_at=START)
    rows = con.execute(
        "select instance_type, source, observed_at, document_sha256, recorded_at from core.spot_advice order by all"
    ).fetchall()
    moment = START.replace(tzinfo=None)
    assert rows == [
        ("g5.xlarge", "aws_spot_feed", moment, "ab", moment),
        ("p5.48xlarge", "aws_spot_feed", moment, "ab", moment),
    ]


def test_an_unknown_table_is_refused(con):
    """A source that names a table nobody declared fails loudly, and leaves nothing behind."""
    one = look(0, advice(("p5.48xlarge", 60)))
    with pytest.raises(KeyError, match="gossip"):
        load(con, [ParsedFetch(**{**vars(one), "facts": {"gossip": one.facts["spot_advice"]}})], recorded_at=START)
    assert con.execute("select count(*) from core.scope_run").fetchone() == (0,)
