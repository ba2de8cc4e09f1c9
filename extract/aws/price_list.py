"""AWS's public price list of EC2: on-demand and Reserved prices of every type with an accelerator.

Linux, shared tenancy, no software, per region. https://aws.amazon.com/pricing/ ; data under the AWS Site Terms,
https://aws.amazon.com/terms/ . Both ways of access give the same prices: the Price List API (pricing.GetProducts, needs
credentials, about ten pages a region) and the public bulk files (300 MB a region, read as they stream by).

Settings: `access` (auto, api, bulk), `regions` ("all" or a list of Region Codes; China's are named; by default those of
`places.own_regions`), `bulk_url`.

Quirks:

1. A Capacity Block product is listed next to the on-demand one with every other attribute equal, at 0: they differ
   by MarketOption and operation. Any other 0 is passed on, for the row gate to refuse.
2. Unused reservations repeat the on-demand price, allocated ones cost 0: only CapacityStatus "Used" counts.
3. Columns and attributes come and go: found by name, absent where no product of the region has one, and absent from
   older files (`SINCE`).
4. GPU is filled for Inferentia and some Trainium, empty for others, and may be "0.125". Accelerators are known by
   GPU, by Instance Family or by name; an Instance Family never seen before is reported, never read as a CPU.
5. A Reserved term has one or two amounts, hourly and upfront, in either order, each with a rate code of its own.
6. Local Zones and Wavelength Zones have Region Codes and files of their own; location names change, codes do not.
7. China has its own endpoint, index, term codes and currency. GovCloud is served by the global endpoint.
8. EffectiveDate moves every month without a change of price, so it dates no price; one after the day of the fetch is
   that of a price to come.
"""

import csv
import functools
import io
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from extract.aws import bulk, places, reading
from extract.aws.bulk import NOT_FOUND, Excerpt, Files, Head
from extract.aws.client import Call
from extract.aws.reading import Layout, plain_number
from extract.base import Context, Parsed, Source, past_fetch
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, SourceError, Unavailable
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.vocabulary import HOURS_PER_YEAR

NAME = "aws_price_list"
LAYOUT = Layout(NAME)
SERVICE = "AmazonEC2"
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
"""They name no market option, so that Capacity Blocks stay visible in the landed pages; `parse` leaves them out. Nor a
product family: bare metal is one of its own, and an empty answer to a query of it alone would say that it is gone."""
PAGE_SIZE = 100
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
CREDENTIALS_HINT = (
    'Give credentials that may call pricing:GetProducts and pricing:GetAttributeValues, or set access = "bulk", '
    "which needs none"
)

ACCELERATOR_FAMILIES = frozenset(
    {"GPU instance", "Machine Learning ASIC Instances", "FPGA Instances", "Media Accelerator Instances"}
)
OTHER_FAMILIES = frozenset(
    {"General purpose", "Compute optimized", "Memory optimized", "Storage optimized", "Micro instances"}
)
"""With the accelerator families, every Instance Family that the price list has shown; any other is reported."""

RESERVATIONS = ("UnusedCapacityReservation", "AllocatedCapacityReservation", "AllocatedHost")
RULES: Mapping[str, Mapping[str | None, str | None]] = {
    "CapacityStatus": {None: None, "Used": None, **dict.fromkeys(RESERVATIONS, "unused_reservation")},
    "MarketOption": {None: None, "OnDemand": None, "CapacityBlock": "capacity_block"},
    "Pre Installed S/W": {None: None, "NA": None, **dict.fromkeys(("SQL Web", "SQL Std", "SQL Ent"), "other_software")},
    "License Model": {None: None, "No License required": None, "Bring your own license": "license"},
    "TermType": {"OnDemand": None, "Reserved": None},
    "LeaseContractLength": {None: None},
    "EffectiveDate": {None: None},
}
"""By column, why a value there is not the price of running a machine; None where it is. A price with any other one is
reported, and may be a known offer's: where the offer has no other, it waits in quarantine, and the offer stays."""
NO_RULE = "no_rule"

NO_GPU = frozenset({None, "NA", "0"})
OPERATION = "RunInstances"
CAPACITY_BLOCK_OPERATION = "RunInstances:CB"

HOURLY_UNIT, UPFRONT_UNIT = "Hrs", "Quantity"
_YEARS = re.compile(r"(\d{1,3}) ?(?:yr|year)s?")

