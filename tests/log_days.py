"""Looks and reference rates put into a log day by day, as they are learnt, and what is published of them."""

from collections.abc import Iterable
from pathlib import Path

import duckdb
from few_marts import formulas_of
from log_rows import add_documents
from looks import day

from transform.models import Mart
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch
from warehouse.publish import published_file
from warehouse.publish.frame import SourceRow


def told(con: duckdb.DuckDBPyConnection, *looks: ParsedFetch, learnt: float) -> None:
    """Load looks with their documents, together, as a run does: a load takes a fifth of a second, of many looks too."""
    add_documents(con, *looks)
    load(con, looks, recorded_at=day(learnt))


def rate(con: duckdb.DuckDBPyConnection, at: float, usd: float, *, learnt: float) -> None:
    """Add the dollars of a euro on a day."""
    con.execute(
        "insert into core.fx_rate by name select 'USD' as pricing_currency, ?::DATE as rate_date, "
        "?::DECIMAL(18,6) as units_per_eur, ?::TIMESTAMP as recorded_at, 'ecb' as source",
        [day(at).date(), usd, naive(day(learnt))],
    )


def put(
    con: duckdb.DuckDBPyConnection, folder: Path, at: float, *, marts: tuple[Mart, ...], sources: Iterable[SourceRow]
) -> Path:
    """Publish a log with some marts, as of a day, into a folder, which is made where it does not exist."""
    folder.mkdir(exist_ok=True)
    return published_file.publish(
        con, folder, marts=marts, formulas=formulas_of(marts), sources=sources, built_at=day(at), version="test"
    )
