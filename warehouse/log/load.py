"""From parsed fetches to the log, in a transaction: the gates, then events, sightings and coverage.

The same fetches in any order, split in any way, give the same intervals; the history gate alone depends on the
order, as it waits for what comes next.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

import duckdb
import polars as pl

from warehouse.errors import ChipledgerError
from warehouse.frames import shown
from warehouse.lake import ducklake
from warehouse.lake.ducklake import transacted
from warehouse.log.batch import Batch, contradicted, stage
from warehouse.log.db import few_threads, insert_rows, sql
from warehouse.log.events import append_events, naive, stage_rows, start_fetches
from warehouse.log.gates import past_gates, row_gate
from warehouse.log.parsed import ParsedFetch, ScopeResult
from warehouse.log.quarantine import CONTRADICTS, Quarantined, find, record, waiting_with
from warehouse.log.shared_rows import name_documents
from warehouse.schema import tables

SCOPE_FETCH = (
    *("fetch_no", "source", "scope", "observed_at", "document_no", "recorded_at", "run_id", "complete"),
    *("archived", "status", "n_rows", "n_refused", "error"),
)


def load(con: duckdb.DuckDBPyConnection, fetches: Iterable[ParsedFetch], *, recorded_at: datetime) -> list[ScopeResult]:
    """Append what the fetches add to the log; one transaction. Looks that were loaded before are left out.

    `recorded_at` is the aware moment at which we learnt it. Of a shared warehouse, the fetches' scopes are locked
    meanwhile, and each round has its own transaction: one does not see the offers that are added while it lasts.
    Raises ChipledgerError where two offers share an id.
    """
    rounds = list(_rounds(fetches))
    every = [fetch for batch in rounds for fetch in batch]
    scopes = {(fetch.source, fetch.scope) for fetch in every}
    frames = [rows for fetch in every for rows in (fetch.rows, fetch.set_aside) if rows is not None]
    named = [rows["document_sha256"].cast(pl.String) for rows in frames if "document_sha256" in rows.columns]
    name_documents(con, {fetch.document_sha256 for fetch in every} | set(pl.concat(named).unique() if named else ()))

    def append(some: list[list[ParsedFetch]]) -> list[ScopeResult]:
        return [result for batch in some for result in _load_round(con, batch, naive(recorded_at))]

    parts = [rounds] if ducklake.of(con) is None else [[batch] for batch in rounds]
    with few_threads(con, sum(len(fetch.rows) for fetch in every)):
        return [result for part in parts for result in transacted(con, partial(append, part), scopes=scopes)]


def decide(
    con: duckdb.DuckDBPyConnection, quarantine_id: int, decision: str, *, decided_by: str, recorded_at: datetime
) -> Quarantined:
    """Resolve one open row of the quarantine: `accept` puts its price into the log, `refuse` leaves it out for good.

    A price that waits may have been seen several times: all its rows are resolved, and it counts from the first to the
    last. Raises ChipledgerError where there is no such open row, or where the row breaks a rule of the row gate, which
    nobody can overrule. A refused fetch is not handled here: it is loaded again as trusted.
    """
    scope = find(con, quarantine_id)
    at = naive(recorded_at)
    name_documents(con, (each.document_sha256 for each in waiting_with(con, scope)))

    def carry_out() -> Quarantined:
        row = find(con, quarantine_id)
        same = waiting_with(con, row)
        if decision == "accept" and row.row_json != "{}":
            _accept_rows(con, [same[0], *same[1:][-1:]], at)
        record(con, [each.decided(decision, by=decided_by) for each in same], recorded_at=at)
        return row

    return transacted(con, carry_out, scopes=[(scope.source, scope.scope)])


def checked_row(row: Quarantined) -> pl.DataFrame:
    """Return a quarantined row as the row gate accepts it; raise ChipledgerError where it does not.

    Raises it too where the row is in the log already, beside another price of its moment.
    """
    if row.reason.startswith(CONTRADICTS):
        message = "it cannot be accepted: both prices are in the log"
        hint = "Withdraw the document that has the wrong one; docs/importing.md says how"
        raise ChipledgerError(message, source=row.source, field=row.field, value=row.value, hint=hint)
    content = json.loads(row.row_json)
    cells = ((name, content.get(name)) for name in tables.OBSERVATION)
    text = {name: cell if cell is None or name == "commitment_term_hours" else str(cell) for name, cell in cells}
    frame = pl.DataFrame([text], schema=tables.observation_schema())
    accepted, refused = row_gate(frame.with_columns(document_sha256=pl.lit(row.document_sha256)))
    if refused:
        message = f"it cannot be accepted: {refused[0].reason}"
        hint = "Refuse it, and correct it at its source"
        raise ChipledgerError(message, source=row.source, field=refused[0].field, value=refused[0].value, hint=hint)
    return accepted


def _accept_rows(con: duckdb.DuckDBPyConnection, rows: list[Quarantined], recorded_at: datetime) -> None:
    checked = [(checked_row(row), row) for row in rows]
    stage_rows(con, pl.concat(past_gates(frame, row, row.observed_at) for frame, row in checked))
    start_fetches(con)
    append_events(con, recorded_at=recorded_at)


def _rounds(fetches: Iterable[ParsedFetch]) -> Iterator[list[ParsedFetch]]:
    """Split fetches into rounds that load at once: archived ones together, live ones one per scope, by time."""
    rounds: dict[int, list[ParsedFetch]] = {}
    turn: dict[tuple[str, str], int] = {}
    once = {_key(fetch): fetch for fetch in fetches}.values()
    for fetch in sorted(once, key=lambda fetch: (fetch.observed_at, fetch.source, fetch.scope)):
        key = (fetch.source, fetch.scope)
        if not fetch.archived:
            turn[key] = turn.get(key, 0) + 1
        rounds.setdefault(0 if fetch.archived else turn[key], []).append(fetch)
    for number in sorted(rounds):
        yield rounds[number]


def _load_round(con: duckdb.DuckDBPyConnection, fetches: list[ParsedFetch], recorded_at: datetime) -> list[ScopeResult]:
    known = _known_fetches(con, fetches, recorded_at)
    results = [
        ScopeResult(source=fetch.source, scope=fetch.scope, observed_at=fetch.observed_at, status="known")
        for fetch in fetches
        if _key(fetch) in known
    ]
    batch = Batch([fetch for fetch in fetches if _key(fetch) not in known])
    if not batch.fetches:
        return results
    stage(con, batch)
    events = append_events(con, recorded_at=recorded_at)
    batch.refusals += contradicted(con, batch)
    record(con, batch.refusals, recorded_at=recorded_at)
    # Events are of a scope and a round, not of a fetch: the first fetch of the scope gets the number.
    counts = dict(con.execute(sql("load/row_count.sql")).fetchall())
    n_refused = Counter(refusal.fetch for refusal in batch.refusals if refusal.decision != "accept")
    numbered = "select fetch_number, row(fetch_no, document_no) from new_number where fetch_number is not null"
    numbers = dict(con.execute(numbered).fetchall())
    records = []
    for number, fetch in enumerate(batch.fetches):
        result = ScopeResult(
            source=fetch.source,
            scope=fetch.scope,
            observed_at=fetch.observed_at,
            status=_status(batch, number),
            n_rows=counts.get(number, 0),
            n_refused=n_refused[number],
            n_events=events.pop((fetch.source, fetch.scope), 0),
            error=fetch.error or batch.refused_fetches.get(number),
        )
        records.append(_record(batch, number, result, numbers[number], recorded_at))
        if result.status == "ok":
            _append_facts(con, fetch, recorded_at)
        results.append(result)
    insert_rows(con, f"log.scope_fetch ({', '.join(SCOPE_FETCH)})", records)
    return results


def _append_facts(con: duckdb.DuckDBPyConnection, fetch: ParsedFetch, recorded_at: datetime) -> None:
    """Append the facts of a fetch, by table, where they differ from the last ones. `recorded_at` is naive UTC.

    Raises KeyError for a table that is not one of `tables.FACT_TABLES`.
    """
    of_name = {table.name: table for table in tables.FACT_TABLES}
    for name, frame in fetch.facts.items():
        table, keys = of_name[name], of_name[name].key
        stated = [column for column in frame.columns if column not in ("document_sha256", *keys)]
        same_key = " and ".join(f"n.{key} is not distinct from l.{key}" for key in keys)
        same = " and ".join(f"n.{column} is not distinct from l.{column}" for column in stated) or "true"
        with shown(con, "new_fact", frame):
            con.execute(
                f"insert into {table.qualified} by name "
                f"with new as ((from {table.qualified} limit 0) union all by name from new_fact), "
                f"last as (select * from {table.qualified} where source = $source qualify row_number() over "
                f"(partition by {', '.join(keys)} order by observed_at desc, recorded_at desc) = 1) "
                f"select distinct n.* replace ($source as source, $observed_at::TIMESTAMP as observed_at, "
                f"$recorded_at::TIMESTAMP as recorded_at) from new as n "
                f"where not exists (select 1 from last as l where {same_key} and {same})",
                {"source": fetch.source, "observed_at": naive(fetch.observed_at), "recorded_at": recorded_at},
            )


def _status(batch: Batch, number: int) -> str:
    if batch.fetches[number].error:
        return "failed"
    if number in batch.refused_fetches:
        return "refused"
    return "empty" if number in batch.empty else "ok"


def _record(
    batch: Batch, number: int, result: ScopeResult, numbers: tuple[int, int | None], recorded_at: datetime
) -> tuple[object, ...]:
    """Return the row of a fetch in log.scope_fetch, of the columns SCOPE_FETCH; its own number and its document's."""
    fetch = batch.fetches[number]
    fetch_no, document_no = numbers
    complete = fetch.complete and result.status == "ok" and number not in batch.incomplete
    key = (fetch_no, fetch.source, fetch.scope, naive(fetch.observed_at), document_no, recorded_at, fetch.run_id)
    return (*key, complete, fetch.archived, result.status, result.n_rows, result.n_refused, result.error)


