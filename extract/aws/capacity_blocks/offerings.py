"""Answers of DescribeCapacityBlockOfferings: the offers in them, and what an hour of one costs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any
from xml.etree.ElementTree import Element

import polars as pl

from extract.aws import CAPACITY_BLOCKS as NAME
from extract.aws.price_list.rules import plain_number
from extract.base import Parsed
from extract.web import strict_xml
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import OBSERVATION

ROOT, SET = "DescribeCapacityBlockOfferingsResponse", "capacityBlockOfferingSet"
SEGMENTS = "capacityBlockOfferingSegmentSet"
ULTRASERVER_PREFIX = "u-"
USABLE_UNTIL_MIN = 30
"""Instances are ended from so long before the end of a block."""
MIN_CHIP_RATE = Decimal("0.5")
"""No chip of an UltraServer has cost less than four times this; see quirk 5."""
TENTH = Decimal("1e-10")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?")
DAWN = datetime.max.replace(tzinfo=UTC)

FACTS: Mapping[str, Any] = {
    "region_id": pl.String,
    "instance_type": pl.String,
    "capacity_unit": pl.String,
    "queried_hours": pl.Int32,
    "queried_count": pl.Int32,
    "capacity_block_offering_id": pl.String,
    "availability_zone_id": pl.String,
    "availability_zone": pl.String,
    "starts_at": pl.Datetime("us"),
    "ends_at": pl.Datetime("us"),
    "duration_minutes": pl.Int32,
    "usable_minutes": pl.Int32,
    "block_fee": pl.Decimal(18, 10),
    "pricing_currency": pl.String,
    "answer_error": pl.String,
}


@dataclass(frozen=True, kw_only=True)
class Query:
    """What was queried: a type of machine or UltraServer, how many, for how long."""

    instance_type: str
    count: int
    hours: int

    @property
    def unit(self) -> str:
        """Return what one price buys."""
        return "UltraServer" if self.instance_type.startswith(ULTRASERVER_PREFIX) else "instance"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One stretch of a block, or all of it: paid minutes of a count of units. None: the answer does not say."""

    instance_type: str | None
    zone: str | None
    zone_id: str | None
    count: int | None
    start: datetime | None
    end: datetime | None
    minutes: int | None
    fee: str | None


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One offer of a block, and the segments that it is split into, if it is."""

    id: str
    block: Part
    segments: tuple[Part, ...]
    currency: str | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the stretches that are paid for."""
        return self.segments or (self.block,)

    @property
    def minutes(self) -> int | None:
        """Return the paid length; None where part of it is unknown."""
        lengths = [part.minutes for part in self.parts]
        return None if None in lengths else sum(length or 0 for length in lengths)

    @property
    def usable_minutes(self) -> int | None:
        """Return the paid length without the end of each part, in which instances are ended."""
        return None if self.minutes is None else max(0, self.minutes - USABLE_UNTIL_MIN * len(self.parts))

    def ends(self) -> tuple[datetime | None, datetime | None]:
        """Return start and end of the whole block."""
        starts = [self.block.start] if self.block.start else [part.start for part in self.segments if part.start]
        ends = [self.block.end] if self.block.end else [part.end for part in self.segments if part.end]
        return min(starts, default=None), max(ends, default=None)


def parse(document: Document) -> Parsed:
    """Return the price of the offer that starts first, by zone, and all offers as facts."""
    query = _query(document)
    offers, refusal = _read(document)
    ignored: Counter[str] = Counter(f"unknown rate: {_why(offer)}" for offer in offers if rate(offer) is None)
    named = document.parameters.get("starting_first")
    chosen = set(named.split(",")) if named is not None else {offer.id for offer in _first(offers)}
    priced = [offer for offer in offers if offer.id in chosen]
    ignored["later_start"] += sum(1 for offer in offers if rate(offer) is not None) - len(priced)
    return Parsed(
        rows=_rows(priced, query, document.scope),
        ignored=dict(sorted((name, n) for name, n in ignored.items() if n)),
        facts={"capacity_block_answer": _facts(offers, refusal, query, document)},
    )


def unpriced(document: Document) -> list[str]:
    """Return the ids of offers whose rate cannot be told."""
    return [offer.id for offer in _read(document)[0] if rate(offer) is None]


