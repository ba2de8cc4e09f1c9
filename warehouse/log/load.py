"""From parsed looks to the log, in one transaction: the gates, then events, sightings and coverage.

The same looks in any order, split in any way, give the same intervals; the history gate alone minds the order,
as it waits for what comes next.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

import duckdb
import polars as pl

from warehouse.errors import ChipledgerError
from warehouse.lake.ducklake import transacted
from warehouse.log.batch import Batch, stage
from warehouse.log.db import insert_rows, sql
from warehouse.log.events import append_events, naive, stage_rows, start_looks
from warehouse.log.facts import append_facts
from warehouse.log.gates import row_gate
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import Quarantined, find, settle, waiting_with
from warehouse.schema import tables

SCOPE_RUN = (
    "run_id",
    "source",
    "scope",
    "observed_at",
    "complete",
    "archived",
    "status",
    "n_rows",
    "n_refused",
    "document_sha256",
    "error",
    "recorded_at",
)


@dataclass(frozen=True, kw_only=True)
class ScopeResult:
    """What became of one look, and how many rows, refusals and events it gave.

    Its status is ok, empty (a scope that never had a price), known (loaded before), refused (whole) or failed.
    """

    source: str
    scope: str
    observed_at: datetime
    status: str
    n_rows: int = 0
    n_refused: int = 0
    n_events: int = 0
    error: str | None = None


def load(con: duckdb.DuckDBPyConnection, looks: Iterable[ParsedFetch], *, recorded_at: datetime) -> list[ScopeResult]:
    """Append what the looks say to the log; one transaction. Looks that were loaded before are left out.

    `recorded_at` is the aware moment at which we learnt it. Of a shared warehouse, the looks' scopes are locked
    meanwhile. Raises ChipledgerError where two offers share an id.
    """
    rounds = list(_rounds(looks))
    scopes = {(look.source, look.scope) for batch in rounds for look in batch}

    def append() -> list[ScopeResult]:
        return [result for batch in rounds for result in _load_round(con, batch, naive(recorded_at))]

    return transacted(con, append, scopes=scopes)


def decide(
    con: duckdb.DuckDBPyConnection, quarantine_id: int, decision: str, *, decided_by: str, recorded_at: datetime
) -> Quarantined:
    """Settle one open row of the quarantine: `accept` puts its price into the log, `refuse` leaves it out for good.

    A price that waits may have been seen several times: all its rows are settled, and it counts from the first.
    Raises ChipledgerError where there is no such open row, or where the row breaks a rule of the row gate, which
    nobody can overrule. A refused look is not handled here: it is loaded again as trusted.
    """
    scope = find(con, quarantine_id)
    at = naive(recorded_at)

    def carry_out() -> Quarantined:
        row = find(con, quarantine_id)
        same = waiting_with(con, row)
        if decision == "accept" and row.row_json != "{}":
            _accept_row(con, same[0], at)
        settle(con, [each.decided(decision, by=decided_by) for each in same], recorded_at=at)
        return row

    return transacted(con, carry_out, scopes=[(scope.source, scope.scope)])


def checked_row(row: Quarantined) -> pl.DataFrame:
    """Return a quarantined row as the row gate accepts it; raise ChipledgerError where it does not."""
    content = json.loads(row.row_json)
    text = {
        name: None
        if content.get(name) is None
        else content[name]
        if name == "commitment_term_hours"
        else str(content[name])
        for name in tables.OBSERVATION
    }
    frame = pl.DataFrame([text], schema=observation_schema()).with_columns(document_sha256=pl.lit(row.document_sha256))
    accepted, refused = row_gate(frame)
    if refused:
        raise ChipledgerError(
            f"it cannot be accepted: {refused[0].reason}",
            source=row.source,
            field=refused[0].field,
            value=refused[0].value,
            hint="Refuse it, and correct it at its source",
        )
    return accepted


def _accept_row(con: duckdb.DuckDBPyConnection, row: Quarantined, recorded_at: datetime) -> None:
    stage_rows(
        con,
        checked_row(row).with_columns(
            source=pl.lit(row.source),
            scope=pl.lit(row.scope),
            observed_at=pl.lit(row.observed_at),
            is_past_gates=pl.lit(value=True),
            look_number=pl.lit(0, pl.Int64),
            refusal_number=pl.lit(None, pl.Int64),
        ),
    )
    start_looks(con)
    append_events(con, recorded_at=recorded_at)


def observation_schema() -> dict[str, type[pl.DataType]]:
    """Return the types of the columns `schemas.OBSERVATION` before the row gate."""
    return {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in tables.OBSERVATION}


def no_rows() -> pl.DataFrame:
    """Return the empty frame of a look that gave nothing."""
    return pl.DataFrame(schema={**observation_schema(), "document_sha256": pl.String})


def _rounds(looks: Iterable[ParsedFetch]) -> Iterator[list[ParsedFetch]]:
    """Split looks into rounds that can be loaded at once: archived ones together, live ones one per scope, by time."""
    rounds: dict[int, list[ParsedFetch]] = {}
    turn: dict[tuple[str, str], int] = {}
    once = {_key(look): look for look in looks}.values()
    for look in sorted(once, key=lambda look: (look.observed_at, look.source, look.scope)):
        key = (look.source, look.scope)
        if not look.archived:
            turn[key] = turn.get(key, 0) + 1
        rounds.setdefault(0 if look.archived else turn[key], []).append(look)
    for number in sorted(rounds):
        yield rounds[number]


def _load_round(con: duckdb.DuckDBPyConnection, looks: list[ParsedFetch], recorded_at: datetime) -> list[ScopeResult]:
    known = _known_looks(con, looks)
    results = [
        ScopeResult(source=look.source, scope=look.scope, observed_at=look.observed_at, status="known")
        for look in looks
        if _key(look) in known
    ]
    batch = Batch([look for look in looks if _key(look) not in known])
    if not batch.looks:
        return results
    stage(con, batch)
    events = append_events(con, recorded_at=recorded_at)
    settle(con, batch.refusals, recorded_at=recorded_at)
    # Events are of a scope and a round, not of a look: the first look of the scope is given the number.
    counts = dict(con.execute(sql("load/row_count.sql")).fetchall())
    records = []
    for number, look in enumerate(batch.looks):
        result = _result(batch, number, n_rows=counts.get(number, 0), n_events=events.pop((look.source, look.scope), 0))
        records.append(_record(batch, number, result, recorded_at))
        if result.status == "ok":
            append_facts(
                con, look.facts, source=look.source, observed_at=naive(look.observed_at), recorded_at=recorded_at
            )
        results.append(result)
    insert_rows(con, f"core.scope_run ({', '.join(SCOPE_RUN)})", records)
    return results


def _result(batch: Batch, number: int, *, n_rows: int, n_events: int) -> ScopeResult:
    look = batch.looks[number]
    return ScopeResult(
        source=look.source,
        scope=look.scope,
        observed_at=look.observed_at,
        status=_status(batch, number),
        n_rows=n_rows,
        n_refused=sum(1 for refusal in batch.refusals if refusal.look == number and refusal.decision != "accept"),
        n_events=n_events,
        error=look.error or batch.refused_looks.get(number),
    )


def _status(batch: Batch, number: int) -> str:
    if batch.looks[number].error:
        return "failed"
    if number in batch.refused_looks:
        return "refused"
    return "empty" if number in batch.empty else "ok"


def _record(batch: Batch, number: int, result: ScopeResult, recorded_at: datetime) -> tuple[object, ...]:
    """Return the row of a look in core.scope_run, of the columns SCOPE_RUN."""
    look = batch.looks[number]
    complete = look.complete and result.status == "ok" and number not in batch.incomplete
    return (
        look.run_id,
        look.source,
        look.scope,
        naive(look.observed_at),
        complete,
        look.archived,
        result.status,
        result.n_rows,
        result.n_refused,
        look.document_sha256,
        result.error,
        recorded_at,
    )


def _known_looks(con: duckdb.DuckDBPyConnection, looks: list[ParsedFetch]) -> set[tuple[object, ...]]:
    # Of these sources and moments alone: the log has every look of years.
    rows = con.execute(
        "select source, scope, observed_at, document_sha256, trusted from core.scope_run "
        "cross join (values (false), (true)) as asked (trusted) "
        "where source in (select unnest(?)) and observed_at in (select unnest(?::TIMESTAMP[])) "
        "and (not trusted or status = 'ok')",
        [sorted({look.source for look in looks}), sorted({naive(look.observed_at) for look in looks})],
    ).fetchall()
    return {tuple(row) for row in rows}


def _key(look: ParsedFetch) -> tuple[object, ...]:
    """A trusted look is known only where it was loaded in full; any other where it was tried."""
    return (look.source, look.scope, naive(look.observed_at), look.document_sha256, look.trusted)
