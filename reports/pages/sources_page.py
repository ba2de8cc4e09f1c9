"""The page of sources: what was read when, what failed, what was refused, and where sources disagree."""

from collections.abc import Sequence

import polars as pl

from reports import wording
from reports.pages import daily_page
from reports.pages.cost_page import by
from reports.pages.frame import frame
from reports.queries import Published, Row, truth_checks
from reports.queries import frame as read_frame
from reports.tables import source_tables, truth_tables
from reports.tables.source_tables import NEVER
from reports.tables.table import Column, Number, Table, left_out, outside, small, span

PLACE = "sources.html"
MAX_FAILED = 50
KINDS = ("live", "archive", "import", "off")


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    scopes, refused = (read_frame(published.con, name) for name in ("scope", "refused"))
    failed, checks = published.ask("failed"), truth_checks(published.con)
    return frame(
        "sources.html.j2",
        headline=headline(scopes, refused.height),
        place=PLACE,
        build=published.build,
        warnings=daily_page.warnings(checks, scopes, unknown=pl.DataFrame()),
        summary=summary(published.ask("source"), scopes),
        checks=truth_tables.part(checks),
        scopes=source_tables.health(scopes) if scopes.height else None,
        failed=_failed(failed) if failed else None,
        refused=source_tables.refusals(refused) if refused.height else None,
    )


def headline(scopes: pl.DataFrame, n_refused: int) -> str:
    """Return how many live scopes are well, and what is not, in a sentence."""
    states = dict(scopes["state"].value_counts().iter_rows()) if scopes.height else {}
    live = sum(n for state, n in states.items() if state != "archived")
    archived = wording.count(states.get("archived", 0), "scope")
    if not live:
        text = f"No live source was read; {archived} of archives and imports below"
    else:
        text = f"{states.get('fresh', 0):,} of {wording.count(live, 'live scope')} fresh"
        ill = [f"{states[s]:,} {source_tables.STATES[s]}" for s in source_tables.TROUBLED if states.get(s)]
        text += f", {wording.few(ill)}" if ill else ""
    waits = wording.count(n_refused, "refused row waits", "refused rows wait") if n_refused else "no refused row waits"
    return f"{text}; {waits} for a decision"


def summary(sources: Sequence[Row], scopes: pl.DataFrame) -> Table:
    """Return one row for each registered source, live ones first; those that nobody read last."""
    by_source = by(scopes.iter_rows(named=True), "source")
    rows = sorted(sources, key=lambda row: (row["source"] not in by_source, KINDS.index(row["kind"]), row["source"]))

    def of(row: Row) -> Sequence[Row]:
        return by_source.get(row["source"], ())

    def latest(row: Row, name: str) -> str:
        return wording.day(max((scope[name] for scope in of(row) if scope[name]), default=None))

    def total(row: Row, name: str) -> int | None:
        return sum(scope[name] or 0 for scope in of(row)) if of(row) else None

    def fresh(row: Row) -> str:
        if row["kind"] != "live" and of(row):
            return f"{len(of(row)):,} archived"
        return f"{sum(scope['state'] == 'fresh' for scope in of(row)):,} of {len(of(row)):,}"

    def why(row: Row) -> str | None:
        return None if of(row) else NEVER

    n_read = sum(row["source"] in by_source for row in rows)
    return Table(
        id="summary",
        title=f"{n_read:,} of {wording.count(len(rows), 'registered source')} read",
        subtitle="Refused and failed: of the 30 days before the file was built.",
        rows=rows,
        group=lambda row: f"{row['kind'].capitalize()}, {'read' if of(row) else NEVER}",
        columns=[
            Column("Source", lambda row: outside(row["source"], row["url"]) + small(row["title"])),
            Number("Scopes fresh", fresh),
            Column("Newest\nprice", lambda row: latest(row, "newest_price_at"), why=why),
            Column("Last good\nfetch", lambda row: latest(row, "last_good_at"), why=why),
            Column(
                "Current for,\nhours", lambda row: "never" if row["max_age_hours"] is None else row["max_age_hours"]
            ),
            Number("Prices", lambda row: total(row, "n_rows"), why=why),
            Number("Refused", lambda row: total(row, "n_refused"), why=why),
            Number("Failed\nfetches", "n_failed"),
            Number("Disagree-\nments", lambda row: total(row, "n_disagreements"), why=why),
            Column("Terms: fetch,\npublish", _terms, why=lambda row: None if row["terms_url"] else "an import"),
        ],
        note="A source is current for so many hours after its last good fetch. "
        "Disagreements: offers for which another source says something else about the same moment. "
        "Terms: whether they let robots fetch the prices, and anybody publish them again, as a reader of them found.",
    )


def _terms(row: Row) -> str | None:
    if not row["terms_url"]:
        return None
    return outside(", ".join(row[name] or "unread" for name in ("may_fetch", "redistributable")), row["terms_url"])


def _failed(failed: Sequence[Row]) -> Table:
    def why(row: Row) -> str:
        if not row["error"]:
            return "it held no price that was accepted"
        return span(wording.cause(row["error"], row["source"], row["scope"]), "long")

    return Table(
        id="failed",
        title=wording.count(len(failed), "fetch", "fetches") + " without a price",
        subtitle="Newest first. What such a fetch concerns keeps its last prices, with their dates.",
        rows=failed[:MAX_FAILED],
        columns=[
            Column("When", lambda row: wording.minute(row["observed_at"])),
            Column("Source", "source"),
            Column("Scope", "scope"),
            Column("Why", why),
        ],
        note=left_out(len(failed) - MAX_FAILED, "more", many="more").strip(),
    )
