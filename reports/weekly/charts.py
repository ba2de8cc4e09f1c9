"""The charts of a week: a chip under one purchase option over time, as steps: the cheapest, who moved, AWS, others.

A list price holds until it changes, so its line is level and then steps; where nobody knows the price the line stops.
Purchase options are never mixed, nor forms of a chip that cost differently. What moved has the hue of its direction and
a sign, the cheapest seen and AWS the colour of the text, all others grey; the words stand at the ends of the lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, pairwise
from typing import Any

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import chart_facts, style
from reports.charts.site_charts import grid
from reports.charts.style import FALL, INK, QUIET, RISE, Drawing, Label, Mark
from reports.weekly.facts import WeekFacts

MAX_LABELS = 5
MAX_NAME = 15
MAX_EVENTS = 3
"""Older events with words; the lines step at the others."""
RECENT_DAYS = 2
"""A line that ended longer before the chart does has no words beside it: its price is not known any more."""
MAX_AGE_DAYS = 30
"""What was the cheapest seen longer ago is shown only where there is nothing else."""
MIN_SPAN = timedelta(days=90)
"""A chart begins with the first price that is known, but shows so much time at least."""
AWS = "AWS"
MAX_CHARTS = 4
MAX_NEWS = 3
"""Moves that one chart has words for."""
usd = partial(wording.amount, places=2)


@dataclass(frozen=True, kw_only=True)
class Event:
    """A move of one list price: by whom, when, from and to what in US dollars per chip-hour, and by which ratio."""

    provider: str
    tier: str | None
    at: datetime
    before: float
    after: float
    ratio: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """One provider's price of one tier: its spans in order."""

    provider: str
    tier: str | None
    spans: Sequence[tuple[datetime, datetime, float]]


def read(prices: pl.DataFrame) -> list[Line]:
    """Return the lines of a frame of reports/sql/chart_price.sql that is of one chip and purchase option."""
    ordered = prices.sort("begins_at", maintain_order=True)
    return [
        Line(provider=provider, tier=tier, spans=spans.select("begins_at", "ends_at", "price_usd").rows())
        for (provider, tier), spans in ordered.group_by("service_provider_name", "tier", maintain_order=True)
    ]


def events(prices: pl.DataFrame) -> list[Event]:
    """Return the moves of list prices in such a frame of 5 % or more, the largest first."""
    moved = prices.filter(pl.col("list_change_ratio").abs() >= 0.05)
    found = [
        Event(
            provider=row["service_provider_name"],
            tier=row["tier"],
            at=row["begins_at"],
            before=row["price_usd"] / (1 + row["list_change_ratio"]),
            after=row["price_usd"],
            ratio=row["list_change_ratio"],
        )
        for row in moved.iter_rows(named=True)
    ]
    return sorted(found, key=lambda event: (-abs(event.ratio), event.at, event.provider))


def cheapest(lines: Sequence[Line]) -> list[tuple[datetime, datetime, float, str]]:
    """Return the cheapest price seen over all lines, span by span, with who offered it.

    Where the price of one provider alone was known, nothing was cheapest, and there is no span.
    """
    bounds = sorted({moment for line in lines for span in line.spans for moment in span[:2]})
    found: list[tuple[datetime, datetime, float, str]] = []
    for begin, end in pairwise(bounds):
        offered = [
            (price, line.provider)
            for line in lines
            for first, last, price in line.spans
            if first <= begin and last >= end
        ]
        if len({provider for _, provider in offered}) < 2:
            continue
        price, provider = min(offered)
        if found and found[-1][1] == begin and found[-1][2:] == (price, provider):
            found[-1] = (found[-1][0], end, price, provider)
        else:
            found.append((begin, end, price, provider))
    return found


