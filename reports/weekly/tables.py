"""The tables of the weekly page: what moved, what came and went, what was checked, the drift, the short tables."""

from datetime import datetime

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import chart_facts, sparkline
from reports.queries import Row
from reports.tables import change_tables
from reports.tables.table import Column, Table, document_link, left_out, small, span
from reports.weekly import news, sections
from reports.weekly.facts import WeekFacts

MAX_MOVES = 60
MAX_OFFERS = 40
MAX_DRIFTS = 25
MAX_WINDOWS = 4
KINDS = {
    "list_change": "list price",
    "correction": "correction",
    "suspected_error": "suspected error",
    "new_offer": "new",
    "gone_offer": "gone",
    "returned_offer": "back",
    "spot_move": "spot",
    "market_move": "market",
}
NO_PERCENT = "nothing to compare with: it was free"
NO_WINDOW = "seen for the first time; nothing says when it came"
NO_DOLLARS = "priced in another currency, or without known chips"


def moves(found: WeekFacts, frame: pl.DataFrame, *, id: str, title: str) -> Table:
    """Return moves of list prices, or corrections and suspected errors, as they come."""
    charted = found.charted
    since = charted.until - chart_facts.SPARK if charted else None
    drawn = sparkline.of_offers(charted.sparks, since=since, until=charted.until) if charted and since else {}
    return Table(
        id=id,
        title=title,
        subtitle=f"{_span(found)}; on demand before other options, biggest first.",
        rows=frame.head(MAX_MOVES).rows(named=True),
        columns=[
            Column("What, provider,\noption, tier", lambda row: news.name_of(row) + small(_terms_of(row))),
            Column(
                "Change",
                lambda row: change_tables.change(row["change_ratio"]),
                right=True,
                why=lambda row: NO_PERCENT if row["change_ratio"] is None else None,
            ),
            Column("Was", lambda row: news.amounts(row)[0], right=True),
            Column("Now", lambda row: news.amounts(row)[1], right=True),
            Column("Unit", lambda row: news.brief(row["pricing_currency"]) + _UNIT[row["is_per_chip"]]),
            Column("Region", _where),
            Column("Happened within (UTC),\nby source", lambda row: _when(row) + _windows(row)),
            Column("Last 90\ndays", lambda row: drawn.get(row["offer_id"])),
            Column("Document", lambda row: document_link(row["document_sha256"])),
        ],
        note="Prices of several machines of one chip and kind that moved alike stand in one row, at the cheapest. What "
        "several sources saw counts once, in the week in which the first of them saw it."
        + left_out(frame.height - MAX_MOVES, "more row", change_tables.QUERY),
    )


def short(made: sections.Table, *, id: str, title: str, note: str) -> Table:
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


def offers(found: WeekFacts) -> Table:
    """Return what went, came and came back."""
    rows = found["offer"].head(MAX_OFFERS).rows(named=True)
    places = wording.places_of(row["least_price_usd"] for row in rows)
    left = int(found["offer"]["n_offers"].sum()) - sum(row["n_offers"] for row in rows)
    counts = found["offer"].group_by("change_kind").agg(pl.col("n_offers").sum()).sort("change_kind")
    kinds = ", ".join(f"{n:,} {KINDS[kind]}" for kind, n in counts.iter_rows())
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
            Column("Kind", lambda row: KINDS[row["change_kind"]]),
            Column("Offers", "n_offers", right=True),
            Column(
                "Least\nUSD per\nchip-hour",
                lambda row: wording.amount(row["least_price_usd"], places),
                right=True,
                why=NO_DOLLARS,
            ),
            Column("Happened\n(UTC)", _when),
            Column("Source", lambda row: wording.few(row["sources"], most=2)),
            Column("Document", lambda row: document_link(row["document_sha256"])),
        ],
        note=left_out(left, "more offer", change_tables.QUERY).strip(),
    )


def checked(found: WeekFacts) -> Table:
    """Return what was checked, by provider; of whom nothing was seen comes first."""
    rows = found["checked"].rows(named=True)
    listed = found.lists.group_by("service_provider_name").agg(pl.col("n_offers").sum())
    n_moved = dict(listed.iter_rows())
    silent = sum(row["n_checked"] == 0 for row in rows)
    title = f"{wording.count(news.checked_prices(found), 'price')} checked at "
    title += wording.count(len(rows) - silent, "provider")
    return Table(
        id="checked",
        title=title + (f"; {wording.count(silent, 'provider')} not seen" if silent else ""),
        subtitle=f"{_span(found)}; a price is checked where a good fetch showed it. Providers seen in the five "
        "weeks before stand here, too.",
        rows=rows,
        columns=[
            Column("Provider", "service_provider_name"),
            Column("Prices\nchecked", "n_checked", right=True),
            Column("Known in\nsix weeks", "n_known", right=True),
            Column(
                "List prices\nchecked", lambda row: f"{row['n_listed_checked']:,} of {row['n_listed']:,}", right=True
            ),
            Column("List prices\nmoved", lambda row: n_moved.get(row["service_provider_name"], 0), right=True),
            Column("Last seen", lambda row: _greyed(row["last_observed_at"], found)),
            Column("Source", lambda row: wording.few(row["sources"], most=3) or "none in this week"),
        ],
        note="List prices: all that were not gone and seen in the 400 days before. That a list did not change is "
        f"claimed only where {news.MIN_COVERAGE * 100:.0f} % of it were checked.",
    )


def sources(found: WeekFacts) -> Table:
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
            Column("Days with a\ngood fetch", "n_days", right=True),
            Column("Failed\nfetches", "n_failed", right=True),
            Column("Last good fetch", lambda row: wording.minute(row["last_good_at"]), why="no good fetch at all"),
        ],
    )


def drift(frame: pl.DataFrame, found: WeekFacts) -> Table:
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
            Column("Drift", lambda row: change_tables.change(row["drift"]), right=True),
            Column(
                "Mean of\nall offers",
                lambda row: wording.percent(row["level_change"]),
                right=True,
                why="the level of one of the days is not known",
            ),
            Column("Offers", lambda row: f"{row['n_items_before']:,} to {row['n_items_after']:,}", right=True),
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
    return terms if row["change_kind"] == "list_change" else f"{terms}: {KINDS[row['change_kind']]}"


def _terms(row: Row) -> str:
    option = wording.option(row["purchase_option"])
    return news.line(", ".join(p for p in (row["service_provider_name"], option, row["tier"]) if p))


def _where(row: Row) -> str:
    """Return the regions of a move, or that the source states none."""
    return news.line(wording.few(list(row["regions"] or ()), most=2)) or "not stated"


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
    last = found.week.until.toordinal() - 1
    end = found.as_of if not found.is_over else found.week.until.fromordinal(last)
    return f"{wording.day(found.week.since)} to {wording.day(end)}"
