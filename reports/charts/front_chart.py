"""The front page's chart: few labelled lines of one chip's price over time, as steps, drawn as SVG of a few kilobytes.

Drawn here and not by the library that draws other charts, which takes a second to start: this page is made by every
run. Labels stand at the ends of the lines, pushed apart; nothing lies to the right of them.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from math import floor, log10

from reports.pages import front_words
from reports.queries import Row

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


def figure(rows: Sequence[Row], chip: str, until: datetime) -> str:
    """Return the figure with its finding, one drawing for a desk and one for a phone; empty where nothing is known."""
    lines = read(rows)
    if not lines:
        return ""
    return (
        f'<figure class="lines"><figcaption><h2 id="lines">{escape(finding(lines, chip))}</h2>'
        f'<p class="sub">{escape(scope(lines))}</p></figcaption>\n'
        f"{draw(lines, DESK, until, chip, 'desk')}\n{draw(lines, PHONE, until, chip, 'phone')}</figure>"
    )


def finding(lines: Mapping[str, Spans], chip: str) -> str:
    """Return what the chart says in a sentence: AWS's last step, and which way the others went in a year."""
    told = []
    if spans := lines.get("AWS"):
        moves = [(a, b) for a, b in itertools.pairwise(spans) if a[2] != b[2]]
        years = max(1, round((spans[-1][1] - spans[0][0]).days / 365))
        if moves:
            before, after = moves[-1]
            way = "fell" if after[2] < before[2] else "rose"
            only = "its only move" if len(moves) == 1 else f"the last of {len(moves)} moves"
            told.append(f"AWS {way} {front_words.percent(after[2] / before[2] - 1)}, {only} in {years} years")
        else:
            told.append(f"AWS has not moved since {front_words.date(spans[0][0])}")
    if told_of := _since(lines.get("lowest")):
        told.append(f"the lowest elsewhere {told_of}")
    return f"{chip}: {'; '.join(told) or 'prices on demand'}"


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
    when = "in a year" if (end - begin).days >= 365 else f"since {front_words.MONTHS[begin.month - 1]} {begin.year}"
    change = last / price - 1
    return (
        f"is unchanged {when}"
        if abs(change) < 0.005
        else (f"{'fell' if change < 0 else 'rose'} {front_words.percent(change)} {when}")
    )


def scope(lines: Mapping[str, Spans]) -> str:
    """Return unit, first date and what lines and gaps are."""
    first = min(spans[0][0] for spans in lines.values())
    return (
        f"USD per chip-hour on demand since {front_words.date(first)}; median and lowest of others; gaps: not observed."
    )


def draw(lines: Mapping[str, Spans], size: Size, until: datetime, chip: str, kind: str) -> str:
    """Return one drawing."""
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

    grid = [n * step for n in range(int(top / step) + 1)]
    parts = [
        f'<path class="grid" d="{"".join(f"M{size.left} {y(value)}H{size.end}" for value in grid)}"/>',
        *(f'<text x="{size.left - 6}" y="{y(value) + 4}" class="end">{value:g}</text>' for value in grid),
        *_years(since, until, x, size),
    ]
    for name in reversed(list(lines)):
        parts.append(f'<path class="line {name.lower()}" d="{_path(lines[name], x, y)}"/>')
    parts += _event(lines.get("AWS"), x, y, size)
    parts += _labels(lines, y, size, until)
    words = "; ".join(f"{NAMES[name]} {spans[0][2]:.2f} to {spans[-1][2]:.2f}" for name, spans in lines.items())
    return (
        f'<svg class="lines {kind}" role="img" viewBox="0 0 {size.width} {size.height}" '
        f'aria-label="{escape(f"{chip}, USD per chip-hour: {words}")}">{"".join(parts)}</svg>'
    )


def _path(spans: Spans, x, y) -> str:  # type: ignore[no-untyped-def]
    made = []
    last: datetime | None = None
    for begin, end, price in spans:
        made.append(f"H{x(begin)}V{y(price)}" if last == begin else f"M{x(begin)} {y(price)}")
        made.append(f"H{x(end)}")
        last = end
    return "".join(made)


def _years(since: datetime, until: datetime, x, size: Size) -> list[str]:  # type: ignore[no-untyped-def]
    made = []
    for year in range(since.year + 1, until.year + 1):
        at = x(datetime(year, 1, 1))  # noqa: DTZ001 (as all times of the file)
        made.append(f'<path class="tick" d="M{at} {size.floor}v5"/>')
        made.append(f'<text x="{at}" y="{size.height - 5}" class="mid">{year}</text>')
    return made


def _event(spans: Spans | None, x, y, size: Size) -> list[str]:  # type: ignore[no-untyped-def]
    """Return AWS's last move, marked and dated."""
    moves = [(a, b) for a, b in zip(spans or (), (spans or ())[1:], strict=False) if a[2] != b[2]]
    if not moves:
        return []
    before, after = moves[-1]
    at, height = x(after[0]), y(after[2])
    sign = "\N{MINUS SIGN}" if after[2] < before[2] else "+"
    words = f"{sign}{front_words.percent(after[2] / before[2] - 1)} by {front_words.date(after[0])}"
    left = at > size.left + (size.end - size.left) * 0.55
    place = (
        f'x="{at - 8}" y="{(height + y(before[2])) / 2 + 4:.1f}" class="event end"'
        if left
        else (f'x="{at + 8}" y="{(height + y(before[2])) / 2 + 4:.1f}" class="event"')
    )
    return [f'<circle cx="{at}" cy="{height}" r="3.5"/>', f"<text {place}>{escape(words)}</text>"]


def _labels(lines: Mapping[str, Spans], y, size: Size, until: datetime) -> list[str]:  # type: ignore[no-untyped-def]
    """Return the names at the ends of the lines, pushed apart; one that ended before says when."""
    placed = sorted((y(spans[-1][2]), name) for name, spans in lines.items())
    heights: list[float] = []
    for height, _ in placed:
        heights.append(max(height, heights[-1] + APART) if heights else height)
    made = []
    for (_, name), height in zip(placed, heights, strict=True):
        _, end, price = lines[name][-1]
        dated = "" if (until - end).days < 8 else f", {front_words.MONTHS[end.month - 1]} {end.year}"
        made.append(
            f'<text x="{size.end + 7}" y="{height + 4:.1f}" class="name {name.lower()}">'
            f"{escape(NAMES[name])} {price:.2f}{dated}</text>"
        )
    return made


def _step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    return float(next(m * power for m in (1, 2, 4, 5, 10) if m * power >= rough * 0.999))
