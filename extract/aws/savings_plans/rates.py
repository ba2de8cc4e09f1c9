"""Every rate that a document holds, whatever it is of, in the document's own words.

A rate differs from others by plan, usage type, operation, product description and tenancy. Nothing is merged
here and nothing left out: a document of n rates gives n rows. `rules` says which of them are prices of accelerators.
"""

import csv
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

from extract.aws import bulk
from extract.aws.bulk import Head
from extract.web import strict_json
from warehouse.documents import Document

if TYPE_CHECKING:
    import polars as pl

SOURCE_NAME = "aws_savings_plans"
MAX_HEAD_LINES = 20
"""Preamble and header are six lines today."""
MAX_BYTES = 1 << 30
"""Of a document after decompression; excerpts are a hundredth of it."""
GZIP_MAGIC = b"\x1f\x8b"

COLUMNS = (
    "SKU",
    "RateCode",
    "Unit",
    "DiscountedRate",
    "Currency",
    "DiscountedSKU",
    "DiscountedServiceCode",
    "DiscountedUsageType",
    "DiscountedOperation",
    "PurchaseOption",
    "LeaseContractLength",
    "LeaseContractLengthUnit",
    "Product Family",
    "DiscountedRegionCode",
    "DiscountedInstanceType",
)
"""Columns of the CSV that are read, and expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """One discounted rate. None: the document does not say.

    `plan` is planType in the API and the plan's product family in the bulk files; `duration` is in seconds in the API
    and has a unit in the bulk files.
    """

    plan_id: str
    plan: str | None
    payment: str | None
    duration: str | None
    service: str | None
    usage_type: str
    operation: str
    product_description: str | None
    tenancy: str | None
    instance_type: str | None
    region: str | None
    unit: str
    amount: str
    currency: str | None
    sku: str | None
    rate_code: str | None


def rates(document: Document) -> "pl.DataFrame":
    """Return every rate of a document, one row each in the document's order, all text; raise LayoutChanged."""
    import polars as pl

    names = [field.name for field in fields(Rate)]
    rows = [tuple(getattr(rate, name) for name in names) for rate in read(document)]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def read(document: Document) -> Iterator[Rate]:
    """Yield every rate of a document of either door; raise LayoutChanged where any part is not as it should be."""
    body = _plain(document.body)
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"", b"<"):
        found = "HTML" if start else "nothing"
        raise refusal(f"expected Savings Plan rates, found {found}", "body", shown(body))
    return _of_json(body) if start in b"{[" else _of_csv(body)


def _plain(body: bytes) -> bytes:
    if not body.startswith(GZIP_MAGIC):
        return body
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = inflate.decompress(body, MAX_BYTES)
    except zlib.error as error:
        raise refusal(f"the gzip is damaged: {error}", "body", shown(body)) from error
    if not inflate.eof or inflate.unused_data:
        raise refusal(f"the gzip is cut short, goes on, or exceeds {MAX_BYTES} bytes", "body", shown(body))
    return plain


# --- CSV


def read_head(start: bytes) -> Head | None:
    """Return preamble and header; None where the bytes end before the header's end; raise LayoutChanged."""
    if start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"<", b"{"):
        raise refusal("expected a Savings Plan CSV, found a document of another kind", "body", shown(start))
    preamble: dict[str, str] = {}
    position = 0
    for _ in range(MAX_HEAD_LINES):
        end = start.find(b"\n", position) + 1
        if end == 0:
            return None
        line = start[position:end].decode("utf-8", "replace").strip().lstrip("\ufeff")
        position = end
        # Nothing is quoted, so that a disclaimer with commas looks like a header: this one is known by its first name.
        if line.replace('"', "").startswith("SKU,"):
            try:
                (header,) = csv.reader([line])
            except (csv.Error, ValueError) as error:
                raise refusal(f"not CSV: {error}", "header", line[:80]) from error
            missing = [name for name in COLUMNS if header.count(name) != 1]
            if missing:
                raise refusal("columns expected once each and not found so", "header", ", ".join(missing))
            return Head(preamble=preamble, header=tuple(header), size=position)
        name, _, value = line.partition(",")
        preamble[name.strip('"')] = value.strip('"')
    raise refusal("no header", "header", shown(start))


def _of_csv(body: bytes) -> Iterator[Rate]:
    head = read_head(body)
    if head is None or not body.endswith(b"\n"):
        raise refusal("the file is cut short: its last line has no end", "body", shown(body[-80:]))
    at = {name: position for position, name in enumerate(head.header)}
    lines = io.TextIOWrapper(io.BytesIO(memoryview(body)[head.size :]), encoding="utf-8", newline="")
    reader = csv.reader(lines, strict=True)
    try:
        for values in reader:
            if len(values) != len(head.header):
                message = f"a line has {len(values)} fields, the header {len(head.header)}"
                raise refusal(message, f"line {reader.line_num}", ",".join(values)[:80])
            yield _csv_rate(values, at)
    except (csv.Error, UnicodeDecodeError) as error:
        raise refusal(f"not CSV: {error}", f"line {reader.line_num}", str(error)) from error


