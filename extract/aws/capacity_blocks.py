"""Offers of EC2 Capacity Blocks for ML: what a block of machines for some days costs now, by zone.

ec2.DescribeCapacityBlockOfferings,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html , needs credentials; data
under the AWS Service Terms, https://aws.amazon.com/service-terms/ .

Settings: `regions` (as for aws_spot), `instance_types` (UltraServers begin with u-; by default
those that ec2.DescribeInstanceTypes says are sold in blocks in the region, and the UltraServers made of these),
`durations_hours` (days up to 14, then weeks up to 26; by default one day), `counts` (1, 2, 4 ... 64; by default 1).
Each combination is a query in each region, kept as a document with its parameters. A fetch that queries less than the
defaults is never complete: of offers that were queried before it says nothing, and they rank as long as marketplaces'.

Quirks:

1. No price list has these prices: its Capacity Block rows cost 0, and the rates page (aws_capacity_block_rates) differs
   from the offers.
2. An offer has a fee for the whole block. The hourly rate is derived: fee / (count x paid hours), in exact decimals and
   rounded half to even at the tenth only where it does not end before. The answer has the fee only.
3. Paid hours are CapacityBlockDurationHours and CapacityBlockDurationMinutes together: a block that starts at once ends
   at the next 11:30 UTC, as 8 h 37 min for 308.14. Where the minutes are missing, or start and end say another length,
   the rate is unknown: a fact, no price.
4. Instances are ended from 30 minutes (P6e-GB200: 60) before the end of a block: fewer can be used than are paid.
5. An UltraServer is queried by its own name (u-p6e-gb200x72) and counted as one, whatever it is made of. A rate below
   0.5 an hour for each of its chips is that of one chip, which a public list once took for that of 72; it is refused.
6. Offers differ by start, so the price is that of the one that starts first; all of them are facts.
7. A split offer consists of segments with their own zones, dates and fees; its paid time is the sum of theirs, and it
   is another offer ("in 2 segments"). Where the fees do not add up the rate is unknown.
8. "No offer" is an answer, and so are the refusals of a type that a region does not sell in blocks, of all blocks in a
   region without them, or of UltraServers, which need an agreement: facts with an empty id, the refusal in
   `answer_error`. Any other error fails the region.
9. Zones come by name only, which differs between accounts.
10. An account may ask twice at once in a region, then once in two seconds (measured by public clients in 2026); beyond
    that, or with a quota of 0, EC2 says CapacityBlockDescribeLimitExceeded, which botocore does not retry. All queries
    are spaced, so that one that the network delays is not refused.
"""

import functools
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import product
from typing import Any
from xml.etree.ElementTree import Element

from extract.aws import reading
from extract.aws.client import BODY, PAGE_SIZE, UNAUTHORIZED, Call, Page, regions
from extract.aws.places import names_in
from extract.aws.reading import ULTRASERVER_PREFIX, Layout, plain_number
from extract.base import Context, Parsed, Source, fact_frame
from extract.web import strict_xml
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, SettingsError, SourceError

NAME = "aws_capacity_blocks"
LAYOUT = Layout(NAME)
ULTRASERVERS = {
    "u-p6e-gb200x36": "p6e-gb200.36xlarge",
    "u-p6e-gb200x72": "p6e-gb200.36xlarge",
    "u-trn2x64": "trn2u.48xlarge",
}
"""UltraServers, which EC2 does not list among its types, and the machines that they are made of."""
INSTANCE_TYPES = (
    *("p4d.24xlarge", "p4de.24xlarge", "p5.4xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"),
    *("p6-b200.48xlarge", "p6-b300.48xlarge", "trn1.32xlarge", "trn2.3xlarge", "trn2.48xlarge"),
    *ULTRASERVERS,
)
"""What AWS sold in blocks in 2026 (published rates of 2026-07-22, and u-trn2x64): asked where EC2 does not say."""
NUMBERS = {
    "durations_hours": (24, (*range(24, 24 * 14 + 1, 24), *range(24 * 21, 24 * 182 + 1, 24 * 7))),
    "counts": (1, (1, 2, 4, 8, 16, 32, 64)),
}
"""Settings with the number that is the default, and those that are allowed."""
REFUSALS = ("not supported for Capacity Blocks", "when requesting an EC2 UltraServer")
"""What EC2 says (seen 2026-10-03) where it does not sell a type in blocks, or not to this account."""
NOT_SOLD = ("InvalidAction", "UnsupportedOperation")
"""The codes of a region without Capacity Blocks."""
EXCEEDED = "CapacityBlockDescribeLimitExceeded"
PACE_S, BACK_OFF_S = 2.1, (15.0, 45.0)
"""Seconds between two queries of a region, and before a refused one is repeated; see quirk 10."""