ALWAYS = (
    *("SKU", "OfferTermCode", "RateCode", "TermType", "Unit", "PricePerUnit", "Currency", "Instance Type"),
    *("Instance Family", "Tenancy", "Operating System", "License Model", "operation", "Pre Installed S/W"),
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

MARKERS = (f'"{OPERATION}"'.encode(), f'"{CAPACITY_BLOCK_OPERATION}"'.encode())
PRODUCT_COLUMNS = ("Instance Type", "Instance Family", "GPU", "Tenancy", "Operating System", "operation")
"""What `matters` reads."""


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or those of the API or of the region index that `own_regions` says."""
    wanted = places.names_in(ctx.settings, "regions", source=NAME)
    if wanted is not None:
        return wanted
    files = Files(ctx=ctx, layout=LAYOUT, partition=places.GLOBAL)
    listed = places.either_access(ctx, NAME, _api_regions, lambda: [*_region_index(files)])
    return places.own_regions(listed, ctx)


# --- API: GetProducts, one query for each region, every page as it came


_call = functools.partial(Call, source=NAME, max_pages=MAX_PAGES, hint=CREDENTIALS_HINT)


def _api_regions() -> list[str]:
    operation, region = "pricing.GetAttributeValues", places.GLOBAL.api_region
    call = _call(scope="regions", operation=operation, result="AttributeValues", region=region)
    pages = call.pages(call.client(), {"ServiceCode": SERVICE, "AttributeName": "regionCode"})
    return [value.get("Value", "") for page in pages for value in page[call.result]]


def _api_documents(ctx: Context, scope: str) -> ScopeFetch:
    region = places.partition_of(scope).api_region
    call = _call(scope=scope, operation="pricing.GetProducts", result="PriceList", region=region)
    terms = {"regionCode": scope, **FILTERS}
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in terms.items()]
    request = {"ServiceCode": SERVICE, "Filters": filters, "MaxResults": PAGE_SIZE}
    pages = list(call.documents(ctx, call.client(), request, terms))
    if not any(page[call.result] for page, _ in pages):
        hint = "Check the Region Code; one without any machine is none"
        raise SourceError("no products in this region", source=NAME, field="region", value=scope, hint=hint)
    documents = tuple(document for _, document in pages)
    return ScopeFetch(source=NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=documents)


def has_accelerators(ctx: Context, scope: str) -> bool:
    """Return whether the price list has a price of an accelerator in a region; raise what the API does."""
    return any(len(parse(document).rows) for document in _api_documents(ctx, scope).documents)


# --- bulk files: offer index, then region index, then the region's current version as CSV


def _region_index(files: Files) -> dict[str, object]:
    index = files.index(LAYOUT.text(files.offer(SERVICE), "currentRegionIndexUrl"))
    return dict(LAYOUT.mapping(index.get("regions"), "regions"))


def _current_urls(ctx: Context, scope: str) -> tuple[str]:
    files = Files(ctx=ctx, layout=LAYOUT, partition=places.partition_of(scope))
    listed = _region_index(files)
    if scope not in listed:
        hint = f"The index lists {', '.join(sorted(listed)) or 'no region'}"
        raise SourceError("not a region of the price list", source=NAME, field="region", value=scope, hint=hint)
    path = LAYOUT.text(LAYOUT.mapping(listed[scope], f"regions.{scope}"), "currentVersionUrl")
    return (files.csv_url(path, field="currentVersionUrl"),)


def cut(blocks: Iterable[bytes], url: str) -> Excerpt:
    """Return the excerpt of a streamed file; raise LayoutChanged.

    A line that can become a price has the operation RunInstances, as one in ten: these are found by a search for the
    quoted bytes, and of them the first of each product is read as CSV and judged by the rules themselves, so that the
    result is the same as that of reading every line.
    """
    return bulk.excerpt_of(
        blocks,
        url=url,
        layout=LAYOUT,
        read_head=read_head,
        select=lambda head, start: _Selector(head, start).lines,
    )


class _Selector:
    """Selects lines; knows the columns, and remembers the product that it judged last."""

    def __init__(self, head: Head, start: bytes) -> None:
        names = self._header = list(head.header)
        # From the first of these columns on, the lines of one product are the same, where the price comes before.
        family = names.index("Product Family") if "Product Family" in names else len(names)
        together = all(names.index(name) > family for name in PRODUCT_COLUMNS if name in names)
        self._product_mark = b',"Compute Instance' if together else b""
        header = start.rstrip(b"\r\n").rpartition(b"\n")[2]
        self._quoted = all(each.startswith(b'"') for each in header.split(b","))
        self._product, self._matters = b"", False

    def lines(self, block: bytes, start: int, end: int) -> Iterator[bytes]:
        """Yield the lines of a block that matter, in the order of the file."""
        if self._quoted and block[start : start + 1] == b'"':
            return filter(self._keep, bulk.marked_lines(block, start, end, MARKERS))
        # Nothing to search for: every line is read.
        return filter(self._keep, io.BytesIO(block[start:end]))

    def _keep(self, line: bytes) -> bool:
        """Return whether a line matters; one that cannot be read does, so that `parse` refuses it by name."""
        mark = line.find(self._product_mark) if self._product_mark else -1
        if mark >= 0 and line[mark:] == self._product:
            return self._matters
        try:
            (fields,) = csv.reader([line.decode("utf-8")], strict=True)
            row = dict(zip(self._header, fields, strict=True))
        except (ValueError, csv.Error):
            return True
        matter = matters(csv_product(row))
        if mark >= 0:
            self._product, self._matters = line[mark:], matter
        return matter


# --- past prices: every version since 2015-12-09 still answers, one CSV for each region


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield a fetch of each version of a region's file from `since` to `until`, oldest first, whatever the access.

    A version that is not there or not readable is a hole: a fetch without documents and a note. What cannot be
    reached raises Unavailable; begun again, the versions landed so far are not fetched a second time.
    """
    places.check_region(scope, source=NAME)
    files = Files(ctx=ctx, layout=LAYOUT, partition=places.partition_of(scope))
    urls, ill_formed = _versions(files, scope)
    pending = (f"ill-formed entries of the version index: {', '.join(ill_formed)}",) if ill_formed else ()
    for at, url in urls.items():
        if (since is None or since <= at) and (until is None or at <= until):
            documents, notes = _version(ctx, scope, at, url)
            yield past_fetch(NAME, scope, at, documents, (*pending, *notes))
            pending = ()


def _versions(files: Files, scope: str) -> tuple[dict[datetime, str], list[str]]:
    """Return the CSV of each version by its moment of publication, oldest first, and the entries that name none.

    The index is {"versions": {"20151209144527": {"offerVersionUrl": "/offers/.../index.json", ...}}}.
    """
    index = files.index(LAYOUT.text(files.offer(SERVICE), "versionIndexUrl"))
    urls: dict[datetime, str] = {}
    ill_formed = []
    for version, entry in sorted(LAYOUT.mapping(index.get("versions"), "versions").items()):
        try:
            path = LAYOUT.text(LAYOUT.mapping(entry, version), "offerVersionUrl")
            folder, file = path.rsplit("/", 1)
            if bulk.version_of(path) != version:
                raise ValueError(path)
            at = datetime.strptime(f"{version}+0000", "%Y%m%d%H%M%S%z")
            urls[at] = files.csv_url(f"{folder}/{scope}/{file}", field="offerVersionUrl")
        except (ValueError, LayoutChanged):
            ill_formed.append(version)
    if not urls:
        message = "the version index names no version that can be read"
        raise LAYOUT.refusal(message, ", ".join(ill_formed), "versions")
    return dict(sorted(urls.items())), ill_formed


def _version(ctx: Context, scope: str, at: datetime, url: str) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """Return the document of a version, or none and the reason."""
    try:
        document, notes = bulk.landed_or_cut(ctx, scope, url, source=NAME, cut=cut)
    except Unavailable:
        raise
    except LayoutChanged as error:
        return (), (f"{url}: {error}",)
    except SourceError as error:
        if error.field == "status" and error.value == NOT_FOUND:
            return (), (f"{url} does not exist: no prices of this version in {scope}",)
        raise
    if notes or document.published_at != at:
        stated = document.published_at.isoformat() if document.published_at else "no date"
        return (), (f"{url} states {stated} as its publication: left out", *notes)
    return (document,), ()


# --- documents of either form and any age


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
    effective: str | None = None
    lease: str | None = None
    payment: str | None = None
    offering_class: str | None = None


def parse(document: Document) -> Parsed:
    """Return the prices of accelerators in a document of either form and any age, as `extract.base.Parsed`.

    Raises LayoutChanged where any part of the document is not as it should be, also for a file that was cut short.
    """
    body, start = LAYOUT.plain(document.body)
    prices = _json_prices(body) if start in b"{[" else _csv_prices(body)
    scope, day = document.scope, document.fetched_at.astimezone(UTC).date().isoformat()
    kept: list[Price] = []
    ignored: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    doubtful: list[Price] = []
    for price in prices:
        reason = _refusal(price, scope, day)
        if reason is None:
            kept.append(price)
        else:
            ignored[reason] += 1
        text = ""
        if reason == NO_RULE:
            values = _values(price, day)
            text = ", ".join(f"{column} {value!r}" for column, value in values if value not in RULES[column])
            doubtful.append(replace(price, amount=f"{price.amount} with {text}"))
        elif price.product.instance_type and price.product.family not in ACCELERATOR_FAMILIES | OTHER_FAMILIES:
            text = f"instance family {price.product.family!r}"
        if text:
            unknown.setdefault(text, f"{text} (such as {price.product.instance_type})")
    rows, others = _rows(kept, scope), _rows(doubtful, scope)
    return reading.parsed(rows, doubtful=others, ignored=ignored, unknown=unknown.values())


# --- CSV


def read_head(start: bytes) -> Head | None:
    """Return a file's head as `bulk.read_head`; each column that a file of this age has must be there once."""
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
            effective=row.get("EffectiveDate"),
            lease=row.get("LeaseContractLength") or None,
            payment=row.get("PurchaseOption") or None,
            offering_class=offering_class or None,
        )


