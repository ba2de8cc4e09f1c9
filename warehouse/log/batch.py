"""A batch of fetches on its way to the log, and the gates that compare its rows with each other and with the log.

The batch gate refuses contradictory rows and truncated answers. The history gate, in `warehouse.log.holds`, lets list
prices wait that moved far, or together.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import duckdb
import polars as pl

from warehouse.documents import RefusedRow
from warehouse.errors import count
from warehouse.log import first_sight, holds
from warehouse.log.db import insert_rows, sql
from warehouse.log.events import naive, plain_amount, stage_rows, start_fetches
from warehouse.log.gates import Refusal, row_gate, row_json
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import CONTRADICTS, NOT_REPEATED, Quarantined, open_holds, refused_prices, shown_price
from warehouse.reference.instance_types import chip_counts
from warehouse.schema import tables

MIN_SHARE = 0.7
"""A complete live fetch with fewer rows than this share of the last one is refused: it may be truncated."""

DYNAMIC_OPTIONS = ("spot", "capacity_block")
"""What comes and goes with free capacity: fewer offers than yesterday are no sign of a truncated answer."""

MARKET_STATISTICS = ("p25", "median")
"""Statistics of a marketplace, where prices jump and offers come and go with whoever rents out."""


@dataclass
class Batch:
    """Fetches that can be loaded at once, and what the gates found, by the fetch's place in `fetches`.

    `refused_fetches` are refused whole, with the reason; `empty` have no prices and never had; `incomplete` have rows
    of unknown offers, so that no offer counts as gone.
    """

    fetches: list[ParsedFetch]
    refusals: list[Quarantined] = field(default_factory=list)
    refused_fetches: dict[int, str] = field(default_factory=dict)
    empty: set[int] = field(default_factory=set)
    incomplete: set[int] = field(default_factory=set)

    def judged(self) -> dict[int, ParsedFetch]:
        """Return the live fetches that may be refused whole, by number."""
        return {
            number: fetch
            for number, fetch in enumerate(self.fetches)
            if not (fetch.error or fetch.archived or fetch.trusted or number in self.refused_fetches)
        }


def stage(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Pass the rows of every fetch through all gates; what is accepted is in `observed_row` afterwards."""
    _gate_rows(con, batch)
    _gate_fetches(con, batch)
    _gate_chip_counts(con, batch)
    _gate_history(con, batch)
    _stage_fetches(con, batch)