def _known_fetches(
    con: duckdb.DuckDBPyConnection, fetches: list[ParsedFetch], recorded_at: datetime
) -> set[tuple[object, ...]]:
    # Of these sources and moments alone: the log has every fetch of years.
    con.execute("create or replace temp table asked_fetch (source VARCHAR, observed_at TIMESTAMP)")
    insert_rows(con, "asked_fetch", sorted({(fetch.source, naive(fetch.observed_at)) for fetch in fetches}))
    con.execute(
        "create or replace temp table found_fetch as select source, scope, observed_at, document_no, status "
        "from log.scope_fetch semi join asked_fetch using (source, observed_at) where status is not null and not "
        "(archived and fetch_no in (select fetch_no from log.withdrawn_fetch where withdrawn_at < ?))",  # come again
        [recorded_at],
    )
    rows = con.execute(
        "select f.source, f.scope, f.observed_at, d.document_sha256, w.trusted from found_fetch as f "
        "left join log.document as d on f.document_no = d.document_no "
        "cross join (values (false), (true)) as w (trusted) where not w.trusted or f.status = 'ok'"
    ).fetchall()
    return {tuple(row) for row in rows}


def _key(fetch: ParsedFetch) -> tuple[object, ...]:
    """A trusted fetch is known only where it was loaded in full; any other where it was tried."""
    return (fetch.source, fetch.scope, naive(fetch.observed_at), fetch.document_sha256, fetch.trusted)
