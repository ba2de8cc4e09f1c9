"""Whether the time of a live fetch can be right, and which fetches of the log cannot be.

A fetch whose time is wrong would be the newest of its scope for as long as its clock was ahead, or prices of a past
that nobody saw. Archives and imports are of the past on purpose, and are not judged here.
"""

from datetime import UTC, datetime, timedelta

import duckdb

from warehouse.documents import ScopeFetch
from warehouse.landing.folder import Landing
from warehouse.log.events import naive

MAX_DIFFERENCE = timedelta(minutes=5)
"""Between a clock and the median of the answers' Date headers: servers are right to a second, caches less so."""
CLOCK = "this machine's clock"
NEAR = timedelta(seconds=10)
"""Machines that keep the time differ by less: a fetch may come from another one than the run, or than the last one."""

LATER = """
select source, scope, min(observed_at), max(observed_at) from core.scope_run
where status = 'ok' and not archived and observed_at > $1 and ($2 is null or source = $2 and scope = $3)
group by all order by source, scope
"""


def fault(con: duckdb.DuckDBPyConnection, fetch: ScopeFetch, now: datetime) -> str:
    """Return why a fetch is refused for its time, in words, or "" where nothing is wrong; `now` is aware."""
    if fetch.archived:
        return ""
    at = max(fetch.observed_at, *(document.fetched_at for document in fetch.documents))
    again = f"then `chipledger collect --source {fetch.source} --scope {fetch.scope}`"
    ahead = timedelta(seconds=round(fetch.clock_ahead_s or 0))
    if abs(ahead) > MAX_DIFFERENCE:
        way = "ahead of" if ahead > timedelta() else "behind"
        return (
            f"{CLOCK} is {abs(ahead)} {way} the Date headers of the answers, by their median; allowed are "
            f"5 minutes. Set the clock, {again}"
        )
    if at > now + NEAR:
        return f"its time, {_utc(at)}, lies in the future: it is {_utc(now)}. Set the clocks of both machines, {again}"
    later = con.execute(LATER, [naive(at + NEAR), fetch.source, fetch.scope]).fetchall()
    if later:
        return (
            f"its time, {_utc(at)}, lies before the last fetch of this scope, {_utc(later[0][3])}. Where the clock is "
            f"behind now, set it, {again}. Where it was ahead then: {_withdrawal(*later[0])}"
        )
    return ""


def of_clock(landing: Landing, now: datetime) -> str:
    """Return why a fetch of the newest run of a journal was refused for this machine's clock, else ""; `now` aware."""
    fetches = (entry for entry in landing.entries() if entry.kind == "look" and entry.recorded_at <= now)
    found = [(entry.recorded_at, entry.content.get("refused", "")) for entry in fetches]
    return next((reason for at, reason in found if at == found[-1][0] and reason.startswith(CLOCK)), "")


def of_the_future(con: duckdb.DuckDBPyConnection, now: datetime) -> tuple[str, str] | None:
    """Return what a log has of fetches later than now, and what to do, each in words; None where it has none."""
    later = con.execute(LATER, [naive(now + NEAR), None, None]).fetchall()
    if not later:
        return None
    source, scope, first, _ = later[0]
    found = f"scopes with fetches of the future: {len(later):,}, such as {source} {scope} of {_utc(first)}"
    return found, "No fetch of them counts until then. " + "; ".join(_withdrawal(*each) for each in later)


def _withdrawal(source: str, scope: str, first: datetime, last: datetime) -> str:
    days = f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d}..{last:%Y-%m-%d}"
    return f"`chipledger withdraw '{source}/{scope}/{days}' --reason TEXT` takes it back"


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC) if at.tzinfo else at:%Y-%m-%d %H:%M:%S} UTC"
