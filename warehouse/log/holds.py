"""The history gate: each price beside the last one known of its offer, and what becomes of those that wait.

It walks through the rows of a batch by time, one answer after another, whether live or of a dated history: a price that
waits is no price, and what comes after it is compared with the last one that was believed.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import duckdb

from warehouse.log.db import insert_rows, sql
from warehouse.log.events import plain_amount
from warehouse.log.moves import BOUNDS, MAX_FACTOR, MIN_OWN_COUNTS, SMALL_MOVE, Doubt, Move, judged
from warehouse.log.quarantine import Quarantined
from warehouse.schema.vocabulary import HOURS_PER_MONTH, MARKETPLACES

CONFIRMED_AFTER = timedelta(hours=20)
"""What waits for confirmation is believed when a fetch shows it still, so long after it was first seen."""

REVERSED_WITHIN = timedelta(days=30)
"""Dated lists may be months apart: what one of them had, and the next has no more, was no slip for that."""

HOURS = {"Minutes": 1 / 60, "Hours": 1.0, "Months": float(HOURS_PER_MONTH)}
GATE = "history"
AMOUNTS = ("unit_price", "upfront_price")
Amounts = tuple[Decimal | None, Decimal | None]
Key = tuple[str, int]
Waiting = Mapping[Key, list[Quarantined]]


@dataclass(kw_only=True, slots=True)
class Held:
    """A row that waits, and why; `field` is the amount in doubt. With `is_refuted` a later row shows another price."""

    row: int
    reason: str
    field: str = "unit_price"
    is_refuted: bool = False


@dataclass
class Verdicts:
    """What the gate found: rows that wait, fetches refused whole, holds resolved, and rows that a hold lets in.

    `still` are rows of a hold that was seen once more, `resolved` holds with their decision, `released` rows with the
    hold whose first sighting they confirm.
    """

    held: list[Held] = field(default_factory=list)
    still: list[tuple[int, Quarantined]] = field(default_factory=list)
    resolved: list[tuple[Quarantined, bool]] = field(default_factory=list)
    released: list[tuple[int, Quarantined]] = field(default_factory=list)
    refused_fetches: dict[int, str] = field(default_factory=dict)


class Replacements(NamedTuple):
    """New offers that take the place of offers of the log.

    `moves` has the number and time of the fetch, the new offer, and the move of its price; `offers` the ids of the
    offers of the log that each row takes the place of.
    """

    moves: list[tuple[int, datetime, Key, Move]]
    offers: dict[int, list[int]]


class _Run(NamedTuple):
    """A run of equal prices, of the columns of `load/price_run.sql`."""

    offer_id: int
    source: str
    fetch_number: int
    first_at: datetime
    holds_until: datetime
    last_at: datetime
    row_numbers: list[int]
    unit_price: Decimal | None
    upfront_price: Decimal | None
    known_unit_price: Decimal | None
    known_upfront_price: Decimal | None
    next_unit_price: Decimal | None
    is_logged: bool
    chips: float | None
    machine: str
    chip: str
    place: int

    @property
    def key(self) -> Key:
        return self.source, self.offer_id

    @property
    def amounts(self) -> Amounts:
        return self.unit_price, self.upfront_price

    def is_repeated(self, known: Decimal | None) -> bool:
        """Return whether the price was shown still 20 hours later, or stood so long and the next does not take it back.

        It takes it back where it is less than half as far from the `known` price before, as a ratio; a price inside of
        BOUNDS that stood for REVERSED_WITHIN was one, whatever the next list says.
        """
        if self.last_at - self.first_at >= CONFIRMED_AFTER:
            return True
        if self.holds_until - self.first_at < CONFIRMED_AFTER:
            return False
        if not known or not self.unit_price or not self.next_unit_price:
            return True
        if self.holds_until - self.first_at >= REVERSED_WITHIN and BOUNDS[0] <= self.unit_price / known <= BOUNDS[1]:
            return True
        moved, stays = math.log(self.unit_price / known), math.log(self.next_unit_price / known)
        return 2 * abs(stays) >= abs(moved)

    def is_near(self, hold: Quarantined) -> bool:
        """Return whether the price is, but for a SMALL_MOVE, what waits since 20 hours: one that moves each day."""
        if hold.for_person or self.first_at - hold.observed_at < CONFIRMED_AFTER:
            return False
        amounts = zip(self.amounts, _amounts(hold), strict=True)
        return all(now == held or (now and held and abs(now / held - 1) < SMALL_MOVE) for now, held in amounts)


def prepare(con: duckdb.DuckDBPyConnection, waiting: Waiting) -> tuple[bool, bool]:
    """Make `held_key`, `differing_row` (those that no gate takes out) and `known_price`.

    Return whether any that differs has no known price, and whether any has one, or waits, or is not alone of its offer.
    """
    con.execute("create or replace temp table held_key (source VARCHAR, offer_id BIGINT)")
    insert_rows(con, "held_key", list(waiting))
    con.execute(f"create or replace temp table unlike_row as {sql('load/differing_row.sql')}")
    if con.execute("from unlike_row limit 1").fetchone() is None:
        return False, False
    con.execute("create or replace temp view differing_row as from unlike_row semi join observed_row using(row_number)")
    con.execute(f"create or replace temp table known_price as {sql('load/known_price.sql')}")
    if con.execute("select 1 from observed_row where is_archived and not is_past_gates limit 1").fetchone():
        con.execute(f"insert into known_price {sql('load/dated_price.sql')}")
    n_rows, n_offers, n_known = con.execute(
        "select count(*), count(distinct (r.offer_id, r.source)), count(k.row_number) "
        "from unlike_row as r left join known_price as k on r.row_number = k.row_number"
    ).fetchone() or (0, 0, 0)
    return n_known < n_rows, bool(waiting or n_known) or n_offers < n_rows


def verdicts(con: duckdb.DuckDBPyConnection, waiting: Waiting, replaced: Replacements, *, live: Set[int]) -> Verdicts:
    """Judge the rows in `observed_row`; `live` are the numbers of the fetches that may be refused whole."""
    rows = con.execute(sql("load/price_run.sql"), {"marketplaces": list(MARKETPLACES)}).fetchall()
    found = Verdicts()
    if rows or replaced.moves:
        _Walk(con, waiting, found, live, replaced).walk([_Run(*row) for row in rows])
    return found


class _Walk:
    def __init__(
        self, con: duckdb.DuckDBPyConnection, holds: Waiting, found: Verdicts, live: Set[int], replaced: Replacements
    ) -> None:
        own = {key: [each for each in rows if each.gate == GATE] for key, rows in holds.items()}
        self._holds = {key: rows for key, rows in own.items() if rows}
        self._con, self._found, self._live = con, found, live
        self._known: dict[Key, Amounts] = {}
        self._waiting: dict[Key, list[Held]] = {}
        # Of the currencies that a price could be in by mistake.
        self._rates = dict(con.execute("from last_rate where pricing_currency in ('EUR', 'GBP', 'CNY')").fetchall())
        self._stated: dict[int, list[tuple[Any, ...]]] = dict(con.execute(STATED).fetchall())
        self._compared = {(number, at): counts for number, at, *counts in con.execute(COMPARED).fetchall()}
        self._replaced: dict[tuple[int, datetime], list[tuple[Key, Move]]] = {}
        for number, at, key, move in replaced.moves:
            self._replaced.setdefault((number, at), []).append((key, move))

    def walk(self, runs: Sequence[_Run]) -> None:
        """Judge each answer's runs that begin in it, by time."""
        answers = {
            moment: list(group) for moment, group in groupby(runs, key=lambda run: (run.first_at, run.fetch_number))
        }
        for at, number in sorted(answers.keys() | {(at, number) for number, at in self._replaced}):
            self._answer(number, at, answers.get((at, number), []))

    def _answer(self, number: int, at: datetime, runs: Sequence[_Run]) -> None:
        replaced = self._replaced.get((number, at), [])
        new_rows = {move.row for _, move in replaced}
        runs = [run for run in runs if run.row_numbers[0] not in new_rows]
        moves = [
            *(move for _, move in replaced),
            *(move for run in runs if not self._repeats(run) for move in self._moves(run)),
        ]
        n_compared, n_known, n_several = self._compared.get((number, at), (0, 0, 0))
        doubts = judged(moves, self._rates, n_compared=n_compared, n_known=n_known, n_several=n_several)
        reason = _of_the_whole(doubts, n_compared) if number in self._live else None
        if reason is not None:
            self._found.refused_fetches[number] = reason
            return
        for run in runs:
            self._apply(run, doubts.get(run.row_numbers[0]))
        for key, move in replaced:
            hold = next(iter(self._holds.get(key, ())), None)
            if hold is not None and _amounts(hold)[0] == move.after:
                self._found.still.append((move.row, hold))
                continue
            if hold is not None:
                self._resolve(key, accepted=False)
            self._found.held.append(Held(row=move.row, reason=doubts[move.row].reason))

    def _moves(self, run: _Run) -> Iterator[Move]:
        known = self._known.get(run.key, (run.known_unit_price, run.known_upfront_price))
        for name, before, after in zip(AMOUNTS, known, run.amounts, strict=True):
            if before is not None and after is not None and before != after:
                yield Move(
                    row=run.row_numbers[0],
                    offer=run.key,
                    machine=run.machine,
                    chip=run.chip,
                    place=(run.place, name),
                    before=before,
                    after=after,
                    field=name,
                    chips=run.chips,
                )

    def _repeats(self, run: _Run) -> bool:
        hold = self._hold(run)
        return hold is not None and _amounts(hold) == run.amounts

    def _hold(self, run: _Run) -> Quarantined | None:
        holds = self._holds.get(run.key)
        return holds[0] if holds and run.last_at > holds[0].observed_at else None

    def _apply(self, run: _Run, doubt: Doubt | None) -> None:
        if self._repeats(run):
            self._again(run)
            return
        known = self._known.get(run.key, (run.known_unit_price, None))[0]
        hold = self._hold(run)
        is_repeated = run.is_repeated(known) or (hold is not None and run.is_near(hold))
        if hold is not None:
            self._resolve(run.key, accepted=False)
        for earlier in self._waiting.pop(run.key, ()):
            earlier.is_refuted = True
        if doubt is None or run.is_logged or (not doubt.for_person and (is_repeated or self._is_seconded(run))):
            self._known[run.key] = run.amounts
        else:
            self._known.setdefault(run.key, (run.known_unit_price, run.known_upfront_price))
            held = [Held(row=row, reason=doubt.reason, field=doubt.field) for row in run.row_numbers]
            self._waiting[run.key] = held
            self._found.held += held

    def _again(self, run: _Run) -> None:
        """A price that waits is seen once more: it is let in, from its first sighting on, or waits on."""
        hold = self._holds[run.key][0]
        if not hold.for_person and (run.last_at - hold.observed_at >= CONFIRMED_AFTER or self._is_seconded(run)):
            self._resolve(run.key, accepted=True)
            self._found.released += [(row, hold) for row in run.row_numbers]
            self._known[run.key] = run.amounts
        else:
            self._known.setdefault(run.key, (run.known_unit_price, run.known_upfront_price))
            self._found.still += [(row, hold) for row in run.row_numbers]

    def _resolve(self, key: Key, *, accepted: bool) -> None:
        self._found.resolved += [(hold, accepted) for hold in self._holds.pop(key)]

    def _is_seconded(self, run: _Run) -> bool:
        """Return whether the log has the price from another source."""
        return any(
            source != run.source and valid_from >= run.first_at - timedelta(days=7) and tuple(amounts) == run.amounts
            for source, valid_from, *amounts in self._stated.get(run.offer_id, ())
        )


