"""The page of sources: what was read when, what failed, what was refused, and where sources disagree."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from reports import wording
from reports.pages import facts, news
from reports.pages.frame import frame, section
from reports.queries import ask
from reports.tables import source_tables, truth_tables
from reports.tables.sheet import Footnote, Form, Sheet, sheet, small, to_html

PLACE = "sources.html"
MOST_SCOPES = 500
MOST_FAILED = 50
KINDS = {"live": "live", "archive": "archive", "import": "import"}

Row = Mapping[str, Any]


def render(file: Path) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        scopes, refused = facts.ask(con, "scope"), facts.ask(con, "refused")
        sources, failed = ask(con, "source"), ask(con, "failed")
        checks = truth_tables.read(con)
    troubles = "".join(
        (
            *truth_tables.warnings(checks),
            *(
                f"<li>{escape(words)}.{small(error)}</li>"
                for words, error in news.troubles(scopes)[: news.MOST_TROUBLES]
            ),
        )
    )
    warning = f'<div class="warn"><strong>Before any conclusion</strong><ul>{troubles}</ul></div>' if troubles else ""
    every = [to_html(source_tables.health(scopes, most=MOST_SCOPES))] if scopes.height else []
    return frame(
        title="Sources",
        headline=headline(scopes, refused.height),
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="Sources",
        nav=(
            ("by-source", "By source"),
            (truth_tables.ANCHOR, truth_tables.TITLE),
            ("by-scope", "By scope"),
            ("failures", "Failures"),
            ("refusals", "Refused"),
        ),
        main="\n".join(
            (
                section("by-source", "By source", [warning, to_html(summary(sources, scopes))]),
                truth_tables.part(checks),
                section("by-scope", "By scope", every or ["<p>No source was read.</p>"]),
                section("failures", "Looks that failed in the last 30 days", [_failed(failed)]),
                section("refusals", "Refused rows", [_refused(refused)]),
            )
        ),
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


def summary(sources: Sequence[Row], scopes: pl.DataFrame) -> Sheet:
    """Return one row for each registered source, live ones first; those that nobody looked at last."""
    by_source: dict[str, list[Row]] = {}
    for row in scopes.iter_rows(named=True):
        by_source.setdefault(row["source"], []).append(row)
    rows = sorted(sources, key=lambda row: (row["source"] not in by_source, [*KINDS].index(row["kind"]), row["source"]))
    cells = [_cells(row, by_source.get(row["source"], [])) for row in rows]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(("group", *HEADS), pl.String))
    n_read = sum(row["source"] in by_source for row in rows)
    unread = [i for i, row in enumerate(rows) if row["source"] not in by_source]
    columns = ("newest", "good", "rows", "refused", "disagreements")
    return sheet(
        frame,
        Form(
            heads=HEADS,
            stub="source",
            group="group",
            marked=("source",),
            right=("scopes", "rows", "refused", "failed", "disagreements"),
        ),
        id="summary",
        title=f"{n_read:,} of {wording.count(len(rows), 'registered source')} read",
        subtitle="Refused and failed: of the 30 days before the file was built.",
        footnotes=[Footnote(text="never read", column=column, rows=unread) for column in columns],
        note=(
            "A live source is current for so many hours after its last good look as it says; an archive or import "
            "never is. Disagreements: offers for which another source says something else about the same moment."
        ),
    )


HEADS = {
    "source": "Source",
    "scopes": "Scopes fresh",
    "newest": "Newest<br>price",
    "good": "Last good<br>look",
    "limit": "Current for,<br>hours",
    "rows": "Prices",
    "refused": "Refused",
    "failed": "Failed<br>looks",
    "disagreements": "Disagree-<br>ments",
}


def _cells(row: Row, scopes: Sequence[Row]) -> dict[str, str]:
    url = str(row["url"])
    name = escape(row["source"])
    if url.startswith(("https://", "http://")):
        name = f'<a href="{escape(url)}" rel="noreferrer">{name}</a>'
    newest = [scope["newest_price_at"] for scope in scopes if scope["newest_price_at"]]
    good = [scope["last_good_at"] for scope in scopes if scope["last_good_at"]]
    fresh = sum(scope["state"] == "fresh" for scope in scopes)
    dated = row["kind"] != "live"
    return {
        "group": f"{KINDS[row['kind']].capitalize()}, {'read' if scopes else 'never read'}",
        "source": name + small(row["title"]),
        "scopes": f"{len(scopes):,} archived" if dated and scopes else f"{fresh:,} of {len(scopes):,}",
        "newest": wording.day(max(newest, default=None)),
        "good": wording.day(max(good, default=None)),
        "limit": "never" if row["max_age_hours"] is None else f"{row['max_age_hours']:,}",
        "rows": _sum(scopes, "n_rows"),
        "refused": _sum(scopes, "n_refused"),
        "failed": f"{row['n_failed']:,}",
        "disagreements": _sum(scopes, "n_disagreements"),
    }


def _sum(scopes: Sequence[Row], name: str) -> str:
    return f"{sum(scope[name] or 0 for scope in scopes):,}" if scopes else wording.UNKNOWN


def _failed(failed: Sequence[Row]) -> str:
    if not failed:
        return "<p>None.</p>"
    shown = failed[:MOST_FAILED]
    frame = pl.DataFrame(
        {
            "when": [wording.minute(row["observed_at"]) for row in shown],
            "source": [row["source"] for row in shown],
            "scope": [row["scope"] for row in shown],
            "error": [
                f'<span class="long">{escape(wording.cause(row["error"], row["source"], row["scope"]))}</span>'
                if row["error"]
                else "it held no price that was accepted"
                for row in shown
            ],
        }
    )
    left = len(failed) - len(shown)
    return to_html(
        sheet(
            frame,
            Form(
                heads={"when": "When", "source": "Source", "scope": "Scope", "error": "Why"},
                stub="when",
                marked=("error",),
            ),
            id="failed",
            title=wording.count(len(failed), "look") + " without a price",
            subtitle="Newest first. What such a look concerns keeps its last prices, with their dates.",
            note=f"{wording.count(left, 'more')} left out." if left else "",
        )
    )


def _refused(refused: pl.DataFrame) -> str:
    if not refused.height:
        return "<p>No refused row waits for a decision.</p>"
    return to_html(source_tables.refusals(refused))
