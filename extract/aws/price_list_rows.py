"""What the price list says: CSV and JSON of any age as prices, and which of these are prices of accelerators.

A CSV has five lines of preamble, a header, and one line for each price. Its columns are found by name: their order and
number differ between regions and change over the years, because a file has a column only where some product in it has
the attribute. JSON are pages of GetProducts, whose PriceList holds each product as a JSON document in a string, and
mappings of SKU to product and terms; amounts are a map of currency to text, a bare number is another layout.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from extract.aws import bulk, reading
from extract.aws.bulk import Head
from extract.aws.reading import Layout, plain_number
from extract.base import Parsed
from warehouse.documents import Document
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.vocabulary import HOURS_PER_YEAR

LAYOUT = Layout("aws_price_list")

ACCELERATOR_FAMILIES = frozenset(
    {"GPU instance", "Machine Learning ASIC Instances", "FPGA Instances", "Media Accelerator Instances"}
)
OTHER_FAMILIES = frozenset(
    {"General purpose", "Compute optimized", "Memory optimized", "Storage optimized", "Micro instances"}
)
"""With the accelerator families, every Instance Family that the price list has shown; any other is reported."""

NO_GPU = frozenset({None, "NA", "0"})
OPERATION = "RunInstances"
CAPACITY_BLOCK_OPERATION = "RunInstances:CB"

HOURLY_UNIT, UPFRONT_UNIT = "Hrs", "Quantity"
_YEARS = re.compile(r"(\d{1,3}) ?(?:yr|year)s?")

ALWAYS = (
    "SKU",
    "OfferTermCode",
    "RateCode",
    "TermType",
    "Unit",
    "PricePerUnit",
    "Currency",
    "Instance Type",
    "Instance Family",
    "Tenancy",
    "Operating System",
    "License Model",
    "operation",
    "Pre Installed S/W",
)
SINCE: Mapping[str, datetime] = {
    "CapacityStatus": datetime(2020, 1, 1, tzinfo=UTC),
    "Region Code": datetime(2023, 1, 1, tzinfo=UTC),
    "MarketOption": datetime(2025, 1, 1, tzinfo=UTC),
}
"""Columns that every newer file has. An older one may lack them, and what they distinguish did not exist then:
Capacity Reservations (2018), Capacity Blocks (2023-10-31). The dates err on the late side; the columns came earlier.
"""
RESERVED = ("LeaseContractLength", "PurchaseOption")
"""Absent where a region sells no reservations, as in Local Zones; needed where a row is a reservation's."""
CONVERTIBLE_SINCE = datetime(2017, 1, 1, tzinfo=UTC)
"""Convertible reservations came on 2016-09-29; a file without OfferingClass from before knows standard ones only."""
NEVER = datetime.max.replace(tzinfo=UTC)

ATTRIBUTES = {
    "instance_type": ("Instance Type", "instanceType"),
    "family": ("Instance Family", "instanceFamily"),
    "gpu": ("GPU", "gpu"),
    "operating_system": ("Operating System", "operatingSystem"),
    "tenancy": ("Tenancy", "tenancy"),
    "operation": ("operation", "operation"),
    "capacity_status": ("CapacityStatus", "capacitystatus"),
    "market_option": ("MarketOption", "marketoption"),
    "software": ("Pre Installed S/W", "preInstalledSw"),
    "license": ("License Model", "licenseModel"),
    "location_type": ("Location Type", "locationType"),
}
"""A product's attributes, by their names in the CSV and in JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """What is sold. None: the document says nothing; a CSV leaves empty what the API leaves out.

    `region` alone is "" where it is there and empty: None is for documents from before Region Codes.
    """

    sku: str
    instance_type: str | None
    family: str | None
    gpu: str | None
    operating_system: str | None
    tenancy: str | None
    operation: str | None
    capacity_status: str | None
    market_option: str | None
    software: str | None
    license: str | None
    region: str | None
    location_type: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """One amount of one term of one product, in the document's own words."""

    product: Product
    term_type: str
    term_code: str
    rate_code: str
    unit: str
    amount: str
    currency: str
    lease: str | None = None
    payment: str | None = None
    offering_class: str | None = None


def parse(document: Document) -> Parsed:
    """Return the prices of accelerators in a document of either form and any age, as `extract.base.Parsed`.

    Raises LayoutChanged where any part of the document is not as it should be, also for a file that was cut short.
    """
    body, start = LAYOUT.plain(document.body)
    prices = _json_prices(body) if start in b"{[" else _csv_prices(body)
    scope = document.scope
    kept: list[Price] = []
    ignored: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    for price in prices:
        reason = _refusal(price, scope)
        if reason is None:
            kept.append(price)
        else:
            ignored[reason] += 1
        for name in _unknown(price):
            unknown.setdefault(name, f"{name} (such as {price.product.instance_type})")
    on_demand = (_row(price, scope, hourly=price, upfront=None) for price in kept if price.term_type == "OnDemand")
    return reading.parsed([*on_demand, *_reserved(kept, scope)], ignored=ignored, unknown=unknown.values())


# --- CSV