STATED = (
    "select s.offer_id, list(distinct row(s.source, s.valid_from, s.unit_price, s.upfront_price)) "
    "from offer_state as s inner join differing_row as r on s.offer_id = r.offer_id and s.source <> r.source "
    "where s.is_plain group by s.offer_id"
)
"""The last prices that other sources tell of the offers in differing_row."""
COMPARED = (
    "with k as (from known_price select row_number, true as is_known union from repeated_row select row_number, true), "
    "f as (from observed_row select offer_id, source, min(observed_at) as first_at group by all having count(*) > 1) "
    "select w.fetch_number, w.observed_at, count(*), count(k.is_known), "
    "count(*) filter (where coalesce(w.accelerator_count, t.accelerator_count) > 1) "
    "from observed_row as w left join k on w.row_number = k.row_number "
    "left join f on w.offer_id = f.offer_id and w.source = f.source "
    "left join (from core.instance_type where known_from is null) as t "
    "on if(w.service_provider_name = 'AWS', w.instance_type, null) = t.instance_type "
    "where (w.observed_at > f.first_at or k.is_known) and w.unit_price_type = 'List' and w.purchase_option <> 'spot' "
    "and not w.is_past_gates group by all"
)
"""How many prices of each answer have one before them, in the log or the batch, in the log, and of several chips."""