def starting_first(documents: Iterable[Document]) -> tuple[list[str], int]:
    """Return the ids of the offers of several pages that start first, by zone, and how many offers there are."""
    offers = [offer for document in documents for offer in _read(document)[0]]
    return sorted(offer.id for offer in _first(offers)), len(offers)


def rate(offer: Offer) -> Decimal | None:
    """Return the price of one unit for one hour; None where the answer leaves it open.

    Exact up to ten decimals, and rounded half to even at the tenth where it does not end there.
    """
    fee = _amount(offer.block.fee)
    if fee is None or _why(offer):
        return None
    paid = sum((part.count or 0) * (part.minutes or 0) for part in offer.parts)
    with localcontext(prec=50):
        return (fee * 60 / paid).quantize(TENTH, rounding=ROUND_HALF_EVEN)


def _why(offer: Offer) -> str:
    """Return why the rate of an offer is unknown; empty where it is not."""
    if _amount(offer.block.fee) is None:
        return "no fee"
    if offer.minutes is None:
        return "no minutes"
    if not all(part.count and part.minutes and part.count > 0 and part.minutes > 0 for part in offer.parts):
        return "nothing is paid for"
    if offer.segments:
        fees = [_amount(part.fee) for part in offer.segments]
        if None in fees or sum(fee or 0 for fee in fees) != _amount(offer.block.fee):
            return "the fees of the segments do not add up"
        if {part.instance_type for part in offer.segments} - {None, offer.block.instance_type}:
            return "segments of several types"
    return ""


def _amount(text: str | None) -> Decimal | None:
    return Decimal(text) if text and _AMOUNT.fullmatch(text) else None


def _first(offers: Iterable[Offer]) -> list[Offer]:
    """Return the offer that starts first of each zone and number of segments; of equal ones the cheapest."""
    first: dict[tuple[str | None, int], Offer] = {}
    for offer in sorted(offers, key=lambda offer: (offer.ends()[0] or DAWN, rate(offer) or 0, offer.id)):
        if rate(offer) is not None:
            first.setdefault((_zone(offer), len(offer.segments)), offer)
    return list(first.values())


def _zone(offer: Offer) -> str | None:
    """Return the name of an offer's zone; None where its segments have several."""
    zones = {part.zone for part in offer.segments} or {offer.block.zone}
    return zones.pop() if len(zones) == 1 else None


# --- reading


def _query(document: Document) -> Query:
    queried = document.parameters
    kind = "Ultraserver" if "UltraserverType" in queried else "Instance"
    try:
        return Query(
            instance_type=queried[f"{kind}Type"],
            count=int(queried[f"{kind}Count"]),
            hours=int(queried["CapacityDurationHours"]),
        )
    except (KeyError, ValueError) as error:
        hint = "An answer says nothing without the query: it is a landed document that can be read"
        raise LayoutChanged(
            "the query is not known", source=NAME, field="parameters", value=str(dict(queried)), hint=hint
        ) from error


def _read(document: Document) -> tuple[list[Offer], str | None]:
    """Return the offers of an answer, or the refusal that it is."""
    try:
        root = strict_xml.root(document.body)
        strict_xml.check_names(root)
    except ValueError as error:
        raise _refusal(f"the XML is damaged: {error}", document.body) from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    if root.tag == "Response":
        code, message = root.findtext("Errors/Error/Code"), root.findtext("Errors/Error/Message")
        if not code:
            raise _refusal("an error without a code", document.body)
        return [], f"{code}: {message or ''}"
    found = root.find(SET)
    if root.tag != ROOT or found is None:
        raise _refusal(f"expected {ROOT} with {SET}", document.body)
    return [_offer(item, document.body) for item in found], None


def _offer(item: Element, body: bytes) -> Offer:
    number = _text(item, "capacityBlockOfferingId", body)
    if not number:
        raise _refusal("an offer without an id", body)
    within = item.find(SEGMENTS)
    block = _part(item, body)
    segments = tuple(_part(each, body) for each in within) if within is not None else ()
    if not all(part.zone for part in segments or (block,)):
        raise _refusal("an offer without its zone", body)
    return Offer(
        id=number,
        block=block,
        segments=segments,
        currency=_text(item, "currencyCode", body),
    )


