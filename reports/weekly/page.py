"""The weekly page, `weeks/<week>.html`, which stays: the sections of the brief, then all details, folded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import sparkline
from reports.files import put
from reports.pages import archive
from reports.pages.archive import Edition, content
from reports.pages.frame import frame
from reports.queries import Row
from reports.tables import change_tables, price_tables, source_tables
from reports.tables.table import Column, Number, Table, document_link, left_out, small, span
from reports.templating import macro
from reports.weekly import charts as week_charts
from reports.weekly import news, sections
from reports.weekly.calendar import place
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Section

Part = Callable[[WeekFacts], Markup]

MAX_MOVES = 60
MAX_OFFERS = 40
MAX_DRIFTS = 25
MAX_WINDOWS = 4
NO_PERCENT = "nothing to compare with: it was free"
NO_DOLLARS = "priced in another currency, or without known chips"

_joined = macro("week_parts.html.j2", "joined")
_section = macro("week_parts.html.j2", "brief")


@dataclass(frozen=True, kw_only=True)
class Made:
    """A page that was made, and why parts of it could not be."""

    text: str
    faults: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A page that was written, the facts of its week, and why parts of it could not be made."""

    found: WeekFacts
    page: Path
    faults: tuple[str, ...] = ()


def write(found: WeekFacts, folder: Path, *, draw: bool = True) -> Written:
    """Write the page of a week's facts into a folder, and list it there.

    Without `draw` it has no charts, which take seconds. A week made again is a new edition: where it says something
    else than before, the old page stays next to it, and the new one names it. Each page appears whole or not at all.
    """
    target = folder / place(found.week, known_then=found.known_then)
    archive.move(folder)
    earlier = archive.earlier_editions(target)
    made = render(found, earlier, draw=draw)
    if archive.differs(target, made.text):
        earlier = archive.keep_edition(target, earlier)
        made = render(found, earlier, draw=draw)
    if not (found.is_over and archive.differs_in_date_only(target, made.text)):
        put(target, made.text)
    archive.write(target.parent.parent)
    return Written(found=found, page=target, faults=made.faults)


def render(found: WeekFacts, earlier: Sequence[Edition] = (), *, draw: bool = True) -> Made:
    """Return the page; the same facts and earlier editions give the same bytes. Without `draw` it has no charts."""
    brief = sections.brief(found)
    faults = [*brief.faults]
    details = [(title, _guarded(title, make, found, faults)) for title, make in PARTS.items()]
    made = [part for _, part in details]
    listed = _guarded("Documents", lambda each: _joined([source_tables.linked(each["document"], made)]), found, faults)
    details.append(("Documents", listed))
    charts = _guarded("Charts", week_charts.figures, found, faults) if draw else Markup()
    state = "" if found.is_over else f", so far: the week is over on {wording.day(found.week.until)}"
    known = "from what was known when it ended" if found.known_then else "from what is known now"
    parts = [_brief(each, charts if each.key == "moves" else Markup()) for each in brief.sections]
    digest = content(brief.subject, [*parts, *(part for _, part in details)])
    text = frame(
        "week.html.j2",
        title=f"Accelerator prices, week {found.week}",
        headline=brief.subject,
        place=place(found.week, known_then=found.known_then),
        build=(found.built_at, found.version),
        kind=f"Week {found.week}{state}, {known}",
        nav=[*((each.key, each.title) for each in brief.sections), ("details", "Details")],
        opening=sections.opening(found),
        earlier=earlier,
        is_over=found.is_over,
        content=digest,
        cited=(wording.date(found.as_of), "content", digest),
        parts=parts,
        details=details,
    )
    return Made(text=text, faults=tuple(faults))


def _guarded(title: str, make: Part, found: WeekFacts, faults: list[str]) -> Markup:
    """Return a part, or that it could not be made, and why."""
    try:
        return make(found)
    except Exception as error:  # noqa: BLE001 (whatever it is, it costs this part and no other)
        faults.append(f"{title}: {type(error).__name__}: {wording.short(str(error))}")
        return macro("parts.html.j2", "failed_in_week")(faults[-1])


