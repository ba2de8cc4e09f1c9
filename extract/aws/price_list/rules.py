"""What a line of the price list means: which lines are prices of accelerators, and what each says.

Both doors, and every age of the files, come down to `Price` values; from there on there is one path.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

import polars as pl

from extract.base import Parsed
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.tables import OBSERVATION
from warehouse.schema.vocabulary import HOURS_PER_YEAR

SOURCE_NAME = "aws_price_list"

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
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?")
_YEARS = re.compile(r"(\d{1,3}) ?(?:yr|year)s?")


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


def observations(prices: Iterable[Price], *, scope: str) -> Parsed:
    """Return the prices of accelerators among the given ones, the reasons for leaving out the rest, the unknown."""
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
    rows = [*_on_demand(kept, scope), *_reserved(kept, scope)]
    schema = {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(OBSERVATION, nulls_last=True)
    return Parsed(
        rows=frame, ignored=dict(sorted(ignored.items())), unknown=tuple(unknown[name] for name in sorted(unknown))
    )


def is_accelerator(product: Product) -> bool:
    """Return whether a product is a machine with an accelerator, by its GPU, its family or its name.

    The attribute GPU is filled for Inferentia and Trainium too, and empty for some of them: no attribute alone tells.
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


def region_of(product: Product, scope: str) -> str | None:
    """Return the Region Code.

    Files from before it existed hold one region each and name its location only; in them, only what is sold in the
    region itself, not in a Local Zone of it, is of the scope.
    """
    if product.region is not None:
        return product.region
    return scope if scope and product.location_type in (None, "AWS Region") else None


def _refusal(price: Price, scope: str) -> str | None:
    """Return why a price is none of ours; None where it is one. What concerns few rows is asked first."""
    product = price.product
    if not product.instance_type:
        return "no_instance_type"  # storage and traffic, and the free tier's pseudo product
    if scope and region_of(product, scope) != scope:
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
    """Yield what no rule here has a word for."""
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


def _on_demand(prices: Iterable[Price], scope: str) -> Iterator[tuple[object, ...]]:
    for price in prices:
        if price.term_type == "OnDemand":
            yield _row(price, scope, hourly=price, upfront=None)


def _reserved(prices: Iterable[Price], scope: str) -> Iterator[tuple[object, ...]]:
    """Yield one row for each term; a term has up to two amounts, in either order, and may lack one by mistake."""
    terms: defaultdict[tuple[str, str, str], tuple[list[Price], list[Price]]] = defaultdict(lambda: ([], []))
    for price in prices:
        if price.term_type == "Reserved":
            key = (price.product.sku, price.term_code, price.currency)
            terms[key][price.unit == UPFRONT_UNIT].append(price)
    for hourly, upfront in terms.values():
        ones: list[Price | None] = [*hourly] or [None]
        others: list[Price | None] = [*upfront] or [None]
        for one, other in itertools.product(ones, others):
            if (either := one or other) is not None:
                yield _row(either, scope, hourly=one, upfront=other)


def _row(price: Price, scope: str, *, hourly: Price | None, upfront: Price | None) -> tuple[object, ...]:
    """Return one observation; an amount that is missing is NULL, for the row gate to refuse."""
    instance_type = price.product.instance_type or ""
    reserved = price.term_type == "Reserved"
    upfront_price = _amount(upfront, UPFRONT_UNIT)
    if reserved and upfront is None and price.payment == "No Upfront":
        upfront_price = "0"
    values: dict[str, object] = {
        "service_provider_name": "AWS",
        "instance_type": instance_type,
        "capacity_unit": "UltraServer" if instance_type.startswith("u-") else "instance",
        "region_id": region_of(price.product, scope),
        "purchase_option": "reserved" if reserved else "on_demand",
        "commitment_term_hours": _term_hours(price.lease) if reserved else None,
        "purchase_payment_model": price.payment if reserved else None,
        "offering_class": price.offering_class if reserved else None,
        "statistic": "price",
        "pricing_currency": price.currency or None,
        "unit_price_type": "List",
        "sku_id": price.product.sku,
        "sku_price_id": hourly.rate_code if hourly else None,
        "unit_price": _amount(hourly, HOURLY_UNIT),
        "upfront_price": upfront_price,
    }
    return tuple(values.get(name) for name in OBSERVATION)


def _amount(price: Price | None, unit: str) -> str | None:
    """Return an amount as plain decimal text; in another unit than it should be, with the unit, to be refused."""
    if price is None:
        return None
    return plain_number(price.amount) if price.unit == unit else f"{price.amount} per {price.unit}"


def plain_number(text: str) -> str:
    """Return a number without exponent or needless zeros; any other text as it is, for the row gate to refuse."""
    if not _NUMBER.fullmatch(text):
        return text
    plain = format(Decimal(text), "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def _term_hours(lease: str | None) -> int | None:
    years = _YEARS.fullmatch(lease or "")
    return int(years[1]) * HOURS_PER_YEAR if years else None
