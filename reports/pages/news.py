"""The sentence of news, and what it rests on: text from facts, without any mark-up."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.pages import facts
from reports.pages.facts import Facts
from reports.queries import Row
from reports.tables import truth_tables
from reports.templating import macro

MAX_TROUBLES = 8
MAX_LETTERS = 90
"""Of an error: enough to know its kind; the table of sources has more."""
ALIKE = (
    "offered",
    "service_provider_name",
    "purchase_option",
    "commitment_term_hours",
    "purchase_payment_model",
    "offering_class",
    "tier",
)
"""Changes alike in these and of the same size are one piece of news from several regions."""
SAME_RATIO = 0.0005


def headline(found: Facts) -> str:
    """Return the one sentence of news: a number, a direction and a scope."""
    standing = found.counts
    if not standing["n_known"]:
        return "No price is known: nothing was read yet."
    if not standing["n_current"]:
        return f"{_past_news(found, standing)}{trouble(found.scopes)}."
    since = facts.since_run(found.changes)
    checked = f"{wording.count(checked_prices(found), 'price')} checked"
    offers = _offers_moved(since)
    if not found.has_previous_run:
        news = f"{wording.count(standing['n_current'], 'current price')}; nothing earlier to compare them with"
    elif (lists := since.filter(pl.col("change_kind") == "list_change")).height:
        news = f"{_lists_moved(lists)}{offers}; {checked}"
    else:
        news = f"No {_whose(found)}list price moved since the last run{offers}; {checked}"
    return f"{news}{trouble(found.scopes)}."


def checked_prices(found: Facts) -> int:
    """Return how many prices an absence of change speaks of: those of the last run, or all where none is current."""
    return int(found.confirmed if found.counts["n_current"] else found.counts["n_known"])


def troubles(scopes: pl.DataFrame) -> list[tuple[str, str]]:
    """Return what limits every conclusion, worst first: the place and its state in words, then the error."""
    words = {
        "missing": "missing: it was never read",
        "stale": "stale: last read {day}, {days} days ago",
        "retry": "not read by the last run: its prices are of {day}",
    }
    return [
        (
            f"{row['source']} {row['scope']} is {words[state]}".format(
                day=wording.day(row["last_good_at"]), days=wording.days(row["age_days"])
            ).replace(" is not read", " was not read"),
            wording.cause(row["error"], row["source"], row["scope"], most=MAX_LETTERS),
        )
        for state in words
        for row in scopes.filter(pl.col("state") == state).iter_rows(named=True)
    ]


def warnings(
    checks: Sequence[Mapping[str, Any]] | None, scopes: pl.DataFrame, *, sources: str = "", unknown: pl.DataFrame
) -> Markup:
    """Return what limits the conclusions of a page: checks that differ, scopes not read, chips unknown; or nothing.

    `sources` is the address of the list of sources, which says what is left out.
    """
    differing, listed = truth_tables.differing(checks), troubles(scopes)
    return macro("parts.html.j2", "warnings")(
        differing[: truth_tables.MAX_WARNED],
        len(differing),
        listed[:MAX_TROUBLES],
        len(listed),
        wording.few(unknown["named"].to_list(), most=6) if unknown.height else "",
        sources,
    )


def _past_news(found: Facts, standing: Row) -> str:
    """Return the news of a file without a current price: from an archive, or with every live source stale."""
    checked = wording.count(standing["n_known"], "price")
    recent = found.changes.filter("is_recent")
    if standing["n_stale"]:
        return f"None of {checked} is current: every live source is stale or missing"
    dated = f"all of past dates, the newest of {wording.day(standing['archived_to'])}; none is current"
    if recent.height:
        lists = recent.filter(pl.col("change_kind") == "list_change").height
        return f"{wording.count(lists, 'list price')} moved in the last 30 days, {checked} checked, {dated}"
    return f"No change known in the last 30 days, {checked} checked, {dated}"


def _lists_moved(lists: pl.DataFrame) -> str:
    """Return the biggest move with the places that share it, and how many more there were each way."""
    top = lists.row(0, named=True)
    like = pl.all_horizontal(pl.col(name).eq_missing(top[name]) for name in ALIKE)
    is_same = (like & ((pl.col("change_ratio") - top["change_ratio"]).abs() < SAME_RATIO)).fill_null(value=False)
    same, rest = lists.filter(is_same), lists.filter(~is_same)
    places = [place for place in same["region_id"].unique(maintain_order=True) if place]
    where = f" in {places[0] if len(places) == 1 else f'{len(places):,} regions'}" if places else ""
    who = "" if top["service_provider_name"] == "AWS" else f" at {top['service_provider_name']}"
    how = wording.option(top["purchase_option"], term_hours=top["commitment_term_hours"])
    move = wording.moved(top["change_ratio"] or 0.0)
    head = f"{top['offered']} {move}{where}{who} since the last run ({how} list price)"
    if not rest.height:
        return head
    ways = {"down": pl.col("change_ratio") < 0, "up": pl.col("change_ratio") > 0}
    sides = [f"{n:,} {way}" for way, went in ways.items() if (n := rest.filter(went).height)]
    return f"{head}, {wording.count(rest.height, 'more list price')} moved ({wording.few(sides)})"


def _offers_moved(since: pl.DataFrame) -> str:
    kinds = dict(since["change_kind"].value_counts().iter_rows())
    parts = [
        wording.count(kinds[kind], *words)
        for kind, words in wording.KINDS_COUNTED.items()
        if kind in kinds and kind != "list_change"
    ]
    return f"; {wording.few(parts, most=4)}" if parts else ""


def trouble(scopes: pl.DataFrame) -> str:
    """Return how much to know of before believing the news; empty where everything was read."""
    live = scopes.filter(pl.col("kind") == "live")
    behind = live.filter(pl.col("state") != "fresh").height
    return f"; {behind:,} of {wording.count(live.height, 'live scope')} not read" if behind else ""


def _whose(found: Facts) -> str:
    """Return the provider in a word where all live sources are of one."""
    providers = found.scopes.filter(pl.col("kind") == "live")["service_provider_name"].unique().to_list()
    return f"{providers[0]} " if len(providers) == 1 else ""
