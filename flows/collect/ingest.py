"""From the journal to the log: what was landed and not yet loaded is parsed and loaded, in the order it was learnt.

A daily run, the repair after a kill, and the rebuilding of the whole warehouse from the landing folder are all this.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import duckdb

from extract import price_archive, source_named
from extract.base import IMPORT, IMPORTED, Source
from flows.collect import benchmarks
from warehouse.errors import ChipledgerError
from warehouse.lake.ducklake import scopes_held, transacted
from warehouse.landing.folder import Entry, Landing, in_order, unstamp
from warehouse.landing.journal import lock_of, scope_lock
from warehouse.log import withdraw
from warehouse.log.events import naive
from warehouse.log.parsed import ParsedFetch, ScopeResult, no_rows
from warehouse.log.quarantine import close_overtaken, find, listed
from warehouse.log.shared_rows import append_documents
from warehouse.reference.instance_types import disagreements, read_table

if TYPE_CHECKING:
    import polars as pl

LOG = logging.getLogger(__name__)

PORTION = 30
"""Past fetches that are parsed and loaded at once: of a region of AWS, some 75 MB."""

TryLock = Callable[[str], AbstractContextManager[bool]]
"""Try for a lock by its name, and tell whether it is held until the end of the `with`; what this process holds already
counts as held, and stays so after it."""


def catch_up(
    con: duckdb.DuckDBPyConnection, landing: Landing, *, try_lock: TryLock | None = None
) -> tuple[list[ScopeResult], list[str]]:
    """Load the journal's entries beyond the last one loaded; return what became of the fetches, and notes on them.

    Of this writer's own part, and of each part that nobody writes any more, as its writer died: in the order in which
    all of them were recorded. `try_lock` tells who writes what; without it nobody else does. Of another's part, what
    follows on a fetch of a scope that somebody holds waits for the next time.
    """
    with ExitStack() as held:
        parts = [landing.part]
        loaded = loaded_positions(con)
        # Own fetches first, and alone: a writer that holds the scopes of another part must wait for no scope.
        is_alone = try_lock is not None and landing.journal.is_beyond(landing.part, loaded.get(landing.part, 0))
        for part in () if is_alone else sorted({*landing.journal.parts(), *loaded} - {landing.part}):
            if landing.journal.is_beyond(part, loaded.get(part, 0)) and _is_free(try_lock, lock_of(part), held):
                parts.append(part)
        # Read again under the locks: what was beyond may have been loaded until then.
        loaded = loaded_positions(con) if len(parts) > 1 else loaded
        results: list[ScopeResult] = []
        notes: list[str] = []
        ends: dict[str, tuple[int, datetime]] = {}
        found = in_order(
            entries if part == landing.part else _while_free(entries, try_lock, held)
            for part in sorted(parts)
            for entries in [landing.entries(loaded.get(part, 0), part)]
        )
        for (kind, recorded_at), group in groupby(found, key=lambda entry: (entry.kind, entry.recorded_at)):
            entries = list(group)
            ends |= {entry.part: (entry.end, recorded_at) for entry in entries}
            if kind == "decision":
                for entry in entries:
                    _decide(con, landing, entry.content, recorded_at, notes)
            elif kind == "withdrawal":
                for entry in entries:
                    _withdraw(con, landing, entry)
            else:
                from warehouse.log.load import load

                if kind == "look":
                    append_documents(con, [entry.content for entry in entries], recorded_at=naive(recorded_at))
                for portion in _portions(entries):
                    fetches = [fetch for entry in portion for fetch in _parsed(con, landing, entry, notes)]
                    # What has facts alone comes first: gates compare prices with them. All else goes at once, as a load
                    # costs much whatever its rows.
                    for _, together in groupby(sorted(fetches, key=_has_prices), key=_has_prices):
                        results += load(con, together, recorded_at=recorded_at)
        for part, (end, recorded_at) in sorted(ends.items()):
            if end > loaded.get(part, 0):
                values = [end, naive(recorded_at), part]
                transacted(con, partial(con.execute, "insert into core.journal_position values (?, ?, ?)", values))
        # Once; what two writers note at once is the same.
        if con.execute("from meta.history limit 1").fetchone() is None and (history := landing.history()):
            values = [history[0], naive(history[1])]
            transacted(con, partial(con.execute, "insert into meta.history values (?, ?)", values))
    return results, sorted(set(notes))


def _has_prices(fetch: ParsedFetch) -> bool:
    return not fetch.facts or not fetch.rows.is_empty()


def _portions(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Split what was learnt at one moment into what is parsed and loaded at once: past fetches a few at a time.

    By source and time, so that they give the same events as all at once; live ones together, as gates compare scopes.
    """
    live = [entry for entry in entries if not entry.content.get("archived")]
    if live:
        yield live
    past = sorted(
        (entry for entry in entries if entry.content.get("archived")),
        key=lambda entry: (entry.content["source"], unstamp(entry.content["observed_at"]), entry.content["scope"]),
    )
    for _, of_source in groupby(past, key=lambda entry: entry.content["source"]):
        while portion := list(islice(of_source, PORTION)):
            yield portion


