"""What charts and sparklines are made of: frames, each the answer of one SELECT in reports/sql/chart_*.sql.

Each SELECT is told its moments, so that the same holds for a week of the past, whose marts are made again in memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import duckdb
import polars as pl

from reports.queries import SQL

YEAR = timedelta(days=365)
SPARK = timedelta(days=90)
MAX_SERIES = 4
"""Charts of a week: of the chips and options of which most moved."""
KEY = ("accelerator_name", "purchase_option")


@dataclass(frozen=True, kw_only=True)
class Charted:
    """What the charts of a page need: prices in the year before `until`, and spans of offers in the last 90 days.

    `prices` is of reports/sql/chart_price.sql, `sparks` of reports/sql/chart_spark.sql; times are naive and UTC.
    """

    until: datetime
    prices: pl.DataFrame
    sparks: pl.DataFrame

    @property
    def since(self) -> datetime:
        """Return the first moment of the charts."""
        return self.until - YEAR


def of_week(con: duckdb.DuckDBPyConnection, moves: pl.DataFrame, until: datetime) -> Charted:
    """Return what the charts of a week's moves need, from marts as they stood at its end."""
    listed = moves.filter(pl.col("change_kind") == "list_change", pl.col("accelerator_name").is_not_null())
    keys = listed.select(KEY).unique()
    return Charted(
        until=until,
        prices=prices(con, keys["accelerator_name"], keys["purchase_option"], since=until - YEAR, until=until),
        sparks=sparks(con, moves["offer_id"], until=until),
    )


def prices(
    con: duckdb.DuckDBPyConnection, chips: Iterable[str], options: Iterable[str], *, since: datetime, until: datetime
) -> pl.DataFrame:
    """Return the cheapest prices of each provider and tier over time, of chips under purchase options."""
    return _ask(con, "price", chips=sorted({*chips}), options=sorted({*options}), since=since, until=until)


def sparks(con: duckdb.DuckDBPyConnection, offers: Iterable[int], *, until: datetime) -> pl.DataFrame:
    """Return the prices of offers over the 90 days before a moment, as spans."""
    return _ask(con, "spark", offers=sorted({*offers}), since=until - SPARK, until=until)


def drift(
    con: duckdb.DuckDBPyConnection, chips: Iterable[str], purchase_option: str, *, until: datetime
) -> pl.DataFrame:
    """Return the drift index of chips, by provider and of all of them, in the year before a moment."""
    return _ask(con, "drift", chips=sorted({*chips}), option=purchase_option, since=until - YEAR, until=until)


def frontier(con: duckdb.DuckDBPyConnection, purchase_option: str) -> pl.DataFrame:
    """Return what a million output tokens costs at each speed, of the offers under a purchase option."""
    return _ask(con, "frontier", option=purchase_option)


def _ask(con: duckdb.DuckDBPyConnection, name: str, **values: Sequence[object] | datetime | str) -> pl.DataFrame:
    text = _text(name)
    if "chart_held" in text:
        con.execute(f"create or replace temp view chart_held as {_text('held')}")
    return con.execute(text, values).pl()


def _text(name: str) -> str:
    return (SQL / f"chart_{name}.sql").read_text(encoding="utf-8")