def _csv_rate(values: Sequence[str], at: Mapping[str, int]) -> Rate:
    def cell(name: str) -> str | None:
        return values[at[name]] or None

    length, unit = values[at["LeaseContractLength"]], values[at["LeaseContractLengthUnit"]]
    return Rate(
        plan_id=values[at["SKU"]],
        plan=cell("Product Family"),
        payment=cell("PurchaseOption"),
        duration=f"{length} {unit}".strip() or None,
        service=cell("DiscountedServiceCode"),
        usage_type=values[at["DiscountedUsageType"]],
        operation=values[at["DiscountedOperation"]],
        product_description=None,
        tenancy=None,
        instance_type=cell("DiscountedInstanceType"),
        region=cell("DiscountedRegionCode"),
        unit=values[at["Unit"]],
        amount=values[at["DiscountedRate"]],
        currency=cell("Currency"),
        sku=cell("DiscountedSKU"),
        rate_code=cell("RateCode"),
    )


# --- JSON: pages of the API, and the bulk files' other form


def _of_json(body: bytes) -> Iterator[Rate]:
    try:
        decoded: object = strict_json.loads(body)
    except ValueError as error:
        raise refusal(f"not JSON: {error}", "body", shown(body)) from error
    document = mapping(decoded, "body")
    if "searchResults" in document:
        return _of_api(listed(document["searchResults"], "searchResults"))
    if "terms" in document:
        return _of_bulk_json(document)
    raise refusal("expected searchResults, found other keys", "body", ", ".join(list(document)[:10]))


def _of_api(results: Iterable[object]) -> Iterator[Rate]:
    for each in results:
        result = mapping(each, "searchResults")
        offering = mapping(result.get("savingsPlanOffering"), "savingsPlanOffering")
        properties = {
            text(entry, "name"): _optional(entry, "value")
            for entry in (mapping(one, "properties") for one in listed(result.get("properties", []), "properties"))
        }
        seconds = offering.get("durationSeconds")
        yield Rate(
            plan_id=text(offering, "offeringId"),
            plan=_optional(offering, "planType"),
            payment=_optional(offering, "paymentOption"),
            duration=None if seconds is None else str(seconds),
            service=_optional(result, "serviceCode"),
            usage_type=text(result, "usageType"),
            operation=_optional(result, "operation") or "",
            product_description=properties.get("productDescription"),
            tenancy=properties.get("tenancy"),
            instance_type=properties.get("instanceType"),
            region=properties.get("region"),
            unit=_optional(result, "unit") or "",
            amount=text(result, "rate"),
            currency=_optional(offering, "currency"),
            sku=None,
            rate_code=None,
        )


def _of_bulk_json(document: Mapping[str, object]) -> Iterator[Rate]:
    plans = {
        _optional(product, "sku"): product
        for product in (mapping(each, "products") for each in listed(document.get("products", []), "products"))
    }
    for each in listed(mapping(document["terms"], "terms").get("savingsPlan"), "terms.savingsPlan"):
        term = mapping(each, "terms.savingsPlan")
        plan_id = text(term, "sku")
        product = plans.get(plan_id, {})
        attributes = mapping(product.get("attributes", {}), "attributes")
        lease = mapping(term.get("leaseContractLength", {}), "leaseContractLength")
        duration = f"{lease.get('duration', '')} {lease.get('unit', '')}".strip()
        for one in listed(term.get("rates"), "rates"):
            rate = mapping(one, "rates")
            price = mapping(rate.get("discountedRate"), "discountedRate")
            yield Rate(
                plan_id=plan_id,
                plan=_optional(product, "productFamily") or _optional(attributes, "productFamily"),
                payment=_optional(attributes, "purchaseOption"),
                duration=duration or None,
                service=_optional(rate, "discountedServiceCode"),
                usage_type=text(rate, "discountedUsageType"),
                operation=_optional(rate, "discountedOperation") or "",
                product_description=None,
                tenancy=None,
                instance_type=_optional(rate, "discountedInstanceType"),
                region=_optional(rate, "discountedRegionCode"),
                unit=_optional(rate, "unit") or "",
                amount=text(price, "price"),
                currency=_optional(price, "currency"),
                sku=_optional(rate, "discountedSku"),
                rate_code=_optional(rate, "rateCode"),
            )


# --- what is in a document, or refused

mapping = partial(bulk.mapping, source=SOURCE_NAME)
text = partial(bulk.text, source=SOURCE_NAME)
refusal = partial(bulk.refusal, source=SOURCE_NAME)


def listed(value: object, field: str) -> Sequence[object]:
    """Return a list; raise LayoutChanged where it is something else."""
    if not isinstance(value, list):
        raise refusal("expected a list", field, value)
    return value


def _optional(entry: Mapping[str, object], name: str) -> str | None:
    return text(entry, name) if entry.get(name) not in (None, "") else None


def shown(body: bytes) -> str:
    """Return the start of a body, for an error."""
    return body[:80].decode("utf-8", "replace")
