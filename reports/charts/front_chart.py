"""The front page's chart: few labelled lines of one chip's price over time, as steps, drawn as SVG of a few kilobytes.

Drawn here and not by the library that draws other charts, which takes a second to start: this page is made by every
run. Labels stand at the ends of the lines, pushed apart; nothing lies to the right of them.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, log10

from markupsafe import Markup

from reports import wording
from reports.queries import Row
from reports.templating import render

PRICE = "price_per_accelerator_hour_usd"
ORDER = ("AWS", "median", "lowest")
NAMES = {"AWS": "AWS", "median": "median", "lowest": "lowest"}
APART = 15
"""Least distance between two labels."""

Spans = Sequence[tuple[datetime, datetime, float]]


@dataclass(frozen=True)
class Size:
    """The size of a drawing in its own units, which are pixels where the page is as wide."""

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


DESK, PHONE = Size(700, 150), Size(360, 210, right=100)


def read(rows: Sequence[Row]) -> dict[str, Spans]:
    """Return the spans of each line, in the order of the labels; rows that lack anything are left out."""
    found: dict[str, list[tuple[datetime, datetime, float]]] = {}
    for row in rows:
        begin, end, price = row["begins_at"], row["ends_at"], row[PRICE]
        if None in (begin, end, price):
            continue
        spans = found.setdefault(row["line_name"], [])
        if spans and spans[-1][1] == begin and spans[-1][2] == price:
            spans[-1] = (spans[-1][0], end, price)
        else:
            spans.append((begin, end, price))
    return {name: found[name] for name in ORDER if name in found}


def figure(rows: Sequence[Row], chip: str, until: datetime) -> Markup:
    """Return the figure with its finding, one drawing for a desk and one for a phone; empty where nothing is known."""
    lines = read(rows)
    if not lines:
        return Markup()
    return render(
        "front_chart.html.j2",
        finding=finding(lines, chip),
        scope=scope(lines),
        drawings=[draw(lines, size, until, chip, kind) for size, kind in ((DESK, "desk"), (PHONE, "phone"))],
    )


def finding(lines: Mapping[str, Spans], chip: str) -> str:
    """Return what the chart says in a sentence: AWS's last step, and which way the others went in a year."""
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
    if since := _since(lines.get("lowest")):
        parts.append(f"the lowest elsewhere {since}")
    return f"{chip}: {'; '.join(parts) or 'prices on demand'}"


def _since(spans: Spans | None) -> str:
    """Return what a line did in its last year, or since it began anew after a gap; empty where it has one price."""
    if not spans:
        return ""
    first, (_, end, last) = len(spans) - 1, spans[-1]
    while first and spans[first - 1][1] == spans[first][0] and (end - spans[first][0]).days < 365:
        first -= 1
    begin, _, price = spans[first]
    if (end - begin).days < 28 or not price:
        return ""
    when = "in a year" if (end - begin).days >= 365 else f"since {wording.MONTHS[begin.month - 1]} {begin.year}"
    change = last / price - 1
    return (
        f"is unchanged {when}"
        if abs(change) < 0.005
        else (f"{'fell' if change < 0 else 'rose'} {wording.share(change)} {when}")
    )


def scope(lines: Mapping[str, Spans]) -> str:
    """Return unit, first date and what lines and gaps are."""
    first = min(spans[0][0] for spans in lines.values())
    return f"USD per chip-hour on demand since {wording.date(first)}; median and lowest of others; gaps: not observed."


def draw(lines: Mapping[str, Spans], size: Size, until: datetime, chip: str, kind: str) -> Mapping[str, object]:
    """Return what one drawing is made of."""
    since = min(spans[0][0] for spans in lines.values())
    total = (until - since).total_seconds() or 1.0
    high = max(price for spans in lines.values() for *_, price in spans)
    step = _step(high / 3.2)
    top = high * 1.06

    def x(moment: datetime) -> float:
        share = min(max((moment - since).total_seconds() / total, 0), 1)
        return round(size.left + (size.end - size.left) * share, 1)

    def y(price: float) -> float:
        return round(size.floor - (size.floor - size.top) * price / top, 1)

    ends = "; ".join(f"{NAMES[name]} {spans[0][2]:.2f} to {spans[-1][2]:.2f}" for name, spans in lines.items())
    return {
        "kind": kind,
        "size": size,
        "label": f"{chip}, USD per chip-hour: {ends}",
        "grid": [(f"{n * step:g}", y(n * step)) for n in range(int(top / step) + 1)],
        # Times are naive and UTC, as all times of the file.
        "years": [(x(datetime(year, 1, 1)), year) for year in range(since.year + 1, until.year + 1)],  # noqa: DTZ001
        "lines": [(name.lower(), _path(lines[name], x, y)) for name in reversed(list(lines))],
        "event": _event(lines.get("AWS"), x, y, size),
        "labels": _labels(lines, y, until),
    }


def _path(spans: Spans, x, y) -> str:  # type: ignore[no-untyped-def]
    made = []
    last: datetime | None = None
    for begin, end, price in spans:
        made.append(f"H{x(begin)}V{y(price)}" if last == begin else f"M{x(begin)} {y(price)}")
        made.append(f"H{x(end)}")
        last = end
    return "".join(made)


def _event(spans: Spans | None, x, y, size: Size) -> tuple[float, float, float, float, str, str] | None:  # type: ignore[no-untyped-def]
    """Return AWS's last move, marked and dated: its point, where its text begins or ends, and the text."""
    moves = [(a, b) for a, b in itertools.pairwise(spans or ()) if a[2] != b[2]]
    if not moves:
        return None
    before, after = moves[-1]
    at, height = x(after[0]), y(after[2])
    sign = "\N{MINUS SIGN}" if after[2] < before[2] else "+"
    text = f"{sign}{wording.share(after[2] / before[2] - 1)} by {wording.date(after[0])}"
    is_left = at > size.left + (size.end - size.left) * 0.55
    middle = round((height + y(before[2])) / 2 + 4, 1)
    return at, height, at - 8 if is_left else at + 8, middle, "event end" if is_left else "event", text


def _labels(lines: Mapping[str, Spans], y, until: datetime) -> list[tuple[str, str, str]]:  # type: ignore[no-untyped-def]
    """Return the names at the ends of the lines, pushed apart; one that ended before says when."""
    placed = sorted((y(spans[-1][2]), name) for name, spans in lines.items())
    made: list[tuple[str, str, str]] = []
    last = float("-inf")
    for height, name in placed:
        last = max(height, last + APART)
        _, end, price = lines[name][-1]
        dated = "" if (until - end).days < 8 else f", {wording.MONTHS[end.month - 1]} {end.year}"
        made.append((f"{last + 4:.1f}", name.lower(), f"{NAMES[name]} {price:.2f}{dated}"))
    return made


def _step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    return float(next(m * power for m in (1, 2, 4, 5, 10) if m * power >= rough * 0.999))
