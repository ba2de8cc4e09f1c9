"""The page around the tables: its parts in their order, as one HTML text that needs nothing else to be read."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import polars as pl

from reports import wording
from reports.pages import facts, guard, news
from reports.pages.facts import Facts
from reports.pages.frame import frame, root, section
from reports.tables import (
    change_tables,
    gap_tables,
    old_price_tables,
    price_tables,
    provider_tables,
    source_tables,
    truth_tables,
)
from reports.tables.sheet import Sheet, small, to_html

PARTS = (
    ("basis", "What it rests on"),
    ("changes", "What changed"),
    ("prices", "Where things stand"),
    ("gaps", "What we do not know"),
    ("sources", "Sources"),
    ("method", "How it is computed"),
)
"""The parts of the page in their order: anchor, words."""

LINK = re.compile(r'href="(?=[a-z_]+\.html)')
ORDER = "List prices first, on demand before other options, then by size."


def render(found: Facts, places: Sequence[str]) -> list[str]:
    """Return the page as it stands in each of several places below the reports; the same facts give the same bytes."""
    headline = news.headline(found)
    day = wording.day(found.built_at)
    made: tuple[Callable[[Facts], str], ...] = (
        partial(basis, sources="#sources"),
        _changes,
        _prices,
        _gaps,
        _sources,
        _method,
    )
    main = "\n".join(guard.part(words, partial(make, found)) for (_, words), make in zip(PARTS, made, strict=True))
    return [
        frame(
            title=f"Accelerator prices, {day}",
            headline=headline,
            place=place,
            built_at=found.built_at,
            version=found.version,
            nav=PARTS,
            # Our own links are written as from the top folder; those of sources begin with their scheme.
            main=LINK.sub(rf"\g<0>{root(place)}", main),
            kind="Daily report",
            footer=f'This page stays at <a href="{root(place)}daily/{day}.html">daily/{day}.html</a>.',
        )
        for place in places
    ]


def basis(found: Facts, *, sources: str) -> str:
    """Return the counts that everything below rests on; what is stale or missing stands first.

    `sources` is the address of the list of sources, from the page that this stands on.
    """
    standing = news.Standing.of(found.counts)
    states = dict(found.scopes["state"].value_counts().iter_rows())
    live = sum(n for state, n in states.items() if state != "archived")
    past = "none"
    if standing.archived:
        past = f"{wording.day(standing.archived_from)} to {wording.day(standing.archived_to)}, never called current"
    run = found.runs.row(0, named=True) if found.runs.height else None
    tiles = [
        ("Prices known", f"{standing.known:,}", f"{found.confirmed:,} of them checked by the last run"),
        ("Current", f"{standing.current:,}", "confirmed within their source's limit of age"),
        ("Stale", f"{standing.stale:,}", "of a live source, too old to be called current"),
        ("Archived", f"{standing.archived:,}", past),
        (
            "Live scopes fresh",
            f"{states.get('fresh', 0):,} of {live:,}",
            f"{states.get('missing', 0):,} missing, {states.get('stale', 0):,} stale, "
            f"{states.get('retry', 0):,} failed last time",
        ),
        ("Archived scopes", f"{states.get('archived', 0):,}", "parts of an archive or import"),
        ("Refused rows", f"{found.refused.height:,}", "open, in no number of this page"),
        ("Last run", wording.day(run["recorded_at"]) if run else "none", _run_note(found)),
    ]
    cards = "".join(f"<div><dt>{name}</dt><dd>{n}<small>{note}</small></dd></div>" for name, n, note in tiles)
    checked = (
        f'<p>{escape(truth_tables.sentence(found.checks))} <a href="{truth_tables.PLACE}">What was checked</a>.</p>'
    )
    return section(
        "basis", "What this rests on", (_warning(found, sources), f'<dl class="tiles">{cards}</dl>', checked)
    )


def _run_note(found: Facts) -> str:
    if not found.runs.height:
        return "imports only"
    if not found.has_previous_run:
        return "the first one in this file"
    return f"the one before: {wording.minute(found.runs.row(1, named=True)['recorded_at'])}"


def _warning(found: Facts, sources: str) -> str:
    """Return the list of what limits the conclusions; empty where nothing does."""
    listed = news.troubles(found.scopes)
    items = [f"<li>{escape(words)}.{small(error)}</li>" for words, error in listed[: news.MOST_TROUBLES]]
    if len(listed) > news.MOST_TROUBLES:
        items.append(f'<li>{len(listed) - news.MOST_TROUBLES:,} more: see <a href="{sources}">Sources</a>.</li>')
    if found.unknown.height:
        names = wording.few(found.unknown["named"].to_list(), most=6)
        items.append(f"<li>Accelerator unknown, so without a price per chip: {escape(names)}.</li>")
    items = [*truth_tables.warnings(found.checks), *items]
    if not items:
        return ""
    return f'<div class="warn"><strong>Before any conclusion</strong><ul>{"".join(items)}</ul></div>'


def _changes(found: Facts) -> str:
    """Return what moved since the last run, then in the last 30 days, or else what moved last."""
    since, earlier = facts.since_run(found.changes), facts.earlier(found.changes)
    checked = wording.count(news.checked_prices(found), "price")
    parts = ["<h3>Since the last run</h3>"]
    if since.height:
        parts.append(
            to_html(
                change_tables.changes(
                    since,
                    found.sparks,
                    id="since",
                    title=f"Since the last run: {change_tables.tally(since)}",
                    subtitle=f"{checked} checked. {ORDER}",
                    total=since.height,
                )
            )
        )
    elif found.has_previous_run:
        parts.append(f"<p>No change, {checked} checked.</p>")
    else:
        parts.append(
            f"<p>No earlier run to compare with; the last run was the first and checked {found.confirmed:,}.</p>"
        )
    parts.append("<h3>In the last 30 days</h3>")
    if earlier.height:
        parts.append(
            to_html(
                change_tables.changes(
                    earlier,
                    found.sparks,
                    id="recent",
                    title=f"In the last 30 days: {change_tables.tally(earlier)}",
                    subtitle=f"Those since the last run left out. {ORDER}",
                    total=earlier.height,
                )
            )
        )
    else:
        other = "other " if since.height else ""
        standing = news.Standing.of(found.counts)
        dated = "" if standing.current else f", the newest of {wording.day(standing.newest)}"
        parts.append(f"<p>No {other}change{' known' if dated else ''}, {checked} checked{dated}.</p>")
    if not since.height and not earlier.height:
        parts += _last_known(found)
    return section("changes", "What changed", parts)


def _last_known(found: Facts) -> list[str]:
    known = facts.last_known(found.changes)
    total = found.changes.filter(pl.col("change_kind") == "list_change").height
    if not known.height:
        return ["<p>No change of a list price is known at all.</p>"]
    newest = max(known["observed_at"])
    table = change_tables.changes(
        known,
        found.sparks,
        id="known",
        title=f"Last known changes of list prices, the newest seen on {wording.day(newest)}",
        subtitle="Past events with their dates, newest first; AWS, then others.",
        total=total,
    )
    return [to_html(table)]


def _prices(found: Facts) -> str:
    """Return prices as they stand, each purchase option apart."""
    told = "".join(
        f"<p>{escape(words)}</p>" for words in (found.regions, found.rate.words() if found.rate else "") if words
    )
    parts = [told, found.standing_charts]
    if found.aws_prices.height:
        parts.append(to_html(price_tables.by_chip(found.aws_prices, found.rate)))
        regions = price_tables.by_region(found.aws_prices, found.rate)
        n = found.aws_prices.select("accelerator_name", "region_id").n_unique()
        parts.append(f"<details><summary>Every chip in every region: {n:,} rows</summary>{to_html(regions)}</details>")
    cores = price_tables.neuron(found.aws_prices, found.rate)
    parts += _some(cores)
    for option in provider_tables.options_shown(found.provider_prices):
        table = provider_tables.by_provider(found.provider_prices, option, found.sparks, found.rate)
        parts.append(to_html(table))
    parts.append(old_price_tables.folded(found.old_prices))
    if found.drift_charts:
        parts += ["<h3>Drift, like for like</h3>", found.drift_charts]
    return section("prices", "Where things stand", parts if any(parts[1:]) else ["<p>No price is known.</p>"])


def _gaps(found: Facts) -> str:
    """Return what is lacking, counted first and then listed."""
    known = _options_known(found)
    counted = gap_tables.summary(found.unknown, found.gaps)
    absent = [words for option, words in wording.OPTIONS.items() if option not in known]
    if absent:
        counted.append(f"No price in this file is under {wording.few(absent, most=9)}.")
    parts = [f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in counted)}</ul>" if counted else ""]
    if found.unknown.height:
        parts.append(to_html(gap_tables.unknowns(found.unknown)))
    else:
        parts.append("<p>Every priced machine has a known accelerator.</p>")
    if found.gaps.height:
        parts.append(to_html(gap_tables.gaps(found.gaps)))
    return section("gaps", "What we do not know", parts)


def _options_known(found: Facts) -> set[str]:
    cells = set(found.aws_prices["cell"])
    options = set(found.provider_prices["purchase_option"])
    return options | ({"reserved"} if cells & {"reserved_1", "reserved_3"} else set())


def _sources(found: Facts) -> str:
    """Return the scopes that are not well, and what was refused; the page of sources has all of them."""
    troubled = found.scopes.filter(pl.col("state").is_in(source_tables.TROUBLED)).height
    words = wording.count(found.scopes.height, "scope") if found.scopes.height else "no scope"
    parts = [f'<p><a href="sources.html">Sources</a> has each of {words}, with what was read when and what failed.</p>']
    if troubled:
        parts.append(to_html(source_tables.health(found.scopes, troubled=True)))
    elif found.scopes.height:
        parts.append("<p>No live scope is missing or stale, and none failed last time.</p>")
    else:
        parts.append("<p>No source was read.</p>")
    if found.refused.height:
        parts.append(to_html(source_tables.refusals(found.refused)))
    else:
        parts.append("<p>No refused row waits for a decision.</p>")
    return section("sources", "Sources", parts)


def _method(found: Facts) -> str:
    """Return the way from documents to numbers: where formulas and SQL stand, and each document."""
    parts = [
        "<p>Every number comes from <code>prices.duckdb</code>, built at the time above. "
        f'<a href="methods.html">Methods</a> has the formulas, and <a href="tables.html">Tables</a> the SQL of '
        f"{found.models.height:,} marts as they stand in the file; "
        '<code>chipledger query "select * from int.accelerator_hour_price"</code> asks it.</p>',
        "<h3>Documents</h3>",
        to_html(source_tables.documents(found.documents)) if found.documents.height else "<p>None.</p>",
    ]
    return section("method", "How it is computed", parts)


def _some(made: Sheet | None) -> list[str]:
    return [to_html(made)] if made else []
