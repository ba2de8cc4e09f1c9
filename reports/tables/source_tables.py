"""What the prices rest on: sources and their health, refused rows, documents."""

from collections.abc import Mapping
from html import escape
from typing import Any

import polars as pl

from reports import wording
from reports.pages.facts import MOST_REFUSED
from reports.tables.sheet import Footnote, Form, Sheet, sheet, small

Row = Mapping[str, Any]

STATES = {
    "missing": "missing",
    "stale": "stale",
    "retry": "last look failed",
    "fresh": "fresh",
    "archived": "archived",
}
TROUBLED = ("missing", "stale", "retry")
MOST_SCOPES = 80


def health(scopes: pl.DataFrame, *, troubled: bool = False, most: int = MOST_SCOPES) -> Sheet:
    """Return the state of each scope of each source, the worst first within a source; `troubled`: of those not well."""
    order = {state: rank for rank, state in enumerate(STATES)}
    rows = sorted(
        scopes.iter_rows(named=True), key=lambda row: (row["kind"] != "live", row["source"] or "", order[row["state"]])
    )
    wanted = [row for row in rows if row["state"] in TROUBLED] if troubled else rows
    shown = wanted[:most]
    frame = pl.DataFrame(
        {
            "source": [row["source"] for row in shown],
            "scope": [row["scope"] for row in shown],
            "state": [f'<span class="state {row["state"]}">{STATES[row["state"]]}</span>' for row in shown],
            "newest": [wording.day(row["newest_price_at"]) for row in shown],
            "good": [wording.minute(row["last_good_at"]) for row in shown],
            "age": [_age(row) for row in shown],
            "rows": [_number(row["n_rows"]) for row in shown],
            "refused": [_number(row["n_refused"]) for row in shown],
            "disagreements": [_number(row["n_disagreements"]) for row in shown],
            "error": [escape(wording.cause(row["error"], row["source"], row["scope"])) or "none" for row in shown],
        },
        schema_overrides={"source": pl.String},
    )
    form = Form(
        heads={
            "scope": "Scope",
            "state": "State",
            "newest": "Newest<br>price",
            "good": "Last good<br>look",
            "age": "Price age,<br>days",
            "rows": "Prices",
            "refused": "Refused,<br>30 days",
            "disagreements": "Disagree-<br>ments",
            "error": "Error of the last look",
        },
        stub="scope",
        group="source",
        right=("age", "rows", "refused", "disagreements"),
        marked=("state", "error"),
    )
    counts = {state: sum(row["state"] == state for row in rows) for state in STATES}
    title = ", ".join(f"{n:,} {STATES[state]}" for state, n in counts.items() if n) or "no source was read yet"
    left = len(wanted) - len(shown)
    note = (
        "Fresh: read by the last look and within the source's own limit of age. Archived: prices of a past date, from "
        "the offline archive or an import; the last good look of an import is when it was read, not when the prices "
        "were true. Disagreements: offers for which another source says something else about the same moment."
    )
    if left:
        note += f" {wording.count(left, 'more scope')} left out: <code>select * from int.source_health</code>."
    return sheet(
        frame,
        form,
        id="health",
        title=f"Sources: {title}",
        subtitle="One row for each part of a source that succeeds or fails alone.",
        footnotes=_dashes(
            frame, {"newest": "never read", "good": "never read", "age": "never read", "rows": "never read"}
        ),
        note=note,
    )


def refusals(refused: pl.DataFrame) -> Sheet:
    """Return the refused rows that nobody settled yet, newest first."""
    shown = list(refused.head(MOST_REFUSED).iter_rows(named=True))
    frame = pl.DataFrame(
        {
            "id": [str(row["quarantine_id"]) for row in shown],
            "reason": [wording.short(row["reason"]) for row in shown],
            "field": [row["field"] or wording.UNKNOWN for row in shown],
            "value": [
                wording.short(row["refused_value"]) if row["refused_value"] else wording.UNKNOWN for row in shown
            ],
            "place": [escape(row["source"]) + small(row["scope"]) for row in shown],
            "seen": [wording.day(row["observed_at"]) for row in shown],
        }
    )
    form = Form(
        heads={
            "id": "Number",
            "reason": "Why refused",
            "field": "Field",
            "value": "Value",
            "place": "Source, scope",
            "seen": "Seen",
        },
        stub="id",
        marked=("place",),
    )
    left = refused.height - len(shown)
    note = (
        "Kept, not published. Settle one with <code>chipledger quarantine accept NUMBER</code> or <code>refuse</code>."
    )
    if left:
        note += f" {wording.count(left, 'more row')} left out: <code>chipledger quarantine list</code>."
    return sheet(
        frame,
        form,
        id="refused",
        title=f"{wording.count(refused.height, 'refused row waits', 'refused rows wait')} for a decision",
        subtitle="A row that breaks a rule, or a jump that nothing confirms yet; newest first.",
        footnotes=_dashes(frame, {"field": "the whole answer is concerned", "value": "the whole answer is concerned"}),
        note=note,
    )


def documents(found: pl.DataFrame) -> Sheet:
    """Return every document that the page refers to, where it was read and when."""
    rows = list(found.iter_rows(named=True))
    frame = pl.DataFrame(
        {
            "sha256": [
                f'<code id="d-{row["document_sha256"][:12]}">{escape(row["document_sha256"])}</code>' for row in rows
            ],
            "url": [_address(row) for row in rows],
            "published": [wording.day(row["published_at"]) for row in rows],
            "fetched": [wording.minute(row["fetched_at"]) for row in rows],
            "size": [_number(row["size_bytes"]) for row in rows],
            "source": [escape(row["source"]) + small(row["scope"]) for row in rows],
        }
    )
    form = Form(
        heads={
            "sha256": "SHA-256",
            "url": "Address or operation",
            "published": "Published",
            "fetched": "Read",
            "size": "Bytes<br>kept",
            "source": "Source, scope",
        },
        stub="sha256",
        right=("size",),
        marked=("sha256", "url", "source"),
    )
    return sheet(
        frame,
        form,
        id="documents",
        title=f"{wording.count(len(rows), 'document')} behind the numbers of this page",
        subtitle="A price names the document that first showed it; its bytes lie in landing/ under the hash.",
        footnotes=_dashes(frame, {"published": "the document states none"}),
    )


def _address(row: Row) -> str:
    """Return where a document was read: a link where it is a web address, else plain text."""
    url, parameters = str(row["url"]), wording.short(row["parameters"])
    text = escape(url)
    if url.startswith(("https://", "http://")):
        text = f'<a href="{escape(url)}" rel="noreferrer">{text}</a>'
    return f'<span class="long">{text}</span>{small(parameters)}'


def _age(row: Row) -> str:
    """Return the age of the newest price, whenever its source was read."""
    newest, good = row["newest_price_at"], row["last_good_at"]
    if row["age_days"] is None or newest is None or good is None:
        return wording.days(row["age_days"])
    return wording.days(row["age_days"] + (good - newest).total_seconds() / 86400)


def _number(value: int | None) -> str:
    return wording.UNKNOWN if value is None else f"{value:,}"


def _dashes(frame: pl.DataFrame, reasons: Mapping[str, str]) -> list[Footnote]:
    """Return footnotes that give the reason of each dash in some columns."""
    return [
        Footnote(
            text=reason, column=column, rows=[i for i, text in enumerate(frame[column]) if text == wording.UNKNOWN]
        )
        for column, reason in reasons.items()
    ]
