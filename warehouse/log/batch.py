"""A batch of fetches on its way to the log, and the gates that compare its rows with each other and with the log.

The batch gate refuses contradictory rows, truncated answers, and prices that moved by a unit's factor together.
The history gate lets a live list price outside [0.5, 2] times its last value wait until it is confirmed.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

import duckdb
import polars as pl

from warehouse.log.db import insert_rows, sql
from warehouse.log.events import naive, plain_amount, stage_rows, start_fetches
from warehouse.log.gates import Refusal, row_gate, row_json
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import NOT_REPEATED, Quarantined, open_holds, refused_prices, shown_price
from warehouse.reference.instance_types import chip_counts
from warehouse.schema import tables

MIN_SHARE = 0.7
"""A complete live fetch with fewer rows than this share of the last one is refused: it may be truncated."""

DYNAMIC_OPTIONS = ("spot", "capacity_block")
"""What comes and goes with free capacity: fewer offers than yesterday are no sign of a truncated answer."""

UNIT_FACTORS = (2, 4, 8, 16, 24, 60, 72, 100, 720, 730, 744, 1000)
"""Factors that a wrong unit gives: chips of a node, cents, minutes, hours of a day or month."""

MIN_MOVED, MIN_MOVED_TOGETHER = 3, 5
"""Prices that must have moved by their own chip counts, or by one unit's factor, before it is no coincidence."""

LAST_RATES = (
    f"select pricing_currency, arg_max(usd_per_currency_unit, rate_date) from ({sql('usd_rate.sql')}) "
    "where pricing_currency in ('EUR', 'GBP', 'CNY') group by pricing_currency"
)
"""The last reference rates of the currencies that a price could be in by mistake."""

RATE_TOLERANCE = 0.004
"""How near a common move must be to a reference rate: the rates of a few days differ by that much."""

MARKET_STATISTICS = ("p25", "median")
"""Statistics of a marketplace, where prices jump and offers come and go with whoever rents out."""

CONFIRMED_AFTER = timedelta(hours=20)
"""A jump is believed when another document repeats it, or when the same one still holds after this time."""

BOUNDS = (0.5, 2.0)
"""A list price outside these multiples of its last value waits; AWS's largest real cut so far is to 0.56."""


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


