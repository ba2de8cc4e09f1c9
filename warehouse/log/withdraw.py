"""Taking back what fetches said: their events are retracted, they confirm nothing, and what others saw since is told.

Nothing is deleted: `core.withdrawal` says what was taken back, why, by whom and when, and a retraction of each event
stands in `log.price_other`, so that what was known before that moment stays known.

An event is written only where a price differs from the one before it. So a fetch that was taken back may hide what
later ones saw: they saw the same, and wrote nothing. `withdraw` is given those again, with all their rows, and writes
what the log lacks of them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import duckdb

from warehouse.errors import SettingsError, did_you_mean
from warehouse.lake.ducklake import transacted
from warehouse.landing.folder import Entry, unstamp
from warehouse.log.db import insert_rows, sql
from warehouse.log.events import append_events, naive, stage_rows, start_fetches
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import CONTRADICTS, WITHDRAWN, listed, record
from warehouse.log.shared_rows import free_number, name_documents

HINT = '`chipledger query "select * from core.scope_run"` lists the fetches'
OF_WITHDRAWN = (
    "(source, scope, observed_at) in (select (source, scope, observed_at) from taken_back) or (source, scope, "
    "document_sha256) in (select (source, scope, document_sha256) from taken_back where observed_at is null)"
)
UNCONTRADICTED = (
    f"starts_with(reason, '{CONTRADICTS}') and (offer_id, source, observed_at) in "
    "(select (offer_id, source, valid_from) from core.standing_event(TIMESTAMP '9999-01-01') semi join withdrawn_event "
    "using (offer_id, source, valid_from) group by all having count(distinct (unit_price, upfront_price)) < 2)"
)
"""Rows of what was taken back, and rows that nothing contradicts any more, of the columns of core.quarantine."""
RANGE = re.compile(r"(?P<since>\d{4}-\d\d-\d\d)(\.\.(?P<until>\d{4}-\d\d-\d\d))?")
SHA256_PREFIX = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """One fetch as the log has it; of an archive or an import (`archived`) all that one document said. Naive UTC."""

    source: str
    scope: str
    observed_at: datetime
    document_sha256: str | None
    archived: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Fetch":
        """Return the fetch that a line of the journal names."""
        return cls(**{**entry, "observed_at": naive(unstamp(entry["observed_at"]))})

    @property
    def entry(self) -> dict[str, Any]:
        """Return it in values that JSON has, with its time in UTC."""
        return asdict(self) | {"observed_at": f"{self.observed_at.isoformat(timespec='microseconds')}Z"}


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """What was taken back, or would be: fetches, events and offers; the first and the last moment of them."""

    fetches: int
    events: int
    offers: int
    since: datetime
    until: datetime


def selected(con: duckdb.DuckDBPyConnection, selection: str, entries: Iterable[Entry] = ()) -> list[Fetch]:
    """Return the fetches that a text selects, and that nobody took back: in their order.

    It is the id of a run, the first 8 to 64 digits of a document's SHA-256, or SOURCE/SCOPE/DAY or
    SOURCE/SCOPE/DAY..DAY, both days included. Of a fetch the log has the first document alone, the lines of the journal
    (`entries`) all. Raises SettingsError where it selects none, or documents of several hashes.
    """
    refused = partial(SettingsError, source="withdraw", field="selection", value=selection)
    hashes: set[str | None] = set()
    place, _, days = selection.rpartition("/")  # an import's source has a "/" itself
    if found := RANGE.fullmatch(days):
        try:
            since, until = (datetime.fromisoformat(day) for day in (found["since"], found["until"] or found["since"]))
        except ValueError as error:
            raise refused("not a day", hint="Write days as 2026-11-22") from error
        where = "concat(source, '/', scope) = ? and observed_at >= ? and observed_at < ?"
        values: list[object] = [place, since, until + timedelta(days=1)]
    elif SHA256_PREFIX.fullmatch(selection):
        held = [
            (document["sha256"], fetch["source"], fetch["scope"], naive(unstamp(fetch["observed_at"])))
            for fetch in (one.content for one in entries if one.kind == "look" and not one.content.get("archived"))
            for document in fetch["documents"]
            if document["sha256"].startswith(selection)
        ]
        con.execute("create or replace temp table held (h VARCHAR, s VARCHAR, p VARCHAR, t TIMESTAMP)")
        insert_rows(con, "held", held)
        hashes = {sha256 for sha256, *_ in held}
        where = "(starts_with(document_sha256, ?) or (source, scope, observed_at) in (select (s, p, t) from held))"
        values = [selection]
    else:
        where, values = "run_id = ?", [selection]
    rows = con.execute(
        "select distinct source, scope, observed_at, document_sha256, archived from core.scope_run "
        f"where status = 'ok' and {where} order by observed_at, source, scope, document_sha256",
        values,
    ).fetchall()
    fetches = [Fetch(source=a, scope=b, observed_at=c, document_sha256=d, archived=bool(e)) for a, b, c, d, e in rows]
    if not fetches:
        days = "list_reverse_sort(list(distinct observed_at::DATE::VARCHAR))[:5]"
        places = f"select concat(source, '/', scope), {days} from core.scope_run where status = 'ok' group by 1"
        known = dict(con.execute(places).fetchall())
        if not found:
            hint = f"Give the id of a run, a document's SHA-256, SOURCE/SCOPE/DAY or SOURCE/SCOPE/DAY..DAY; {HINT}"
            raise refused("no fetch that counts is of such a run or document", hint=hint)
        if place not in known:
            raise refused(f"no fetch that counts is of {place}", hint=did_you_mean(place, sorted(known), HINT))
        hint = f"An import's day is that of the import; the newest days of {place}: {', '.join(known[place])}"
        raise refused("no fetch that counts is of these days", hint=hint)
    hashes |= {one.document_sha256 for one in fetches if (one.document_sha256 or "").startswith(selection)}
    if len(hashes) > 1:
        raise refused("several documents begin with these digits", hint="Give more digits")
    return fetches


def events_of(con: duckdb.DuckDBPyConnection, fetches: Sequence[Fetch]) -> Withdrawn:
    """Return what taking back fetches would take back; the events stay in the temporary table `withdrawn_event`."""
    con.execute(
        "create or replace temp table taken_back (source VARCHAR, scope VARCHAR, observed_at TIMESTAMP, "
        "document_sha256 VARCHAR)"
    )
    insert_rows(con, "taken_back", [_key(one) for one in fetches])
    con.execute(f"create or replace temp table withdrawn_event as {sql('withdrawn_event.sql')}")
    n_events, n_offers, since, until = con.execute(
        "select count(*), count(distinct offer_id), min(valid_from), max(valid_from) from withdrawn_event"
    ).fetchone() or (0, 0, None, None)
    moments = [one.observed_at for one in fetches]
    return Withdrawn(
        fetches=len(fetches),
        events=n_events,
        offers=n_offers,
        since=min([*moments, *filter(None, [since])]),
        until=max([*moments, *filter(None, [until])]),
    )


def withdraw(
    con: duckdb.DuckDBPyConnection,
    fetches: Sequence[Fetch],
    *,
    reason: str,
    withdrawn_by: str,
    recorded_at: datetime,
    seen_since: Sequence[ParsedFetch] = (),
) -> Withdrawn:
    """Take fetches back, in one transaction; return what was taken back.

    `seen_since` are the other fetches of the same scopes that may have repeated what was wrong, parsed again; what was
    refused of them stays refused. `recorded_at` is aware.
    """
    at = naive(recorded_at)
    name_documents(con, {sha256 for one in seen_since for sha256 in one.rows["document_sha256"].unique()})
    scopes = {(one.source, one.scope) for one in fetches}

    def carry_out() -> Withdrawn:
        found = events_of(con, fetches)
        _retract(con, at)
        insert_rows(
            con,
            "core.withdrawal (source, scope, observed_at, document_sha256, reason, withdrawn_by, recorded_at)",
            [(*_key(one), reason, withdrawn_by, at) for one in fetches],
        )
        by = f"{WITHDRAWN}{withdrawn_by}"
        record(con, [row.decided("refuse", by=by) for row in listed(con, which=OF_WITHDRAWN)], recorded_at=at)
        record(con, [row.decided("accept", by=by) for row in listed(con, which=UNCONTRADICTED)], recorded_at=at)
        if seen_since:
            _tell_again(con, seen_since, at)
        return found

    return transacted(con, carry_out, scopes=scopes)


def _retract(con: duckdb.DuckDBPyConnection, at: datetime) -> None:
    """Append a retraction of each event in `withdrawn_event`, with the number of its moment."""
    (n_numbers,) = con.execute("select count(distinct moment_no) from withdrawn_event").fetchone() or (0,)
    first = free_number(con, n_numbers)
    con.execute(
        "insert into log.scope_fetch by name select distinct moment_no + ?::INTEGER - 1 as fetch_no, source, scope, "
        "valid_from as observed_at, document_no, ?::TIMESTAMP as recorded_at from withdrawn_event order by fetch_no",
        [first, at],
    )
    con.execute(
        "insert into log.price_other by name select offer_no, moment_no + ?::INTEGER - 1 as fetch_no, unit_price, "
        "upfront_price, event_recorded_at as retracts_recorded_at from withdrawn_event order by fetch_no, offer_no",
        [first],
    )


def _tell_again(con: duckdb.DuckDBPyConnection, fetches: Sequence[ParsedFetch], at: datetime) -> None:
    """Append what the log lacks of fetches that it has, without what a gate refused of them."""
    import polars as pl

    from warehouse.log.gates import past_gates, row_gate

    frames = []
    for number, fetch in enumerate(fetches):
        rows, _ = row_gate(fetch.rows, latest=naive(fetch.observed_at))
        frames.append(past_gates(rows, fetch, naive(fetch.observed_at), number=number, archived=fetch.archived))
    stage_rows(con, pl.concat(frames, how="diagonal_relaxed"))
    start_fetches(con)
    again = [
        (number, one.source, one.scope, naive(one.observed_at), one.document_sha256, one.complete)
        for number, one in enumerate(fetches)
    ]
    insert_rows(con, "new_fetch", again)
    unsaid = "meta.unsaid(TIMESTAMP '9999-01-01') semi join new_fetch using (source, scope)"
    con.execute(f"insert into new_refusal select distinct offer_id, source, observed_at from {unsaid}")
    con.execute(
        "delete from observed_row where (offer_id, source, observed_at) in "
        "(select (offer_id, source, observed_at) from new_refusal)"
    )
    append_events(con, recorded_at=at.replace(tzinfo=UTC))


def _key(one: Fetch) -> tuple[str, str, datetime | None, str | None]:
    return one.source, one.scope, None if one.archived else one.observed_at, one.document_sha256