def _of_the_whole(doubts: Mapping[int, Doubt], n_compared: int) -> str | None:
    """Return why an answer is refused whole: one cause explains half of its prices."""
    most = max((doubt for doubt in doubts.values() if doubt.for_person), key=attrgetter("n_together"), default=None)
    if most is None or most.n_together < MIN_OWN_COUNTS or most.n_together * 2 < n_compared:
        return None
    return most.reason


def _amounts(hold: Quarantined) -> Amounts:
    held = json.loads(hold.row_json)
    unit, upfront = (None if held.get(name) is None else Decimal(str(held[name])) for name in AMOUNTS)
    return unit, upfront


class _Added(NamedTuple):
    """A new offer beside one of the log, of the columns of `load/replaced_offer.sql`."""

    row_number: int
    fetch_number: int
    source: str
    observed_at: datetime
    offer_id: int
    known_offer_id: int
    machine: str
    is_named: bool
    is_shown: bool
    unit_price: Decimal
    known_unit_price: Decimal
    accelerator_count: Decimal | None
    known_accelerator_count: Decimal | None
    capacity_unit: str
    known_capacity_unit: str
    pricing_unit: str
    known_pricing_unit: str
    pricing_currency: str
    known_pricing_currency: str
    is_elsewhere: bool
    region_id: str
    known_region_id: str

    @property
    def changed(self) -> str:
        """Return in words what differs: currency, count, unit; empty where it is nothing that a price depends on."""
        if self.is_elsewhere:
            return f"new in {self.region_id}, not as in {self.known_region_id}"
        counts = [_count(self.known_accelerator_count), _count(self.accelerator_count)]
        pairs = (
            (self.known_pricing_currency, self.pricing_currency),
            (counts[0], counts[1]),
            (self.known_pricing_unit, self.pricing_unit),
            (self.known_capacity_unit, self.capacity_unit),
        )
        return ", ".join(f"{before} became {after}" for before, after in pairs if before != after)

    @property
    def scale(self) -> float:
        """Return by what the ratio of the amounts becomes that of prices per chip-hour."""
        chips = float(self.known_accelerator_count or 1) / float(self.accelerator_count or 1)
        return chips * HOURS[self.known_pricing_unit] / HOURS[self.pricing_unit]


