"""The charts of a week: of each of the reader's chips whose list prices moved, by purchase option."""

from collections.abc import Iterator
from typing import Any

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import price_chart, style
from reports.charts.price_chart import Event
from reports.charts.site_charts import grid
from reports.charts.style import Drawing
from reports.weekly.facts import WeekFacts

MAX_CHARTS = 4
MAX_NEWS = 3
"""Moves that one chart has words for."""
MIN_CHANGE = 0.01


def drawings(found: WeekFacts, *, most: int = MAX_CHARTS) -> list[Drawing]:
    """Return the charts of a week, none in a quiet one."""
    made: list[Drawing] = []
    for rows in _series(found):
        if len(made) == most:
            break
        drawing = _draw(found, rows)
        made += [drawing] if drawing else []
    return made


def figures(found: WeekFacts) -> Markup:
    """Return the charts as figures of the page; empty where there are none."""
    return grid([style.figure(each) for each in drawings(found)])


def _series(found: WeekFacts) -> Iterator[list[dict[str, Any]]]:
    """Return the moves of each chip and option, by how many sell the chip and how far it moved."""
    listed = found.lists.filter(
        pl.col("is_per_chip"),
        pl.col("accelerator_name").is_in(found.chips),
        pl.col("pricing_currency") == "USD",
        pl.col("change_ratio").abs() >= MIN_CHANGE,
    )
    groups: dict[tuple[str, str | None, str], list[dict[str, Any]]] = {}
    for row in listed.iter_rows(named=True):
        key = row["accelerator_name"], row["form_factor"], row["purchase_option"]
        groups.setdefault(key, []).append(row)

    def weight(rows: list[dict[str, Any]]) -> tuple[bool, float]:
        largest = max(abs(row["change_ratio"]) for row in rows)
        return rows[0]["purchase_option"] == "on_demand", largest * (1 + rows[0]["n_providers"]) ** 0.5

    yield from sorted(groups.values(), key=weight, reverse=True)


def _draw(found: WeekFacts, rows: list[dict[str, Any]]) -> Drawing | None:
    name, form, option = (rows[0][field] for field in ("accelerator_name", "form_factor", "purchase_option"))
    charted = found.charted
    if charted is None:
        return None
    prices = charted.prices.filter(
        pl.col("accelerator_name") == name,
        pl.col("purchase_option") == option,
        pl.lit(value=True) if form is None else pl.col("form_factor") == form,
    )
    moved = [
        Event(
            provider=row["service_provider_name"],
            tier=row["tier"],
            at=row["event_at"],
            before=row["price_before"],
            after=row["price_after"],
            ratio=row["change_ratio"],
        )
        for row in sorted(rows, key=lambda row: -abs(row["change_ratio"]))
    ]
    chip = " ".join(part for part in (name, form) if part)
    return price_chart.draw(
        prices,
        chip=wording.short(chip, most=24),
        purchase_option=option,
        since=charted.since,
        until=charted.until,
        moved=_apart(moved)[:MAX_NEWS],
        week=(found.week.since, charted.until),
    )


def _apart(moved: list[Event]) -> list[Event]:
    """Return the largest move of each provider and tier: several machines or terms of one have one line."""
    seen: dict[tuple[str, str | None], Event] = {}
    for event in moved:
        seen.setdefault((event.provider, event.tier), event)
    return list(seen.values())
