"""What was refused: stored with its reason, listed, and resolved by a person or by a later confirmation."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import duckdb

from warehouse.errors import ChipledgerError, SettingsError
from warehouse.log.db import insert_rows
from warehouse.log.events import naive
from warehouse.log.moves import FOR_PERSON

if TYPE_CHECKING:
    from warehouse.log.parsed import ParsedFetch


@dataclass(frozen=True, kw_only=True)
class Quarantined:
    """One refused row or fetch, or a decision on one. `fetch` is its place in the batch; times are naive UTC."""

    quarantine_id: int
    fetch: int
    run_id: str
    source: str
    scope: str
    observed_at: datetime
    gate: str
    reason: str
    field: str = ""
    value: str = ""
    offer_id: int | None = None
    row_json: str = "{}"
    document_sha256: str | None = None
    decision: str | None = None
    decided_by: str | None = None

    @classmethod
    def of(
        cls,
        fetch: "ParsedFetch",
        number: int,
        *,
        gate: str,
        reason: str,
        field: str = "",
        value: str = "",
        row_json: str = "{}",
        offer_id: int | None = None,
        document_sha256: str | None = None,
        observed_at: datetime | None = None,
    ) -> "Quarantined":
        """Return the refusal of a row of a fetch (or of the fetch itself, without a row).

        `observed_at` (naive UTC) is the row's own time, where it has one other than the fetch's.
        """
        observed_at = observed_at or naive(fetch.observed_at)
        return cls(
            quarantine_id=_id(fetch.source, fetch.scope, observed_at.isoformat(), gate, field, value, row_json),
            fetch=number,
            run_id=fetch.run_id,
            source=fetch.source,
            scope=fetch.scope,
            observed_at=observed_at,
            gate=gate,
            reason=reason,
            field=field,
            value=value,
            offer_id=offer_id,
            row_json=row_json,
            document_sha256=document_sha256 or fetch.document_sha256,
        )

    @property
    def for_person(self) -> bool:
        """Return whether no second fetch releases it."""
        return self.reason.endswith(FOR_PERSON)

    def decided(self, decision: str, *, by: str) -> "Quarantined":
        """Return the decision that resolves this row."""
        return replace(self, decision=decision, decided_by=by)

    def about(self, offer_id: int | None) -> "Quarantined":
        """Return the same refusal with the offer that it leaves without a price at this moment; None for none."""
        return replace(self, offer_id=offer_id)

    def waits_at(self, seen: "Quarantined", waiting: "Iterable[Quarantined]") -> "Quarantined":
        """Return the same held price as another fetch saw it; one `waiting` of that moment already keeps its number."""
        key = (seen.observed_at, shown_price(seen))
        known = (each.quarantine_id for each in waiting if (each.observed_at, shown_price(each)) == key)
        number = next(known, None) or _id(str(self.quarantine_id), seen.observed_at.isoformat())
        return replace(seen, quarantine_id=number, reason=self.reason, field=self.field, value=self.value)

    def in_place_of(self, offer_id: int) -> "Quarantined":
        """Return that nothing is known of another offer, whose place the held one would take; nobody has to look."""
        reason, number = f"another offer in its place waits: {self.quarantine_id}", str(self.quarantine_id)
        row = replace(self, quarantine_id=_id(number, str(offer_id)), offer_id=offer_id, reason=reason, row_json="{}")
        return row.decided("refuse", by="the gate")


def _id(*parts: str) -> int:
    """Return 52 bits of the SHA-256 of what a refusal is of."""
    return int(hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:13], 16)


HOLDING = ("history", "band")
"""Gates whose refused rows wait: they may be right, and a later fetch or a person lets them in."""

CONTRADICTS = "another price of the same offer, source and moment is known, so that neither counts"
"""How the reason of a row begins that is in the log beside another one."""
OVERTAKEN = "a later fetch of the scope was accepted"
"""Who refused a fetch that was open when a later one was accepted."""
NOT_REPEATED = "the next observation differs"
"""Who refused a jump that the next document did not show."""
WITHDRAWN = "withdrawn: "
"""How the name begins of who decided a row by withdrawing a fetch, its own or that of another price of its moment."""

_COLUMNS = (
    *("quarantine_id", "run_id", "source", "scope", "observed_at", "gate", "reason", "field", "value"),
    *("offer_id", "row_json", "document_sha256", "decision", "decided_by"),
)


def record(con: duckdb.DuckDBPyConnection, rows: Iterable[Quarantined], *, recorded_at: datetime) -> None:
    """Append refusals and decisions; `recorded_at` is naive UTC. What is known already is left as it is."""
    rows = list(rows)
    # What was withdrawn is not known: where it comes again, it waits anew.
    last = "arg_max(coalesce({}, ''), (recorded_at, decision is not null))"
    known = dict(
        con.execute(
            f"select quarantine_id, {last.format('decision')} from core.quarantine "
            "where quarantine_id in (select unnest(from_json(?, '[\"BIGINT\"]'))) group by quarantine_id "
            f"having not starts_with({last.format('decided_by')}, '{WITHDRAWN}')",
            [json.dumps([row.quarantine_id for row in rows])],
        ).fetchall()
    )
    values = []
    for row in rows:
        if row.quarantine_id not in known or row.decision not in (None, known[row.quarantine_id]):
            known[row.quarantine_id] = row.decision
            decided_at = recorded_at if row.decision else None
            values.append([*(getattr(row, name) for name in _COLUMNS), decided_at, recorded_at])
    insert_rows(con, f"core.quarantine ({', '.join(_COLUMNS)}, decided_at, recorded_at)", values)


def listed(con: duckdb.DuckDBPyConnection, *, everything: bool = False, which: str = "true") -> list[Quarantined]:
    """Return the refused rows that nobody resolved, oldest first; with `everything` the resolved ones too.

    `which` is what must hold of a row's last state, in SQL.
    """
    rows = con.execute(
        f"select {', '.join(_COLUMNS)} from core.quarantine "
        "qualify row_number() over (partition by quarantine_id order by recorded_at desc, decision nulls last) = 1 "
        f"and ({which}) and {'true' if everything else 'decision is null'} "
        "order by observed_at, source, scope, quarantine_id"
    ).fetchall()
    return [Quarantined(fetch=-1, **dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def close_overtaken(con: duckdb.DuckDBPyConnection, accepted: Quarantined, *, recorded_at: datetime) -> None:
    """Refuse the open fetches of a scope that are older than one of it that was accepted: nobody needs them."""
    older = [
        row.decided("refuse", by=OVERTAKEN)
        for row in listed(con)
        if (row.source, row.scope, row.row_json) == (accepted.source, accepted.scope, "{}")
        and row.observed_at < accepted.observed_at
    ]
    record(con, older, recorded_at=recorded_at)


def open_holds(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, int], list[Quarantined]]:
    """Return the prices that wait for confirmation, oldest first, by source and offer."""
    holds: dict[tuple[str, int], list[Quarantined]] = {}
    for row in listed(con, which=f"gate in {HOLDING}"):
        if row.offer_id is not None:
            holds.setdefault((row.source, row.offer_id), []).append(row)
    return holds


def waiting_with(con: duckdb.DuckDBPyConnection, row: Quarantined) -> list[Quarantined]:
    """Return the open rows that are the same price of the same offer, oldest first."""
    if row.gate not in HOLDING or row.offer_id is None:
        return [row]
    waiting = open_holds(con)[row.source, row.offer_id]
    return [each for each in waiting if shown_price(each) == shown_price(row)]


def refused_prices(con: duckdb.DuckDBPyConnection) -> dict[tuple[object, ...], str]:
    """Return the prices that waited and were refused by a person, as `shown_price` names them, and by whom.

    A refusal counts as long as every fetch of its scope shows the price: where one did not, it is judged anew.
    """
    last = {
        (source, scope): at
        for source, scope, at in con.execute(
            "select source, scope, max(observed_at) from core.scope_run semi join (from core.quarantine "
            "where decision = 'refuse') using (source, scope) where status = 'ok' group by all"
        ).fetchall()
    }
    return {
        shown_price(row): row.decided_by or ""
        for row in listed(con, everything=True, which=f"gate in {HOLDING} and decision = 'refuse'")
        if row.decided_by != NOT_REPEATED
        and not str(row.decided_by).startswith(WITHDRAWN)
        and row.observed_at >= last.get((row.source, row.scope), row.observed_at)
    }


def shown_price(row: Quarantined) -> tuple[object, ...]:
    """Return what makes two sightings of a price one: source, offer and the row itself, whatever the document."""
    return (row.source, row.offer_id, row.row_json)


def find(con: duckdb.DuckDBPyConnection, quarantine_id: int) -> Quarantined:
    """Return one open row of the quarantine; raise where there is none of that id or it was resolved."""
    for row in listed(con, everything=True, which=f"quarantine_id = {quarantine_id:d}"):
        if row.decision is not None:
            message = f"already resolved: {row.decision}, by {row.decided_by}"
            raise ChipledgerError(message, source="quarantine", field="quarantine_id", value=str(quarantine_id))
        return row
    hint = "`chipledger quarantine list` shows what is open"
    raise SettingsError("no such row", source="quarantine", field="quarantine_id", value=str(quarantine_id), hint=hint)