def read_head(start: bytes) -> Head | None:
    """Return preamble and header; None where the bytes end before the header's end; raise LayoutChanged.

    A column that a file of this age has must be there, and none of them twice.
    """
    head = bulk.read_head(start, layout=LAYOUT, is_header=lambda fields: len(fields) > 2)
    if head is None:
        return None
    published = head.published_at or NEVER
    expected = [*ALWAYS, *(name for name, since in SINCE.items() if published >= since)]
    missing = ", ".join(name for name in expected if name not in head.header)
    if missing:
        found = ", ".join(filter(None, head.header))
        raise LAYOUT.refusal(f"columns expected and not found: {missing}; found: {found}", missing, "header")
    twice = sorted(name for name in {*expected, *RESERVED} if head.header.count(name) > 1)
    if twice:
        raise LAYOUT.refusal("columns occur twice", ", ".join(twice), "header")
    return head


def csv_product(row: Mapping[str, str]) -> Product:
    """Return the product of a line of a CSV, by column."""
    attributes = {name: row.get(column) or None for name, (column, _) in ATTRIBUTES.items()}
    return Product(sku=row["SKU"], region=row.get("Region Code"), **attributes)


def _csv_prices(body: bytes) -> Iterator[Price]:
    head = read_head(body)
    standard_only = head is not None and (head.published_at or NEVER) < CONVERTIBLE_SINCE
    for row in bulk.rows_of(body, head, LAYOUT):
        offering_class = row.get("OfferingClass")
        if row["TermType"] == "Reserved":
            missing = ", ".join(name for name in RESERVED if name not in row)
            if missing:
                raise LAYOUT.refusal("a reservation in a file without its columns", missing, "header")
            if offering_class is None and standard_only:
                offering_class = "standard"
        yield Price(
            product=csv_product(row),
            term_type=row["TermType"],
            term_code=row["OfferTermCode"],
            rate_code=row["RateCode"],
            unit=row["Unit"],
            amount=row["PricePerUnit"],
            currency=row["Currency"],
            lease=row.get("LeaseContractLength") or None,
            payment=row.get("PurchaseOption") or None,
            offering_class=offering_class or None,
        )


# --- JSON


def _json_prices(body: bytes) -> Iterator[Price]:
    document = LAYOUT.mapping(LAYOUT.json(body), "body")
    if "PriceList" in document:
        listed = document["PriceList"]
        if not isinstance(listed, list):
            raise LAYOUT.refusal("expected a list", listed, "PriceList")
        offers: Iterable[object] = (LAYOUT.json(each) if isinstance(each, str) else each for each in listed)
    elif document and all(isinstance(each, dict) and "product" in each for each in document.values()):
        offers = document.values()
    else:
        found = ", ".join(itertools.islice(document, 10))
        raise LAYOUT.refusal("expected PriceList, found other keys", found, "PriceList")
    for each in offers:
        offer = LAYOUT.mapping(each, "PriceList")
        product = _json_product(LAYOUT.mapping(offer.get("product"), "product"))
        for term_type, terms in LAYOUT.mapping(offer.get("terms", {}), "terms").items():
            for term in LAYOUT.mapping(terms, f"terms.{term_type}").values():
                yield from _term(product, term_type, LAYOUT.mapping(term, f"terms.{term_type}"))


def _term(product: Product, term_type: str, term: Mapping[str, object]) -> Iterator[Price]:
    attributes = LAYOUT.mapping(term.get("termAttributes", {}), "termAttributes")
    for dimension in LAYOUT.mapping(term.get("priceDimensions"), "priceDimensions").values():
        rate = LAYOUT.mapping(dimension, "priceDimensions")
        amounts = LAYOUT.mapping(rate.get("pricePerUnit"), "pricePerUnit")
        if not amounts:
            raise LAYOUT.refusal("expected a currency with its amount", amounts, "pricePerUnit")
        for currency, amount in amounts.items():
            if not isinstance(amount, str):
                raise LAYOUT.refusal("expected the amount as text", amount, f"pricePerUnit.{currency}")
            yield Price(
                product=product,
                term_type=term_type,
                term_code=LAYOUT.optional(term, "offerTermCode") or "",
                rate_code=LAYOUT.optional(rate, "rateCode") or "",
                unit=LAYOUT.optional(rate, "unit") or "",
                amount=amount,
                currency=currency,
                lease=LAYOUT.optional(attributes, "LeaseContractLength"),
                payment=LAYOUT.optional(attributes, "PurchaseOption"),
                offering_class=LAYOUT.optional(attributes, "OfferingClass"),
            )


def _json_product(product: Mapping[str, object]) -> Product:
    attributes = LAYOUT.mapping(product.get("attributes"), "attributes")
    values = {name: LAYOUT.optional(attributes, attribute) for name, (_, attribute) in ATTRIBUTES.items()}
    region = "" if attributes.get("regionCode") == "" else LAYOUT.optional(attributes, "regionCode")
    return Product(sku=LAYOUT.text(product, "sku"), region=region, **values)


# --- which of them count


