"""What the truth checks of a published file say, as lines: for the summary of a run and the doctor."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from flows.doctor.row import Row, ok, warn
from reports.queries import truth_checks

MAX_LINES = 10
MAX_LETTERS = 240

Check = Mapping[str, Any]
"""One check of one subject: how much of it differs, the worst case in words (`example`), and what to do (`advice`)."""


def key(check: Check) -> tuple[str, str]:
    """Return what a check is known by from one file to the next: its name and its subject."""
    return check["check_name"], check["subject"]


def line(check: Check) -> str:
    """Return a check that differs on one line, without control characters."""
    worst = f"; the worst: {check['example']}" if check["example"] else ""
    counts = f"{check['n_differing']:,} of {check['n_compared']:,}"
    words = " ".join(f"{check['check_name']} of {check['subject']}: {counts}{worst}".split())
    clean = "".join(letter for letter in words if letter.isprintable())
    return clean if len(clean) <= MAX_LETTERS else f"{clean[: MAX_LETTERS - 3]}..."


def read(file: Path) -> list[Check] | None:
    """Return the truth checks of a published file, those that differ first; None in one of an older version."""
    with duckdb.connect(str(file), read_only=True) as con:
        return truth_checks(con)


def differing(file: Path) -> list[Check]:
    """Return what differs in a published file; nothing where it has no truth checks."""
    return [check for check in read(file) or () if check["result"] == "differs"]


def known(file: Path) -> frozenset[tuple[str, str]]:
    """Return the checks and subjects that differ in a file that stands; nothing of one that cannot be read."""
    try:
        return frozenset(map(key, differing(file))) if file.exists() else frozenset()
    except duckdb.Error:
        return frozenset()


def lines(found: Sequence[Check]) -> list[str]:
    """Return a line for each, and how many more there are."""
    shown = [line(each) for each in found[:MAX_LINES]]
    left = len(found) - len(shown)
    return [*shown, f"and {left:,} more: select * from int.truth_check where result = 'differs'"] if left else shown


def doctor(file: Path) -> list[Row]:
    """Return what `chipledger doctor` says of truth checks: one line of counts, and one for each kind that differs."""
    checks = read(file)
    if checks is None:  # a file of an older version, which has a line of its own
        return []
    n = Counter(check["result"] for check in checks)
    text = f"{n['holds']:,} hold, {n['differs']:,} differ, {n['not_checked']:,} had nothing to compare"
    advice = "docs/auditing-a-claim.md#truth-checks says of each"
    rows = [warn("truth checks", text, advice) if n["differs"] else ok("truth checks", text)]
    for name, alike in groupby(checks[: n["differs"]], key=itemgetter("check_name")):
        first, *others = alike
        more = f"; {len(others):,} more" if others else ""
        found = f"{line(first).removeprefix(f'{name} of ')}{more}"
        rows.append(warn(f"truth: {name}", found, first["advice"] or ""))
    return rows
