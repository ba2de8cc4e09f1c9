"""The page "What is written, and what holds": each audited number beside its verdict then and today, and the sums.

It judges numbers, not their authors. It is meant for the reader's own machine: whoever publishes it says so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from reports import wording
from reports.pages import guard
from reports.pages.frame import frame, section
from reports.queries import ask
from reports.tables import saving_table
from reports.tables.sheet import Form, Sheet, sheet, small, to_html

PLACE = "claims.html"
SEPARATOR = "; "
ORDER = (
    "physically_impossible",
    "inconsistent",
    "stale",
    "arithmetic holds, input does not",
    "true then",
    "arithmetic holds, input is unverified",
    "consistent",
    "unverifiable",
)
"""How a claim may stand, what failed first."""
MEANINGS = {
    "physically_impossible": "every way to read the number breaks a bound of physics by more than its hedge",
    "inconsistent": "it is not what its own inputs, the price history or published figures give",
    "stale": "it was the price once, and is not since; the history has the dates",
    "arithmetic holds, input does not": "it follows from figures of the same text, one of which failed",
    "true then": "it was right on its date, and is not today",
    "arithmetic holds, input is unverified": "it follows from figures of the same text, one of which nothing decides",
    "consistent": "it agrees with what it was held against",
    "unverifiable": "nothing here decides; the arithmetic says what is missing",
}
HEADS = {
    "claim": "Claim",
    "article": "Text",
    "metric": "Metric",
    "then": "On its date",
    "today": "Today",
    "why": "Why",
}
PICKS = ("article", "metric", "then", "today")
PAIR_HEADS = {
    "quantity": "Quantity",
    "one": "One text",
    "other": "Another",
    "evidence": "The evidence",
}
REPORT = (
    "<p>A wrong verdict costs its reader as much as a wrong price. Open an issue with the id of the claim, what stands "
    "under “Why”, and a public address that says otherwise. A wrong figure of a chip is corrected in the table of "
    "figures, a wrong reading of a text in the table of claims, a missing price by importing it; the verdict follows, "
    "as none is written by hand. <code>docs/auditing-a-claim.md</code> has the rules and how to add a claim.</p>"
)

Row = Mapping[str, Any]


def render(file: Path) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        rows, pairs = ask(con, "claim"), ask(con, "claim_pair")
        savings = guard.part("The table of savings", lambda: saving_table.render(con))
    parts = [
        section("counts", "Counts", [to_html(counts(rows))] if rows else ["<p>No claim was audited.</p>"]),
        section("plans", "Plans and spot, redone", [savings]),
        section("claims", "Every claim", [to_html(every(rows))] if rows else ["<p>None.</p>"]),
        section(
            "contradictions",
            "Where two texts disagree",
            [to_html(disagreements(pairs))] if pairs else ["<p>Nowhere.</p>"],
        ),
        section("wrong", "When a verdict is wrong", [REPORT]),
    ]
    return frame(
        title="What is written, and what holds",
        headline=headline(rows),
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="What is written, and what holds",
        nav=(
            ("counts", "Counts"),
            ("plans", "Plans and spot"),
            ("claims", "Every claim"),
            ("contradictions", "Disagreements"),
            ("wrong", "A wrong verdict"),
        ),
        header="<p>Published numbers held against physics, their own arithmetic, the price history and measurements. "
        "Numbers are judged, not those who wrote them.</p>",
        main="\n".join(parts),
    )


def headline(rows: Sequence[Row]) -> str:
    """Return how many of the numbers stand today, and how the others fail, in a sentence."""
    if not rows:
        return "No published number was audited"
    today = Counter(row["standing_today"] for row in rows)
    failed = [f"{today[name]:,} {_words(name)}" for name in ORDER[:3] if today[name]]
    told = f"{today['consistent']:,} of {wording.count(len(rows), 'published number')} hold today"
    return f"{told}; {wording.few(failed)}" if failed else told


def counts(rows: Sequence[Row]) -> Sheet:
    """Return how the claims stand, on their dates and today, with the kinds of claims in each row."""
    kinds = sorted({row["claim_kind"] for row in rows})
    then, today = (Counter(row[column] for row in rows) for column in ("standing", "standing_today"))
    by_kind = Counter((row["standing_today"], row["claim_kind"]) for row in rows)
    names = [name for name in ORDER if then[name] or today[name]]
    cells = [
        {
            "verdict": _words(name) + small(MEANINGS[name]),
            "then": f"{then[name]:,}",
            "today": f"{today[name]:,}",
            **{f"k{place}": f"{by_kind[name, kind]:,}" for place, kind in enumerate(kinds)},
        }
        for name in names
    ]
    columns = {f"k{place}": escape(kind) for place, kind in enumerate(kinds)}
    heads = {"verdict": "Verdict", "then": "On its<br>date", "today": "Today", **columns}
    return sheet(
        pl.DataFrame(cells, schema=dict.fromkeys(heads, pl.String)),
        Form(heads=heads, stub="verdict", right=[name for name in heads if name != "verdict"], marked=("verdict",)),
        id="verdicts",
        title=f"{wording.count(len(rows), 'number')} of {wording.count(len({row['article'] for row in rows}), 'text')}",
        subtitle="By verdict; the kinds of claims as they stand today.",
        note="Only “consistent” is sound: a number that follows from one that failed is never counted there.",
    )


def every(rows: Sequence[Row]) -> Sheet:
    """Return one row a claim: as told, how it stood and stands, and its sums one click away."""
    ids = {row["claim_id"] for row in rows}
    cells = [
        {
            "claim": _told(row),
            "article": row["article_title"] or row["article"] or wording.UNKNOWN,
            "metric": row["metric"].replace("_", " "),
            "then": _words(row["standing"]),
            "today": _words(row["standing_today"]),
            "why": _why(row, ids),
        }
        for row in rows
    ]
    table = pl.DataFrame(cells, schema=dict.fromkeys(HEADS, pl.String)).with_columns(
        pl.col("article", "metric").map_elements(small, pl.String)
    )
    return sheet(
        table,
        Form(
            heads=HEADS,
            stub="claim",
            marked=("claim", "article", "metric", "why"),
            picks=("article", "metric", "then", "today"),
        ),
        id="audit",
        title="Every number, then and today",
        subtitle="As its text has it: with its hedge, conditions and date.",
    )


def disagreements(pairs: Sequence[Row]) -> Sheet:
    """Return the pairs of texts that say different things of one quantity, with both and the evidence's."""
    cells = [
        {
            "quantity": f'<span class="long">{escape(row["subject"])}</span>' + small(row["quantity"]),
            "one": _link(row["claim_id"], f"{row['claimed']} {row['unit']}") + small(_words(row["standing"])),
            "other": _link(row["other_claim_id"], f"{row['other_claimed']} {row['unit']}")
            + small(_words(row["other_standing"])),
            "evidence": "nothing decides"
            if row["recomputed_value"] is None
            else f"{wording.significant(row['recomputed_value'], 4)} {row['unit']}",
        }
        for row in pairs
    ]
    return sheet(
        pl.DataFrame(cells, schema=dict.fromkeys(PAIR_HEADS, pl.String)),
        Form(heads=PAIR_HEADS, stub="quantity", marked=("quantity", "one", "other")),
        id="pairs",
        title=f"{wording.count(len(pairs), 'pair')} of numbers that cannot both hold",
        subtitle="One quantity in two texts; what decides is the history or published figures.",
    )