ROOT, SET = "DescribeCapacityBlockOfferingsResponse", "capacityBlockOfferingSet"
TYPES, TYPES_ROOT = "InstanceTypes", "DescribeInstanceTypesResponse"
SEGMENTS = "capacityBlockOfferingSegmentSet"
USABLE_UNTIL_MIN, P6E_UNTIL_MIN = 30, 60
"""Instances are ended from so long before the end of a block; see quirk 4."""
MIN_CHIP_RATE = Decimal("0.5")
"""No chip of an UltraServer has cost less than four times this; see quirk 5."""
TENTH = Decimal("1e-10")
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,20})?")
NEVER = datetime.max.replace(tzinfo=UTC)


# --- queries: every page of their answers as it came


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return the answers to all queries in one region, or to those before EC2 refused to answer more."""
    operation, result = "ec2.DescribeCapacityBlockOfferings", "CapacityBlockOfferings"
    call = Call(source=NAME, scope=scope, operation=operation, result=result)
    numbers = {name: _numbers(ctx.settings, name) for name in NUMBERS}
    now = ctx.now()
    client = call.client()
    names, documents, notes = _sold_in_blocks(ctx, client, scope)
    hours, counts = numbers.values()
    queries = [_query_of(*each) for each in product(names, hours, counts)]
    n_answered = 0
    try:
        for query in queries:
            time.sleep(PACE_S if n_answered else 0)
            documents += _patiently(ctx, client, call, query)
            n_answered += 1
    except SourceError as error:
        if error.value != EXCEEDED or not n_answered:
            raise
        notes.append(f"{n_answered} of {len(queries)} queries were answered, then {EXCEEDED}: the others next time")
    unpriced = [offer.id for document in documents for offer in _read(document)[0] if rate(offer) is None]
    notes += [f"{len(unpriced)} offers of unknown rate, such as {unpriced[0]}"] if unpriced else []
    # Of what was not queried the fetch says nothing, nor of prices that cannot be derived.
    is_all_types = names_in(ctx.settings, "instance_types", source=NAME) is None
    is_whole = is_all_types and all(default in numbers[name] for name, (default, _) in NUMBERS.items())
    complete = is_whole and not unpriced and n_answered == len(queries)
    return ScopeFetch(
        source=NAME, scope=scope, observed_at=now, complete=complete, documents=tuple(documents), notes=tuple(notes)
    )


def _sold_in_blocks(ctx: Context, client: Any, scope: str) -> tuple[tuple[str, ...], list[Document], list[str]]:
    """Return the types to ask for, the answer of EC2 that says so, and a note where it may not be asked.

    Machines of UltraServers are sold as these.
    """
    chosen = names_in(ctx.settings, "instance_types", source=NAME)
    if chosen is not None:
        return chosen, [], []
    call = Call(source=NAME, scope=scope, operation="ec2.DescribeInstanceTypes", result=TYPES)
    request = {"Filters": [{"Name": "supported-usage-class", "Values": ["capacity-block"]}], "MaxResults": 100}
    try:
        answers = list(call.documents(ctx, client, request, {"supported-usage-class": "capacity-block"}))
    except CredentialsMissing as error:
        if error.value != UNAUTHORIZED:
            raise
        return INSTANCE_TYPES, [], [f"queried: all types known to be sold in blocks, as EC2 may not list them: {error}"]
    listed = {machine["InstanceType"] for page, _ in answers for machine in page[TYPES]}
    servers = [name for name, machine in ULTRASERVERS.items() if machine in listed]
    return (*sorted(listed - {*ULTRASERVERS.values()}), *servers), [document for _, document in answers], []


def _patiently(ctx: Context, client: Any, call: Call, query: Mapping[str, str]) -> list[Document]:
    """Return what `_answer` does, once EC2 answers more; raise its refusal where that takes too long."""
    for wait_s in BACK_OFF_S:
        try:
            return _answer(ctx, client, call, query)
        except SourceError as error:
            if error.value != EXCEEDED:
                raise
            time.sleep(wait_s)
    return _answer(ctx, client, call, query)


def _answer(ctx: Context, client: Any, call: Call, query: Mapping[str, str]) -> list[Document]:
    """Return the pages of one answer; of several, each says how many offers there are and which start first."""
    request: dict[str, object] = {"AllAvailabilityZones": True, "MaxResults": PAGE_SIZE}
    request |= {name: int(value) if value.isdecimal() else value for name, value in query.items()}
    pages: list[Page] = []
    try:
        for page in call.pages(client, request):
            pages.append(page)
    except SourceError as error:
        refusal = _refusal(error)
        if refusal is None or pages:
            raise
        pages = [refusal]
    documents = [call.document(ctx, page, {**query, "page": str(n)}) for n, page in enumerate(pages, start=1)]
    if len(documents) == 1:
        return documents
    offers = [offer for document in documents for offer in _read(document)[0]]
    first = sorted(offer.id for offer in _first(offers))
    whole = {"starting_first": ",".join(first), "offers": str(len(offers))}
    return [replace(document, parameters={**document.parameters, **whole}) for document in documents]


def _refusal(error: SourceError) -> Page | None:
    """Return the answer behind an error that says what is sold, not that something is wrong; else None."""
    response: Any = getattr(error.__cause__, "response", None)
    if not response or BODY not in response:
        return None
    error_of = response.get("Error", {})
    is_known = any(known in str(error_of.get("Message", "")) for known in REFUSALS)
    return response if is_known or error_of.get("Code") in NOT_SOLD else None


def _query_of(name: str, hours: int, count: int) -> dict[str, str]:
    kind = "Ultraserver" if name.startswith(ULTRASERVER_PREFIX) else "Instance"
    return {f"{kind}Type": name, f"{kind}Count": str(count), "CapacityDurationHours": str(hours)}


def _numbers(settings: Mapping[str, object], name: str) -> tuple[int, ...]:
    default, allowed = NUMBERS[name]
    value = settings.get(name, [default])
    if isinstance(value, list | tuple) and value and all(type(each) is int and each in allowed for each in value):
        return tuple(dict.fromkeys(value))
    hint = f"Allowed are lists of {', '.join(str(each) for each in allowed)}"
    raise SettingsError("not a list of allowed numbers", source=NAME, field=name, value=value, hint=hint)


# --- offers, and what an hour of one costs


@dataclass(frozen=True, kw_only=True)
class Query:
    """What was queried: a type of machine or UltraServer, how many, for how long."""

    instance_type: str
    count: int
    hours: int | None


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
    fee: Decimal | None

    @property
    def is_as_long(self) -> bool:
        """Return whether start and end are as far apart as the paid minutes say, where all are stated."""
        if self.start is None or self.end is None or self.minutes is None:
            return True
        return abs((self.end - self.start) / timedelta(minutes=1) - self.minutes) <= USABLE_UNTIL_MIN


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
        until = P6E_UNTIL_MIN if (self.block.instance_type or "").startswith("u-p6e-gb200") else USABLE_UNTIL_MIN
        return None if self.minutes is None else max(0, self.minutes - until * len(self.parts))

    def ends(self) -> tuple[datetime | None, datetime | None]:
        """Return start and end of the whole block."""
        starts = [self.block.start] if self.block.start else [part.start for part in self.segments if part.start]
        ends = [self.block.end] if self.block.end else [part.end for part in self.segments if part.end]
        return min(starts, default=None), max(ends, default=None)


def parse(document: Document) -> Parsed:
    """Return the price of the offer that starts first, by zone, and all as facts, from EC2's XML or the CLI's JSON."""
    offers, refusal = _read(document)
    if "supported-usage-class" in document.parameters:
        return reading.parsed()
    zones = sorted({part.zone for offer in offers for part in offer.parts if part.zone})
    found = re.match(reading.REGION, zones[0] if zones else "")
    document = replace(document, scope=document.scope or (found[1] if found else ""))
    if others := [zone for zone in zones if not zone.startswith(document.scope)]:
        raise LAYOUT.refusal(f"an offer of another region than {document.scope}", others[0], "AvailabilityZone")
    query = _query(document, offers)
    ignored: Counter[str] = Counter(f"unknown rate: {_why(offer)}" for offer in offers if rate(offer) is None)
    named = document.parameters.get("starting_first")
    chosen = set(named.split(",")) if named is not None else {offer.id for offer in _first(offers)}
    priced = [offer for offer in offers if offer.id in chosen]
    ignored["later_start"] += sum(1 for offer in offers if rate(offer) is not None) - len(priced)
    frame = fact_frame("capacity_block_answer", _facts(offers, refusal, query, document))
    return reading.parsed(
        (_row(offer, query, document.scope) for offer in priced),
        sort=("availability_zone", "conditions"),
        ignored=ignored,
        facts={"capacity_block_answer": frame},
    )


def rate(offer: Offer) -> Decimal | None:
    """Return the price of one unit for one hour; None where the answer leaves it open.

    Exact up to ten decimals, and rounded half to even at the tenth where it does not end there.
    """
    fee = offer.block.fee
    if fee is None or _why(offer):
        return None
    paid = sum((part.count or 0) * (part.minutes or 0) for part in offer.parts)
    with localcontext(prec=50):
        return (fee * 60 / paid).quantize(TENTH, rounding=ROUND_HALF_EVEN)


def _why(offer: Offer) -> str:
    """Return why the rate of an offer is unknown; empty where it is not."""
    if offer.block.fee is None:
        return "no fee"
    if offer.minutes is None:
        return "no minutes"
    if not all(part.count and part.minutes and part.count > 0 and part.minutes > 0 for part in offer.parts):
        return "nothing is paid for"
    if not all(part.is_as_long for part in offer.parts):
        return "start and end are not as far apart as its hours and minutes"
    if offer.segments:
        fees = [part.fee for part in offer.segments]
        if None in fees or sum(fee or 0 for fee in fees) != offer.block.fee:
            return "the fees of the segments do not add up"
        if {part.instance_type for part in offer.segments} - {None, offer.block.instance_type}:
            return "segments of several types"
    return ""


def _first(offers: Iterable[Offer]) -> list[Offer]:
    """Return the offer that starts first of each zone and number of segments; of equal ones the cheapest."""
    first: dict[tuple[str | None, int], Offer] = {}
    for offer in sorted(offers, key=lambda offer: (offer.ends()[0] or NEVER, rate(offer) or 0, offer.id)):
        if rate(offer) is not None:
            first.setdefault((_zone(offer), len(offer.segments)), offer)
    return list(first.values())


def _zone(offer: Offer) -> str | None:
    """Return the name of an offer's zone; None where its segments have several."""
    zones = {part.zone for part in offer.segments} or {offer.block.zone}
    return zones.pop() if len(zones) == 1 else None


