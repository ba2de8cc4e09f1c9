"""Rows as every source here makes them: offers with a price, stock, and reasons for what has no price."""

import functools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from extract.base import Parsed, fact_frame, observation_frame
from extract.neoclouds.answers import CURRENCIES, Fields, FormChanged, currencies, errors_of, form_changed, refusal
from extract.neoclouds.pages import Node, Section, text_of
from warehouse.documents import Document, RefusedRow
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import OBSERVATION

CENTS = Decimal(100)
TEN_DECIMALS = Decimal("1e-10")
"""What the warehouse keeps of an amount."""
QUANTILES = {"p25": Decimal("0.25"), "median": Decimal("0.5")}
DUPLICATE = "duplicate offer"
MAX_UNREAD = Decimal("0.2")
"""Share of the rows of a document that cannot be read from which on its form has changed, and none is read."""
MAX_STRANGE = Decimal("0.25")
"""Share of the rows of a document that may be Strange."""
MAX_ROW_TEXT = 2000
"""Characters of a row that are kept with the reason why it could not be read; the document has it whole."""

_NO_PRICE = re.compile(
    r"-{0,2}|\N{EN DASH}{1,2}|\N{EM DASH}|n/?a|(contact|talk to)( us| sales)|contact|reserve( now)?|custom|call|enquire"
    r"|(request|get) a quote|spot only|sold out|coming soon"
)
"""Texts that say that there is no price, in lower case; the empty one too."""
FLOORS = ("from", "starting from", "starting at", "as low as")
_SYMBOL = "|".join(re.escape(symbol) for symbol in sorted(CURRENCIES, key=len, reverse=True))
_PRICE = re.compile(
    rf"(?P<floor>{'|'.join(FLOORS)})?:?\s*(?P<before>{_SYMBOL})?\s*(?P<amount>\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,10}})?|\d{{1,9}}(?:\.\d{{1,10}})?)"
    rf"\s*(?P<after>{_SYMBOL})?\s*(?P<unit>(?:/|per\s)[a-z0-9 ./-]+)?\s*(?P<note>\*{{0,3}})",
    re.IGNORECASE,
)
_UNIT_NOISE = re.compile(r"[\s./-]+|per")
_WAY = re.compile(r"(is_?)?((spot|preemptible|interruptible)([ _-]?(instance|vm))?|reserv(ed|ation)|commitment)", re.I)
"""How a row says that it is not on demand: by the name of a flag, such as is_spot, or by a text."""
_PERIOD_NAME = re.compile(r"(bill(ing|ed)|pric(e|ing)|charged?|rate)_?(period|interval|unit|cycle|per|by)?|per", re.I)
_PERIOD = re.compile(
    r"(?:per[ _-]?|/ ?|1 ?)?(second|minute|day|dai|week|month|mo|quarter|year|yr|annual)(?:s|ly)?", re.I
)
"""How a row says that a price is not of an hour."""
_SPOT = re.compile(r"(?<![a-z])(spot|preemptible|interruptible)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ShownPrice:
    """What a text says of a price: the amount (None: there is none), its currency and unit, and if it is a floor.

    `unit` is in lower case without separators, such as gpuhr or hour; empty where the text names none.
    """

    amount: Decimal | None
    currency: str = ""
    unit: str = ""
    is_floor: bool = False


def shown_price(
    text: str, field: str, *, units: Iterable[str] = ("",), symbol: bool = True, noted: bool = True
) -> ShownPrice:
    """Return what a text says; raise LayoutChanged where it is no price and no text for "none", FormChanged where its
    unit or currency is another.

    `units` are the units that it may name, as in ShownPrice.unit; with `symbol` it must have a currency. Without
    `noted` a footnote mark is refused: who has not read the note does not know what the price is of.
    """
    plain_text = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    if not noted and plain_text.endswith("*"):
        raise refusal("a footnote that is not known", field, text)
    if _NO_PRICE.fullmatch(plain_text.lower().rstrip("*")):
        return ShownPrice(amount=None)
    found = _PRICE.fullmatch(plain_text)
    if found is None:
        raise refusal("neither a price nor a text for no price", field, text)
    mark = found["before"] or found["after"]
    if (found["before"] and found["after"]) or (symbol and not mark):
        raise form_changed("expected one currency sign", field, text)
    unit = _UNIT_NOISE.sub("", (found["unit"] or "").lower())
    if unit not in units:
        raise form_changed(f"expected a price in {' or '.join(map(repr, units))}", field, text)
    amount = Decimal(found["amount"].replace(",", ""))
    if not amount:
        raise refusal("a price of zero", field, text)
    currency = CURRENCIES[mark.upper()] if mark else ""
    return ShownPrice(amount=amount, currency=currency, unit=unit, is_floor=found["floor"] is not None)


class Offer(dict[str, object]):
    """One observation, by the columns of OBSERVATION."""


class Stock(dict[str, object]):
    """One row of core.availability, by its columns up to `source`."""


class Detail(dict[str, object]):
    """One row of core.price_detail, by its columns up to `source`."""


FACTS: Mapping[type, str] = {Stock: "availability", Detail: "price_detail"}
"""In which table each kind of fact stands."""


class Unknown(str):
    """The name of what a document shows and its source has no rule for."""


class Strange(str):
    """The reason why a row contradicts itself or lacks what makes a price, which few rows do."""


class Empty:
    """Says that a document was read whole and may have no price, such as a zone without accelerators."""


@dataclass(frozen=True)
class Priced:
    """Says that a row has a price; where offers are made of many rows, with what it adds to them."""

    ask: Any = None


class Unread(RefusedRow):
    """A row that could not be read."""


Found = Offer | Stock | Detail | Unknown | Empty | Priced | Unread | str
"""What a source yields; a plain text is the reason for something that has no price, and is counted."""


def each(
    rows: Iterable[object], read: Callable[..., Iterable[Found]], *more: object, max_strange: Decimal = MAX_STRANGE
) -> Iterator[Found]:
    """Yield what `read` finds in each row of a document: all that a row gives, or an Unread, where it cannot be read.

    A row is JSON's `Fields`, a tuple of them and of what else is its own, a row of cells, or an element of a page;
    `more` is what `read` needs besides a row. A new field with an amount makes a row with a price Unread, and any other
    new field about money is an Unknown. A price in another currency than its row names is FormChanged; a row that names
    another purchase option is Unread. FormChanged passes: it is of all rows. Raises LayoutChanged in the end where more
    rows than this share are Strange: their fields have changed.
    """
    strange: list[str] = []
    n_rows = 0
    for row in rows:
        n_rows += 1
        parts = [part for part in (row if isinstance(row, tuple) else (row,)) if isinstance(part, Fields)]
        for part in parts:
            part.new_money = []
        try:
            found = list(read(row, *more))
            new = [one for part in parts for one in part.new_money]
            is_priced = any(isinstance(one, Offer | Priced) for one in found)
            if is_priced:
                _refuse_contradiction(parts, [one for one in found if isinstance(one, Offer)])
            for one in new:
                if is_priced and isinstance(one, LayoutChanged):
                    raise one
        except FormChanged:
            raise
        except LayoutChanged as error:
            value = "" if error.value is None else str(error.value)
            yield Unread(reason=error.message, field=error.field, value=value, content=_row_text(row)[:MAX_ROW_TEXT])
            continue
        strange += [one for one in found if isinstance(one, Strange)]
        yield from found
        yield from (Unknown(f"a new field about money, {one}") for one in new if isinstance(one, str))
        if is_priced and not any(isinstance(one, Priced) for one in found):
            yield Priced()
    if len(strange) > n_rows * max_strange:
        raise refusal(f"{len(strange)} of {n_rows} rows: {strange[0]}", strange[0], len(strange))


def _refuse_contradiction(parts: list[Fields], offers: list[Offer]) -> None:
    """Raise where a row, or an object in it, names another purchase option or unit than those of its prices.

    Raises FormChanged where it names another currency.
    """
    fields = [field for part in parts for field in part.all_items()]
    options = {str(one["purchase_option"]) for one in offers}
    ways = [_WAY.fullmatch(name if str(value).lower() == "true" else str(value)) for name, value in fields]
    others = {"spot" if way[3] else "reserved" for way in ways if way} - options
    if options and others:
        raise refusal(f"prices of {' and '.join(sorted(options))}, in a row of another option", "option", str(others))
    units = {str(one.get("pricing_unit") or "Hours").lower() for one in offers} or {"hours"}
    for name, value in fields:
        period = _PERIOD.fullmatch(str(value)) if _PERIOD_NAME.fullmatch(name) else None
        if period and f"{period[1].lower()}s" not in units:
            raise refusal(f"prices per {' and '.join(sorted(units))}, in a row of another unit", name, str(value))
    named = currencies(fields)
    expected = {str(one["pricing_currency"]) for one in offers} or {"USD"}
    if named - expected:
        raise form_changed(f"expected prices in {' and '.join(sorted(expected))}", "currency", str(named))


def _row_text(row: Any) -> str:
    if isinstance(row, tuple):
        return _row_text(row[0])
    if isinstance(row, Mapping | list):
        return json.dumps(row, ensure_ascii=False, default=str)
    return str(row) if isinstance(row, Fields) else text_of(row)


def offer(
    label: str,
    price: Decimal | ShownPrice | None,
    *,
    count: int | Decimal = 1,
    option: str = "on_demand",
    currency: str = "USD",
    **others: object,
) -> Offer | str:
    """Return one observation; where there is no price (None or 0) the reason.

    `label` is the chip as the provider names it. `price` is of the whole machine where `instance_type` is given or
    `count` is above 1, else of one chip; `count` is the chips in it. A price as shown brings its currency, and whether
    it is a floor. `others` are further columns of OBSERVATION, such as instance_type, region_id, tier, fabric.
    Raises LayoutChanged where the label, the instance type or the tier says spot, and `option` is another.
    """
    if unknown := set(others) - set(OBSERVATION):
        raise TypeError(f"not columns of an observation: {', '.join(sorted(unknown))}")
    if isinstance(price, ShownPrice):
        currency = price.currency or currency
        others |= {"statistic": "floor"} if price.is_floor else {}
        price = price.amount
    if not price:
        return f"no {option} price"
    if option != "spot" and _SPOT.search(f"{label} {others.get('instance_type')} {others.get('tier')}"):
        raise refusal(f"a name of spot machines, with a price of {option}", label, str(others.get("instance_type")))
    whole_machine = others.get("instance_type") is not None or count != 1
    fields = {
        "accelerator_label": " ".join(label.split()),
        "accelerator_count": plain(Decimal(count)),
        "capacity_unit": "instance" if whole_machine else "GPU",
        "purchase_option": option,
        "statistic": "price",
        "pricing_currency": currency,
        "unit_price_type": "List",
        "unit_price": plain(price),
    }
    return Offer(fields | others)


def stock(label: str, *, option: str = "on_demand", count: int | Decimal | None = None, **others: object) -> Stock:
    """Return what is available of an offer: `others` are columns such as stock_status, n_machines, n_accelerators."""
    chips = None if count is None else Decimal(count)
    fields = {"accelerator_label": " ".join(label.split()), "accelerator_count": chips, "purchase_option": option}
    return Stock(fields | others)


def detail(found: Offer, effective_at: datetime | None, price_parts: str | None = None) -> Detail:
    """Return the effective date (UTC) and the components that a provider states for a price."""
    names = ("instance_type", "region_id", "purchase_option", "commitment_term_hours", "tier")
    moment = None if effective_at is None else effective_at.astimezone(UTC).replace(tzinfo=None)
    return Detail({name: found.get(name) for name in names} | {"effective_at": moment, "price_parts": price_parts})


def plain(number: Decimal) -> str:
    """Return a number as plain text, without exponent and without needless zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_memory(name: str, memory: object) -> str:
    """Return the name of a chip, with its memory in GB where the name has none."""
    return name if re.search(r"\d ?GB\b", name, re.IGNORECASE) else f"{name} {memory}GB"


def by_option(on_demand: Decimal | None, spot: Decimal | None, field: str) -> dict[str, Decimal | None]:
    """Return both prices by their option; raise FormChanged where spot is above on demand: they were exchanged."""
    if on_demand and spot and spot > on_demand:
        raise form_changed(f"a spot price above {on_demand} on demand", field, str(spot))
    return {"on_demand": on_demand, "spot": spot}


def refuse_exchanged(found: Iterable[Found]) -> None:
    """Raise FormChanged where spot is above on demand, of one chip, count, conditions and restriction."""
    prices = _prices_of(found)
    for (option, *machine), spot in prices.items():
        on_demand = prices.get(("on_demand", *machine))
        if option == "spot" and on_demand:
            by_option(min(on_demand), max(spot), str(machine[0]))


def quantile(prices: Sequence[Decimal], share: Decimal) -> Decimal:
    """Return the price below which that share of the prices lies, to ten decimals.

    Between two prices it lies on the straight line that joins them, as in DuckDB's quantile_cont.
    """
    ordered = sorted(prices)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return (ordered[low] + (ordered[high] - ordered[low]) * (place - low)).quantize(TEN_DECIMALS)


def outside(rows: Iterable[Node], *sections: Section) -> Iterator[Unknown]:
    """Name those of the rows of a page that stand in none of the sections that are read: a new one has prices too."""
    read = {node.mem_id for section in sections for node in section.nodes}
    names = " and ".join(section.name for section in sections)
    yield from (Unknown(f"outside of {names}: {text_of(row)[:200]}") for row in rows if row.mem_id not in read)


def readings_agree(first: Iterable[Found], others: Iterable[Found], what: str) -> None:
    """Raise FormChanged where two readings of one page give other prices; what only one of them has, is no difference.

    Compared are offers by chip, count, purchase option, conditions and restriction; at least one must be in both.
    """
    ours, theirs = _prices_of(first), _prices_of(others)
    common = ours.keys() & theirs.keys()
    for key in sorted(common, key=str):
        if ours[key] != theirs[key]:
            raise form_changed(f"two readings of one page differ: {what}", str(key[1]), f"{ours[key]}, {theirs[key]}")
    if ours and theirs and not common:
        raise form_changed(f"two readings of one page have no offer in common: {what}", "prices", len(ours))


def _prices_of(found: Iterable[Found]) -> dict[tuple[object, ...], set[Decimal]]:
    names = ("purchase_option", "accelerator_label", "accelerator_count", "conditions", "restriction")
    prices: dict[tuple[object, ...], set[Decimal]] = defaultdict(set)
    for one in found:
        if isinstance(one, Offer):
            prices[tuple(map(one.get, names))].add(Decimal(str(one["unit_price"])))
    return prices


def market(label: str, prices: Sequence[Decimal], **columns: Any) -> Iterator[Found]:
    """Yield p25 and median of the prices of one chip in one market."""
    for statistic, share in QUANTILES.items():
        yield offer(label, quantile(prices, share), statistic=statistic, **columns)


def parser(source: str, provider: str, read: Callable[[Document], Iterable[Found]]) -> Callable[[Document], Parsed]:
    """Return the `parse` of a source that collects what `read` yields. `parsed` says how."""

    @functools.wraps(read)
    def parse(document: Document) -> Parsed:
        with errors_of(source):
            return parsed(read(document), provider)

    return parse


def parsed(found: Iterable[Found], provider: str) -> Parsed:
    """Return what was found in a document; `provider` where an offer does not name its own.

    Offers that say all the same are one, and counted. Those of one offer with different prices all stay: which of them
    holds is for the batch gate to refuse. Raises LayoutChanged where a fifth of the rows with a price cannot be read,
    or one of a market, whose quantiles are of all rows; and where there is no price, and `found` has no Empty: every
    source here always had one.
    """
    groups: dict[type, dict[object, Mapping[str, object]]] = {kind: {} for kind in (Offer, *FACTS)}
    ignored: Counter[str] = Counter()
    unknown: dict[str, None] = {}
    unread: list[Unread] = []
    n_priced = 0
    may_be_empty = False
    for one in found:
        if isinstance(one, Offer | Stock | Detail):
            group = groups[type(one)]
            key = tuple(sorted((name, str(value)) for name, value in one.items()))
            ignored[DUPLICATE] += isinstance(one, Offer) and key in group
            group.setdefault(key, {"service_provider_name": provider} | one)
        elif isinstance(one, Unknown):
            unknown[str(one)] = None
        elif isinstance(one, Unread):
            unread.append(one)
        elif isinstance(one, Priced):
            n_priced += 1
        elif isinstance(one, Empty):
            may_be_empty = True
        else:
            ignored[one] += 1
    n_rows = len(unread) + n_priced
    is_market = any(row.get("statistic") in QUANTILES for row in groups[Offer].values())
    if unread and (is_market or len(unread) >= MAX_UNREAD * n_rows):
        message = f"{len(unread)} of {n_rows} rows cannot be read, the first: {unread[0].reason}"
        raise refusal(message, unread[0].field, unread[0].value)
    if not groups[Offer] and not may_be_empty:
        raise refusal("expected prices, found none", "left out", dict(sorted(ignored.items())))
    facts = {name: fact_frame(name, groups[kind].values()) for kind, name in FACTS.items() if groups[kind]}
    frame = observation_frame(groups[Offer].values())
    return Parsed(rows=frame, ignored=+ignored, unknown=tuple(unknown), facts=facts, refused=tuple(unread))
