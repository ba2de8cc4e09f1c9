"""The charts that pages without a week show: where each main chip stands, what it did like for like, cost per token.

Each function asks an open published file and returns HTML for a page, empty where there is nothing to draw.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import duckdb
import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import sparkline, style
from reports.charts.style import INK, QUIET, Drawing, Label, Line, Mark, Scale
from reports.queries import Row, frame
from reports.templating import macro, render

MAX_CHIPS = 4
ON_DEMAND = "on_demand"
MAX_NAME = 16
MIN_DRIFT = 0.0005

grid = macro("chart.html.j2", "grid")


# --- cost against speed


def frontiers(con: duckdb.DuckDBPyConnection) -> Markup:
    """Return charts of cost against speed on demand, of the models of which most is known: of each the best covered
    operating point, the best covered models first.
    """
    points = frame(con, "chart_frontier", option=ON_DEMAND)
    best = points.group_by("model_name").agg(pl.col("group_rank").min()).sort("group_rank")["group_rank"][:MAX_CHIPS]
    shown = points.filter(pl.col("group_rank").is_in(best.implode()))
    return grid([style.figure(frontier(group)) for _, group in shown.group_by("group_rank", maintain_order=True)])


def frontier(points: pl.DataFrame) -> Drawing:
    """Return the chart of one model, scenario, precision and way of decoding of reports/sql/chart_frontier.sql.

    The frontier is the points that none as fast or faster undercuts, whatever the chip. Where no chip was measured to
    be fast enough the plot is shaded and says so; a chip's line ends at the last speed that it reaches.
    """
    known = points.filter(pl.col("cost_usd").is_not_null())
    chips = {chip: _frontier(group) for (chip,), group in known.group_by("accelerator_name", maintain_order=True)}
    cheapest = _frontier(known)
    speeds = sorted(points["interactivity"].unique())
    first, last, fastest = speeds[0], speeds[-1], cheapest[-1]["interactivity"]
    room = (last - first) * 0.06
    cheap, quick = cheapest[0], cheapest[-1]
    named = wording.listed(*(cheap[name] for name in ("model_name", "scenario", "precision", "decoding")))
    finding = (
        f"{named}: cheapest seen {cheap['cost_usd']:.3g} USD per million output tokens at {cheap['interactivity']:g} "
        f"tokens/s per user ({_seller(cheap)})"
    )
    if quick["interactivity"] > cheap["interactivity"]:
        finding += f", {quick['cost_usd']:.3g} at {quick['interactivity']:g} ({_seller(quick)})"
    return Drawing(
        finding=f"{finding}.",
        scope=f"Along the bottom tokens per second and user. {wording.option(ON_DEMAND).capitalize()} prices at "
        f"full load, all of the machine charged to output; {cheap['benchmark_family']}. Points are "
        f"{wording.count(known.height, 'offer')}, grey lines each chip's cheapest to the last speed that it reaches, "
        "the thick line the frontier; no line has a speed at which a faster point costs no more.",
        unit="USD per million output tokens",
        x=Scale(low=first - room, high=last + room, ticks=speeds),
        y=style.scale(known["cost_usd"], log_from=6),
        lines=[
            *(Line(corners=_costs(rows), ink=QUIET, width=1.2, shade=0.7) for rows in chips.values()),
            Line(corners=_costs(cheapest), ink=INK, width=2.6, shade=0.9),
        ],
        marks=[Mark(x=x, y=y, ink=QUIET) for x, y in _costs(known.rows(named=True))],
        labels=[
            Label(
                text=f"{wording.short(chip, most=MAX_NAME)} to {rows[-1]['interactivity']:g}",
                value=rows[-1]["cost_usd"],
                ink=QUIET,
            )
            for chip, rows in sorted(chips.items(), key=lambda each: each[1][-1]["cost_rank"])[:MAX_LINES]
        ],
        band=(fastest + room / 2, last + room, "not reached") if fastest < last else None,
        is_stepped=False,
        is_of_time=False,
    )


def _frontier(known: pl.DataFrame) -> Sequence[Row]:
    """Return the cheapest point at each speed that costs less than every faster one, by speed."""
    cost = pl.col("cost_usd")
    fastest_first = known.sort(-pl.col("interactivity"), cost, "service_provider_name")
    return fastest_first.filter(cost < cost.cum_min().shift(fill_value=float("inf"))).reverse().rows(named=True)


def _costs(rows: Sequence[Row]) -> list[tuple[float, float]]:
    return [(row["interactivity"], row["cost_usd"]) for row in rows]


def _seller(row: Row) -> str:
    return f"{row['accelerator_name']}, {wording.short(row['service_provider_name'], most=24)}"


# --- the front page: few labelled lines of one chip as steps, as wide as the page

ORDER = ("AWS", "median", "lowest")
USD_UNIT = "USD per chip-hour"
APART, LETTER = 15, 8
"""Least distance between two labels, and how wide one letter of them is at most on average."""

Spans = Sequence[tuple[datetime, datetime, float]]


@dataclass(frozen=True)
class Size:
    """The size of a drawing in its own units, which are pixels where the page is as wide, and what it is for."""

    kind: str
    width: int
    height: int
    left: int = 26
    right: int = 104
    top: int = 10
    bottom: int = 24

    @property
    def end(self) -> int:
        """Return where the lines end."""
        return self.width - self.right

    @property
    def floor(self) -> int:
        """Return where the value 0 lies."""
        return self.height - self.bottom


SIZES = (Size("desk", 700, 150), Size("phone", 360, 210, right=100))
MAX_LINES, ENDED_DAYS = 5, 8
CLASSES = {"AWS": "aws", "median": "median", "all": "median"}
"""Of a line by its name, what the style sheet knows it by; all others are grey."""


def index(rows: Sequence[Row], chip: str, until: datetime) -> Markup:
    """Return the figure of a chip's index: all offers, AWS, and the providers that moved most; empty without any.

    `rows` are of reports/sql/chart_drift.sql and of the chip. Of a chain that broke the last part alone is drawn.
    """
    chains: dict[str, list[tuple[int, datetime, float]]] = {}
    for row in rows:
        moment = datetime.combine(row["index_date"], datetime.min.time())
        chain = chains.setdefault(row["service_provider_name"] or "all", [])
        if chain and chain[-1][0] != row["chain_number"]:
            chain.clear()
        chain.append((row["chain_number"], moment, row["price_index"]))
    lines = {
        name: [
            (begin, end, 100 * value / chain[0][2])
            for (_, begin, value), (_, end, _) in itertools.pairwise([*chain, chain[-1]])
        ]
        for name, chain in chains.items()
        if len(chain) > 1
    }
    if "all" not in lines:
        return Markup()

    def change(name: str) -> float:
        return lines[name][-1][2] / 100 - 1

    others = sorted(lines.keys() - {"all", "AWS"}, key=lambda name: (-abs(change(name)), name))
    moved = [name for name in others if abs(change(name)) >= MIN_DRIFT]
    names = [*(name for name in ("all", "AWS") if name in lines), *moved][:MAX_LINES]
    shown = {name: lines[name] for name in names}
    begin, end = lines["all"][0][0], lines["all"][-1][1]
    last = f", last seen {wording.date(end)}" if (until - end).days >= ENDED_DAYS else ""
    finding = f"{chip}, like for like: {wording.moved(change('all'))} since {wording.date(begin)}{last}"
    scope = (
        "Index of the offers of all forms that were there on both days, on demand, 100 on each line's first day; each "
        "provider counts alike. A line that stops was not observed any more."
    )
    drawings = [_front(shown, size, until, chip, unit="index, 100 at first") for size in SIZES]
    return render("front_chart.html.j2", finding=finding, scope=scope, drawings=drawings)


def _by_line(rows: Sequence[Row]) -> dict[str, Spans]:
    """Return the spans of each line, in the order of the labels."""
    found: dict[str, list[tuple[datetime, datetime, float]]] = {}
    for row in rows:
        begin, end, price = row["begins_at"], row["ends_at"], row["price_per_accelerator_hour_usd"]
        spans = found.setdefault(row["line_name"], [])
        if spans and spans[-1][1] == begin and spans[-1][2] == price:
            spans[-1] = (spans[-1][0], end, price)
        else:
            spans.append((begin, end, price))
    return {name: found[name] for name in ORDER if name in found}


def front(rows: Sequence[Row], chip: str, until: datetime) -> Markup:
    """Return the figure with its finding, a drawing for a desk and one for a phone; empty where one moment is known."""
    lines = _by_line(rows)
    if not any(begin < end for spans in lines.values() for begin, end, _ in spans):
        return Markup()
    finding, drawings = _finding(lines, chip, until), [_front(lines, size, until, chip) for size in SIZES]
    return render("front_chart.html.j2", finding=finding, scope=_scope(lines), drawings=drawings)


def _finding(lines: Mapping[str, Spans], chip: str, until: datetime) -> str:
    """Return what the chart says in a sentence: AWS's last step, and the lowest elsewhere.

    Not by how much that fell: others were observed then than now; the index compares like for like.
    """
    parts = []
    if spans := lines.get("AWS"):
        moves = [(a, b) for a, b in itertools.pairwise(spans) if a[2] != b[2]]
        years = max(1, round((spans[-1][1] - spans[0][0]).days / 365))
        if moves:
            before, after = moves[-1]
            way = "fell" if after[2] < before[2] else "rose"
            only = "its only move" if len(moves) == 1 else f"the last of {len(moves)} moves"
            parts.append(f"AWS {way} {wording.share(after[2] / before[2] - 1)}, {only} in {years} years")
        else:
            parts.append(f"AWS has not moved since {wording.date(spans[0][0])}")
    if (spans := lines.get("lowest")) and (until - spans[-1][1]).days < ENDED_DAYS:
        parts.append(f"the lowest{' elsewhere' * bool(parts)} is {wording.price(spans[-1][2])}")
    return f"{chip}: {'; '.join(parts) or 'prices on demand'}"


def _scope(lines: Mapping[str, Spans]) -> str:
    """Return unit, first date and what lines and gaps are."""
    own = "; AWS in us-east-1 (else another US region)" if "AWS" in lines else ""
    first = min(spans[0][0] for spans in lines.values())
    others = "; median and lowest of others; gaps: too few seen" if {*lines} - {"AWS"} else ""
    return f"{USD_UNIT} on demand since {wording.date(first)}{own}{others}."


def _front(
    lines: Mapping[str, Spans], size: Size, until: datetime, chip: str, unit: str = USD_UNIT
) -> Mapping[str, object]:
    """Return what one drawing is made of."""
    since = min(spans[0][0] for spans in lines.values())
    total = (until - since).total_seconds() or 1.0
    high = max(price for spans in lines.values() for *_, price in spans)
    step = style.round_step(high / 3.2, (1, 2, 4, 5, 10))
    top = high * 1.06
    names = {name: _named(name, spans, until, is_price=unit == USD_UNIT) for name, spans in lines.items()}
    ticks = [f"{n * step:g}" for n in range(int(top / step) + 1)]
    size = replace(
        size,
        left=max(size.left, LETTER * max(map(len, ticks)) + 6),
        right=max(size.right, LETTER * max(map(len, names.values())) + 10),
    )

    def x(moment: datetime) -> float:
        share = min(max((moment - since).total_seconds() / total, 0), 1)
        return round(size.left + (size.end - size.left) * share, 1)

    def y(price: float) -> float:
        return round(size.floor - (size.floor - size.top) * price / top, 1)

    ends = "; ".join(
        f"{name} {wording.price(spans[0][2])} to {wording.price(spans[-1][2])}" for name, spans in lines.items()
    )
    return {
        "size": size,
        "label": f"{chip}, {unit}: {ends}",
        "grid": [(tick, y(n * step)) for n, tick in enumerate(ticks)],
        "ticks": [(x(moment), text) for moment, text in _ticks(since, until)],
        "lines": [(CLASSES.get(name, "lowest"), sparkline.steps(lines[name], x, y)) for name in reversed(list(lines))],
        "event": _event(lines.get("AWS"), x, y, size, below=unit != USD_UNIT),
        "labels": _labels(lines, y, names),
    }


def _ticks(since: datetime, until: datetime) -> list[tuple[datetime, str]]:
    """Return the years that begin between two moments, or else some of the months, in UTC as all times of the file."""
    years = [(until.replace(year, 1, 1), str(year)) for year in range(since.year + 1, until.year + 1)]
    months = [(until.replace(month=n, day=1), wording.MONTHS[n - 1]) for n in range(since.month + 1, until.month + 1)]
    return years or months[:: len(months) // 6 + 1]


def _percent(ratio: float) -> str:
    sign = wording.MINUS if ratio < 0 else "+" if ratio > 0 else ""
    return f"{sign}{wording.share(ratio)}"


def _event(spans: Spans | None, x, y, size: Size, *, below: bool) -> tuple[float, float, float, float, str, str] | None:  # type: ignore[no-untyped-def]
    """Return AWS's last move, marked and dated: its point, where its text begins or ends, and the text.

    `below`: the text stands under the point, or over it after a rise, where other lines would cross it.
    """
    moves = [(a, b) for a, b in itertools.pairwise(spans or ()) if a[2] != b[2]]
    if not moves:
        return None
    before, after = moves[-1]
    at, height = x(after[0]), y(after[2])
    text = f"{_percent(after[2] / before[2] - 1)} by {wording.date(after[0])}"
    is_left = at > size.left + (size.end - size.left) * 0.55
    middle = round((height + y(before[2])) / 2 + 4, 1)
    if below:
        middle = height + 16 if after[2] < before[2] else height - 8
    return at, height, at - 8 if is_left else at + 8, middle, "event end" if is_left else "event", text


def _named(name: str, spans: Spans, until: datetime, *, is_price: bool) -> str:
    """Return the name of a line with its last value; one that ended before says when."""
    _, end, price = spans[-1]
    dated = "" if (until - end).days < ENDED_DAYS else f", {wording.MONTHS[end.month - 1]} {end.year}"
    text = wording.price(price) if is_price else _percent(price / 100 - 1)
    return f"{wording.short(name, most=10)} {text}{dated}"


def _labels(lines: Mapping[str, Spans], y, names: Mapping[str, str]) -> list[tuple[str, str, str]]:  # type: ignore[no-untyped-def]
    """Return the names at the ends of the lines, pushed apart."""
    made: list[tuple[str, str, str]] = []
    last = float("-inf")
    for height, name in sorted((y(spans[-1][2]), name) for name, spans in lines.items()):
        last = max(height, last + APART)
        made.append((f"{last + 4:.1f}", CLASSES.get(name, "lowest"), names[name]))
    return made