def _brief(each: Section, charts: Markup) -> Markup:
    table = None
    if each.table and each.table.rows:
        table = short_table(each.table, id=f"{each.key}-table", title=each.title, note=each.note)
    return _section(each, table, charts)


def _moved(found: WeekFacts) -> Markup:
    parts: list[object] = [news.also(found)]
    if found.lists.height:
        offers = wording.count(int(found.lists["n_offers"].sum()), "offer")
        title = f"List prices: {wording.count(found.lists.height, 'move')} of {offers}"
        parts.append(moves_table(found, found.lists, id="all-moves", title=title))
    if found.doubts.height:
        names = "correction or suspected error", "corrections and suspected errors"
        title = f"{wording.count(found.doubts.height, *names)}, in no number above"
        parts.append(moves_table(found, found.doubts, id="doubts", title=title))
    if found["drifting"].height:
        moved = "; ".join(
            f"{row['service_provider_name']} {wording.option(row['purchase_option'])}: "
            f"{wording.count(row['n_moves'], 'move')} of {wording.count(row['n_offers'], 'offer')} "
            f"({row['n_down']:,} down, {row['n_up']:,} up)"
            for row in found["drifting"].iter_rows(named=True)
        )
        parts.append(f"Spot and market prices, which move by themselves: {moved}.")
    if found.drift is not None and found.drift.height:
        parts.append(drift_table(found.drift, found))
    return _joined(parts)


def _providers(found: WeekFacts) -> Markup:
    prices = found["provider_price"]
    shown = [
        price_tables.standing(rows, id=f"standing-{n}", title=chip, of_chip=True, built_at=found.as_of, rate=found.rate)
        for n, chip in enumerate(found.chips)
        if (rows := prices.filter(pl.col("accelerator_name") == chip, "is_ranked").rows(named=True))
    ]
    return _joined([*([found.rate.words()] if found.rate else []), *shown] or ["No price was known."])


def _checked(found: WeekFacts) -> Markup:
    return _joined(
        [
            checked_table(found) if found["checked"].height else "No price was known.",
            *([sources_table(found)] if found["source"].height else []),
            *([source_tables.refusals(found["refused"])] if found["refused"].height else []),
        ]
    )


# --- tables


def moves_table(found: WeekFacts, frame: pl.DataFrame, *, id: str, title: str) -> Table:
    """Return moves of list prices, or corrections and suspected errors, as they come."""
    drawn = sparkline.of_offers(found.charted.sparks, found.charted.until) if found.charted else {}
    return Table(
        id=id,
        title=title,
        subtitle=f"{_span(found)}; on demand before other options, biggest first.",
        rows=frame.head(MAX_MOVES).rows(named=True),
        columns=[
            Column("What, provider,\noption, tier", lambda row: news.name_of(row) + small(_terms_of(row))),
            Number(
                "Change",
                lambda row: change_tables.change(row["change_ratio"]),
                why=lambda row: NO_PERCENT if row["change_ratio"] is None else None,
            ),
            Number("Was", lambda row: news.amounts(row)[0]),
            Number("Now", lambda row: news.amounts(row)[1]),
            Column("Unit", lambda row: news.brief(row["pricing_currency"]) + _UNIT[row["is_per_chip"]]),
            Column("Region", lambda row: news.line(wording.few(list(row["regions"] or ()), most=2)) or "not stated"),
            Column("Happened within (UTC),\nby source", lambda row: _when(row) + _windows(row)),
            Column("Last 90\ndays", lambda row: drawn.get(row["offer_id"])),
            Column("Document", lambda row: document_link(row["document_sha256"])),
        ],
        note="Prices of several machines of one chip and kind that moved alike stand in one row, at the cheapest. What "
        "several sources saw counts once, in the week in which the first of them saw it."
        + left_out(frame.height - MAX_MOVES, "more row", change_tables.QUERY),
    )


