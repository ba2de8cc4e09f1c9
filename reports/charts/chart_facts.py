"""What charts and sparklines of prices are made of: frames, each the answer of one SELECT in reports/sql/chart_*.sql.

Each SELECT is given its moments, so that the same holds for a week of the past, whose marts are made again in memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import duckdb
import polars as pl

from reports.charts import sparkline
from reports.queries import frame, select
from reports.weekly.calendar import MIN_CHANGE

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


def drawn(moves: pl.DataFrame, chips: Sequence[str]) -> pl.DataFrame:
    """Return the moves of a week that charts show: list prices of the reader's chips in US dollars."""
    return moves.filter(
        pl.col("change_kind") == "list_change",
        pl.col("is_per_chip"),
        pl.col("accelerator_name").is_in(chips),
        pl.col("pricing_currency") == "USD",
        pl.col("change_ratio").abs() >= MIN_CHANGE,
    )


def of_week(con: duckdb.DuckDBPyConnection, moves: pl.DataFrame, chips: Sequence[str], until: datetime) -> Charted:
    """Return what the charts of a week's moves need, from marts as they stood at its end."""
    _hold(con)
    series = drawn(moves, chips).select("accelerator_name", "purchase_option").unique().sort(pl.all())
    names, options = series["accelerator_name"].to_list(), series["purchase_option"].to_list()
    return Charted(
        until=until,
        prices=frame(con, "chart_price", chips=names, options=options, since=until - YEAR, until=until),
        sparks=sparks(con, moves["offer_id"], until=until),
    )


def sparks(con: duckdb.DuckDBPyConnection, offers: Iterable[int], *, until: datetime) -> pl.DataFrame:
    """Return the prices of offers over the 90 days before a moment, as spans; an offer that is NULL has none."""
    _hold(con)
    return frame(con, "chart_spark", offers=sorted({*offers} - {None}), since=until - SPARK, until=until)


def _hold(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"create or replace temp view chart_held as {select('chart_held')}")