def _gate_rows(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    frames, refusals = _row_gates(batch.fetches)
    for number, (fetch, refused) in enumerate(zip(batch.fetches, refusals, strict=True)):
        unread = (_of_row(fetch, number, row, row_json({"row": row.content})) for row in fetch.unread)
        batch.refusals += [*_set_aside(fetch, number), *unread]
        if fetch.unread:
            # Whose prices they are is unknown, so this fetch reports no offer as gone.
            batch.incomplete.add(number)
        if fetch.refused:
            batch.refused_fetches[number] = fetch.refused
        elif not fetch.error and len(fetch.rows) == len(refused):
            _judge_empty(con, batch, number, fetch, n_refused=len(refused) + len(fetch.unread))
        for refusal in refused:
            own_time = fetch.rows["observed_at"][refusal.row] if "observed_at" in fetch.rows.columns else None
            batch.refusals.append(_of_row(fetch, number, refusal, refusal.content, observed_at=own_time))
            offer = _offer_of(fetch.rows[refusal.row])
            if offer.is_empty():
                # The row's offer is unknown, so this fetch reports no offer as gone.
                batch.incomplete.add(number)
            else:
                # The offer is known, its price is not: the fetch states nothing about this offer, and all about others.
                refusal_number = pl.lit(len(batch.refusals) - 1, pl.Int64)
                frames.append(offer.with_columns(fetch_number=pl.lit(number, pl.Int64), refusal_number=refusal_number))
    stage_rows(con, _placed(pl.concat(frames, how="diagonal"), batch.fetches))
    for refusal_number, offer_id in con.execute(
        "select refusal_number, offer_id from observed_row where refusal_number is not null"
    ).fetchall():
        batch.refusals[refusal_number] = batch.refusals[refusal_number].about(offer_id)
    con.execute("delete from observed_row where refusal_number is not null")


def _row_gates(fetches: list[ParsedFetch]) -> tuple[list[pl.DataFrame], list[list[Refusal]]]:
    """Pass the rows of each fetch through the row gate: those of one shape together, as each pass has its price.

    Return the accepted ones with the place of their fetch (fetch_number), and the refusals of each fetch.
    """
    frames = [pl.DataFrame(schema={"observed_at": pl.Datetime("us"), "refusal_number": pl.Int64})]
    own: list[list[Refusal]] = [[] for _ in fetches]
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, fetch in enumerate(fetches):
        alike.setdefault(tuple(fetch.rows.schema.items()), []).append(number)
    moments = pl.Series([naive(fetch.observed_at) for fetch in fetches], dtype=pl.Datetime("us"))
    for numbers in alike.values():
        rows = pl.concat(fetches[number].rows for number in numbers)
        of = pl.Series([number for number in numbers for _ in range(len(fetches[number].rows))], dtype=pl.Int64)
        accepted, refusals = row_gate(rows, latest=moments[of])
        for one in refusals:
            own[of[one.row]].append(replace(one, row=one.row - of.search_sorted(of[one.row])))
        is_refused = pl.int_range(len(of), eager=True).is_in([one.row for one in refusals])
        accepted = accepted.with_columns(fetch_number=of.filter(~is_refused))
        if "observed_at" in accepted.columns:
            # A dated history shows one moment in every answer: the same text again adds nothing.
            same = [*tables.IDENTITY, "observed_at", "unit_price", "upfront_price", "fetch_number"]
            accepted = accepted.unique(same, keep="first", maintain_order=True)
        frames.append(accepted)
    return frames, own


def _set_aside(fetch: ParsedFetch, number: int) -> list[Quarantined]:
    """Return the rows of an import that are no prices as they are; those that their collector withdrew are resolved."""
    found = []
    for row in () if fetch.set_aside is None else fetch.set_aside.iter_rows(named=True):
        refusal = Quarantined.of(
            fetch,
            number,
            gate="row",
            reason=f"{row['reason']}: {row['value']}",
            field=row["field"],
            value=row["value"],
            row_json=row_json({name: row[name] for name in tables.OBSERVATION}),
            observed_at=row["observed_at"],
        )
        found.append(refusal.decided("refuse", by="its collector") if row["is_withdrawn"] else refusal)
    return found


def _of_row(fetch: ParsedFetch, number: int, row: RefusedRow, text: str, **more: Any) -> Quarantined:
    """Return the refusal of a row that its source could not read, or the row gate refused; `text` is the row."""
    why: dict[str, Any] = {"reason": row.reason, "field": row.field, "value": row.value}
    return Quarantined.of(fetch, number, gate="row", row_json=text, **why, **more)


def _offer_of(row: pl.DataFrame) -> pl.DataFrame:
    """Return a refused row without its amounts where the row gate lets it pass so; else no row."""
    typed, _ = row_gate(
        row.with_columns(pl.lit(None, pl.String).alias(name) for name in ("unit_price", "upfront_price"))
    )
    return typed


def _judge_empty(
    con: duckdb.DuckDBPyConnection, batch: Batch, number: int, fetch: ParsedFetch, *, n_refused: int
) -> None:
    """Separate a scope that never had a price (a Local Zone without accelerators) from an answer that lost all."""
    had = con.execute(
        "select count(*) from log.scope_fetch as f anti join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no "
        "where f.source = ? and f.scope = ? and f.status = 'ok' and f.n_rows > 0",
        [fetch.source, fetch.scope],
    ).fetchone()
    if fetch.complete and (n_refused or (had and had[0] and not fetch.facts)):
        batch.refused_fetches[number] = "no price in the whole answer"
    elif not fetch.facts:
        batch.empty.add(number)


def _placed(rows: pl.DataFrame, fetches: Sequence[ParsedFetch]) -> pl.DataFrame:
    """Return rows with what is of their fetch; those with times of their own keep them."""
    of_fetch = [(f.source, f.scope, naive(f.observed_at), f.trusted, f.archived) for f in fetches]
    names = ["source", "scope", "fetched_at", "is_past_gates", "is_archived"]
    placed = rows.hstack(pl.DataFrame(of_fetch, schema=names, orient="row")[rows["fetch_number"]])
    return placed.with_columns(pl.coalesce("observed_at", "fetched_at").alias("observed_at")).drop("fetched_at")


def _gate_fetches(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Refuse contradictory and repeated rows one by one, and whole fetches that are cut short or out by one factor."""
    found = con.execute(sql("load/contradiction.sql")).fetchall()
    contradicted = [row_number for row_number, n_prices, _ in found if n_prices > 1]
    reason = "the same offer is in the answer with different prices"
    batch.refusals += _refused_rows(con, batch, dict.fromkeys(contradicted, ("batch", reason, "unit_price")))
    copies = [row_number for row_number, n_prices, copy in found if n_prices == 1 and copy > 1]
    reason = "the same offer is in the answer twice; one is stored"
    repeated = _refused_rows(con, batch, dict.fromkeys(copies, ("batch", reason, "unit_price")))
    batch.refusals += [each.about(None) for each in repeated]
    if judged := batch.judged():
        batch.refused_fetches |= _cut_short(con, judged)
    for number, reason in batch.refused_fetches.items():
        _refuse_fetch(con, batch, number, reason)


def _refuse_fetch(con: duckdb.DuckDBPyConnection, batch: Batch, number: int, reason: str) -> None:
    con.execute("delete from observed_row where fetch_number = ?", [number])
    batch.refusals.append(Quarantined.of(batch.fetches[number], number, gate="batch", reason=reason))


def _cut_short(con: duckdb.DuckDBPyConnection, fetches: Mapping[int, ParsedFetch]) -> dict[int, str]:
    """Return which complete answers have far fewer prices than the last one, by number of the fetch."""
    lasting = ~pl.col("purchase_option").is_in(DYNAMIC_OPTIONS) & ~pl.col("statistic").is_in(MARKET_STATISTICS)
    con.execute(
        "create or replace temp table checked_fetch "
        "(fetch_number BIGINT, source VARCHAR, scope VARCHAR, observed_at TIMESTAMP)"
    )
    checked = [
        (number, fetch.source, fetch.scope, naive(fetch.observed_at))
        for number, fetch in fetches.items()
        if fetch.complete
    ]
    insert_rows(con, "checked_fetch", checked)
    since = con.execute("select min(observed_at) - interval 30 day from checked_fetch").fetchone()
    counts = con.execute(sql("load/last_row_count.sql"), since).fetchall()
    earlier = "from log.scope_fetch where observed_at < ? limit 1"
    if any(n_before is None for *_, n_before in counts) and con.execute(earlier, since).fetchone():
        counts = con.execute(sql("load/last_row_count.sql"), ["-infinity"]).fetchall()
    return {
        number: f"{count(n_rows, 'price')} where the last complete answer had {n_before:,}"
        for number, n_rows, n_before in counts
        if n_before is not None and n_rows < MIN_SHARE * n_before
        if not fetches[number].rows.filter(lasting).is_empty()
    }


def _gate_chip_counts(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Hold live AWS prices of types of which EC2 gives another number of chips than the table that divides prices."""
    doubtful = chip_counts(con)
    rows = con.execute(
        "select row_number, instance_type from observed_row where service_provider_name = 'AWS' "
        "and not is_past_gates and list_contains(from_json(?, '[\"VARCHAR\"]'), instance_type) order by row_number",
        [json.dumps(list(doubtful))],
    )
    reasons = {
        number: ("batch", doubtful[instance_type], "accelerator_count") for number, instance_type in rows.fetchall()
    }
    batch.refusals += _refused_rows(con, batch, reasons)


def _gate_history(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Hold list prices that moved far, or together, or out of the range of all; release or refuse those held before."""
    live = batch.judged().keys()
    complete = {number for number in live if batch.fetches[number].complete and number not in batch.incomplete}
    waiting = open_holds(con)
    has_new, are_compared = holds.prepare(con, waiting)
    if not has_new and not are_compared:
        return
    first_sight.prepare(con)
    new, known = first_sight.out_of_band(con)
    replaced = holds.replacements(con, complete, {held.row for held in new})
    own = {move.row for _, _, _, move in replaced.moves}
    _hold(con, batch, [held for held in new if held.row not in own], waiting, gate="band")
    found = holds.verdicts(con, waiting, replaced, live=live) if are_compared or replaced.moves else holds.Verdicts()
    for number, reason in found.refused_fetches.items():
        batch.refused_fetches[number] = reason
        _refuse_fetch(con, batch, number, reason)
    _hold(con, batch, found.held, {}, replaced.offers)
    for hold, is_accepted in found.resolved:
        decision, by = ("accept", "confirmed by a later observation") if is_accepted else ("refuse", NOT_REPEATED)
        batch.refusals.append(hold.decided(decision, by=by))
    _wait(con, batch, found.still, waiting, replaced.offers)
    _release(con, found.released)
    _hold(con, batch, first_sight.denied_counts(con) if has_new else [], {}, gate="batch")
    left = _staged(con, (held.row for held in known), SHOW) if known else {}
    _hold(con, batch, [held for held in known if held.row in left], waiting, gate="band")
    _resolve_band_holds(con, batch, waiting)


def _hold(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    rows: Sequence[holds.Held],
    waiting: holds.Waiting,
    replaced: Mapping[int, list[int]] = MappingProxyType({}),
    *,
    gate: str = "history",
) -> None:
    """Let rows wait, those of a price in `waiting` as seen once more; a person's refusal of the same price counts."""
    if not rows:
        return
    refused = refused_prices(con)
    found = _refused_rows(con, batch, {held.row: (gate, held.reason, held.field) for held in rows})
    # Also their copies at their first sighting, of those let in.
    con.execute("delete from observed_row where -row_number - 1 in (from named_row)")
    for held, new in zip(rows, found, strict=True):
        batch.refusals.append(new)
        before = waiting.get((new.source, new.offer_id or 0), [])
        same = next((each for each in before if each.gate == gate and each.row_json == new.row_json), None)
        decided_by = NOT_REPEATED if held.is_refuted else refused.get(shown_price(new))
        if same is not None:
            batch.refusals[-1] = same.waits_at(new, before)
        elif decided_by:
            batch.refusals[-1] = new.decided("refuse", by=decided_by)
        batch.refusals += map(batch.refusals[-1].in_place_of, replaced.get(held.row, ()))


def _resolve_band_holds(con: duckdb.DuckDBPyConnection, batch: Batch, waiting: holds.Waiting) -> None:
    """Refuse what waited as out of its range where the offer has another price now, or another waits."""
    held = {(each.source, each.offer_id): each for each in batch.refusals if each.gate == "band"}
    accepted = {
        (source, offer_id): at
        for source, offer_id, at in con.execute(
            "select source, offer_id, max(observed_at) from observed_row semi join held_key using (source, offer_id) "
            "where unit_price is not null group by all"
        ).fetchall()
    }
    for key, rows in waiting.items():
        new = held.get(key)
        at = accepted.get(key) or (new.observed_at if new is not None and new.row_json != rows[0].row_json else None)
        batch.refusals += [
            row.decided("refuse", by=NOT_REPEATED)
            for row in rows
            if row.gate == "band" and at is not None and at > row.observed_at
        ]


def _wait(
    con: duckdb.DuckDBPyConnection,
    batch: Batch,
    rows: Sequence[tuple[int, Quarantined]],
    waiting: holds.Waiting,
    replaced: Mapping[int, list[int]],
) -> None:
    """Record that prices which wait were seen once more."""
    if not rows:
        return
    seen = _staged(con, (number for number, _ in rows))
    for number, hold in rows:
        new = _refusal(batch, seen[number], hold.gate, hold.reason, hold.field)
        batch.refusals.append(hold.waits_at(new, waiting.get((new.source, new.offer_id or 0), ())))
        batch.refusals += map(batch.refusals[-1].in_place_of, replaced.get(number, ()))


def _release(con: duckdb.DuckDBPyConnection, rows: Sequence[tuple[int, Quarantined]]) -> None:
    """Let in prices that were confirmed: they count from when they were first seen."""
    if not rows:
        return
    con.execute("create or replace temp table released (row_number BIGINT, first_at TIMESTAMP, first_sha256 VARCHAR)")
    insert_rows(con, "released", [(number, hold.observed_at, hold.document_sha256) for number, hold in rows])
    con.execute(
        "insert into observed_row by name select o.* replace (r.first_at as observed_at, "
        "r.first_sha256 as document_sha256, -1 as fetch_number, -o.row_number - 1 as row_number) "
        "from observed_row as o inner join released as r on o.row_number = r.row_number"
    )


TAKE_OUT = "delete from observed_row where row_number in (from named_row) returning *"
SHOW = "from observed_row semi join named_row using (row_number)"


def _staged(
    con: duckdb.DuckDBPyConnection, row_numbers: Iterable[int], query: str = TAKE_OUT
) -> dict[int, dict[str, Any]]:
    """Return some staged rows by number, taken out or shown by a query of those that `named_row` names."""
    con.execute("create or replace temp table named_row (row_number BIGINT)")
    insert_rows(con, "named_row", [(number,) for number in row_numbers])
    cursor = con.execute(query)
    columns = [column[0] for column in cursor.description or ()]
    return {row["row_number"]: row for row in (dict(zip(columns, each, strict=True)) for each in cursor.fetchall())}


def _refused_rows(
    con: duckdb.DuckDBPyConnection, batch: Batch, reasons: Mapping[int, tuple[str, str, str]]
) -> list[Quarantined]:
    """Take staged rows out, and return their refusals in order; `reasons` has gate, reason and field of each number."""
    if not reasons:
        return []
    rows = _staged(con, reasons)
    return [_refusal(batch, rows[number], *why) for number, why in reasons.items()]


def _refusal(batch: Batch, row: Mapping[str, Any], gate: str, reason: str, name: str) -> Quarantined:
    number = row["fetch_number"]
    return Quarantined.of(
        batch.fetches[number],
        number,
        gate=gate,
        reason=reason,
        field=name,
        value=plain_amount(row[name]) or "",
        row_json=row_json({key: row[key] for key in tables.OBSERVATION}),
        offer_id=row["offer_id"],
        document_sha256=row["document_sha256"],
        observed_at=row["observed_at"],
    )


def contradicted(con: duckdb.DuckDBPyConnection, batch: Batch) -> list[Quarantined]:
    """Return the rows, already in the log, whose moment is void as the log has another price of it: neither counts."""
    found = {number: (other, sha256) for number, other, sha256 in con.execute(sql("load/void_row.sql")).fetchall()}
    if not found:
        return []
    refusals = []
    for number, row in sorted(_staged(con, found, SHOW).items()):
        other, sha256 = found[number]
        reason = f"{CONTRADICTS}, {plain_amount(other) or 'none'}, in document {sha256[:12]}"
        refusals.append(_refusal(batch, row, "batch", reason, "unit_price"))
    return refusals


def _stage_fetches(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    start_fetches(con)
    named = [
        [number, fetch.source, fetch.scope, naive(fetch.observed_at), fetch.document_sha256]
        for number, fetch in enumerate(batch.fetches)
    ]
    insert_rows(con, "new_run", named)
    fetches = [
        [*named[number], fetch.complete and number not in batch.incomplete]
        for number, fetch in enumerate(batch.fetches)
        if not fetch.error and number not in batch.refused_fetches and number not in batch.empty
    ]
    insert_rows(con, "new_fetch", fetches)
    refused = [
        [refusal.offer_id, refusal.source, refusal.observed_at]
        for refusal in batch.refusals
        if refusal.offer_id is not None and refusal.decision != "accept"
    ]
    insert_rows(con, "new_refusal", refused)