def short_table(made: sections.Table, *, id: str, title: str, note: str) -> Table:
    """Return the table of a section of the brief."""

    def cell(each: sections.Cell) -> str:
        if each.tone:
            return span(f"{wording.FALL if each.tone == 'fall' else wording.RISE} {each.text}", each.tone)
        return each.text + Markup().join(map(small, each.notes))

    def column(place: int, head: str) -> Column:
        return Column(head, lambda row: cell(row["cells"][place]), right=place > 0)

    return Table(
        id=id,
        title=title,
        subtitle=note,
        rows=[{"cells": row} for row in made.rows],
        columns=[column(place, head) for place, head in enumerate(made.heads)],
    )


def offers_table(found: WeekFacts) -> Table:
    """Return what went, came and came back."""
    rows = found["offer"].head(MAX_OFFERS).rows(named=True)
    places = wording.places_of(row["least_price_usd"] for row in rows)
    left = int(found["offer"]["n_offers"].sum()) - sum(row["n_offers"] for row in rows)
    counts = found["offer"].group_by("change_kind").agg(pl.col("n_offers").sum()).sort("change_kind")
    kinds = ", ".join(f"{n:,} {wording.CAME[kind]}" for kind, n in counts.iter_rows())
    return Table(
        id="offers",
        title=f"Offers that came and went: {kinds}",
        subtitle=f"{_span(found)}; machines of one chip on the same terms together. Gone: a source that lists all that "
        "its provider sells listed it no more.",
        rows=rows,
        columns=[
            Column(
                "What, provider,\noption, tier", lambda row: (row["offered"] or wording.UNKNOWN) + small(_terms(row))
            ),
            Column("Kind", lambda row: wording.CAME[row["change_kind"]]),
            Number("Offers", "n_offers"),
            Number(
                "Least\nUSD per\nchip-hour", lambda row: wording.amount(row["least_price_usd"], places), why=NO_DOLLARS
            ),
            Column("Happened\n(UTC)", _when),
            Column("Source", lambda row: wording.few(row["sources"], most=2)),
            Column("Document", lambda row: document_link(row["document_sha256"])),
        ],
        note=left_out(left, "more offer", change_tables.QUERY).strip(),
    )


def checked_table(found: WeekFacts) -> Table:
    """Return what was checked, by provider; of whom nothing was seen comes first."""
    rows = found["checked"].rows(named=True)
    listed = found.lists.group_by("service_provider_name").agg(pl.col("n_offers").sum())
    n_moved = dict(listed.iter_rows())
    silent = sum(row["n_checked"] == 0 for row in rows)
    title = f"{wording.count(found.n_checked, 'price')} checked at "
    title += wording.count(len(rows) - silent, "provider")
    return Table(
        id="checked",
        title=title + (f"; {wording.count(silent, 'provider')} not seen" if silent else ""),
        subtitle=f"{_span(found)}; a price is checked where a good fetch showed it. Providers seen in the "
        f"{found.ranked_days} days before stand here, too.",
        rows=rows,
        columns=[
            Column("Provider", "service_provider_name"),
            Number("Prices\nchecked", "n_checked"),
            Number("Known\nbefore", "n_known"),
            Number("List prices\nchecked", lambda row: f"{row['n_listed_checked']:,} of {row['n_listed']:,}"),
            Number("List prices\nmoved", lambda row: n_moved.get(row["service_provider_name"], 0)),
            Column("Last seen", lambda row: _greyed(row["last_observed_at"], found)),
            Column("Source", lambda row: wording.few(row["sources"], most=3) or "none in this week"),
        ],
        note="List prices: all that were not gone and seen in the 400 days before. That a list did not change is "
        f"claimed only where {news.MIN_COVERAGE * 100:.0f} % of it were checked.",
    )