def _part(item: Element, body: bytes) -> Part:
    hours, minutes = (_number(item, f"capacityBlockDuration{name}", body) for name in ("Hours", "Minutes"))
    # An UltraServer is counted as one, whatever it is made of.
    server = _text(item, "ultraserverType", body)
    return Part(
        instance_type=server or _text(item, "instanceType", body),
        zone=_text(item, "availabilityZone", body),
        zone_id=_text(item, "availabilityZoneId", body),
        count=_number(item, "ultraserverCount" if server else "instanceCount", body),
        start=_moment(item, "startDate", body),
        end=_moment(item, "endDate", body),
        minutes=None if hours is None or minutes is None else hours * 60 + minutes,
        fee=_text(item, "upfrontFee", body),
    )


def _text(item: Element, name: str, body: bytes) -> str | None:
    try:
        return strict_xml.child_text(item, name)
    except ValueError as error:
        raise _refusal(str(error), body) from error


def _number(item: Element, name: str, body: bytes) -> int | None:
    text = _text(item, name, body)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise _refusal(f"{name} is no number: {text!r}", body)
    return int(text)


def _moment(item: Element, name: str, body: bytes) -> datetime | None:
    text = _text(item, name, body)
    try:
        at = datetime.fromisoformat(text) if text else None
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC) if at else None
    except (ValueError, OverflowError) as error:
        raise _refusal(f"{name} is no time: {text!r}", body) from error


def _refusal(message: str, body: bytes) -> LayoutChanged:
    value = body[:80].decode("utf-8", "replace")
    return LayoutChanged(message, source=NAME, field="body", value=value, hint="Check the landed document")


# --- rows and facts


def _rows(offers: Iterable[Offer], query: Query, region: str) -> pl.DataFrame:
    rows = []
    for offer in offers:
        split = f", in {len(offer.segments)} segments" if offer.segments else ""
        values: dict[str, object] = {
            "service_provider_name": "AWS",
            "instance_type": query.instance_type,
            "capacity_unit": query.unit,
            "minimum_quantity": str(query.count),
            "region_id": region,
            "availability_zone": _zone(offer),
            "purchase_option": "capacity_block",
            "commitment_term_hours": query.hours,
            "statistic": "price",
            "conditions": f"offer that starts first{split}",
            "pricing_currency": offer.currency,
            "unit_price_type": "List",
            "unit_price": _price(offer, query),
        }
        rows.append(tuple(values.get(name) for name in OBSERVATION))
    schema = {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("availability_zone", "conditions", nulls_last=True)


def _price(offer: Offer, query: Query) -> str:
    """Return the rate as text; one that is no rate of the unit with what it is, for the row gate to refuse."""
    hourly = rate(offer) or Decimal(0)
    text = plain_number(format(hourly, "f"))
    if offer.block.instance_type not in (None, query.instance_type):
        return f"{text} for {offer.block.instance_type}"
    chips = re.search(r"x(\d+)$", query.instance_type) if query.unit == "UltraServer" else None
    if chips and hourly < MIN_CHIP_RATE * int(chips[1]):
        return f"{text} for {chips[1]} chips"
    return text


def _facts(offers: list[Offer], refusal: str | None, query: Query, document: Document) -> pl.DataFrame:
    shared = (document.scope, query.instance_type, query.unit, query.hours, query.count)
    rows: list[tuple[object, ...]] = [(*shared, *_values(offer)) for offer in offers]
    parameters = document.parameters
    if not offers and (parameters.get("page", "1"), parameters.get("offers", "0")) == ("1", "0"):
        rows = [(*shared, "", *(None,) * 8, refusal)]
    return pl.DataFrame(rows, schema=FACTS, orient="row")


def _values(offer: Offer) -> Iterator[object]:
    start, end = offer.ends()
    ids = {part.zone_id for part in offer.parts}
    fee = _amount(offer.block.fee)
    yield offer.id
    yield ids.pop() if len(ids) == 1 else None
    yield _zone(offer)
    yield from (None if at is None else at.astimezone(UTC).replace(tzinfo=None) for at in (start, end))
    yield offer.minutes
    yield offer.usable_minutes
    yield fee if fee is not None and 0 <= fee < 10**8 and fee == fee.quantize(TENTH) else None
    yield offer.currency
    yield None
