"""Sparklines: the prices of 90 days in the height of a line of text, as SVG of a few hundred bytes.

A price holds until it changes, so the line has steps; it stops where the price is not known. The words of the line say
what it shows to who cannot see it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import polars as pl

from reports import wording
from reports.queries import Row
from reports.templating import macro

WIDTH, HEIGHT, EDGE = 84, 18, 2
DAYS = 90

Span = tuple[datetime, datetime, float]


def of_offers(sparks: pl.DataFrame, until: datetime) -> Mapping[int, str]:
    """Return the sparklines of a frame of reports/sql/chart_spark.sql by offer."""
    offers = sparks.sort("offer_id", "begins_at").group_by("offer_id", maintain_order=True)
    return {offer: draw(of.select("begins_at", "ends_at", "price").rows(), until) for (offer,), of in offers}


def of_drift(drift: Row, built_at: datetime) -> str:
    """Return the sparkline of a row of int.drift_report; empty where nothing matches."""
    levels = [round(level, 6) for level in drift["sparkline"] or () if level is not None]
    points = [*zip(drift["spark_days"] or (), levels, strict=False), (0, 1.0)]
    if len(points) < 2:
        return ""
    spans = [
        (built_at - timedelta(days=days), built_at - timedelta(days=after), level)
        for (days, level), (after, _) in pairwise(points)
    ]
    spans.append((built_at, built_at, 1.0))
    return draw(spans, built_at)


def draw(spans: Sequence[Span], until: datetime) -> str:
    """Return spans of prices of the 90 days up to a moment, in order of time, as a line; empty where there are none."""
    if not spans:
        return ""
    prices = [price for *_, price in spans]
    low, high = min(prices), max(prices)
    since = until - timedelta(days=DAYS)

    def x(moment: datetime) -> str:
        share = min(max((moment - since) / timedelta(days=DAYS), 0), 1)
        return f"{EDGE + (WIDTH - 2 * EDGE) * share:.1f}".removesuffix(".0")

    def y(price: float) -> str:
        share = (price - low) / (high - low) if high > low else 0.5
        return f"{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share:.1f}".removesuffix(".0")

    kind = "fall" if prices[-1] < prices[0] else "rise" if prices[-1] > prices[0] else "same"
    return macro("spark.html.j2", "spark")(kind, WIDTH, HEIGHT, described(spans), steps(spans, x, y))


def steps(spans: Sequence[Span], x: Callable[[datetime], object], y: Callable[[float], object]) -> str:
    """Return spans of prices, in order of time, as a path of SVG: level, then a step, a new line after a gap."""
    path: list[str] = []
    last: datetime | None = None
    for begin, end, price in spans:
        joins = last is not None and last >= begin
        path += [f"H{x(begin)}", f"V{y(price)}"] if joins else [f"M{x(begin)} {y(price)}"]
        path.append(f"H{x(end)}")
        last = end
    return "".join(command for before, command in zip(["", *path], path, strict=False) if command != before)


def described(spans: Sequence[Span]) -> str:
    """Return what a line says: 90 days: 2.39 to 2.89, rose 20.9 %, 1 move; known on 64 days."""
    first, last = spans[0][2], spans[-1][2]
    places = wording.places_of_pairs([(first, last)])
    moves = sum(one[2] != other[2] for one, other in pairwise(spans))
    known = sum((end - begin).total_seconds() for begin, end, _ in spans) / 86400
    parts = [f"{DAYS} days: {wording.amount(last, places)}, unchanged"]
    if moves:
        change = wording.moved(last / first - 1) if first else "was free"
        parts = [
            f"{DAYS} days: {wording.amount(first, places)} to {wording.amount(last, places)}, {change}",
            wording.count(moves, "move"),
        ]
    if known < DAYS - 7:
        parts.append(f"known on {known:.0f} days" if known >= 1 else "seen once")
    return ", ".join(parts)
