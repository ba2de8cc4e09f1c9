"""The drift index of one chip: what each provider's offers did like for like, and all of them together.

Each chain begins at 100 on its first day in the chart; a chain that broke begins again and is a line of its own.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import polars as pl

from reports import wording
from reports.charts import style
from reports.charts.style import FALL, INK, QUIET, RISE, Drawing, Label

MAX_NAME = 16
MAX_LABELS = 7
MIN_DRIFT = 0.0005
RECENT_DAYS = 8

Row = Mapping[str, Any]


def draw(index: pl.DataFrame, *, chip: str, purchase_option: str, since: datetime, until: datetime) -> Drawing | None:
    """Return the chart of a frame of reports/sql/chart_drift.sql that is of one chip; None where it holds no drift."""
    chains = [
        (provider, rows)
        for (provider, _), group in index.group_by("service_provider_name", "chain_number", maintain_order=True)
        if len(rows := _based(group)) > 1
    ]
    if not chains:
        return None
    since = max(since, datetime.combine(min(rows[0][0] for _, rows in chains), datetime.min.time()))
    shape = style.scale([100, *(value for _, rows in chains for _, value in rows)], baseline=None)
    x = style.time_axis(since, until)
    y = style.value_axis(shape, "100 on each chain's first day here", form="d")
    canvas = style.Canvas()
    points: list[Row] = []
    ordered = sorted(chains, key=lambda chain: (chain[0] is None, abs(_drift(chain[1])) >= MIN_DRIFT))
    for number, (provider, rows) in enumerate(ordered):
        style_of = {"ink": _ink(provider, rows), "width": 3 if provider is None else 1.4, "shade": 0.9}
        points += [
            {"piece": f"{number:03}", "x": _days(day), "y": round(value, 3), **style_of}
            for day, value in _corners(rows)
        ]
    labels = [
        Label(text=_words(provider, rows), value=rows[-1][1], ink=_ink(provider, rows), is_bold=provider is None)
        for provider, rows in sorted(chains, key=lambda chain: (chain[0] is not None, -abs(_drift(chain[1]))))
        if (until.date() - rows[-1][0]).days < RECENT_DAYS and (provider is None or abs(_drift(rows)) >= MIN_DRIFT)
    ]
    option = wording.option(purchase_option)
    whole = [rows for provider, rows in chains if provider is None]
    moved = wording.moved(_drift(whole[-1])) if whole and abs(_drift(whole[-1])) >= MIN_DRIFT else "unchanged"
    begun = wording.day(datetime.combine(whole[-1][0][0], datetime.min.time())) if whole else ""
    n = wording.count(len({provider for provider, _ in chains if provider}), "provider")
    return canvas.drawn(
        canvas.lines(points, x, y, steps=True),
        *canvas.labels(labels[:MAX_LABELS], shape),
        finding=f"{chip} {option}, like for like: {moved}{f' since {begun}' if begun else ''}, {n}.",
        scope="Drift index of offers that were there on both days, each provider with equal weight; grey where nothing "
        "moved. A line that stops is a chain that broke.",
    )


def _based(group: pl.DataFrame) -> list[tuple[date, float]]:
    first = group["price_index"][0]
    return [(day, 100 * value / first) for day, value in group.select("index_date", "price_index").iter_rows()]


def _corners(rows: Sequence[tuple[date, float]]) -> list[tuple[date, float]]:
    """Return the days on which a chain begins, moves and ends."""
    return [
        row for place, row in enumerate(rows) if place in (0, len(rows) - 1) or abs(row[1] - rows[place - 1][1]) > 1e-6
    ]


def _days(day: date) -> float:
    return style.days(datetime.combine(day, datetime.min.time()))


def _drift(rows: Sequence[tuple[date, float]]) -> float:
    return rows[-1][1] / rows[0][1] - 1


def _ink(provider: str | None, rows: Sequence[tuple[date, float]]) -> str:
    if provider is None:
        return INK
    drift = _drift(rows)
    return QUIET if abs(drift) < MIN_DRIFT else FALL if drift < 0 else RISE


def _words(provider: str | None, rows: Sequence[tuple[date, float]]) -> str:
    name = "all" if provider is None else wording.short(provider, most=MAX_NAME)
    return f"{name} {wording.percent(_drift(rows))}"
