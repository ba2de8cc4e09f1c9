"""Charts: how all of them look, and the two forms in which they leave, SVG inlined into pages and PNG beside a mail.

Altair writes Vega-Lite and vl-convert draws it, with no browser and nothing to load. Text is measured, and in a PNG
drawn, in Liberation Sans, which comes with vl-convert, so every machine draws the same bytes. In an SVG text stays text
in the font of the page, and colours are the page's own variables, so that it is dark where the page is.

Both modules take half a second to import and to start: import this one only where something is drawn.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import floor, log10
from typing import Any, Literal, cast

import altair as alt
import vl_convert
from altair.utils import schemapi
from markupsafe import Markup

from reports.templating import macro

INK, QUIET, LINE, FALL, RISE, PAPER = "#1a1c20", "#565c66", "#d5d9e0", "#0a5cb8", "#a34100", "#ffffff"
"""The colours of a PNG; in an SVG they stand in for the variables of the same names in page.css."""
VARIABLES = {INK: "--ink", QUIET: "--quiet", LINE: "--line", FALL: "--fall", RISE: "--rise", PAPER: "--paper"}
FONT = "Liberation Sans"
WIDTH, HEIGHT = 250, 200
"""Of the plot, in units of which the whole is 444 wide, so that on a phone the words shrink to three quarters."""
LEFT, RIGHT, TOP, BOTTOM = 34, 160, 24, 24
LABEL_HEIGHT = 14
MAX_LABEL = 24
"""Characters that fit beside the plot."""
DAY = 86400
MAX_BYTES = 60_000
"""Of an SVG."""


_FRAME = re.compile(r'<path class="(?:back|fore)ground"[^>]*/>|<rect[^>]*fill="transparent"/>')
_TAG = re.compile(r"<(?:g|path|line|text|rect|svg)\b[^>]*>")
_NOISE = re.compile(r' (?:aria-[a-z]+|role|class|pointer-events|font-family|stroke-miterlimit)="[^"]*"| opacity="1"')
_NUMBER = re.compile(r"(?<=[\d.])(\d*\.\d{1,2})\d{2,}")
"""What vl-convert writes that a page does not need, a third of the bytes; fonts are the page's own."""


@contextmanager
def quick() -> Iterator[None]:
    """Build charts without checking each part of them against Vega-Lite's schema, which the tests do: half the time."""
    with schemapi.debug_mode(False):
        yield


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A chart with its data by name, and its words: what it says in a sentence, and what it shows and in which unit.

    The data stand beside the chart: Altair copies all that is in it at each step.
    """

    chart: alt.LayerChart
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    finding: str
    scope: str


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A vertical scale of prices or of an index: its ends, whether it is logarithmic, and its ticks."""

    low: float
    high: float
    is_log: bool
    ticks: Sequence[float]

    def pixel(self, value: float) -> float:
        """Return how far below the top of the plot a value lies."""
        at = log10(value) if self.is_log else value
        low, high = (log10(self.low), log10(self.high)) if self.is_log else (self.low, self.high)
        return HEIGHT * (1 - (at - low) / (high - low))


@dataclass(frozen=True, kw_only=True)
class Label:
    """Words beside the plot, at the height of a value, in a colour."""

    text: str
    value: float
    ink: str
    is_bold: bool = False


