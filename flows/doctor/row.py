"""What a check of `chipledger doctor` finds: its name, ok, warn or fail, what was found, and what to do about it."""

from collections.abc import Iterator
from functools import partial

Row = dict[str, object]


def _row(result: str, check: str, found: str, advice: str = "") -> Row:
    return {"check": check, "result": result, "found": found, "advice": advice}


ok = partial(_row, "ok")
"""Return a check with nothing wrong."""
warn = partial(_row, "warn")
"""Return a check that leaves something out, or may soon go wrong."""
fail = partial(_row, "fail")
"""Return a check that keeps runs from doing what they are for; the doctor then ends with 1."""


def lines(rows: list[Row]) -> Iterator[str]:
    """Yield checks for people: what was found, and below it what to do about it."""
    for row in rows:
        yield f"{row['result']:<5} {row['check']}: {row['found']}"
        if row["advice"]:
            yield f"      -> {row['advice']}"
