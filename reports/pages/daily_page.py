"""The page of a day: what the published file says of it, the sentence of news, and its parts in their order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import polars as pl
from markupsafe import Markup

from reports import wording
from reports.charts import chart_facts, sparkline
from reports.pages import guard
from reports.pages.frame import frame, root
from reports.queries import Published, Row, truth_checks
from reports.queries import frame as read_frame
from reports.tables import change_tables, source_tables, truth_tables
from reports.tables.table import Table
from reports.templating import macro
from reports.weekly import news

PARTS = (("changes", "What changed"), ("gaps", "What we do not know"), ("method", "How it is computed"))
"""The parts of the page in their order: anchor, title."""

LINK = re.compile(r'href="(?=[a-z_]+\.html)')
ORDER = "List prices first, on demand before other options, then by size."

_part = partial(macro, "daily_parts.html.j2")
MAX_KNOWN = 8
"""Rows of the last known changes, for AWS and for all others."""
MAX_TROUBLES = 8
WITHDRAWN_DAYS, RECENT_DAYS = 7, 30
"""Prices that were withdrawn, and changes, are shown for so many days, and since the run before the last one."""
MAX_WITHDRAWN = 10
ALWAYS, FOREVER = (datetime.fromisoformat(day) for day in ("0001-01-01", "9999-12-31"))
FRAMES = ("run", "scope", "refused", "unknown", "gap", "model")
MAX_LETTERS = 90
"""Of an error: enough to know its kind; the table of sources has more."""
ALIKE = (
    *("offered", "service_provider_name", "purchase_option", "commitment_term_hours", "purchase_payment_model"),
    *("offering_class", "tier"),
)
"""Changes alike in these and of the same size are one piece of news from several regions."""
SAME_RATIO = 0.0005


# --- what it is made of


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The published file as the daily page sees it; times are naive and UTC, as in the file.

    `built_at` is the only clock of a page. `frames` are the answers of SELECTs by name; `run` has the last run and the
    run before, if any. `sparks` are the sparklines of offers that a table shows. `checks` are the truth checks, worst
    first; None where the file has none.
    """

    built_at: datetime
    version: str
    counts: Row
    frames: Mapping[str, pl.DataFrame]
    sparks: Mapping[int, str]
    checks: Sequence[Row] | None = None

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return the answer of a SELECT."""
        return self.frames[name]

    @property
    def has_previous_run(self) -> bool:
        """Return whether there was a run before the last one, so that something can have moved since."""
        return self["run"].height > 1


def since_run(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the changes since the last run, most telling first."""
    return changes.filter("is_since")