# --- JSON


def _json_prices(body: bytes) -> Iterator[Price]:
    """Yield the prices of a page of GetProducts, of a mapping of SKU to product, or of a bulk file's JSON form."""
    document = LAYOUT.answer(body, "PriceList")
    if "PriceList" in document:
        listed = document["PriceList"]
        if not isinstance(listed, list):
            raise LAYOUT.refusal("expected a list", listed, "PriceList")
        offers: Iterable[object] = (LAYOUT.json(each) if isinstance(each, str) else each for each in listed)
    elif document and all(isinstance(each, dict) and "product" in each for each in document.values()):
        offers = document.values()
    elif document.get("offerCode") == SERVICE:
        products, kinds = (LAYOUT.mapping(document.get(name), name) for name in ("products", "terms"))
        offers = (
            {"product": products.get(sku), "terms": {kind: of_sku}}
            for kind, of_kind in kinds.items()
            for sku, of_sku in LAYOUT.mapping(of_kind, f"terms.{kind}").items()
        )
    else:
        found = ", ".join(itertools.islice(document, 10))
        raise LAYOUT.refusal(f"expected PriceList or the offer {SERVICE}, found other keys", found, "PriceList")
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
                effective=LAYOUT.optional(term, "effectiveDate"),
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
    """Return whether a product is a machine with an accelerator; no attribute alone is enough (quirk 4)."""
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