def draw(
    prices: pl.DataFrame,
    *,
    chip: str,
    purchase_option: str,
    since: datetime,
    until: datetime,
    moved: Sequence[Event] = (),
    week: tuple[datetime, datetime] | None = None,
) -> Drawing | None:
    """Return the chart of a frame that is of one chip and purchase option; None where no price is known.

    `moved` is the news, which the finding tells and words beside the lines repeat; `week` is shaded.
    """
    known = read(prices)
    if not known:
        return None
    since = max(since, min(min(line.spans[0][0] for line in known), until - MIN_SPAN))
    least = cheapest(known)
    values = [price for line in known for *_, price in line.spans]
    words, n_left = _labels(known, least, moved, until)
    return Drawing(
        finding=finding(chip, wording.option(purchase_option), moved),
        scope=_scope(known, since, until, n_left),
        unit="USD per chip-hour",
        x=style.time_scale(since, until),
        y=style.scale([*values, *(price for event in moved for price in (event.before, event.after))]),
        lines=_lines(known, least, moved),
        marks=[_mark(event, moved, since, until) for event in _marked(prices, moved, since, until)],
        labels=words,
        band=(style.days(week[0]), style.days(week[1]), "") if week else None,
    )


def finding(chip: str, option: str, moved: Sequence[Event]) -> str:
    """Return what a chart says in a sentence: who moved by how much to what, or that nobody did."""
    shown_moves = [f"{_owner(event, moved)} {wording.moved(event.ratio)} to {usd(event.after)}" for event in moved[:2]]
    if len(moved) > 2:
        shown_moves.append(wording.count(len(moved) - 2, "other move"))
    if not shown_moves:
        shown_moves.append("no move of a list price is known")
    return f"{chip} {option}: {'; '.join(shown_moves)}."


def _scope(known: Sequence[Line], since: datetime, until: datetime, n_left: int) -> str:
    providers = wording.count(len({line.provider for line in known}), "provider")
    grey = f" {wording.count(n_left, 'line')} in grey without words." if n_left else ""
    return (
        f"USD per chip-hour, {wording.day(since)} to {wording.day(until)}, {providers}; each tier's cheapest offer. A "
        f"line, and its part in the lowest, stops where not read for 7 days or its source's limit: it may hold.{grey}"
    )


def _name(provider: str, tier: str | None) -> str:
    """Return a provider with its tier, where that is a word of one of its price lists."""
    words = f"{provider} {tier}" if tier and "_" not in tier and len(tier) <= MAX_NAME else provider
    return wording.short(words, most=26)


def _owner(event: Event, moved: Sequence[Event]) -> str:
    """Return whose a move is: the provider, with its tier where several of its own moved."""
    is_alone = sum(other.provider == event.provider for other in moved) == 1
    return wording.short(event.provider, most=26) if is_alone else _name(event.provider, event.tier)


def _ink(line: Line, moved: Sequence[Event]) -> str:
    """Return the colour of a line: of what moved that of its direction, of AWS that of the text, else grey."""
    for event in moved:
        if (line.provider, line.tier) == (event.provider, event.tier):
            return FALL if event.ratio < 0 else RISE
    return INK if line.provider == AWS else QUIET


def _lines(known: Sequence[Line], least: Sequence[tuple[Any, ...]], moved: Sequence[Event]) -> list[style.Line]:
    """Return the lines, grey ones first and the cheapest last; a gap begins a new one."""
    made = []
    for line in sorted(known, key=lambda line: (_ink(line, moved) != QUIET, line.provider, line.tier or "")):
        ink = _ink(line, moved)
        width, shade = {QUIET: 1, INK: 1.5}.get(ink, 2), 0.5 if ink == QUIET else 1
        made += [style.Line(corners=each, ink=ink, width=width, shade=shade) for each in _pieces(line.spans)]
    return made + [style.Line(corners=each, ink=INK, width=3, shade=0.9) for each in _pieces(least)]


def _pieces(spans: Sequence[tuple[Any, ...]]) -> list[list[tuple[float, float]]]:
    """Return the corners of each part of a line that has no gap."""
    made: list[list[tuple[float, float]]] = []
    last = None
    for begin, end, price, *_ in spans:
        if last is None or last < begin:
            made.append([])
        else:
            made[-1].pop()
        made[-1] += [(style.days(begin), price), (style.days(end), price)]
        last = end
    return made