# --- reading


def _query(document: Document, offers: Sequence[Offer]) -> Query:
    """Return what was queried; of an answer saved without it what its offers have in common, of unknown hours."""
    queried = document.parameters
    kind = "Ultraserver" if "UltraserverType" in queried else "Instance"
    if not queried and len({(offer.block.instance_type, offer.block.count) for offer in offers}) == 1:
        return Query(instance_type=offers[0].block.instance_type or "", count=offers[0].block.count or 0, hours=None)
    try:
        name, count, hours = (queried[each] for each in (f"{kind}Type", f"{kind}Count", "CapacityDurationHours"))
        return Query(instance_type=name, count=int(count), hours=int(hours))
    except (KeyError, ValueError) as error:
        raise LAYOUT.refusal("the query is not known", str(dict(queried)), "parameters") from error


def _read(document: Document) -> tuple[list[Offer], str | None]:
    """Return the offers of an answer, or the refusal that it is."""
    if document.body.lstrip(reading.BLANK)[:1] in (b"{", b"["):
        listed = LAYOUT.answer(document.body, "CapacityBlockOfferings").get("CapacityBlockOfferings")
        return [_offer(_element("item", each)) for each in LAYOUT.listed(listed, "CapacityBlockOfferings")], None
    root = LAYOUT.xml(document.body)
    try:
        strict_xml.check_names(root)
    except ValueError as error:
        raise LAYOUT.refusal(f"the XML is damaged: {error}", document.body) from error
    if root.tag == "Response":
        code, message = root.findtext("Errors/Error/Code"), root.findtext("Errors/Error/Message")
        if not code:
            raise LAYOUT.refusal("an error without a code", document.body)
        return [], f"{code}: {message or ''}"
    if root.tag == TYPES_ROOT:
        return [], None
    found = root.find(SET)
    if root.tag != ROOT or found is None:
        raise LAYOUT.refusal(f"expected {ROOT} with {SET}", document.body)
    return [_offer(item) for item in found], None


