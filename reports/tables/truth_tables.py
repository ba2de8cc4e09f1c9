"""What was checked: truth checks of a published file as tables and as lines, what differs before everything else."""

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from reports import wording
from reports.queries import Row
from reports.tables.table import Column, Number, Table, left_out, small, span
from reports.templating import macro

MAX_DIFFERING = 60
RESULTS = ("holds", "differs", "not_checked")


def differing(checks: Sequence[Row] | None) -> list[Row]:
    """Return the checks that differ."""
    return [row for row in checks or () if row["result"] == "differs"]


def sentence(checks: Sequence[Row] | None) -> str:
    """Return how many checks hold, differ or were not made, in words."""
    if checks is None:
        return "No truth check was made for this file."
    counts = {result: sum(row["result"] == result for row in checks) for result in RESULTS}
    return (
        f"{counts['differs']:,} of {wording.count(len(checks), 'truth check')} differ, {counts['holds']:,} hold, "
        f"{counts['not_checked']:,} had nothing to compare; {sum(row['n_compared'] for row in checks):,} comparisons."
    )


def part(checks: Sequence[Row] | None) -> Markup:
    """Return the part of a page: what differs in full, then each check with its subjects counted."""
    found = differing(checks)
    return macro("parts.html.j2", "checks")(
        sentence(checks), of_differing(found) if found else None, of_checks(checks) if checks else None
    )


def of_differing(found: Sequence[Row]) -> Table:
    """Return one row for each check and subject that differ, with the worst case and what to do."""
    return Table(
        id="differing",
        title=f"{wording.count(len(found), 'check')} {'differs' if len(found) == 1 else 'differ'}",
        subtitle="A price is not withheld for it: read the example before you lean on what it concerns.",
        rows=found[:MAX_DIFFERING],
        columns=[
            Column("Check", "check_name"),
            Column("Of what", lambda row: wording.short(row["subject"])),
            Number("Differing", lambda row: f"{row['n_differing']:,} of {row['n_compared']:,}"),
            Number("Value", lambda row: wording.significant(row["checked_value"]) + small(_limits(row))),
            Column("Newest\nof it", lambda row: wording.day(row["newest_differing_at"]), why="no moment is known"),
            Column(
                "The worst case, and what to do",
                lambda row: span(row["example"] or wording.UNKNOWN, "long") + small(row["advice"]),
            ),
        ],
        note=left_out(len(found) - MAX_DIFFERING, "more", "select * from int.truth_check", "more").strip(),
    )


def of_checks(checks: Sequence[Row]) -> Table:
    """Return one row for each check: what it asks, of how many subjects it holds, differs or was not made."""
    ordered = sorted(checks, key=lambda row: (row["check_group"], row["check_name"]))
    rows = [_counted(list(rows)) for _, rows in groupby(ordered, key=lambda row: row["check_name"])]
    return Table(
        id="checks",
        title=f"{wording.count(len(rows), 'kind')} of truth checks",
        subtitle="How many subjects (providers, sources, scopes, chips) hold, differ, or had nothing to compare.",
        rows=rows,
        group=lambda row: row["check_group"].capitalize(),
        columns=[
            Column("Check", "check_name"),
            Column("What its value is", lambda row: span(row["meaning"], "long") + small(row["reasons"])),
            Column("Holds\nwithin", "limits"),
            Number("Holds", "holds"),
            Number("Differs", "differs"),
            Number("Not\nchecked", "not_checked"),
            Number("Compared", "n_compared"),
        ],
        note="Each by itself: `select * from int.truth_check`; the SQL is under Tables.",
    )


def _counted(rows: Sequence[Row]) -> Row:
    same = {(row["limit_low"], row["limit_high"]) for row in rows}
    return {
        **rows[0],
        "reasons": "; ".join(sorted({row["reason"] for row in rows if row["reason"]})),
        "limits": _limits(rows[0]) if len(same) == 1 else "by subject",
        "n_compared": sum(row["n_compared"] for row in rows),
        **{result: sum(row["result"] == result for row in rows) for result in RESULTS},
    }


def _limits(row: Row) -> str:
    low, high = row["limit_low"], row["limit_high"]
    if low is None or high is None:
        return "by subject"
    return f"{low:g} to {high:g}".replace("-", wording.MINUS) + f" {row['unit']}"
