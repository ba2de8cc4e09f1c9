"""What a file knows that claims are held against: chips, prices over time, measurements, and the formulas.

Of prices a claim is given those that it asks for. The formulas are the file's own macros, called with all readings of a
claim at once.
"""

import hashlib
import itertools
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import duckdb

from warehouse.reference import cloud_machines, models
from warehouse.reference.claims import Claim
from warehouse.reference.models import Model

Chip = tuple[str, str | None]

MAX_GAP = timedelta(days=183)
"""Half a year after a price was last confirmed it no longer says what is asked."""
FLOOR_GAP = timedelta(days=7)
"""The least of several offers moves from day to day: a week after it was seen it says nothing."""

_OF_OFFERS = "semi join (select unnest(from_json($offers, '[\"BIGINT\"]')) as offer_no) using (offer_no)"
_PRICE = f"""
select offer_no, hourly, valid_from, valid_to, last_observed, earliest, document_no, document_sha256
from claimed_price {_OF_OFFERS}
"""
_EVER = f"""
select
    o.offer_no, h.effective_hourly_price, h.valid_from::DATE, h.valid_to::DATE, h.last_observed_at::DATE,
    h.valid_from::DATE, null, h.document_sha256
from int.price_history as h
inner join (from claimed_offer {_OF_OFFERS}) as o on h.offer_id = o.offer_id
where h.effective_hourly_price is not null
"""
_ENDED = """
select offer_no, fetch_no, instance, valid_from, valid_to, last_observed_at, document_sha256
from ended_price
where {unit} between ? and ? and valid_to::DATE <= ?
order by valid_to::DATE desc, offer_id, valid_to
"""
_LOWEST = f"""
select min(chip)
from (
    select offer_no, chip from ended_price
    union all
    select h.offer_no, h.hourly / o.chips from claimed_price as h inner join claimed_offer as o using (offer_no)
)
{_OF_OFFERS}
where chip > 0
"""
_MEASURED = """
select
    model_name, task, accelerator_name, form_factor, accelerator_count::DOUBLE as chips, precision,
    concurrency, batch_size, coalesce(output_rate_per_accelerator, total_rate_per_accelerator) as rate,
    benchmark, source_url
from int.throughput
where unit_of_work = 'token' and evidence_grade in ('A', 'B', 'C') and coalesce(error_share, 0) = 0
"""
_BOUNDS = """
with call as materialized (
    select
        r.*,
        m,
        {
            'dense_bf16_tflops': peak, 'dense_fp16_tflops': null, 'dense_fp8_tflops': null, 'dense_fp4_tflops': null,
            'dense_int8_tops': null, 'memory_gb': memory, 'memory_bandwidth_tb_s': bandwidth
        } as chip
    from (values $calls) as r (
        place, way, model_name, width, peak, memory, bandwidth, chips, batch, context, accepted
    )
    left join ref.model as m on r.model_name = m.model_name
),

fitted as materialized (
    select
        *,
        physics.fitting_batch(chip, m, chips, width, batch::BIGINT, context::BIGINT, null) as fitting
    from call
)

select
    if(
        way = 'generation',
        least(bounds['compute'], bounds['bandwidth'], if(batch is null, bounds['fitting'], null)),
        bounds['compute']
    )
from (
    select
        *,
        physics.rate_bounds(
            chip, m, if(way in ('training', 'lora'), 'training', 'serving'), way = 'lora', chips, width, batch::BIGINT,
            context::BIGINT, null, null, accepted, fitting
        ) as bounds
    from fitted
)
order by place
"""
"""The bound of each reading, by the function that holds runs against theirs. Planned in parts it takes less time."""
_BOUND_PREFIX = f"-- {hashlib.sha256(_BOUNDS.encode()).hexdigest()[:8]}\n"
"""Begins each call: what another SELECT gave is no answer."""