def _element(tag: str, value: object) -> Element:
    """Return what the AWS CLI prints as EC2's XML has it."""
    element = Element(tag)
    if isinstance(value, dict):
        element.extend(_element(f"{key[:1].lower()}{key[1:]}", each) for key, each in value.items() if each is not None)
    elif isinstance(value, list):
        element.tag = f"{tag.removesuffix('s')}Set"
        element.extend(_element("item", each) for each in value)
    else:
        element.text = str(value)
    return element


def _offer(item: Element) -> Offer:
    number = LAYOUT.child(item, "capacityBlockOfferingId")
    if not number:
        raise LAYOUT.refusal("an offer without an id", item.tag)
    within = item.find(SEGMENTS)
    block = _part(item)
    segments = tuple(_part(each) for each in within) if within is not None else ()
    if not all(part.zone for part in segments or (block,)):
        raise LAYOUT.refusal("an offer without its zone", item.tag)
    return Offer(id=number, block=block, segments=segments, currency=LAYOUT.child(item, "currencyCode"))


def _part(item: Element) -> Part:
    hours, minutes = (_number(item, f"capacityBlockDuration{name}") for name in ("Hours", "Minutes"))
    # An UltraServer is counted as one, whatever it is made of.
    server = LAYOUT.child(item, "ultraserverType")
    fee = LAYOUT.child(item, "upfrontFee") or ""
    return Part(
        instance_type=server or LAYOUT.child(item, "instanceType"),
        zone=LAYOUT.child(item, "availabilityZone"),
        zone_id=LAYOUT.child(item, "availabilityZoneId"),
        count=_number(item, "ultraserverCount" if server else "instanceCount"),
        start=_moment(item, "startDate"),
        end=_moment(item, "endDate"),
        minutes=None if hours is None or minutes is None else hours * 60 + minutes,
        fee=Decimal(fee) if _AMOUNT.fullmatch(fee) else None,
    )