def scale(values: Iterable[float], *, baseline: float | None = 0, log_from: float = 25) -> Scale:
    """Return a scale that holds all values: from the baseline, or logarithmic where they are far apart.

    Without a baseline it begins below the least value.
    """
    known = sorted(values)
    low, high = known[0], known[-1]
    if low > 0 and high / low >= log_from:
        ticks = [m * 10**e for e in range(floor(log10(low)), floor(log10(high)) + 1) for m in (1, 2, 5)]
        low, high = low / 1.15, high * 1.15
        return Scale(low=low, high=high, is_log=True, ticks=[each for each in ticks if low <= each <= high])
    if baseline is None:
        room = 0.12 * (high - low) or 0.05 * abs(high)
        low = low - room
    else:
        low = min(baseline, low)
    high += 0.06 * (high - low) or 1
    step = _step((high - low) / 4)
    first = int(-(-low // step))
    ticks = [round(n * step, 10) for n in range(first, int(high // step) + 1)]
    return Scale(low=low, high=high, is_log=False, ticks=ticks)


def _step(rough: float) -> float:
    """Return the round number at or above a rough one: 1, 2, 5, 10..."""
    power = 10.0 ** floor(log10(rough))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999))


def days(moment: datetime) -> float:
    """Return a moment, naive and UTC, as days since 1970: the horizontal scale of time, whatever the machine's zone."""
    return round(moment.replace(tzinfo=UTC).timestamp() / DAY, 4)


def time_axis(since: datetime, until: datetime, **others: Any) -> alt.X:
    """Return the horizontal scale of time, with ticks at the beginnings of months, eight at most."""
    months = (until.year - since.year) * 12 + until.month - since.month
    every = next(n for n in (1, 2, 3, 4, 6, 12, 24, 60) if months / n <= 4 or n == 60)
    first = since.year * 12 + since.month - 1
    ticks = []
    for month in range(first, first + months + 1):
        day = datetime.combine(date(month // 12, month % 12 + 1, 1), datetime.min.time())
        if month % every == 0 and since <= day <= until:
            ticks.append(days(day))
    axis = alt.Axis(
        values=ticks,
        title=None,
        grid=False,
        labelExpr="utcFormat(datum.value * 864e5, '%b %Y')",
        labelFlush=False,
        labelOverlap=True,
    )
    return alt.X("x:Q", axis=axis, scale=alt.Scale(domain=[days(since), days(until)], nice=False, zero=False), **others)


def value_axis(shape: Scale, title: str, field: str = "y", form: str = "") -> alt.Y:
    """Return the vertical scale, its title flat above it instead of on its side."""
    words = f"{title}, logarithmic" if shape.is_log else title
    axis = alt.Axis(
        values=list(shape.ticks),
        title=words,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=-28,
        titleY=-12,
        ticks=False,
        domain=False,
        format=form or alt.Undefined,
    )
    kind: Literal["log", "linear"] = "log" if shape.is_log else "linear"
    return alt.Y(
        f"{field}:Q",
        axis=axis,
        scale=alt.Scale(domain=[shape.low, shape.high], type=kind, nice=False, zero=False),
    )


class Canvas:
    """What one chart is drawn on: it keeps the data of the layers that are made with it."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def layer(self, rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
        """Return a layer of rows, without a mark."""
        name = f"rows_{len(self.rows)}"
        self.rows[name] = [dict(row) for row in rows]
        return alt.Chart(alt.NamedData(name=name))

    def lines(self, rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, *, steps: bool) -> alt.Chart:
        """Return lines: rows have x, y, the line they belong to (`piece`), ink, width and shade."""
        made = (
            self.layer(rows)
            .mark_line(interpolate="step-after" if steps else "linear", strokeCap="round", strokeJoin="round")
            .encode(
                x=x,
                y=y,
                detail="piece:N",
                order="x:Q",
                stroke=alt.Stroke("ink:N", scale=None, legend=None),
                strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
                strokeOpacity=alt.StrokeOpacity("shade:Q", scale=None, legend=None),
            )
        )
        return cast("alt.Chart", made)

    def labels(self, placed: Sequence[Label], shape: Scale) -> list[alt.Chart]:
        """Return words beside the plot, pushed apart where they would stand on each other."""
        order = sorted(placed, key=lambda each: shape.pixel(each.value))
        heights = spread([shape.pixel(each.value) for each in order])
        made = []
        for bold in (False, True):
            rows = [
                {"at": round(height, 1), "text": each.text, "ink": each.ink}
                for each, height in zip(order, heights, strict=True)
                if each.is_bold is bold
            ]
            if rows:
                made.append(
                    self.layer(rows)
                    .mark_text(align="left", baseline="middle", fontWeight="bold" if bold else "normal")
                    .encode(
                        x=alt.value(WIDTH + 7),
                        y=alt.Y("at:Q", scale=None),
                        text="text:N",
                        color=alt.Color("ink:N", scale=None, legend=None),
                    )
                )
        return made

    def words(self, rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
        """Return words above points, with a rim of the page's colour so that they can be read across lines.

        Rows have x, y, text, ink and `side`, where the words stand: to the left of the point, or centred.
        """
        made: list[alt.Chart] = []
        sides: dict[str, Literal["right", "center"]] = {"left": "right", "centre": "center"}
        for side, align in sides.items():
            shown = [row for row in rows if row["side"] == side]
            if not shown:
                continue
            base = self.layer(shown).encode(x=x, y=y, text="text:N")
            made += [
                base.mark_text(dy=-11, align=align, color=PAPER, stroke=PAPER, strokeWidth=4, strokeJoin="round"),
                base.mark_text(dy=-11, align=align).encode(color=alt.Color("ink:N", scale=None, legend=None)),
            ]
        return made

    def drawn(self, *layers: alt.Chart, finding: str, scope: str) -> Drawing:
        """Return layers as one chart of the common size and look."""
        chart = (
            alt.layer(*layers)
            .properties(
                width=WIDTH,
                height=HEIGHT,
                padding={"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
                autosize=alt.AutoSizeParams(type="none"),
                background="transparent",
            )
            .configure(font=FONT, aria=False)
            .configure_view(stroke=None)
            .configure_axis(
                labelColor=QUIET,
                titleColor=QUIET,
                tickColor=LINE,
                domainColor=LINE,
                gridColor=LINE,
                labelFontSize=12,
                titleFontSize=12,
                titleFontWeight="normal",
                tickSize=4,
            )
            .configure_text(fontSize=12)
        )
        return Drawing(chart=chart, rows=self.rows, finding=finding, scope=scope)


def spread(heights: Sequence[float], *, apart: float = LABEL_HEIGHT, most: float = HEIGHT) -> list[float]:
    """Return ascending heights moved as little as need be to lie `apart` from each other and above `most`."""
    made: list[float] = []
    for height in heights:
        made.append(max(height, made[-1] + apart) if made else max(height, 0))
    limit = most
    for place in reversed(range(len(made))):
        made[place] = min(made[place], limit)
        limit = made[place] - apart
    return made


def svg(made: Drawing) -> Markup:
    """Return a drawing as SVG to stand in a page; the same drawing gives the same bytes."""
    text = vl_convert.vegalite_to_svg(_spec(made, made.chart), allowed_base_urls=[])
    text = _NUMBER.sub(r"\1", _TAG.sub(lambda tag: _NOISE.sub("", tag[0]), _FRAME.sub("", text)))
    for colour, name in VARIABLES.items():
        text = text.replace(f'"{colour}"', f'"var({name},{colour})"')
    view = re.search(r'viewBox="([^"]+)"', text)
    inside = Markup(text.partition(">")[2])  # noqa: S704 (escaped by Vega)
    return macro("chart.html.j2", "svg")(made, view[1] if view else "", inside)


def figure(made: Drawing) -> Markup:
    """Return a drawing as a figure of a page: the finding in words above it, what it shows below."""
    return macro("chart.html.j2", "figure")(made, svg(made))


def png(made: Drawing, *, scale: float = 2) -> bytes:
    """Return a drawing as PNG on white, with its finding above it, `scale` times as large as the SVG."""
    chart = made.chart.properties(
        background=PAPER,
        title=alt.TitleParams(
            _wrapped(made.finding),
            anchor="start",
            frame="group",
            fontSize=13,
            color=INK,
            offset=8,
            dx=-LEFT + 6,
            lineHeight=16,
        ),
    )
    tall = TOP + 16 * len(_wrapped(made.finding)) + 20
    chart = chart.properties(padding={"left": LEFT, "right": RIGHT, "top": tall, "bottom": BOTTOM})
    return bytes(vl_convert.vegalite_to_png(_spec(made, chart), scale=scale, allowed_base_urls=[]))


def _spec(made: Drawing, chart: alt.LayerChart) -> dict[str, Any]:
    return {**chart.to_dict(validate=False), "datasets": made.rows}


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 58)[:3]