def sources_table(found: WeekFacts) -> Table:
    """Return the sources by how often they were read in the week."""
    rows = found["source"].rows(named=True)
    return Table(
        id="sources-seen",
        title=f"{sum(row['n_days'] > 0 for row in rows):,} of {wording.count(len(rows), 'source')} read in this week",
        subtitle="Sources that were read in this week or in the five weeks before it; those without one first.",
        rows=rows,
        columns=[
            Column("Source", "source"),
            Column("Kind", lambda row: "live" if row["kind"] == "live" else "archived"),
            Number("Days with a\ngood fetch", "n_days"),
            Number("Failed\nfetches", "n_failed"),
            Column("Last good fetch", lambda row: wording.minute(row["last_good_at"]), why="no good fetch at all"),
        ],
    )


def drift_table(frame: pl.DataFrame, found: WeekFacts) -> Table:
    """Return the like-for-like drift of the week by provider, chip and option."""
    return Table(
        id="drift",
        title=f"Like for like: {wording.count(frame.height, 'series drifted', 'series drifted')}",
        subtitle=f"{_span(found)}; offers that were there on both days, with equal weights, options apart.",
        rows=frame.head(MAX_DRIFTS).rows(named=True),
        columns=[
            Column("Chip", "accelerator_name"),
            Column("Provider", "service_provider_name"),
            Column("Option", lambda row: wording.option(row["purchase_option"])),
            Number("Drift", lambda row: change_tables.change(row["drift"])),
            Number(
                "Mean of\nall offers",
                lambda row: wording.percent(row["level_change"]),
                why="the level of one of the days is not known",
            ),
            Number("Offers", lambda row: f"{row['n_items_before']:,} to {row['n_items_after']:,}"),
            Column("To note", lambda row: wording.listed(*(n for k, n in _DRIFT_NOTES.items() if row[k])) or "none"),
        ],
        note="The mean of all offers moves with what comes and goes, too."
        + left_out(frame.height - MAX_DRIFTS, "more series", "mart.drift", "more series"),
    )


_UNIT = {True: " per chip-hour", False: " per hour, as sold"}
_DRIFT_NOTES = {"is_all_carried": "not seen on the last day", "is_thin": "few offers", "is_provisional": "provisional"}


def _terms_of(row: Row) -> str:
    """Return the terms of a move, and of a correction or error that it is one."""
    terms = news.terms_of(row)
    return terms if row["change_kind"] == "list_change" else f"{terms}: {wording.KINDS[row['change_kind']]}"


def _terms(row: Row) -> str:
    return news.line(wording.listed(row["service_provider_name"], wording.option(row["purchase_option"]), row["tier"]))


def _when(row: Row) -> str:
    """Return when something happened: after the moment before, at the latest at the moment after."""
    after = f"{row['event_at']:%Y-%m-%d %H:%M}"
    return f"{row['event_from']:%Y-%m-%d %H:%M} to {after}" if row["event_from"] else f"by {after}"


def _windows(row: Row) -> str:
    """Return each source's own window: the old price last seen, the new one first."""
    if len(row["windows"]) == 1:
        return small(row["windows"][0]["source"])
    shown = [
        f"{window['seen_from']:%Y-%m-%d %H:%M} to {window['observed_at']:%Y-%m-%d %H:%M}: {window['source']}"
        for window in row["windows"][:MAX_WINDOWS]
    ]
    left = len(row["windows"]) - len(shown)
    return Markup().join(map(small, [*shown, *([f"{left:,} more"] if left else [])]))


def _greyed(moment: datetime, found: WeekFacts) -> str:
    day = wording.day(moment)
    return day if moment >= found.week.since else span(day, "past")


def _span(found: WeekFacts) -> str:
    return f"{wording.day(found.week.since)} to {wording.day(found.last_day if found.is_over else found.as_of)}"


PARTS: Mapping[str, Part] = {
    "All moves": _moved,
    "New and gone": lambda found: _joined(
        [offers_table(found) if found["offer"].height else "Nothing came and nothing went."]
    ),
    "Providers next to AWS, by purchase option": _providers,
    "What was checked": _checked,
    "How it is computed": lambda found: macro("week_parts.html.j2", "method")(
        sections.closing(found), found.known_then
    ),
}
"""The parts below the brief, each folded; the documents to which they link follow."""
