"""The tables of the weekly page: what moved, what came and went, what was checked, the drift, the short tables."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from reports import wording
from reports.charts import chart_facts, sparkline
from reports.tables import change_tables
from reports.tables.sheet import Footnote, Form, Sheet, document_link, sheet, small
from reports.weekly import news
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Table

Row = Mapping[str, Any]

MOST_MOVES = 60
MOST_OFFERS = 40
MOST_DRIFTS = 25
MOST_WINDOWS = 4
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


def moves(found: WeekFacts, frame: pl.DataFrame, *, id: str, title: str) -> Sheet:
    """Return moves of list prices, or corrections and suspected errors, as they come."""
    rows = list(frame.head(MOST_MOVES).iter_rows(named=True))
    prices = [news.amounts(row) for row in rows]
    charted = found.charted
    drawn = (
        sparkline.of_offers(charted.sparks, since=charted.until - chart_facts.SPARK, until=charted.until)
        if charted
        else {}
    )
    made = pl.DataFrame(
        {
            "what": [escape(news.name_of(row)) + small(_terms_of(row)) for row in rows],
            "change": [change_tables.change(row["change_ratio"]) for row in rows],
            "before": [before for before, _ in prices],
            "after": [after for _, after in prices],
            "unit": [news.brief(row["pricing_currency"]) + _UNIT[row["is_per_chip"]] for row in rows],
            "where": [_where(row) for row in rows],
            "when": [_when(row) + _windows(row) for row in rows],
            "spark": [drawn.get(row["offer_id"], wording.UNKNOWN) for row in rows],
            "document": [document_link(row["document_sha256"]) for row in rows],
        },
        schema_overrides=dict.fromkeys(("what", "change", "unit", "where", "when", "spark"), pl.String),
    )
    form = Form(
        heads={
            "what": "What, provider,<br>option, tier",
            "change": "Change",
            "before": "Was",
            "after": "Now",
            "unit": "Unit",
            "where": "Region",
            "when": "Happened within (UTC),<br>by source",
            "spark": "Last 90<br>days",
            "document": "Document",
        },
        stub="what",
        right=("change", "before", "after"),
        marked=("what", "change", "when", "spark", "document"),
    )
    left = frame.height - len(rows)
    note = (
        "Prices of several machines of one chip and kind that moved alike stand in one row, at the cheapest. What "
        "several sources saw counts once, in the week in which the first of them saw it."
    )
    note += f" {wording.count(left, 'more row')} left out: <code>{escape(change_tables.QUERY)}</code>." if left else ""
    return sheet(
        made,
        form,
        id=id,
        title=title,
        subtitle=f"{_span(found)}; on demand before other options, biggest first.",
        footnotes=[
            Footnote(
                text=NO_PERCENT, column="change", rows=[i for i, row in enumerate(rows) if row["change_ratio"] is None]
            )
        ],
        note=note,
    )


def short(made: Table, *, id: str, title: str, note: str) -> Sheet:
    """Return the table of a section of the brief."""
    columns = [f"c{i}" for i in range(len(made.heads))]
    cells = [[escape(each.text) + "".join(map(small, each.notes)) for each in row] for row in made.rows]
    for row, drawn in zip(made.rows, cells, strict=True):
        for i, each in enumerate(row):
            if each.tone:
                arrow = wording.FALL if each.tone == "fall" else wording.RISE
                drawn[i] = f'<span class="{each.tone}">{arrow} {escape(each.text)}</span>'
    form = Form(
        heads=dict(zip(columns, map(escape, made.heads), strict=True)), stub="c0", right=columns[1:], marked=columns
    )
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String), orient="row")
    return sheet(frame, form, id=id, title=title, subtitle=note)


def offers(found: WeekFacts) -> Sheet:
    """Return what went, came and came back."""
    rows = list(found["offer"].head(MOST_OFFERS).iter_rows(named=True))
    places = wording.places_of(row["least_price_usd"] for row in rows)
    made = pl.DataFrame(
        {
            "what": [escape(row["offered"] or wording.UNKNOWN) + small(_terms(row)) for row in rows],
            "kind": [KINDS[row["change_kind"]] for row in rows],
            "offers": [f"{row['n_offers']:,}" for row in rows],
            "price": [wording.amount(row["least_price_usd"], places) for row in rows],
            "when": [_when(row) for row in rows],
            "sources": [escape(wording.few(row["sources"], most=2)) for row in rows],
            "document": [document_link(row["document_sha256"]) for row in rows],
        }
    )
    form = Form(
        heads={
            "what": "What, provider,<br>option, tier",
            "kind": "Kind",
            "offers": "Offers",
            "price": "Least<br>USD per<br>chip-hour",
            "when": "Happened<br>(UTC)",
            "sources": "Source",
            "document": "Document",
        },
        stub="what",
        right=("offers", "price"),
        marked=("what", "sources", "document"),
    )
    left = int(found["offer"]["n_offers"].sum()) - sum(row["n_offers"] for row in rows)
    counts = found["offer"].group_by("change_kind").agg(pl.col("n_offers").sum()).sort("change_kind")
    told = ", ".join(f"{n:,} {KINDS[kind]}" for kind, n in counts.iter_rows())
    return sheet(
        made,
        form,
        id="offers",
        title=f"Offers that came and went: {told}",
        subtitle=f"{_span(found)}; machines of one chip on the same terms together. Gone: a source that lists all that "
        "its provider sells listed it no more.",
        footnotes=[
            Footnote(text=NO_DOLLARS, column="price", rows=_dashes(made["price"])),
        ],
        note=f"{wording.count(left, 'more offer')} left out: <code>{escape(change_tables.QUERY)}</code>."
        if left
        else "",
    )


def checked(found: WeekFacts) -> Sheet:
    """Return what was checked, by provider; of whom nothing was seen stands first."""
    rows = list(found["checked"].iter_rows(named=True))
    listed = found.lists.group_by("service_provider_name").agg(pl.col("n_offers").sum())
    n_moved = dict(listed.iter_rows())
    made = pl.DataFrame(
        {
            "provider": [row["service_provider_name"] for row in rows],
            "checked": [f"{row['n_checked']:,}" for row in rows],
            "known": [f"{row['n_known']:,}" for row in rows],
            "lists": [f"{row['n_listed_checked']:,} of {row['n_listed']:,}" for row in rows],
            "moved": [f"{n_moved.get(row['service_provider_name'], 0):,}" for row in rows],
            "last": [_greyed(row["last_observed_at"], found) for row in rows],
            "sources": [escape(wording.few(row["sources"], most=3)) or "none in this week" for row in rows],
        },
        schema_overrides=dict.fromkeys(("provider", "last", "sources"), pl.String),
    )
    form = Form(
        heads={
            "provider": "Provider",
            "checked": "Prices<br>checked",
            "known": "Known in<br>six weeks",
            "lists": "List prices<br>checked",
            "moved": "List prices<br>moved",
            "last": "Last seen",
            "sources": "Source",
        },
        stub="provider",
        right=("checked", "known", "lists", "moved"),
        marked=("last", "sources"),
    )
    silent = sum(row["n_checked"] == 0 for row in rows)
    n_seen = wording.count(len(rows) - silent, "provider")
    title = f"{wording.count(news.checked_prices(found), 'price')} checked at {n_seen}"
    return sheet(
        made,
        form,
        id="checked",
        title=title + (f"; {wording.count(silent, 'provider')} not seen" if silent else ""),
        subtitle=f"{_span(found)}; a price is checked where a good look showed it. Providers seen in the five "
        "weeks before stand here, too.",
        note="List prices: all that were not gone and seen in the 400 days before. That a list did not change is "
        f"said only where {news.LEAST_COVERAGE * 100:.0f} % of it were checked.",
    )


def sources(found: WeekFacts) -> Sheet:
    """Return the sources by how often they looked in the week."""
    rows = list(found["source"].iter_rows(named=True))
    made = pl.DataFrame(
        {
            "source": [row["source"] for row in rows],
            "kind": ["live" if row["kind"] == "live" else "archived" for row in rows],
            "days": [f"{row['n_days']:,}" for row in rows],
            "failed": [f"{row['n_failed']:,}" for row in rows],
            "last": [wording.minute(row["last_good_at"]) for row in rows],
        },
        schema_overrides=dict.fromkeys(("source", "kind", "last"), pl.String),
    )
    form = Form(
        heads={
            "source": "Source",
            "kind": "Kind",
            "days": "Days with a<br>good look",
            "failed": "Failed<br>looks",
            "last": "Last good look",
        },
        stub="source",
        right=("days", "failed"),
    )
    return sheet(
        made,
        form,
        id="sources-seen",
        title=f"{sum(row['n_days'] > 0 for row in rows):,} of {wording.count(len(rows), 'source')} looked in this week",
        subtitle="Sources that looked in this week or in the five weeks before it; those without a good look first.",
        footnotes=[Footnote(text="no good look at all", column="last", rows=_dashes(made["last"]))],
    )


def drift(frame: pl.DataFrame, found: WeekFacts) -> Sheet:
    """Return the like-for-like drift of the week by provider, chip and option."""
    rows = list(frame.head(MOST_DRIFTS).iter_rows(named=True))
    made = pl.DataFrame(
        {
            "chip": [row["accelerator_name"] for row in rows],
            "provider": [row["service_provider_name"] for row in rows],
            "option": [wording.option(row["purchase_option"]) for row in rows],
            "drift": [change_tables.change(row["drift"]) for row in rows],
            "level": [wording.percent(row["level_change"]) for row in rows],
            "offers": [f"{row['n_items_before']:,} to {row['n_items_after']:,}" for row in rows],
            "note": [", ".join(words for name, words in _DRIFT_NOTES.items() if row[name]) or "none" for row in rows],
        },
        schema_overrides=dict.fromkeys(("chip", "provider", "option", "note"), pl.String),
    )
    form = Form(
        heads={
            "chip": "Chip",
            "provider": "Provider",
            "option": "Option",
            "drift": "Drift",
            "level": "Mean of<br>all offers",
            "offers": "Offers",
            "note": "To note",
        },
        stub="chip",
        right=("drift", "level", "offers"),
        marked=("drift",),
    )
    left = frame.height - len(rows)
    return sheet(
        made,
        form,
        id="drift",
        title=f"Like for like: {wording.count(frame.height, 'series drifted', 'series drifted')}",
        subtitle=f"{_span(found)}; offers that were there on both days, with equal weights, options apart.",
        footnotes=[
            Footnote(text="the level of one of the days is not known", column="level", rows=_dashes(made["level"]))
        ],
        note="The mean of all offers beside it moves with what comes and goes, too."
        + (f" {wording.count(left, 'more series', 'more series')} left out: <code>mart.drift</code>." if left else ""),
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
    """Return each source's own window (the old price last seen, the new one first), as our own HTML."""
    if len(row["windows"]) == 1:
        return small(row["windows"][0]["source"])
    told = [
        f"{window['seen_from']:%Y-%m-%d %H:%M} to {window['observed_at']:%Y-%m-%d %H:%M}: {escape(window['source'])}"
        for window in row["windows"][:MOST_WINDOWS]
    ]
    left = len(row["windows"]) - len(told)
    return "".join(f"<small>{each}</small>" for each in [*told, *([f"{left:,} more"] if left else [])])


def _greyed(moment: Any, found: WeekFacts) -> str:
    day = wording.day(moment)
    return day if moment >= found.week.since else f'<span class="past">{day}</span>'


def _span(found: WeekFacts) -> str:
    last = found.week.until.toordinal() - 1
    end = found.as_of if not found.is_over else found.week.until.fromordinal(last)
    return f"{wording.day(found.week.since)} to {wording.day(end)}"


def _dashes(texts: Sequence[str] | pl.Series) -> list[int]:
    return [i for i, text in enumerate(texts) if text == wording.UNKNOWN]