def _words(standing: str) -> str:
    return standing.replace("_", " ")


def _link(claim_id: str, words: str) -> str:
    return f'<a href="#c-{escape(claim_id)}">{escape(words)}</a>'


def _told(row: Row) -> str:
    """Return the claim as its text has it."""
    hedge = f"{row['hedge']} " if row["hedge"] else ""
    told = f"{hedge}{row['claimed']} {row['unit']}"
    about = [row["claim_conditions"], row["place"], row["claimed_as_of"] or "undated"]
    link = ""
    if str(row["source_url"] or "").startswith(("https://", "http://")):
        link = f'<small><a href="{escape(row["source_url"])}" rel="noreferrer">the text</a></small>'
    return (
        f'<span class="long" id="c-{escape(row["claim_id"])}">{escape(row["subject"])}: <q>{escape(told)}</q></span>'
        + small(SEPARATOR.join(filter(None, [row["claim_id"], *about])))
        + link
    )


def _why(row: Row, ids: set[str]) -> str:
    """Return the arithmetic behind a disclosure that needs no script."""
    parts = [f"<p>{escape(row['arithmetic'])}</p>"]
    parts += [
        _list(name, [escape(one) for one in _split(row[column])])
        for name, column in (("Readings", "readings"), ("Bounds", "bounds"))
    ]
    rests = [_link(one, one) if one in ids else escape(one) for one in _split(row["rests_on"])]
    parts.append(_list("Rests on", rests))
    documents = [
        f'<a href="{escape(one)}" rel="noreferrer">{escape(one)}</a>'
        if one.startswith(("https://", "http://"))
        else escape(one)
        for one in _split(row["evidence_documents"])
    ]
    until = f", known until {row['evidence_until']}" if row["evidence_until"] else ""
    parts.append(_list(f"Evidence{escape(until)}", documents))
    return f'<details class="long"><summary>Arithmetic</summary>{"".join(parts)}</details>'


def _list(name: str, items: Sequence[str]) -> str:
    return f"<p>{name}:</p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def _split(text: str | None) -> list[str]:
    return text.split(SEPARATOR) if text else []