def earlier(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the changes of the last 30 days that are not since the last run, most telling first."""
    return changes.filter(pl.col("is_recent") & ~pl.col("is_since"))


def last_known(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the newest changes of list prices, AWS's and others' apart, for a file in which nothing is recent."""
    of_lists = changes.filter(pl.col("change_kind") == "list_change").sort(
        pl.col("observed_at"), pl.col("change_ratio").abs(), descending=True, maintain_order=True
    )
    is_aws = pl.col("service_provider_name") == "AWS"
    return pl.concat([of_lists.filter(is_aws).head(MAX_KNOWN), of_lists.filter(~is_aws).head(MAX_KNOWN)])


def read(published: Published) -> Facts:
    """Return the facts of a published file."""
    con, (built_at, version) = published.con, published.build
    frames = {name: read_frame(con, name) for name in FRAMES}
    runs = frames["run"].rows(named=True)
    last = runs[0] if runs else {"run_id": "", "recorded_at": None}
    previous = runs[1]["ended_at"] if len(runs) > 1 else None
    ago = {days: min(filter(None, [built_at - timedelta(days), previous])) for days in (WITHDRAWN_DAYS, RECENT_DAYS)}
    frames["withdrawn"] = read_frame(con, "withdrawn", since=ago[WITHDRAWN_DAYS], until=FOREVER)
    learnt = {"recorded_at": last["recorded_at"], "previous_ended_at": previous}
    changes = read_frame(con, "change", since=ago[RECENT_DAYS], **learnt)
    if not changes.height:
        changes = read_frame(con, "change", since=ALWAYS, **learnt)
    moved = [each.head(change_tables.MAX_CHANGES) for each in (since_run(changes), earlier(changes))]
    moved.append(last_known(changes))
    shas = sorted({*pl.concat(f["document_sha256"] for f in moved).drop_nulls()})
    sparks = chart_facts.sparks(con, pl.concat(f["offer_id"] for f in moved), until=built_at)
    return Facts(
        built_at=built_at,
        version=version,
        counts=published.ask("count", run_id=last["run_id"])[0],
        frames=frames | {"change": changes, "document": read_frame(con, "document", shas=shas)},
        sparks=sparkline.of_offers(sparks, built_at),
        checks=truth_checks(con),
    )


# --- the sentence of news, and what limits it


def headline(found: Facts) -> str:
    """Return the one sentence of news: a number, a direction and a scope."""
    standing = found.counts
    if not standing["n_known"]:
        return "No price is known: nothing was read yet."
    if not standing["n_current"]:
        return f"{_past_news(found, standing)}{trouble(found['scope'])}."
    since = since_run(found["change"])
    checked = f"{wording.count(checked_prices(found), 'price')} checked"
    offers = _offers_moved(since)
    if not found.has_previous_run:
        news = f"{wording.count(standing['n_current'], 'current price')}; nothing earlier to compare them with"
    elif (lists := since.filter(pl.col("change_kind") == "list_change")).height:
        news = f"{_lists_moved(lists)}{offers}; {checked}"
    else:
        providers = found["scope"].filter(pl.col("kind") == "live")["service_provider_name"].unique().to_list()
        whose = f"{providers[0]} " if len(providers) == 1 else ""  # where all live sources are of one
        news = f"No {whose}list price moved since the last run{offers}; {checked}"
    return f"{news}{trouble(found['scope'])}."


def checked_prices(found: Facts) -> int:
    """Return how many prices an absence of change speaks of: those of the last run, or all where none is current."""
    return int(found.counts["n_confirmed"] if found.counts["n_current"] else found.counts["n_known"])


def troubles(scopes: pl.DataFrame) -> list[tuple[str, str]]:
    """Return what limits every conclusion, worst first: the place and its state in words, then the error."""
    words = {
        "missing": "is missing: it was never read",
        "stale": "is stale: last read {day}, {days} days ago",
        "retry": "was not read by the last run: its prices are of {day}",
    }
    return [
        (
            f"{wording.scope(row)} "
            + words[state].format(day=wording.day(row["last_good_at"]), days=wording.days(row["age_days"])),
            wording.cause(row["error"], row["source"], row["scope"], most=MAX_LETTERS),
        )
        for state in words
        for row in scopes.filter(pl.col("state") == state).iter_rows(named=True)
    ]


def warnings(
    checks: Sequence[Mapping[str, Any]] | None, scopes: pl.DataFrame, *, sources: str = "", unknown: pl.DataFrame
) -> Markup:
    """Return what limits the conclusions of a page: checks newly differing, scopes not read, chips unknown; or nothing.

    `sources` is the address of the list of sources, which says what is left out.
    """
    differing, listed = truth_tables.differing(checks), troubles(scopes)
    news = [row for row in differing if not row["is_known"]]
    return macro("parts.html.j2", "warnings")(
        news,
        len(differing) - len(news),
        listed[:MAX_TROUBLES],
        len(listed),
        wording.few(unknown["named"].to_list(), most=6) if unknown.height else "",
        sources,
    )


def _past_news(found: Facts, standing: Row) -> str:
    """Return the news of a file without a current price: from an archive, or with every live source stale."""
    checked = wording.count(standing["n_known"], "price")
    recent = found["change"].filter("is_recent")
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


# --- the page


def render(found: Facts, places: Sequence[str]) -> list[str]:
    """Return the page as it is in each of several places below the reports; the same facts give the same bytes."""
    parts = [guard.part("The basis", lambda: _basis(found)), guard.part(PARTS[0][1], lambda: _changes(found))]
    parts.append(guard.part(PARTS[1][1], lambda: _gaps(found)))
    parts.append(guard.part(PARTS[2][1], lambda: _method(found, parts)))
    return [
        frame(
            "daily.html.j2",
            headline=headline(found),
            place=place,
            build=(found.built_at, found.version),
            nav=PARTS,
            day=wording.day(found.built_at),
            # Our own links are written as from the top folder; those of sources begin with their scheme.
            parts=[Markup(LINK.sub(rf"\g<0>{root(place)}", str(each))) for each in parts],  # noqa: S704 (escaped before)
        )
        for place in places
    ]


def _basis(found: Facts) -> Markup:
    """Return the counts that everything below rests on; what is stale or missing comes first."""
    return _part("basis")(
        warnings(found.checks, found["scope"], sources="sources.html", unknown=found["unknown"]),
        found.counts,
        found["refused"].height,
        found["run"].rows(named=True),
        truth_tables.sentence(found.checks),
    )


def _changes(found: Facts) -> Markup:
    """Return what moved since the last run, then in the last 30 days, or else what moved last."""
    since, recent = since_run(found["change"]), earlier(found["change"])
    checked = f"{wording.count(checked_prices(found), 'price')} checked"
    now: str | Table = f"No earlier run to compare with: the last run was the first, {checked}."
    if since.height:
        now = _table(found, since, "since", "Since the last run", f"{checked}. {ORDER}")
    elif found.has_previous_run:
        now = f"No change, {checked}."
    if recent.height:
        before: str | Table = _table(
            found, recent, "recent", "In the last 30 days", f"Those since the last run left out. {ORDER}"
        )
    else:
        standing = found.counts
        dated = "" if standing["n_current"] else f", the newest of {wording.day(standing['newest_at'])}"
        before = f"No {'other ' if since.height else ''}change{' known' if dated else ''}, {checked}{dated}."
    last = [] if since.height or recent.height else [("", _last_known(found))]
    withdrawn = [("Prices that we withdrew", _withdrawn(found))] if found["withdrawn"].height else []
    return _part("changes")([*withdrawn, ("Since the last run", now), ("In the last 30 days", before), *last])


def _withdrawn(found: Facts) -> Markup:
    """Return what was said of prices that were withdrawn, what they were, and why."""
    lines = [news.withdrawn(row, found.built_at) for row in found["withdrawn"].head(MAX_WITHDRAWN).rows(named=True)]
    if left := sum(found["withdrawn"]["n_offers"].to_list()[MAX_WITHDRAWN:]):
        lines.append(f"{wording.count(left, 'more price')}: select * from int.price_change where reason is not null")
    return _part("withdrawn")(lines)


def _table(found: Facts, changes: pl.DataFrame, id: str, when: str, subtitle: str) -> Table:
    title = f"{when}: {change_tables.tally(changes)}"
    return change_tables.changes(changes, found.sparks, id=id, title=title, subtitle=subtitle, total=changes.height)


def _last_known(found: Facts) -> str | Table:
    known = last_known(found["change"])
    if not known.height:
        return "No change of a list price is known at all."
    return change_tables.changes(
        known,
        found.sparks,
        id="known",
        title=f"Last known changes of list prices, the newest seen on {wording.day(max(known['observed_at']))}",
        subtitle="Past events with their dates, newest first; AWS, then others.",
        total=found["change"].filter(pl.col("change_kind") == "list_change").height,
    )


def _gaps(found: Facts) -> Markup:
    """Return what is lacking, counted first and then listed."""
    known = found.counts["purchase_options"] or ()
    lacking = source_tables.lacking(found["unknown"], found["gap"])
    if absent := [name for option, name in wording.OPTIONS.items() if option not in known]:
        lacking.append(f"No price in this file is under {wording.few(absent, most=9)}.")
    return _part("gaps")(
        lacking,
        source_tables.unknowns(found["unknown"]) if found["unknown"].height else None,
        source_tables.gaps(found["gap"]) if found["gap"].height else None,
    )


def _method(found: Facts, parts: Sequence[Markup]) -> Markup:
    """Return the way from documents to numbers: where formulas and SQL are, and the documents of the parts before."""
    return _part("method")(found["model"].height, source_tables.linked(found["document"], parts))