def _count(chips: Decimal | None) -> str:
    return "an unknown count" if chips is None else f"{plain_amount(chips)} chip{'s' if chips != 1 else ''}"


def replacements(con: duckdb.DuckDBPyConnection, complete: Set[int], out_of_band: Set[int]) -> Replacements:
    """Return the new offers that take the place of one of the log; `complete` fetches show every offer.

    A machine of one name has one count. A chip sold in several sizes may have one more, not another in place of one.
    Beside them the new offers, not `out_of_band` of all providers, whose price is beyond MAX_FACTOR from all those of
    the same machine at other places.
    """
    found = Replacements([], {})
    added = "from differing_row as r anti join offer_state as s on r.offer_id = s.offer_id and r.source = s.source "
    if not con.execute(f"{added}semi join offer_state as k on r.source = k.source limit 1").fetchone():
        return found
    alike: dict[int, list[_Added]] = defaultdict(list)
    for row in con.execute(sql("load/replaced_offer.sql"), {"marketplaces": list(MARKETPLACES)}).fetchall():
        alike[row[0]].append(_Added(*row))
    for row_number, others in alike.items():
        elsewhere = [each for each in others if each.is_elsewhere and row_number not in out_of_band]
        others = [each for each in others if not each.is_elsewhere]
        contradicted = [
            each for each in others if each.is_named and each.accelerator_count != each.known_accelerator_count
        ]
        gone = [each for each in others if not each.is_shown and each.fetch_number in complete]
        same_count = [each for each in gone if each.accelerator_count == each.known_accelerator_count]
        for each in (same_count or contradicted or gone or elsewhere)[:1]:
            move = Move(
                row=row_number,
                offer=(each.source, each.offer_id),
                machine=each.machine,
                place=(row_number, "replaced"),
                before=each.known_unit_price,
                after=each.unit_price,
                scale=each.scale,
                replaced=each.changed,
            )
            is_other = each in contradicted or each.pricing_currency != each.known_pricing_currency
            is_far = not 1 / MAX_FACTOR <= move.factor <= MAX_FACTOR
            if is_far if each.is_elsewhere else each.changed and (is_other or not move.is_unmoved):
                also = [each] if each.is_elsewhere and not each.is_shown and each.fetch_number in complete else []
                found.offers[row_number] = [one.known_offer_id for one in (*gone, *also)]
                found.moves.append((each.fetch_number, each.observed_at, (each.source, each.offer_id), move))
    return found