def is_accelerator(product: Product) -> bool:
    """Return whether a product is a machine with an accelerator, by its GPU, its family or its name.

    The attribute GPU is filled for Inferentia and Trainium too, and empty for some of them: no attribute is enough.
    """
    return (
        product.gpu not in NO_GPU
        or product.family in ACCELERATOR_FAMILIES
        or ACCELERATOR_TYPE.match(product.instance_type or "") is not None
    )


def matters(product: Product) -> bool:
    """Return whether a kept excerpt has to hold the product: every accelerator, and what may turn out to be one."""
    return (
        bool(product.instance_type)
        and product.operating_system == "Linux"
        and product.tenancy == "Shared"
        and product.operation in (OPERATION, CAPACITY_BLOCK_OPERATION)
        and (is_accelerator(product) or product.family not in OTHER_FAMILIES)
    )


def _region(product: Product, scope: str) -> str | None:
    """Return the Region Code.

    Files from before it existed hold one region each and name its location only; in them, only what is sold in the
    region itself, not in a Local Zone of it, is of the scope.
    """
    if product.region is not None:
        return product.region
    return scope if scope and product.location_type in (None, "AWS Region") else None


def _refusal(price: Price, scope: str) -> str | None:
    """Return why a price is none of ours; None where it is one. What concerns few rows comes first."""
    product = price.product
    if not product.instance_type:
        return "no_instance_type"  # storage and traffic, and the free tier's pseudo product
    if scope and _region(product, scope) != scope:
        return "other_region"
    if not is_accelerator(product):
        return "not_accelerator" if product.family in OTHER_FAMILIES else "unknown_family"
    if product.operating_system != "Linux":
        return "other_os"
    if product.tenancy != "Shared":
        return "other_tenancy"
    if product.capacity_status not in (None, "Used"):
        # Its price equals the on-demand one, or is 0: what a reserved machine costs that nobody uses.
        return "unused_reservation"
    if product.market_option == "CapacityBlock" or product.operation == CAPACITY_BLOCK_OPERATION:
        return "capacity_block"
    if product.market_option not in (None, "OnDemand"):
        return "other_market_option"
    if product.software not in (None, "NA"):
        return "other_software"
    if product.license not in (None, "No License required"):
        return "license"
    if product.operation != OPERATION:
        return "other_operation"
    return None if price.term_type in ("OnDemand", "Reserved") else "other_term_type"


def _unknown(price: Price) -> Iterator[str]:
    """Yield what no rule here covers."""
    product = price.product
    if not product.instance_type:
        return
    if product.family not in ACCELERATOR_FAMILIES | OTHER_FAMILIES:
        yield f"instance family {product.family!r}"
    if not is_accelerator(product):
        return
    if product.market_option not in (None, "OnDemand", "CapacityBlock"):
        yield f"market option {product.market_option!r}"
    if price.term_type not in ("OnDemand", "Reserved"):
        yield f"term type {price.term_type!r}"
    if price.term_type == "Reserved" and _term_hours(price.lease) is None:
        yield f"lease contract length {price.lease!r}"


# --- observations


def _reserved(prices: Iterable[Price], scope: str) -> Iterator[dict[str, object]]:
    """Yield one row for each term; a term has up to two amounts, in either order, and may lack one by mistake."""
    terms: defaultdict[tuple[str, str, str], tuple[list[Price], list[Price]]] = defaultdict(lambda: ([], []))
    for price in prices:
        if price.term_type == "Reserved":
            key = (price.product.sku, price.term_code, price.currency)
            terms[key][price.unit == UPFRONT_UNIT].append(price)
    for hourly, upfront in terms.values():
        ones: Sequence[Price | None] = hourly or [None]
        others: Sequence[Price | None] = upfront or [None]
        for one, other in itertools.product(ones, others):
            if (either := one or other) is not None:
                yield _row(either, scope, hourly=one, upfront=other)


def _row(price: Price, scope: str, *, hourly: Price | None, upfront: Price | None) -> dict[str, object]:
    """Return one observation; an amount that is missing is NULL, for the row gate to refuse."""
    row = reading.offer(
        price.product.instance_type or "",
        "on_demand",
        region_id=_region(price.product, scope),
        pricing_currency=price.currency or None,
        sku_id=price.product.sku,
        sku_price_id=hourly.rate_code if hourly else None,
        unit_price=_amount(hourly, HOURLY_UNIT),
        upfront_price=_amount(upfront, UPFRONT_UNIT),
    )
    if price.term_type != "Reserved":
        return row
    return row | {
        "purchase_option": "reserved",
        "commitment_term_hours": _term_hours(price.lease),
        "purchase_payment_model": price.payment,
        "offering_class": price.offering_class,
        "upfront_price": "0" if upfront is None and price.payment == "No Upfront" else row["upfront_price"],
    }


def _amount(price: Price | None, unit: str) -> str | None:
    """Return an amount as plain decimal text; in another unit than it should be, with the unit, to be refused."""
    if price is None:
        return None
    return plain_number(price.amount) if price.unit == unit else f"{price.amount} per {price.unit}"


def _term_hours(lease: str | None) -> int | None:
    years = _YEARS.fullmatch(lease or "")
    return int(years[1]) * HOURS_PER_YEAR if years else None