def _marked(prices: pl.DataFrame, moved: Sequence[Event], since: datetime, until: datetime) -> list[Event]:
    """Return what is marked: the news, and the largest of the moves before it, none close to another."""
    shown = list(moved)
    room = (until - since) * 0.38
    for event in events(prices):
        near = any(abs(event.at - other.at) < room for other in shown)
        if len(shown) - len(moved) < MAX_EVENTS and not near and since + room / 2 < event.at <= until:
            shown.append(event)
    return shown


def _mark(event: Event, moved: Sequence[Event], since: datetime, until: datetime) -> Mark:
    """Return the mark of a move: a point where the new price begins; the words of the news stand beside the plot."""
    return Mark(
        x=style.days(event.at),
        y=event.after,
        before=event.before,
        ink=FALL if event.ratio < 0 else RISE,
        text="" if event in moved else f"{_name(event.provider, event.tier)} {_sign(event)}",
        is_late=event.at > until - (until - since) / 4,
    )


def _sign(event: Event) -> str:
    return f"{wording.arrow(event.ratio)} {abs(event.ratio):.0%}".replace("%", " %")


def _labels(
    known: Sequence[Line],
    least: Sequence[tuple[datetime, datetime, float, str]],
    moved: Sequence[Event],
    until: datetime,
) -> tuple[list[Label], int]:
    """Return the words beside the lines, and how many grey ones have none."""

    def is_recent(end: datetime) -> bool:
        return (until - end).days < RECENT_DAYS

    made = []
    named = {event.provider for event in moved}
    for event in moved:
        name = wording.short(_owner(event, moved), most=MAX_NAME)
        ink = FALL if event.ratio < 0 else RISE
        made.append(Label(text=f"{name} {usd(event.after)} {_sign(event)}", value=event.after, ink=ink, is_bold=True))
    if least and is_recent(least[-1][1]):
        _, _, price, provider = least[-1]
        made.append(Label(text=f"lowest seen {usd(price)}", value=price, ink=INK, is_bold=True))
        named.add(provider)
    n_left = 0
    for line in sorted(known, key=lambda line: (line.provider != AWS, line.spans[-1][2], line.provider)):
        _, end, last = line.spans[-1]
        if is_recent(end) and line.provider not in named and len(made) < MAX_LABELS:
            name = wording.short(line.provider, most=MAX_NAME + 2)
            made.append(Label(text=f"{name} {usd(last)}", value=last, ink=INK if line.provider == AWS else QUIET))
            named.add(line.provider)
        elif line.provider == AWS and AWS not in named:
            dated = f", {wording.day(end)}" if (until - end).days >= MAX_AGE_DAYS else ""
            made.append(Label(text=f"AWS {usd(last)}{dated}", value=last, ink=INK))
            named.add(AWS)
        else:
            n_left += _ink(line, moved) == QUIET
    return made, n_left


# --- of a week


def drawings(found: WeekFacts, *, most: int = MAX_CHARTS) -> list[Drawing]:
    """Return the charts of a week, none in a quiet one."""
    made = (_draw(found, rows) for rows in _series(found))
    return list(islice(filter(None, made), most))


def figures(found: WeekFacts) -> Markup:
    """Return the charts as figures of the page; empty where there are none."""
    return grid([style.figure(each) for each in drawings(found)])


def _series(found: WeekFacts) -> list[list[dict[str, Any]]]:
    """Return the moves of each chip and option, by how many sell the chip and how far it moved."""
    moves, names = chart_facts.drawn(found["move"], found.chips), ("accelerator_name", "form_factor", "purchase_option")
    groups = [group.rows(named=True) for _, group in moves.group_by(*names, maintain_order=True)]

    def weight(rows: list[dict[str, Any]]) -> tuple[bool, float]:
        largest = max(abs(row["change_ratio"]) for row in rows)
        return rows[0]["purchase_option"] == "on_demand", largest * (1 + rows[0]["n_providers"]) ** 0.5

    return sorted(groups, key=weight, reverse=True)


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
    return draw(
        prices,
        chip=wording.short(wording.chip(rows[0]), most=24),
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
