"""The page of a day: its parts in their order, as one HTML text that needs nothing else to be read."""

import re
from collections.abc import Callable, Sequence
from functools import partial

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.pages import facts, guard, news
from reports.pages.facts import Facts
from reports.pages.frame import frame, root
from reports.tables import change_tables, price_tables, source_tables, truth_tables
from reports.tables.table import Table
from reports.templating import macro

PARTS = (
    ("basis", "What it rests on"),
    ("changes", "What changed"),
    ("prices", "Prices now"),
    ("gaps", "What we do not know"),
    ("sources", "Sources"),
    ("method", "How it is computed"),
)
"""The parts of the page in their order: anchor, title."""

LINK = re.compile(r'href="(?=[a-z_]+\.html)')
ORDER = "List prices first, on demand before other options, then by size."

_part = partial(macro, "daily_parts.html.j2")


def render(found: Facts, places: Sequence[str]) -> list[str]:
    """Return the page as it is in each of several places below the reports; the same facts give the same bytes."""
    day = wording.day(found.built_at)
    makers: tuple[Callable[[Facts], Markup], ...] = (_basis, _changes, _prices, _gaps, _sources, _method)
    parts = [guard.part(title, partial(make, found)) for (_, title), make in zip(PARTS, makers, strict=True)]
    return [
        frame(
            "daily.html.j2",
            headline=news.headline(found),
            place=place,
            built_at=found.built_at,
            version=found.version,
            nav=PARTS,
            day=day,
            # Our own links are written as from the top folder; those of sources begin with their scheme.
            parts=[Markup(LINK.sub(rf"\g<0>{root(place)}", str(each))) for each in parts],  # noqa: S704 (escaped before)
        )
        for place in places
    ]


def _basis(found: Facts) -> Markup:
    """Return the counts that everything below rests on; what is stale or missing comes first."""
    return _part("basis")(
        news.warnings(found.checks, found.scopes, sources="#sources", unknown=found.unknown),
        found.counts,
        dict(found.scopes["state"].value_counts().iter_rows()),
        found.confirmed,
        found.refused.height,
        found.runs.rows(named=True),
        truth_tables.sentence(found.checks),
    )


def _changes(found: Facts) -> Markup:
    """Return what moved since the last run, then in the last 30 days, or else what moved last."""
    since, earlier = facts.since_run(found.changes), facts.earlier(found.changes)
    checked = f"{wording.count(news.checked_prices(found), 'price')} checked"
    now: str | Table = f"No earlier run to compare with; the last run was the first and checked {found.confirmed:,}."
    if since.height:
        now = _table(found, since, "since", "Since the last run", f"{checked}. {ORDER}")
    elif found.has_previous_run:
        now = f"No change, {checked}."
    if earlier.height:
        before: str | Table = _table(
            found, earlier, "recent", "In the last 30 days", f"Those since the last run left out. {ORDER}"
        )
    else:
        standing = found.counts
        dated = "" if standing["n_current"] else f", the newest of {wording.day(standing['newest_at'])}"
        before = f"No {'other ' if since.height else ''}change{' known' if dated else ''}, {checked}{dated}."
    last = [] if since.height or earlier.height else [("", _last_known(found))]
    return _part("changes")([("Since the last run", now), ("In the last 30 days", before), *last])


def _table(found: Facts, changes: pl.DataFrame, id: str, when: str, subtitle: str) -> Table:
    title = f"{when}: {change_tables.tally(changes)}"
    return change_tables.changes(changes, found.sparks, id=id, title=title, subtitle=subtitle, total=changes.height)


def _last_known(found: Facts) -> str | Table:
    known = facts.last_known(found.changes)
    if not known.height:
        return "No change of a list price is known at all."
    return change_tables.changes(
        known,
        found.sparks,
        id="known",
        title=f"Last known changes of list prices, the newest seen on {wording.day(max(known['observed_at']))}",
        subtitle="Past events with their dates, newest first; AWS, then others.",
        total=found.changes.filter(pl.col("change_kind") == "list_change").height,
    )


def _prices(found: Facts) -> Markup:
    """Return prices as they are, each purchase option apart."""
    aws, neuron = found.aws_prices, price_tables.neuron(found.aws_prices, found.rate)
    providers = [
        price_tables.by_provider(found.provider_prices, option, found.sparks, found.rate)
        for option in price_tables.options_shown(found.provider_prices)
    ]
    return _part("prices")(
        sentences=[text for text in (found.regions, found.rate.words() if found.rate else "") if text],
        charts=found.standing_charts,
        by_chip=price_tables.by_chip(aws, found.rate) if aws.height else None,
        by_region=price_tables.by_region(aws, found.rate) if aws.height else None,
        n_regions=aws.select("accelerator_name", "region_id").n_unique(),
        others=[*([neuron] if neuron else []), *providers],
        old=price_tables.old(found.old_prices) if found.old_prices.height else None,
        drifts=found.drift_charts,
    )


def _gaps(found: Facts) -> Markup:
    """Return what is lacking, counted first and then listed."""
    cells = set(found.aws_prices["cell"])
    known = {*found.provider_prices["purchase_option"], *(["reserved"] if cells & {"reserved_1", "reserved_3"} else [])}
    lacking = source_tables.lacking(found.unknown, found.gaps)
    if absent := [name for option, name in wording.OPTIONS.items() if option not in known]:
        lacking.append(f"No price in this file is under {wording.few(absent, most=9)}.")
    return _part("gaps")(
        lacking,
        source_tables.unknowns(found.unknown) if found.unknown.height else None,
        source_tables.gaps(found.gaps) if found.gaps.height else None,
    )


def _sources(found: Facts) -> Markup:
    """Return the scopes that are not well, and what was refused; the page of sources has all of them."""
    is_troubled = bool(found.scopes.filter(pl.col("state").is_in(source_tables.TROUBLED)).height)
    return _part("sources")(
        wording.count(found.scopes.height, "scope") if found.scopes.height else "no scope",
        source_tables.health(found.scopes, troubled=True) if is_troubled else None,
        found.scopes.height,
        source_tables.refusals(found.refused) if found.refused.height else None,
    )


def _method(found: Facts) -> Markup:
    """Return the way from documents to numbers: where formulas and SQL are, and each document."""
    documents = source_tables.documents(found.documents) if found.documents.height else None
    return _part("method")(found.models.height, documents)
