"""The charts that pages without a week show: where each main chip stands, what it did like for like, cost per token.

Each function asks an open published file and returns HTML for a page, empty where there is nothing to draw. What draws
takes half a second to start; a page that must be there at once calls none of it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import duckdb
import polars as pl
from markupsafe import Markup

from reports.charts import chart_facts, sparkline
from reports.templating import macro

MAX_CHIPS = 4
ON_DEMAND = "on_demand"

grid = macro("chart.html.j2", "grid")


def standing(con: duckdb.DuckDBPyConnection, stand: pl.DataFrame, *, built_at: datetime) -> Markup:
    """Return charts of the last 12 months on demand, of the first chips of a frame of
    reports/sql/provider_price.sql: of each the form that most sell; forms are never put together.
    """
    from reports.charts import price_chart, style

    wanted = _main(stand)
    prices = chart_facts.prices(
        con, [name for name, _ in wanted], [ON_DEMAND], since=built_at - chart_facts.YEAR, until=built_at
    )
    made = []
    for name, form in wanted:
        of_form = pl.lit(value=True) if form is None else pl.col("form_factor") == form
        shown = prices.filter(pl.col("accelerator_name") == name, of_form)
        with style.quick():
            drawing = price_chart.draw(
                shown,
                chip=" ".join(part for part in (name, form) if part),
                purchase_option=ON_DEMAND,
                since=built_at - chart_facts.YEAR,
                until=built_at,
            )
        made += [style.figure(drawing)] if drawing else []
        if len(made) == MAX_CHIPS:
            break
    return grid(made)


def _main(stand: pl.DataFrame) -> list[tuple[str, str | None]]:
    """Return each chip with the form that most providers sell; a chip of which one form alone is known with None."""
    sold = stand.filter(pl.col("purchase_option") == ON_DEMAND)
    chips = sold["accelerator_name"].drop_nulls().unique(maintain_order=True)[: 2 * MAX_CHIPS]
    made: list[tuple[str, str | None]] = []
    for chip in chips:
        forms = sold.filter(pl.col("accelerator_name") == chip, pl.col("form_factor").is_not_null())
        counts = forms.group_by("form_factor").agg(pl.col("service_provider_name").n_unique().alias("n"))
        ranked = counts.sort("n", "form_factor", descending=[True, False])["form_factor"]
        made.append((chip, ranked[0] if len(ranked) > 1 else None))
    return made


def drifts(con: duckdb.DuckDBPyConnection, chips: Iterable[str], *, built_at: datetime) -> Markup:
    """Return charts of the drift index of chips on demand, in their order."""
    from reports.charts import drift_chart, style

    wanted = list(dict.fromkeys(chips))[:MAX_CHIPS]
    index = chart_facts.drift(con, wanted, ON_DEMAND, until=built_at)
    made = []
    for chip in wanted:
        with style.quick():
            drawing = drift_chart.draw(
                index.filter(pl.col("accelerator_name") == chip),
                chip=chip,
                purchase_option=ON_DEMAND,
                since=built_at - chart_facts.YEAR,
                until=built_at,
            )
        made += [style.figure(drawing)] if drawing else []
    return grid(made)


def frontiers(con: duckdb.DuckDBPyConnection) -> Markup:
    """Return charts of cost against speed on demand, of the models of which most is known."""
    from reports.charts import frontier_chart, style

    points = chart_facts.frontier(con, ON_DEMAND)
    return grid([style.figure(each) for each in frontier_chart.drawings(points, purchase_option=ON_DEMAND)])


def sparklines(con: duckdb.DuckDBPyConnection, offers: Iterable[int], *, built_at: datetime) -> Mapping[int, str]:
    """Return the sparklines of the last 90 days by offer, those of which a price is known; quick, nothing is loaded."""
    spans = chart_facts.sparks(con, offers, until=built_at)
    return sparkline.of_offers(spans, since=built_at - chart_facts.SPARK, until=built_at)
