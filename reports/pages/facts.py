"""What a page is made of, read from the published file: frames, each the answer of one SELECT in reports/sql/."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
from markupsafe import Markup

from reports import currency
from reports.charts import site_charts
from reports.currency import Rate
from reports.queries import Row, ask, build, frame
from reports.tables import change_tables, price_tables, source_tables, truth_tables


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The published file as the daily page sees it; times are naive and UTC, as in the file.

    `built_at` is the only clock of a page. `runs` has the last run and, where there was one, the run before. The other
    frames carry the names of their SELECT. `sparks` are the sparklines of offers that a table shows, the charts HTML,
    empty where none are drawn. `checks` are the truth checks, worst first; None where the file has none.
    `rate` is that of the currency in which prices are shown beside US dollars, if any.
    `regions` says of which regions alone standing prices are; empty: of all.
    """

    built_at: datetime
    version: str
    runs: pl.DataFrame
    scopes: pl.DataFrame
    counts: Row
    confirmed: int
    changes: pl.DataFrame
    aws_prices: pl.DataFrame
    provider_prices: pl.DataFrame
    old_prices: pl.DataFrame
    refused: pl.DataFrame
    unknown: pl.DataFrame
    gaps: pl.DataFrame
    documents: pl.DataFrame
    models: pl.DataFrame
    sparks: Mapping[int, str]
    standing_charts: Markup
    drift_charts: Markup
    checks: Sequence[Row] | None = None
    rate: Rate | None = None
    regions: str = ""

    @property
    def has_previous_run(self) -> bool:
        """Return whether there was a run before the last one, so that something can have moved since."""
        return self.runs.height > 1


MAX_KNOWN = 8
"""Rows of the last known changes, for AWS and for all others."""


def since_run(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the changes since the last run, most telling first."""
    return changes.filter("is_since")


def earlier(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the changes of the last 30 days that are not since the last run, most telling first."""
    return changes.filter(pl.col("is_recent") & ~pl.col("is_since"))


def last_known(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the newest changes of list prices, AWS's and others' apart, for a file in which nothing is recent."""
    of_lists = changes.filter(pl.col("change_kind") == "list_change").sort(
        pl.col("observed_at"), pl.col("change_ratio").abs(), descending=True, maintain_order=True
    )
    is_aws = pl.col("service_provider_name") == "AWS"
    return pl.concat([of_lists.filter(is_aws).head(MAX_KNOWN), of_lists.filter(~is_aws).head(MAX_KNOWN)])


def read(
    file: Path,
    *,
    draw: bool = False,
    shown_in: str = currency.USD,
    standing: duckdb.DuckDBPyConnection | None = None,
    regions: str = "",
) -> Facts:
    """Return the facts of a published file, which is opened read-only and closed again; with `draw`, charts too.

    `shown_in` is the currency in which prices are shown beside US dollars. `standing` is the file cut to some regions,
    for the tables of where things stand, and `regions` says to which.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = build(con)
        runs = frame(con, "run")
        last = runs.row(0, named=True) if runs.height else {"run_id": "", "recorded_at": None}
        previous = runs.row(1, named=True)["ended_at"] if runs.height > 1 else None
        changes = frame(con, "change", recorded_at=last["recorded_at"], previous_ended_at=previous)
        aws_prices = frame(standing or con, "aws_price")
        provider_prices = frame(standing or con, "provider_price")
        old_prices = frame(standing or con, "provider_price_old")
        refused = frame(con, "refused")
        shown = [
            aws_prices,
            old_prices.head(price_tables.MAX_OLD),
            refused.head(source_tables.MAX_REFUSED),
            since_run(changes).head(change_tables.MAX_CHANGES),
            earlier(changes).head(change_tables.MAX_CHANGES),
            last_known(changes),
            *(
                price_tables.of_option(provider_prices, option)
                for option in provider_prices["purchase_option"].unique()
            ),
        ]
        stand = price_tables.of_option(provider_prices, "on_demand")
        return Facts(
            built_at=built_at,
            version=version,
            runs=runs,
            scopes=frame(con, "scope"),
            counts=ask(con, "count")[0],
            confirmed=frame(con, "confirmed", run_id=last["run_id"]).item(),
            changes=changes,
            aws_prices=aws_prices,
            provider_prices=provider_prices,
            old_prices=old_prices,
            refused=refused,
            unknown=frame(con, "unknown"),
            gaps=frame(con, "gap"),
            documents=frame(
                con, "document", shas=sorted({*pl.concat(f["document_sha256"] for f in shown).drop_nulls()})
            ),
            models=frame(con, "model"),
            sparks=site_charts.sparklines(
                con, pl.concat(f["offer_id"] for f in (*shown[3:6], stand)).to_list(), built_at=built_at
            ),
            standing_charts=site_charts.standing(con, stand, built_at=built_at) if draw else Markup(),
            checks=truth_tables.read(con),
            drift_charts=site_charts.drifts(con, stand["accelerator_name"], built_at=built_at) if draw else Markup(),
            rate=currency.rate(con, shown_in, built_at),
            regions=regions,
        )