class Offer(NamedTuple):
    """What a claim may be about: one offer, with the chips of a machine and the NeuronCores of a chip."""

    offer_no: int
    offer_id: int
    service_provider_name: str
    instance_type: str | None
    accelerator_name: str | None
    form_factor: str | None
    region_id: str | None
    purchase_option: str
    commitment_term_hours: int | None
    chips: float | None
    cores: int | None
    is_floor: bool
    """Whether its price is the least of several offers, so that others cost more."""

    def units(self, unit: str) -> float | None:
        """Return how many chips or cores an hour of it buys, of an instance 1; None where the count is unknown."""
        if unit == "instance":
            return 1.0
        cores = 1 if unit == "chip" else self.cores
        return self.chips * cores if self.chips and cores else None


class Price(NamedTuple):
    """One price of one offer over one time, in USD an hour of its unit."""

    offer: Offer
    hourly: float
    valid_from: date
    valid_to: date | None
    last_observed: date
    earliest: date
    """The first day on which it may have held: the last on which the price before it was seen."""
    document_no: int | None
    document_sha256: str | None
    """Of the document: its number in the log, or its hash where no chain tells the price."""

    def holds(self, since: date | None, until: date | None) -> bool:
        """Return whether it may have held on any day of a window; open ends are open."""
        end = self.valid_to or self.last_observed + (FLOOR_GAP if self.offer.is_floor else MAX_GAP)
        return (until is None or self.earliest <= until) and (since is None or since <= end)

    def per(self, unit: str) -> float | None:
        """Return USD an hour of an instance, a chip or a core; None where the count is unknown."""
        units = self.offer.units(unit)
        return self.hourly / units if units else None


@dataclass(frozen=True)
class Measurement:
    """One run of a benchmark: its conditions, and tokens per second and chip."""

    model_name: str
    task: str
    accelerator_name: str
    form_factor: str | None
    chips: float
    precision: str | None
    concurrency: float | None
    batch_size: float | None
    rate: float
    benchmark: str
    source_url: str


@dataclass(frozen=True)
class Reading:
    """One way to read a rate: in words, and what physics.rate_bounds takes of it; `way` is the bound that counts."""

    words: str
    chip: Chip
    model_name: str
    chips: float
    way: str
    peak: float | None
    precision: str = "fp4"
    batch: int | None = None
    context: int = 0
    accepted: float = 1.0


