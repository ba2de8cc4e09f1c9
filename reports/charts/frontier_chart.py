"""Cost of a million output tokens against the speed that a user gets: each offer, each chip's cheapest, the frontier.

The frontier is the cheapest cost seen at each speed, whatever the chip. Where no chip was measured to be fast enough
the plot is shaded and says so; a chip's line ends at the last speed that it reaches.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from reports import wording
from reports.charts import style
from reports.charts.style import INK, LINE, QUIET, Drawing, Label

MAX_CHARTS = 4
MAX_NAME = 14

Row = Mapping[str, Any]


def drawings(points: pl.DataFrame, *, purchase_option: str, most: int = MAX_CHARTS) -> list[Drawing]:
    """Return the charts of a frame of reports/sql/chart_frontier.sql: of each model the best covered operating point,
    the best covered models first.
    """
    made: list[Drawing] = []
    best = points.group_by("model_name").agg(pl.col("group_rank").min()).sort("group_rank")["group_rank"][:most]
    shown = points.filter(pl.col("group_rank").is_in(best.implode()))
    for _, group in shown.group_by("group_rank", maintain_order=True):
        with style.quick():
            made.append(draw(group, purchase_option=purchase_option))
    return made


def draw(points: pl.DataFrame, *, purchase_option: str) -> Drawing:
    """Return the chart of one model, scenario, precision and way of decoding."""
    known = points.filter(pl.col("cost_usd").is_not_null())
    best = _cheapest(known, "accelerator_name", "interactivity")
    frontier = _cheapest(known, "interactivity")
    speeds = sorted(points["interactivity"].unique())
    first, last = min(speeds), max(speeds)
    fastest = float(known["interactivity"].max() or first)  # type: ignore[arg-type]
    shape = style.scale(known["cost_usd"], log_from=6)
    room = (last - first) * 0.06
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[first - room, last + room], nice=False, zero=False),
        axis=alt.Axis(values=speeds, title=None, grid=False, format="d"),
    )
    y = style.value_axis(shape, "USD per million output tokens", form=".2~g")
    canvas = style.Canvas()
    layers = _unreached(canvas, fastest, last, room, x) if fastest < last else []
    rows = [_point(row, QUIET) for row in known.iter_rows(named=True)]
    layers.append(canvas.layer(rows).mark_point(filled=True, size=9, opacity=0.45, color=QUIET).encode(x=x, y=y))
    layers.append(canvas.lines([*_lines(best), *_line(frontier, "frontier", INK, 2.6)], x, y, steps=False))
    ends = [Label(text=_words(rows), value=rows[-1]["cost_usd"], ink=QUIET) for rows in _by_chip(best).values()]
    layers += canvas.labels(ends, shape)
    cheap = frontier.row(0, named=True)
    named = ", ".join(
        str(part) for part in (cheap["model_name"], cheap["scenario"], cheap["precision"], cheap["decoding"]) if part
    )
    option = wording.option(purchase_option)
    finding = (
        f"{named}: cheapest seen {cheap['cost_usd']:.3g} USD per million output tokens at {cheap['interactivity']:g} "
        f"tokens/s per user ({cheap['accelerator_name']}, {wording.short(cheap['service_provider_name'], most=24)})"
    )
    if (quick := frontier.row(frontier.height - 1, named=True))["interactivity"] > cheap["interactivity"]:
        finding += (
            f", {quick['cost_usd']:.3g} at {quick['interactivity']:g} ({quick['accelerator_name']}, "
            f"{wording.short(quick['service_provider_name'], most=24)})"
        )
    scope = (
        f"Along the bottom tokens per second and user. {option.capitalize()} prices at full load, all of the machine "
        f"charged to output; {cheap['benchmark_family']}. Points are {wording.count(known.height, 'offer')}, grey "
        "lines each chip's cheapest to the last speed that it reaches, the thick line the frontier."
    )
    return canvas.drawn(*layers, finding=f"{finding}.", scope=scope)


def _cheapest(known: pl.DataFrame, *keys: str) -> pl.DataFrame:
    return known.sort("cost_rank", "service_provider_name").group_by(*keys).first().sort(*keys)


def _by_chip(best: pl.DataFrame) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in best.iter_rows(named=True):
        found.setdefault(row["accelerator_name"], []).append(row)
    return found


def _words(rows: Sequence[Row]) -> str:
    """Return what stands at a chip's line: its name, and the last speed that it reaches."""
    return f"{wording.short(rows[-1]['accelerator_name'], most=MAX_NAME)} to {rows[-1]['interactivity']:g}"


def _point(row: Row, ink: str) -> Row:
    return {"x": row["interactivity"], "y": round(row["cost_usd"], 6), "ink": ink}


def _lines(best: pl.DataFrame) -> list[Row]:
    return [row for chip, rows in _by_chip(best).items() for row in _line(pl.DataFrame(rows), chip, QUIET, 1.2)]


def _line(rows: pl.DataFrame, name: str, ink: str, width: float) -> list[Row]:
    style_of = {"piece": name, "width": width, "shade": 0.7 if ink == QUIET else 0.9}
    return [{**_point(row, ink), **style_of} for row in rows.iter_rows(named=True)]


def _unreached(canvas: style.Canvas, fastest: float, last: float, room: float, x: alt.X) -> list[alt.Chart]:
    """Return the speeds at which no chip was measured, shaded and in words."""
    begin = fastest + room / 2
    band = canvas.layer([{"x": begin, "x2": last + room}])
    words = canvas.layer([{"x": (begin + last + room) / 2, "text": "not reached"}])
    return [
        band.mark_rect(fill=LINE, fillOpacity=0.6).encode(x=x, x2="x2:Q"),
        words.mark_text(color=QUIET, baseline="top").encode(x=x, y=alt.value(6), text="text:N"),
    ]