def loaded_positions(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the position up to which each part of the journal was loaded."""
    return dict(con.execute("select part, max(position) from core.journal_position group by part").fetchall())


def _is_free(try_lock: TryLock | None, name: str, held: ExitStack) -> bool:
    return try_lock is None or held.enter_context(try_lock(name))


def _while_free(entries: Iterator[Entry], try_lock: TryLock | None, held: ExitStack) -> Iterator[Entry]:
    """Yield another writer's entries up to the first whose scope somebody holds; those before it are held from then."""
    for entry in entries:
        content = entry.content
        if "scope" in content and not _is_free(try_lock, scope_lock(content["source"], content["scope"]), held):
            return
        yield entry


def _withdraw(con: duckdb.DuckDBPyConnection, landing: Landing, entry: Entry) -> None:
    """Carry out a withdrawal of the journal, if a killed run has not, with what the same scopes showed besides."""
    fetches = [withdraw.Fetch.of(one) for one in entry.content["fetches"]]
    done = con.execute("select 1 from core.withdrawal where recorded_at = ? limit 1", [naive(entry.recorded_at)])
    if done.fetchone():
        return
    # To the end: what others saw is read, and appended again.
    with scopes_held(con, ((one.source, one.scope) for one in fetches)):
        withdraw.withdraw(
            con,
            fetches,
            reason=entry.content["reason"],
            withdrawn_by=entry.content["withdrawn_by"],
            recorded_at=entry.recorded_at,
            seen_since=_seen_besides(con, landing, fetches),
        )


def _seen_besides(con: duckdb.DuckDBPyConnection, landing: Landing, fetches: list[withdraw.Fetch]) -> list[ParsedFetch]:
    """Return the other fetches of the same scopes that count: live ones after the first, past ones and imports all."""
    first: dict[tuple[str, str], datetime] = {}
    for one in fetches:
        place = (one.source, one.scope)
        first[place] = min(one.observed_at, first.get(place, one.observed_at))
    wrong = {(one.source, one.scope, one.observed_at, one.document_sha256) for one in fetches}
    loaded = set(
        con.execute(
            "select source, scope, observed_at, document_sha256 from core.scope_run where status = 'ok'"
        ).fetchall()
    )
    moments = {observed_at for _, _, observed_at, _ in loaded}
    imports = {source for source, _ in first if source.startswith(IMPORTED)}
    found = []
    for each in landing.entries():
        content = each.content
        if each.kind != "look" or (at := naive(unstamp(content["observed_at"]))) not in moments:
            continue
        is_import = content["source"] == IMPORT
        since = first.get((content["source"], content["scope"]))
        if not (imports if is_import else since is not None and (content.get("archived") or at > since)):
            continue
        for parsed in _parsed(con, landing, each, [], is_accepted=True):
            key = (parsed.source, parsed.scope, naive(parsed.observed_at), parsed.document_sha256)
            if key in loaded and key not in wrong and (not is_import or parsed.source in imports):
                found.append(parsed)
    return found


def rehearse(con: duckdb.DuckDBPyConnection, quarantine_id: int, decision: str, *, now: datetime) -> None:
    """Raise ChipledgerError where a decision could not be carried out; the log stays as it is. `now` is aware."""
    row = find(con, quarantine_id)
    if decision == "accept" and row.observed_at > naive(now):
        raise ChipledgerError(
            "it cannot be accepted: its time lies in the future",
            source=row.source,
            field="observed_at",
            value=str(row.observed_at),
            hint="Set this machine's clock, and fetch the scope again",
        )
    if decision == "accept" and row.row_json != "{}":
        from warehouse.log.load import checked_row

        checked_row(row)


def _parsed(
    con: duckdb.DuckDBPyConnection, landing: Landing, entry: Entry, notes: list[str], *, is_accepted: bool = False
) -> list[ParsedFetch]:
    """Return what an entry says; of a fetch that was refused when it was landed nothing, until somebody accepts it."""
    content = entry.content
    if entry.kind == "failure":
        return [_fetch(content, error=content["error"])]
    if content.get("refused") and not is_accepted:
        return [replace(_fetch(content), refused=content["refused"])]
    if content["source"] == IMPORT:
        return _imported(landing, content, notes)
    if content["source"] == benchmarks.NAME:
        notes.append(benchmarks.load(con, landing, entry))
        return []
    import polars as pl

    source = source_named(content["source"])
    frames = []
    facts: dict[str, list[pl.DataFrame]] = {}
    unread: list[Any] = []
    try:
        content = _chosen(source, landing, content)
        for index, document in enumerate(content["documents"]):
            parsed = source.parse(landing.document(content, index))
            frames.append(parsed.rows.with_columns(document_sha256=pl.lit(document["sha256"])))
            unread += parsed.refused
            for name, frame in parsed.facts.items():
                if name == "instance_capability":
                    notes += [f"{content['source']}: {each}" for each in disagreements(frame, read_table())]
                facts.setdefault(name, []).append(frame.with_columns(document_sha256=pl.lit(document["sha256"])))
            notes += [f"{content['source']} {content['scope']}: not known: {text}" for text in parsed.unknown]
    except ChipledgerError as error:
        return [_fetch(content, error=str(error))]
    except Exception as error:
        LOG.exception("%s %s could not be read", content["source"], content["scope"])
        return [_fetch(content, error=f"the parser failed: {type(error).__name__}: {error}")]
    fetch = _fetch(content, rows=pl.concat(frames, how="diagonal") if frames else no_rows())
    facts_found = {name: pl.concat(parts) for name, parts in facts.items()}
    return [replace(fetch, facts=facts_found, unread=tuple(unread))]


def _chosen(source: Source, landing: Landing, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a fetch with the documents that are read: all, or of several choices the first that can be read."""
    if source.other_urls:
        for index, document in enumerate(content["documents"]):
            try:
                source.parse(landing.document(content, index))
            except ChipledgerError:
                continue
            return {**content, "documents": [document]}
    return content


def _imported(landing: Landing, content: Mapping[str, Any], notes: list[str]) -> list[ParsedFetch]:
    import polars as pl

    from extract import observations

    try:
        observed = observations.parse(landing.document(content, 0))
    except ChipledgerError as error:
        return [_fetch(content, error=str(error))]
    notes += observed.notes
    sha256 = pl.lit(content["documents"][0]["sha256"])
    nothing = no_rows().drop("document_sha256")
    fetches = []
    for origin in sorted({*observed.prices, *observed.set_aside}):
        fetch = _fetch(
            {**content, "source": f"{IMPORTED}{origin}"},
            rows=observed.prices.get(origin, nothing).with_columns(document_sha256=sha256),
        )
        fetches.append(replace(fetch, set_aside=observed.set_aside.get(origin)))
    return fetches


def _fetch(content: Mapping[str, Any], *, rows: "pl.DataFrame | None" = None, error: str | None = None) -> ParsedFetch:
    documents = content.get("documents") or [{"sha256": None}]
    return ParsedFetch(
        run_id=content["run_id"],
        source=content["source"],
        scope=content["scope"],
        observed_at=unstamp(content["observed_at"]),
        complete=bool(content.get("complete")),
        archived=bool(content.get("archived")),
        document_sha256=documents[0]["sha256"],
        rows=no_rows() if rows is None else rows,
        error=error,
        trusted=content["source"] == price_archive.NAME,  # a person compared its rows with its origins
    )


def _decide(
    con: duckdb.DuckDBPyConnection,
    landing: Landing,
    content: Mapping[str, Any],
    recorded_at: datetime,
    notes: list[str],
) -> None:
    """Carry out a decision of the journal, if a killed run has not; an accepted fetch is loaded again, as trusted."""
    from warehouse.log.load import decide, load

    number, decision = content["quarantine_id"], content["decision"]
    try:
        row = decide(con, number, decision, decided_by=content["decided_by"], recorded_at=recorded_at)
    except ChipledgerError as error:
        resolved = [each for each in listed(con, everything=True) if each.quarantine_id == number]
        if [each.decision for each in resolved] != [decision]:
            notes.append(f"decision {decision} on {number} is left out: {error.message}")
            return
        row = resolved[0]
    if decision != "accept" or row.row_json != "{}":
        return
    for entry in landing.entries():
        fetch = entry.content
        if entry.kind == "look" and (fetch["source"], fetch["scope"]) == (row.source, row.scope):
            if naive(unstamp(fetch["observed_at"])) != row.observed_at:
                continue
            parsed = _parsed(con, landing, entry, [], is_accepted=True)
            again = [replace(each, trusted=True) for each in parsed]
            load(con, again, recorded_at=recorded_at)
            close_overtaken(con, row, recorded_at=naive(recorded_at))
