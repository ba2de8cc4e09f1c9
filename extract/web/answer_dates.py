"""How far this machine's clock is from those of the servers that answer, by the Date headers of their answers."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_found: ContextVar[list[float] | None] = ContextVar("found", default=None)


def machine_now() -> datetime:
    """Return the present by this machine's clock, aware, whatever clock a run goes by."""
    return datetime.now(UTC)


@contextmanager
def measured() -> Iterator[list[float]]:
    """Give a list that has, of each answer of this thread's requests, by how many seconds this machine is ahead."""
    found: list[float] = []
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def note(headers: Mapping[str, str]) -> None:
    """Measure an answer that has just come. Of one from a cache, Age says how many seconds its Date is past.

    RFC 9110, 6.6.1 and RFC 9111, 5.1. An answer without a Date that can be read says nothing.
    """
    found = _found.get()
    if found is None:
        return
    age = headers.get("Age", "").strip()
    try:
        at = parsedate_to_datetime(headers.get("Date", ""))
        ahead_s = (machine_now() - at.replace(tzinfo=at.tzinfo or UTC)).total_seconds()
        found.append(ahead_s - (int(age) if age.isdecimal() else 0))
    except (ValueError, OverflowError):
        return


def note_again(ahead_s: Iterable[float]) -> None:
    """Let an answer that is used once more say what it said when it came."""
    if (found := _found.get()) is not None:
        found += ahead_s