def _number(item: Element, name: str) -> int | None:
    text = LAYOUT.child(item, name)
    if text is not None and not re.fullmatch(r"[0-9]{1,6}", text):
        raise LAYOUT.refusal(f"{name} is no number: {text!r}", item.tag)
    return None if text is None else int(text)


def _moment(item: Element, name: str) -> datetime | None:
    text = LAYOUT.child(item, name)
    try:
        at = datetime.fromisoformat(text) if text else None
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC) if at else None
    except (ValueError, OverflowError) as error:
        raise LAYOUT.refusal(f"{name} is no time: {text!r}", item.tag) from error


# --- rows and facts


def _row(offer: Offer, query: Query, region: str) -> dict[str, object]:
    split = f", in {len(offer.segments)} segments" if offer.segments else ""
    return reading.offer(
        query.instance_type,
        "capacity_block",
        minimum_quantity=str(query.count),
        region_id=region,
        availability_zone=_zone(offer),
        commitment_term_hours=query.hours,
        conditions=f"offer that starts first{split}",
        pricing_currency=offer.currency,
        unit_price=_price(offer, query),
    )


def _price(offer: Offer, query: Query) -> str:
    """Return the rate as text; one that is no rate of the unit with what it is, for the row gate to refuse."""
    hourly = rate(offer) or Decimal(0)
    text = plain_number(format(hourly, "f"))
    if offer.block.instance_type not in (None, query.instance_type):
        return f"{text} for {offer.block.instance_type}"
    chips = re.fullmatch(rf"{ULTRASERVER_PREFIX}.*x(\d+)", query.instance_type)
    return f"{text} for {chips[1]} chips" if chips and hourly < MIN_CHIP_RATE * int(chips[1]) else text


def _facts(offers: list[Offer], refusal: str | None, query: Query, document: Document) -> Iterator[dict[str, object]]:
    """Yield all offers; of an answer without any, on its first page, one row without an id."""
    shared: dict[str, object] = {
        "region_id": document.scope,
        "instance_type": query.instance_type,
        "capacity_unit": "UltraServer" if query.instance_type.startswith(ULTRASERVER_PREFIX) else "instance",
        "queried_hours": query.hours,
        "queried_count": query.count,
    }
    parameters = document.parameters
    if not offers and (parameters.get("page", "1"), parameters.get("offers", "0")) == ("1", "0"):
        yield shared | {"capacity_block_offering_id": "", "answer_error": refusal}
    for offer in offers:
        start, end = (at and at.replace(tzinfo=None) for at in offer.ends())  # both are UTC
        ids = {part.zone_id for part in offer.parts}
        fee = offer.block.fee
        yield shared | {
            "capacity_block_offering_id": offer.id,
            "availability_zone_id": ids.pop() if len(ids) == 1 else None,
            "availability_zone": _zone(offer),
            "starts_at": start,
            "ends_at": end,
            "duration_minutes": offer.minutes,
            "usable_minutes": offer.usable_minutes,
            "block_fee": fee if fee is not None and 0 <= fee < 10**8 and fee == fee.quantize(TENTH) else None,
            "pricing_currency": offer.currency,
        }


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS EC2 Capacity Block offers, by zone",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html",
    max_age=timedelta(days=1),
    scopes=functools.partial(regions, source=NAME),
    fetch=fetch,
    parse=parse,
    settings=("regions", "instance_types", *NUMBERS),
    credentials="`ec2:DescribeCapacityBlockOfferings`, `ec2:DescribeInstanceTypes`",
)
