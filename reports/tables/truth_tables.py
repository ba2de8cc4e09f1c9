"""What was checked: truth checks of a published file as tables and as lines, what differs before everything else."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import duckdb
import polars as pl

from reports import wording
from reports.pages.frame import section
from reports.queries import ask, has_mart
from reports.tables.sheet import Footnote, Form, Sheet, sheet, small, to_html

Row = Mapping[str, Any]

ANCHOR = "checked"
TITLE = "What was checked"
PLACE = f"sources.html#{ANCHOR}"
MOST_DIFFERING = 60
MOST_WARNED = 8


def read(con: duckdb.DuckDBPyConnection) -> list[Row] | None:
    """Return the truth checks of a published file; None where it has none."""
    return ask(con, "truth") if has_mart(con, "truth_check") else None


def differing(checks: Sequence[Row] | None) -> list[Row]:
    """Return the checks that differ."""
    return [row for row in checks or () if row["result"] == "differs"]


def warnings(checks: Sequence[Row] | None) -> list[str]:
    """Return what differs as items of a list, our own HTML; how many are left out is said."""
    found = differing(checks)
    items = [
        f"<li>Truth check <b>{escape(row['check_name'])}</b> differs: {escape(wording.short(row['subject']))}, "
        f"{row['n_differing']:,} of {row['n_compared']:,} compared.{small(wording.short(row['example']))}</li>"
        for row in found[:MOST_WARNED]
    ]
    if left := len(found) - MOST_WARNED:
        items += [f"<li>{wording.count(left, 'truth check')} more differ.</li>"] if left > 0 else []
    return items


def sentence(checks: Sequence[Row] | None) -> str:
    """Return how many checks hold, differ or were not made, in words."""
    if checks is None:
        return "No truth check was made for this file."
    counts = {result: sum(row["result"] == result for row in checks) for result in ("holds", "differs", "not_checked")}
    n_prices = sum(row["n_compared"] for row in checks)
    return (
        f"{counts['differs']:,} of {wording.count(len(checks), 'truth check')} differ, {counts['holds']:,} hold, "
        f"{counts['not_checked']:,} had nothing to compare; {n_prices:,} comparisons."
    )


def part(checks: Sequence[Row] | None) -> str:
    """Return the part of a page: what differs in full, then each check with its subjects counted."""
    parts = [f"<p>{escape(sentence(checks))}</p>"]
    if checks:
        found = differing(checks)
        parts += [to_html(of_differing(found))] if found else ["<p>No check differs.</p>"]
        parts.append(to_html(of_checks(checks)))
    return section(ANCHOR, TITLE, parts)


def of_differing(found: Sequence[Row]) -> Sheet:
    """Return one row for each check and subject that differ, with the worst case and what to do."""
    shown = found[:MOST_DIFFERING]
    frame = pl.DataFrame(
        {
            "check": [row["check_name"] for row in shown],
            "subject": [wording.short(row["subject"]) for row in shown],
            "differing": [f"{row['n_differing']:,} of {row['n_compared']:,}" for row in shown],
            "value": [wording.significant(row["checked_value"]) + small(_limits(row)) for row in shown],
            "example": [
                f'<span class="long">{escape(row["example"] or wording.UNKNOWN)}</span>{small(row["advice"])}'
                for row in shown
            ],
            "since": [wording.day(row["newest_differing_at"]) for row in shown],
        }
    )
    form = Form(
        heads={
            "check": "Check",
            "subject": "Of what",
            "differing": "Differing",
            "value": "Value",
            "since": "Newest<br>of it",
            "example": "The worst case, and what to do",
        },
        stub="check",
        right=("differing", "value"),
        marked=("value", "example"),
    )
    left = len(found) - len(shown)
    return sheet(
        frame,
        form,
        id="differing",
        title=f"{wording.count(len(found), 'check')} {'differs' if len(found) == 1 else 'differ'}",
        subtitle="A price is not withheld for it: read the example before you lean on what it concerns.",
        footnotes=[
            Footnote(
                text="no moment is known",
                column="since",
                rows=[i for i, row in enumerate(shown) if row["newest_differing_at"] is None],
            )
        ],
        note=f"{wording.count(left, 'more')} left out: <code>select * from int.truth_check</code>." if left > 0 else "",
    )


def of_checks(checks: Sequence[Row]) -> Sheet:
    """Return one row for each check: what it asks, of how many subjects it holds, differs or was not made."""
    ordered = sorted(checks, key=lambda row: (row["check_group"], row["check_name"]))
    cells = [_cells(list(rows)) for _, rows in groupby(ordered, key=lambda row: row["check_name"])]
    heads = {
        "check": "Check",
        "meaning": "What its value is",
        "limits": "Holds<br>within",
        "holds": "Holds",
        "differs": "Differs",
        "not_checked": "Not<br>checked",
        "compared": "Compared",
    }
    return sheet(
        pl.DataFrame(cells, schema=dict.fromkeys(("group", *heads), pl.String)),
        Form(
            heads=heads,
            stub="check",
            group="group",
            marked=("meaning",),
            right=("holds", "differs", "not_checked", "compared"),
        ),
        id="checks",
        title=f"{wording.count(len(cells), 'kind')} of truth checks",
        subtitle="How many subjects (providers, sources, scopes, chips) hold, differ, or had nothing to compare.",
        note="Each by itself: <code>select * from int.truth_check</code>; the SQL stands under Tables.",
    )


def _cells(rows: Sequence[Row]) -> dict[str, str]:
    first = rows[0]
    same = {(row["limit_low"], row["limit_high"]) for row in rows}
    reasons = {row["reason"] for row in rows if row["reason"]}
    return {
        "group": first["check_group"].capitalize(),
        "check": first["check_name"],
        "meaning": escape(first["meaning"]) + small("; ".join(sorted(reasons))),
        "limits": _limits(first) if len(same) == 1 else "by subject",
        "compared": f"{sum(row['n_compared'] for row in rows):,}",
        **{
            result: f"{sum(row['result'] == result for row in rows):,}"
            for result in ("holds", "differs", "not_checked")
        },
    }


def _limits(row: Row) -> str:
    low, high = row["limit_low"], row["limit_high"]
    if low is None or high is None:
        return "by subject"
    return f"{low:g} to {high:g}".replace("-", wording.MINUS) + f" {row['unit']}"