def stage(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Pass the rows of every fetch through all gates; what is accepted is in `observed_row` afterwards."""
    _gate_rows(con, batch)
    _gate_fetches(con, batch)
    _gate_chip_counts(con, batch)
    _gate_jumps(con, batch)
    _stage_fetches(con, batch)


def _gate_rows(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    frames = []
    for number, (fetch, (accepted, refused)) in enumerate(zip(batch.fetches, _row_gates(batch.fetches), strict=True)):
        if "observed_at" in accepted.columns:
            # A dated history shows one moment in every answer: the same text again adds nothing.
            accepted = accepted.unique(
                [*tables.IDENTITY, "observed_at", "unit_price", "upfront_price"], keep="first", maintain_order=True
            )
        frames.append(_placed(accepted, number))
        batch.refusals += _flagged(fetch, number)
        if not fetch.error and accepted.is_empty():
            _judge_empty(con, batch, number, fetch, n_refused=len(refused))
        for refusal in refused:
            quarantined = Quarantined.of(
                fetch,
                number,
                gate="row",
                reason=refusal.reason,
                field=refusal.field,
                value=refusal.value,
                row_json=refusal.row_json,
                observed_at=_own_time(fetch.rows, refusal.row),
            )
            batch.refusals.append(quarantined)
            offer = _offer_of(fetch.rows[refusal.row])
            if offer.is_empty():
                # The row's offer is unknown, so this fetch reports no offer as gone.
                batch.incomplete.add(number)
            else:
                # The offer is known, its price is not: the fetch states nothing about this offer, and all about others.
                frames.append(_placed(offer, number, refusal_number=len(batch.refusals) - 1))
    stage_rows(con, _with_fetches(pl.concat(frames, how="diagonal"), batch.fetches))
    for refusal_number, offer_id in con.execute(
        "select refusal_number, offer_id from observed_row where refusal_number is not null"
    ).fetchall():
        batch.refusals[refusal_number] = batch.refusals[refusal_number].about(offer_id)
    con.execute("delete from observed_row where refusal_number is not null")


def _row_gates(fetches: list[ParsedFetch]) -> list[tuple[pl.DataFrame, list[Refusal]]]:
    """Pass the rows of each fetch through the row gate: those of one shape together, as each pass has its price."""
    found: dict[int, tuple[pl.DataFrame, list[Refusal]]] = {}
    alike: dict[tuple[Any, ...], list[int]] = {}
    for number, fetch in enumerate(fetches):
        if "observed_at" in fetch.rows.columns:
            found[number] = row_gate(fetch.rows, latest=naive(fetch.observed_at))
        else:
            alike.setdefault(tuple(fetch.rows.schema.items()), []).append(number)
    for numbers in alike.values():
        accepted, refusals = row_gate(pl.concat(fetches[number].rows for number in numbers))
        begins = list(accumulate((len(fetches[number].rows) for number in numbers[:-1]), initial=0))
        own: list[list[Refusal]] = [[] for _ in numbers]
        for one in refusals:
            place = bisect_right(begins, one.row) - 1
            own[place].append(replace(one, row=one.row - begins[place]))
        begin = 0
        for number, refused in zip(numbers, own, strict=True):
            n_accepted = len(fetches[number].rows) - len(refused)
            found[number] = (accepted.slice(begin, n_accepted), refused)
            begin += n_accepted
    return [found[number] for number in range(len(fetches))]


def _flagged(fetch: ParsedFetch, number: int) -> list[Quarantined]:
    """Return the rows that their collector flagged, resolved: nobody has to inspect them."""
    rows = [] if fetch.flagged is None else fetch.flagged.to_dicts()
    return [
        Quarantined.of(
            fetch,
            number,
            gate="row",
            reason=f"flagged by its collector: {row['flag']}",
            field="flags",
            value=row["flag"],
            row_json=row_json({name: row[name] for name in tables.OBSERVATION}),
            observed_at=row["observed_at"],
        ).decided("refuse", by="its collector")
        for row in rows
    ]


def _offer_of(row: pl.DataFrame) -> pl.DataFrame:
    """Return a refused row without its amounts where the row gate lets it pass so; else no row."""
    payment = row["purchase_payment_model"]
    bare = row.with_columns(pl.lit(None, pl.String).alias("unit_price"), pl.lit(None, pl.String).alias("upfront_price"))
    typed, refused = row_gate(bare)
    if refused and refused[0].field == "upfront_price":
        # A term paid upfront is refused for lack of its fee alone.
        typed, _ = row_gate(bare.with_columns(pl.lit("No Upfront").alias("purchase_payment_model")))
    return typed.with_columns(payment) if len(typed) else typed


def _own_time(rows: pl.DataFrame, row: int) -> datetime | None:
    """Return the time that a row of an import names; None where it names none that can be read."""
    own: datetime | None = rows["observed_at"][row] if "observed_at" in rows.columns else None
    return own


def _judge_empty(
    con: duckdb.DuckDBPyConnection, batch: Batch, number: int, fetch: ParsedFetch, *, n_refused: int
) -> None:
    """Separate a scope that never had a price (a Local Zone without accelerators) from an answer that lost all."""
    had = con.execute(
        "select count(*) from log.scope_fetch where source = ? and scope = ? and status = 'ok' and n_rows > 0",
        [fetch.source, fetch.scope],
    ).fetchone()
    if fetch.complete and (n_refused or (had and had[0] and not fetch.facts)):
        batch.refused_fetches[number] = "no price in the whole answer"
    elif not fetch.facts:
        batch.empty.add(number)


def _placed(rows: pl.DataFrame, number: int, refusal_number: int | None = None) -> pl.DataFrame:
    return rows.with_columns(
        pl.lit(number, pl.Int64).alias("fetch_number"), pl.lit(refusal_number, pl.Int64).alias("refusal_number")
    )


def _with_fetches(rows: pl.DataFrame, fetches: list[ParsedFetch]) -> pl.DataFrame:
    """Return rows with what is said of their fetches; a time of their own stays."""
    told = pl.DataFrame(
        [
            (number, fetch.source, fetch.scope, naive(fetch.observed_at), fetch.archived or fetch.trusted)
            for number, fetch in enumerate(fetches)
        ],
        schema={
            "fetch_number": pl.Int64,
            "source": pl.String,
            "scope": pl.String,
            "fetched_at": pl.Datetime("us"),
            "is_past_gates": pl.Boolean,
        },
        orient="row",
    )
    joined = rows.join(told, on="fetch_number", how="left", maintain_order="left")
    own = ("observed_at",) if "observed_at" in rows.columns else ()
    return joined.with_columns(observed_at=pl.coalesce(*own, "fetched_at")).drop("fetched_at")


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
    judged = {
        number: fetch
        for number, fetch in enumerate(batch.fetches)
        if not (fetch.error or fetch.archived or fetch.trusted or number in batch.refused_fetches)
    }
    if judged:
        together = _constant_factors(con)
        cut = _cut_short(con, judged)
        batch.refused_fetches |= {number: together[number] for number in judged if number in together} | cut
    con.execute(
        "delete from observed_row where fetch_number in (select unnest(from_json(?, '[\"BIGINT\"]')))",
        [json.dumps(list(batch.refused_fetches))],
    )
    for number, reason in batch.refused_fetches.items():
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
        if fetch.complete and not fetch.rows.filter(lasting).is_empty()
    ]
    insert_rows(con, "checked_fetch", checked)
    return {
        number: f"{n_rows} prices where the last complete answer had {n_before}"
        for number, n_rows, n_before in con.execute(sql("load/last_row_count.sql")).fetchall()
        if n_before is not None and n_rows < MIN_SHARE * n_before
    }


def _constant_factors(con: duckdb.DuckDBPyConnection) -> dict[int, str]:
    """Return how prices of fetches moved together, where a wrong unit, count or currency would move them so."""
    found: dict[int, str] = {}
    for number, pattern, factor, n_moved, n_all in con.execute(sql("load/common_factor.sql")).fetchall():
        reason = _constant_factor(con, pattern, factor, n_moved, n_all)
        if reason:
            found.setdefault(number, reason)
    return found


def _constant_factor(
    con: duckdb.DuckDBPyConnection, pattern: str, factor: float | None, n_moved: int, n_all: int
) -> str | None:
    if n_moved < MIN_MOVED or n_moved * 2 < n_all:
        return None
    if pattern == "own count" or factor is None:
        return f"{n_moved} of {n_all} prices of several chips moved by their number of chips"
    larger = factor if factor >= 1 else 1 / factor if factor else 0.0
    if n_moved >= MIN_MOVED_TOGETHER and any(abs(larger / unit - 1) < 0.02 for unit in UNIT_FACTORS):
        return f"{n_moved} of {n_all} prices moved by one factor, {factor:g}"
    for currency, rate in con.execute(LAST_RATES).fetchall() if n_moved == n_all else ():
        if any(abs(factor / by - 1) < RATE_TOLERANCE for by in (rate, 1 / rate)):
            return f"all {n_all} prices moved by {factor:g}, the rate between {currency} and USD"
    return None


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


def _gate_jumps(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Hold live list prices that jumped until they are confirmed; release or refuse those held before."""
    holds = open_holds(con)
    if holds:
        _resolve_holds(con, batch, holds)
    jumps = con.execute(sql("load/jump.sql"), [*BOUNDS, *BOUNDS]).fetchall()
    resolved = refused_prices(con) if jumps else {}
    reasons = {}
    for row_number, unit_ratio, upfront_ratio, unit_before, upfront_before in jumps:
        is_unit = unit_ratio is not None and not BOUNDS[0] <= unit_ratio <= BOUNDS[1]
        name, ratio, before = (
            ("unit_price", unit_ratio, unit_before) if is_unit else ("upfront_price", upfront_ratio, upfront_before)
        )
        reason = f"{ratio:.3g} times the last price, {plain_amount(before)}; waits for confirmation"
        reasons[row_number] = ("history", reason, name)
    for refusal in _refused_rows(con, batch, reasons):
        decided_by = resolved.get(shown_price(refusal))
        batch.refusals.append(refusal.decided("refuse", by=decided_by) if decided_by else refusal)


def _resolve_holds(
    con: duckdb.DuckDBPyConnection, batch: Batch, holds: Mapping[tuple[str, int], list[Quarantined]]
) -> None:
    con.execute("create or replace temp table held_key (source VARCHAR, offer_id BIGINT)")
    insert_rows(con, "held_key", list(holds))
    rows = con.execute(
        "select row_number, fetch_number, source, offer_id, observed_at, unit_price, upfront_price, document_sha256 "
        "from observed_row semi join held_key using (source, offer_id) where not is_past_gates"
    ).fetchall()
    left_out: list[int] = []
    released: list[tuple[int, datetime, str | None]] = []
    for row_number, fetch_number, source, offer_id, observed_at, unit_price, upfront_price, sha256 in rows:
        waiting = holds[source, offer_id]
        hold = waiting[0]
        if observed_at <= hold.observed_at:
            continue
        held = json.loads(hold.row_json)
        if (plain_amount(unit_price), plain_amount(upfront_price)) != (
            plain_amount(held.get("unit_price")),
            plain_amount(held.get("upfront_price")),
        ):
            batch.refusals += [row.decided("refuse", by=NOT_REPEATED) for row in waiting]
        elif sha256 == hold.document_sha256 and observed_at - hold.observed_at < CONFIRMED_AFTER:
            left_out.append(row_number)
            batch.refusals.append(hold.waits_at(fetch_number, observed_at))
        else:
            batch.refusals += [row.decided("accept", by="confirmed by a later observation") for row in waiting]
            released.append((row_number, hold.observed_at, hold.document_sha256))
    _name_rows(con, left_out)
    con.execute("delete from observed_row where row_number in (from named_row)")
    con.execute(
        "create or replace temp table released_row (row_number BIGINT, observed_at TIMESTAMP, document_sha256 VARCHAR)"
    )
    insert_rows(con, "released_row", released)
    con.execute(
        "update observed_row set is_past_gates = true where row_number in (select row_number from released_row)"
    )
    # The jump counts from when it was first seen.
    con.execute(
        "insert into observed_row by name select o.* replace (r.observed_at as observed_at, r.document_sha256 as "
        "document_sha256, -1 as fetch_number, -o.row_number - 1 as row_number) "
        "from observed_row as o inner join released_row as r on o.row_number = r.row_number"
    )


def _name_rows(con: duckdb.DuckDBPyConnection, row_numbers: Iterable[int]) -> None:
    """Make `named_row`, the numbers of some staged rows."""
    con.execute("create or replace temp table named_row (row_number BIGINT)")
    insert_rows(con, "named_row", [(number,) for number in row_numbers])


def _refused_rows(
    con: duckdb.DuckDBPyConnection, batch: Batch, reasons: Mapping[int, tuple[str, str, str]]
) -> list[Quarantined]:
    """Take staged rows out, and return their refusals in order; `reasons` has gate, reason and field of each number."""
    if not reasons:
        return []
    _name_rows(con, reasons)
    cursor = con.execute("delete from observed_row where row_number in (from named_row) returning *")
    columns = [column[0] for column in cursor.description or ()]
    rows = {row["row_number"]: row for row in (dict(zip(columns, each, strict=True)) for each in cursor.fetchall())}
    return [_refusal(batch, rows[number], *why) for number, why in reasons.items()]


def _refusal(batch: Batch, row: Mapping[str, Any], gate: str, reason: str, name: str) -> Quarantined:
    """Return the refusal of a staged row."""
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