def _refusal(price: Price, scope: str, day: str) -> str | None:
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
    values = _values(price, day)
    known = next(filter(None, (RULES[column].get(value) for column, value in values)), None)
    if known is not None or product.operation == CAPACITY_BLOCK_OPERATION:
        return known or "capacity_block"
    if product.operation != OPERATION:
        return "other_operation"
    return None if all(value in RULES[column] for column, value in values) else NO_RULE


def _values(price: Price, day: str) -> list[tuple[str, str | None]]:
    """Return what a price says in each column of RULES: a lease that is no number of years, a date after a day."""
    product = price.product
    lease = price.lease if price.term_type == "Reserved" and _term_hours(price.lease) is None else None
    later = price.effective if (price.effective or "")[: len(day)] > day else None
    sold = (product.capacity_status, product.market_option, product.software, product.license)
    return list(zip(RULES, (*sold, price.term_type, lease, later), strict=True))


# --- observations


def _rows(prices: Sequence[Price], scope: str) -> list[dict[str, object]]:
    once = (_row(price, scope, hourly=price, upfront=None) for price in prices if price.term_type != "Reserved")
    return [*once, *_reserved(prices, scope)]


def _reserved(prices: Iterable[Price], scope: str) -> Iterator[dict[str, object]]:
    """Yield one row for each term; a term has up to two amounts, in either order, and may lack one by mistake."""
    terms: defaultdict[tuple[str, str, str], tuple[list[Price | None], ...]] = defaultdict(lambda: ([], []))
    for price in prices:
        if price.term_type == "Reserved":
            key = (price.product.sku, price.term_code, price.currency)
            terms[key][price.unit == UPFRONT_UNIT].append(price)
    for hourly, upfront in terms.values():
        for one, other in itertools.product(hourly or [None], upfront or [None]):
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


_ACCESS = bulk.EitherAccess(source=NAME, api=_api_documents, urls=_current_urls, cut=cut)

SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS Price List of EC2, on-demand and Reserved",
    url="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html",
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=_ACCESS.fetch,
    parse=parse,
    backfill=backfill,
    settings=("access", "regions", "bulk_url"),
    downloads=_ACCESS.downloads,
    credentials="none, or `pricing:GetProducts`",
)
