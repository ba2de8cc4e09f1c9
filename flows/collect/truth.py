"""What the truth checks of a published file say, as lines: for the summary of a run and the doctor."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import duckdb

from flows.doctor.row import Row, ok, warn
from reports.queries import has_mart

CHECKS = """
select check_name, subject, n_compared, n_differing, coalesce(example, '') as example, coalesce(advice, '') as advice
from int.truth_check
where result = 'differs'
order by check_group, check_name, subject
"""
COUNTS = """
select count_if(result = 'holds'), count_if(result = 'differs'), count_if(result = 'not_checked') from int.truth_check
"""
MAX_LINES = 10
MAX_LETTERS = 240


class Differing(NamedTuple):
    """One check of one subject that differs: how much of it, the worst case in words, and what to do."""

    check_name: str
    subject: str
    n_compared: int
    n_differing: int
    example: str
    advice: str

    @property
    def key(self) -> tuple[str, str]:
        return self.check_name, self.subject

    @property
    def line(self) -> str:
        """Return it on one line, without control characters."""
        worst = f"; the worst: {self.example}" if self.example else ""
        lines = f"{self.check_name} of {self.subject}: {self.n_differing:,} of {self.n_compared:,}{worst}"
        clean = "".join(letter for letter in " ".join(lines.split()) if letter.isprintable())
        return clean if len(clean) <= MAX_LETTERS else f"{clean[: MAX_LETTERS - 3]}..."


def differing(file: Path) -> list[Differing]:
    """Return what differs in a published file; nothing where it has no truth checks."""
    return _read(file)[1]


def known(file: Path) -> frozenset[tuple[str, str]]:
    """Return the checks and subjects that differ in a file that stands; nothing of one that cannot be read."""
    try:
        return frozenset(each.key for each in differing(file)) if file.exists() else frozenset()
    except duckdb.Error:
        return frozenset()


def _read(file: Path) -> tuple[tuple[int, int, int] | None, list[Differing]]:
    """Return how many checks hold, differ and were not made, and those that differ; None in an older file."""
    with duckdb.connect(str(file), read_only=True) as con:
        if not has_mart(con, "truth_check"):
            return None, []
        return con.execute(COUNTS).fetchall()[0], [Differing(*row) for row in con.execute(CHECKS).fetchall()]


def lines(found: Sequence[Differing]) -> list[str]:
    """Return a line for each, and how many more there are."""
    shown = [each.line for each in found[:MAX_LINES]]
    left = len(found) - len(shown)
    return [*shown, f"and {left:,} more: select * from int.truth_check where result = 'differs'"] if left else shown


def doctor(file: Path) -> list[Row]:
    """Return what `chipledger doctor` says of truth checks: one line of counts, and one for each kind that differs."""
    counts, found = _read(file)
    if counts is None:  # a file of an older version, which has a line of its own
        return []
    text = f"{counts[0]:,} hold, {counts[1]:,} differ, {counts[2]:,} had nothing to compare"
    advice = "docs/auditing-a-claim.md#truth-checks says of each"
    rows = [warn("truth checks", text, advice) if found else ok("truth checks", text)]
    for name, alike in groupby(found, key=attrgetter("check_name")):
        first, *others = alike
        more = f"; {len(others):,} more" if others else ""
        rows.append(warn(f"truth: {name}", f"{first.line.removeprefix(f'{name} of ')}{more}", first.advice))
    return rows
