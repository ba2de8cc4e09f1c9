"""What charts and sparklines of prices are made of: frames, each the answer of one SELECT in reports/sql/chart_*.sql.

Each SELECT is given its moments, so that the same holds for a week of the past, whose marts are made again in memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import duckdb
import polars as pl

from reports.charts import sparkline
from reports.queries import frame, select

YEAR = timedelta(days=365)
SPARK = timedelta(days=sparkline.DAYS)


@dataclass(frozen=True, kw_only=True)
class Charted:
    """What the charts of a week need: prices in the year before `until`, and spans of offers in the last 90 days.

    `prices` is of reports/sql/chart_price.sql, `sparks` of reports/sql/chart_spark.sql; times are naive and UTC.
    """

    until: datetime
    prices: pl.DataFrame
    sparks: pl.DataFrame

    @property
    def since(self) -> datetime:
        """Return the first moment of the charts."""
        return self.until - YEAR


def of_week(con: duckdb.DuckDBPyConnection, moves: pl.DataFrame, drawn: pl.DataFrame, until: datetime) -> Charted:
    """Return what the charts of a week need, from marts as they stood at its end; those of `drawn` have a chart."""
    _hold(con)
    series = drawn.select("accelerator_name", "purchase_option").unique().sort(pl.all())
    chips, options = series["accelerator_name"].to_list(), series["purchase_option"].to_list()
    return Charted(
        until=until,
        prices=frame(con, "chart_price", chips=chips, options=options, since=until - YEAR, until=until),
        sparks=sparks(con, moves["offer_id"], until=until),
    )


def sparks(con: duckdb.DuckDBPyConnection, offers: Iterable[int], *, until: datetime) -> pl.DataFrame:
    """Return the prices of offers over the 90 days before a moment, as spans; an offer that is NULL has none."""
    _hold(con)
    return frame(con, "chart_spark", offers=sorted({*offers} - {None}), since=until - SPARK, until=until)


def _hold(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"create or replace temp view chart_held as {select('chart_held')}")