class Evidence:
    """What one file knows, as of the moment at which it was built."""

    def __init__(self, con: duckdb.DuckDBPyConnection, claims: Iterable[Claim]) -> None:
        self._con = con
        listed = list(claims)
        named = [thing for claim in listed for thing in claim.subject.things]
        machines = (*(thing.instance_type for thing in named), *(claim.conditions.instance_type for claim in listed))
        self._types = sorted({name for name in machines if name})
        self._chips = sorted({name for thing in named for name, _ in self.spelled(thing.chips)})
        self._queried: dict[str, set[int]] = defaultdict(set)
        self.address = lru_cache(maxsize=None)(self._address)
        days = [claim.claimed_from or date.min for claim in listed if not claim.metric.startswith("spec_")]
        ((built,),) = con.execute("select max(built_at)::DATE from meta.build").fetchall()
        self.today: date = built or max(days)  # a frame has no date of its own
        self.since = min([self.today, *days])

    @cached_property
    def answers(self) -> dict[str, list[Any]]:
        """Return what formulas gave, by call. Calls that need no price were made when the frame was.

        A file of an earlier version has none.
        """
        try:
            return dict(self._con.execute("from meta.formula_answer").fetchall())
        except duckdb.CatalogException:
            return {}

    def formula(self, name: str, *calls: tuple[float, ...]) -> tuple[float, ...]:
        """Return what one formula gives for each list of arguments. Raises ArithmeticError where one has no domain."""
        if not calls:
            return ()
        if not all(math.isfinite(value) for call in calls for value in call):
            raise ArithmeticError("a figure has no end")
        columns = ", ".join(f"a{place}" for place in range(len(calls[0])))
        # Digits of our own floats: for each parameter DuckDB would ask Python for modules that may not be there.
        rows_of_calls = ", ".join(f"({place}, {', '.join(map(_literal, call))})" for place, call in enumerate(calls))
        question = f"select {name}({columns}) from (values {rows_of_calls}) as calls(i, {columns}) order by i"
        if question not in self.answers:
            try:
                self.answers[question] = [value for (value,) in self._con.execute(question).fetchall()]
            except duckdb.InvalidInputException as error:
                raise ArithmeticError(str(error).removeprefix("Invalid Input Error: ")) from error
        return tuple(self.answers[question])

    def rate_bounds(self, readings: Sequence[Reading]) -> list[float | None]:
        """Return the bound of each reading, None where an input of it is unknown; new ones are computed together."""
        questions = [self._bound_of(one) for one in readings]
        if new := [each for each in dict.fromkeys(questions) if each not in self.answers]:
            calls = ", ".join(f"({place}, {each})" for place, each in enumerate(new))
            rows = self._con.execute(_BOUNDS.replace("$calls", calls)).fetchall()
            self.answers |= {each: [bound] for each, (bound,) in zip(new, rows, strict=True)}
        return [self.answers[each][0] for each in questions]

    def _bound_of(self, one: Reading) -> str:
        facts = self.fact(one.chip, "memory_gb"), self.fact(one.chip, "memory_bandwidth_tb_s")
        numbers = one.peak, *facts, one.chips, one.batch, one.context, one.accepted
        return f"{_BOUND_PREFIX}'{one.way}', '{one.model_name}', '{one.precision}', {', '.join(map(_literal, numbers))}"

    def bytes_per_value(self, precision: str) -> float:
        """Return the bytes of one number in a precision. Raises ArithmeticError for one that is not known."""
        (value,) = self._con.execute("select physics.bytes_per_value(?)", [precision]).fetchone() or (None,)
        if value is None:
            raise ArithmeticError(f"no width of {precision} is known")
        return float(value)

    @cached_property
    def facts(self) -> dict[Chip, dict[str, list[tuple[float, str, str | None]]]]:
        """Return the figures of each chip and form by fact, those of rank 1 first, with address and note."""
        table: dict[Chip, dict[str, list[tuple[float, str, str | None]]]] = {}
        rows = self._con.execute(
            "select accelerator_name, form_factor, fact, fact_value::DOUBLE, source_url, note "
            "from ref.accelerator_fact order by fact_rank"
        ).fetchall()
        for name, form, fact, value, url, note in rows:
            table.setdefault((name, form), {}).setdefault(fact, []).append((value, url, note))
        return table

    @cached_property
    def _sizes(self) -> list[str]:
        return sorted({name for name, _ in self.facts if re.search(r"-\d+GB$", name)})

    def spelled(self, chips: Iterable[Chip]) -> list[Chip]:
        """Return chips with those of which they name no memory: "A100" alone is either of its two."""
        sizes = self._sizes
        return [(n, form) for name, form in chips for n in (name, *(n for n in sizes if n.rpartition("-")[0] == name))]

    def named(self, chips: Iterable[Chip]) -> list[Chip]:
        """Return each form of chips of which figures are published."""
        found: list[Chip] = []
        for name, form in self.spelled(chips):
            every = {f for n, f in self.facts if n == name}
            forms = sorted(filter(None, every))
            found += [(name, f) for f in forms if form in (None, f)] if forms else [(name, form)] * len(every)
        return list(dict.fromkeys(found))

    def sources(self, chip: Chip, fact: str) -> list[tuple[float, str, str | None]]:
        """Return a figure of a chip as each source has it, the one that we compute with first; empty: unknown."""
        name, form = chip
        return self.facts.get((name, form), {}).get(fact) or self.facts.get((name, None), {}).get(fact) or []

    def fact(self, chip: Chip, fact: str) -> float | None:
        """Return the figure that we compute with, None where none is published."""
        rows = self.sources(chip, fact)
        return rows[0][0] if rows else None

    def peaks(
        self, chips: Iterable[Chip], *, sparse: bool | None = None, precision: str | None = None
    ) -> list[tuple[str, float]]:
        """Return published peaks of chips in TFLOP/s with their names, fastest first; sparse ones unless excluded."""
        kinds = ("dense",) if sparse is False else ("sparse",) if sparse else ("dense", "sparse")
        named = {"nvfp4": "fp4", "mxfp4": "fp4", "mxfp8": "fp8"}.get(precision or "", precision)
        found = []
        for chip, kind, width in itertools.product(chips, kinds, ("fp8", "fp4", "int8", "bf16", "fp16")):
            value = self.fact(chip, f"{kind}_{width}_{'tops' if width == 'int8' else 'tflops'}")
            if value is not None and named in (None, width):
                found.append((f"{kind} {width.upper()} peak of {chip_words(chip)}", value))
        return sorted(found, key=lambda peak: -peak[1])

    @cached_property
    def offers(self) -> Mapping[int, Offer]:
        """Return the offers of what claims name by number, in the order of their ids."""
        self._make("claimed_offer", types=self._types, chips=self._chips)
        rows = self._con.execute(f"select {', '.join(Offer._fields)} from claimed_offer order by offer_id").fetchall()
        return {row[0]: Offer._make(row) for row in rows}

    def read(self, offers: Iterable[Offer]) -> None:
        """Put the prices of these offers since the first day of a claim that asks for prices into `claimed_price`, too.

        Those of many offers, read at once, cost no more than those of one.
        """
        self._read("claimed_price", offers, since=self.since, floor_gap=FLOOR_GAP.days, max_gap=MAX_GAP.days)

    def read_ended(self, offers: Iterable[Offer]) -> None:
        """Put the prices of these offers that ever ended into `ended_price`, too."""
        self._read("ended_price", offers)

    def _read(self, table: str, offers: Iterable[Offer], **values: object) -> None:
        known, new = self._queried[table], {one.offer_no for one in offers} - self._queried[table]
        if new:
            self._make("queried_offer", offers=json.dumps(sorted(new)))
            self._make(table, is_more=bool(known), **values)
            known |= new

    def forget(self) -> None:
        """Drop the prices that were read, which take memory for as long as the connection is open."""
        for name in ("queried_offer", "claimed_price", "ended_price"):
            self._con.execute(f"drop table if exists temp.{name}")
        self._queried.clear()

    def _make(self, name: str, *, is_more: bool = False, **values: object) -> None:
        select = (files("transform.audit") / f"{name}.sql").read_text(encoding="utf-8")
        into = f"insert into temp.{name} by name" if is_more else f"create or replace temp table {name} as"
        self._con.execute(f"{into} {select}", values)

    def offers_of(self, machine: str | None, chips: Iterable[Chip]) -> list[Offer]:
        """Return the offers of a machine by its name in small letters, or of chips in any form and memory."""
        names = {machine} if machine else {name for name, _ in self.spelled(chips)}
        return [one for name in sorted(names) for one in self._by_name[name]]

    @cached_property
    def _by_name(self) -> Mapping[str | None, list[Offer]]:
        found = defaultdict(list)
        for one in self.offers.values():
            for name in {one.accelerator_name, (one.instance_type or "").lower()}:
                found[name].append(one)
        return found

    def held(self, offers: Iterable[Offer], *windows: tuple[date | None, date]) -> list[Price]:
        """Return the prices that may have held on a day of one of some windows: of each offer the oldest first."""
        queried = [*offers]
        self.read(queried)
        days = [f"earliest <= '{until}' and latest >= '{since or self.since}'" for since, until in windows]
        return self._prices(f"{_PRICE} where {' or '.join(days)} order by offer_id, place", queried) if queried else []

    def first(self, offers: Iterable[Offer]) -> Price | None:
        """Return the price that held before all others of these offers."""
        return next(iter(self._prices(f"{_EVER} order by h.valid_from::DATE, o.offer_id limit 1", offers)), None)

    def last(self, offers: Sequence[Offer]) -> Price | None:
        """Return the price that was confirmed last; None where these offers never had one."""
        if not offers:
            return None
        self.read(offers)
        rows = self._prices(f"{_PRICE} order by last_observed desc, offer_id, place limit 1", offers)
        if not rows or rows[0].last_observed < self.since:  # one that ended before may have been seen later
            order = "order by h.last_observed_at::DATE desc, o.offer_id, h.valid_from limit 1"
            rows = self._prices(f"{_EVER} {order}", offers)
        return next(iter(rows), None)

    def last_before(self, offers: Sequence[Offer], since: date, unit: str, low: float, high: float) -> Price | None:
        """Return the price of any of these offers, between two figures a unit, that ended last until a day."""
        slack, numbers = 1e-9 * max(abs(low), abs(high)), {one.offer_no for one in offers}
        self.read_ended(offers)
        select, limits = _ENDED.format(unit=unit), [low - slack, high + slack, since]
        rows = iter(self._con.execute(select, limits).fetchone, None)
        for number, fetch_no, hourly, began_at, ended_at, seen_at, sha256 in rows:
            if number in numbers:
                begun = "select observed_at, document_no from log.scope_fetch where fetch_no = ?"
                began, document_no = self._con.execute(begun, [fetch_no]).fetchone() or (began_at, None)
                days = began.date(), ended_at.date(), max(began, seen_at or began).date(), began.date()
                return Price(self.offers[number], hourly, *days, document_no, sha256)
        return None

    def lowest(self, offers: Sequence[Offer]) -> float | None:
        """Return the lowest price of a chip-hour that any of these offers ever had; free ones do not count."""
        if not offers:
            return None
        self.read(offers)
        self.read_ended(offers)
        numbers = json.dumps([one.offer_no for one in offers])
        ((value,),) = self._con.execute(_LOWEST, {"offers": numbers}).fetchall()
        return None if value is None else float(value)

    def _prices(self, select: str, offers: Iterable[Offer]) -> list[Price]:
        rows = self._con.execute(select, {"offers": json.dumps([one.offer_no for one in offers])}).fetchall()
        return [Price(self.offers[number], *rest) for number, *rest in rows]

    @cached_property
    def measured(self) -> list[Measurement]:
        """Return what was measured, with its conditions."""
        return [Measurement(*row) for row in self._con.execute(_MEASURED).fetchall()]

    def _address(self, price: Price) -> str:
        """Return the address of the document of a price, and its hash where none is known."""
        numbered = "select document_sha256, if(recorded_at is null, null, url) from log.document where document_no = ?"
        named = "select document_sha256, url from core.document where document_sha256 = ? order by url"
        sha256, url = self._con.execute(numbered, [price.document_no]).fetchone() or (price.document_sha256, None)
        known = None if url else self._con.execute(named, [sha256]).fetchone()
        return str(url or (known and known[1]) or sha256)

    @cached_property
    def providers(self) -> dict[str, str]:
        """Return the providers with prices, by what they are called in small letters."""
        rows = self._con.execute("select distinct service_provider_name from core.offer order by all desc").fetchall()
        names = {name: name for (name,) in rows}
        called = {written: name for written, name in cloud_machines.PROVIDERS.items() if name in names} | names
        return {written.casefold(): name for written, name in called.items()}

    def provider(self, words: Sequence[str]) -> tuple[str | None, str | None]:
        """Return the provider that words name, whole or in short, and the word where the file has no price of it."""
        called = [(f"{each.replace('.', ' ')} ", name) for each, name in self.providers.items()]
        for named in (f"{each.casefold().replace('.', ' ')} " for each in words):
            sellers = {name for each, name in called if named.startswith(each) or each.startswith(named)}
            if len(sellers) == 1:
                return sellers.pop(), None
        return None, next(iter(words), None)


def chip_words(chip: Chip) -> str:
    """Return a chip with its form, where one is known."""
    return " ".join(filter(None, chip))


def _literal(value: float | None) -> str:
    return "null::DOUBLE" if value is None else f"{float(value)!r}::DOUBLE"


def model_named(name: str | None) -> Model | None:
    """Return the shape of a model, None where none is named."""
    return models.find(name) if name else None


def same_shape(name: str, model: Model) -> bool:
    """Return whether a measured model computes exactly as much a token as another: Llama 3 and 3.1 of one size do."""
    other = models.find(name)
    return other is not None and (
        (other.parameters_total, other.parameters_active, other.layers, other.attention_size)
        == (model.parameters_total, model.parameters_active, model.layers, model.attention_size)
    )
