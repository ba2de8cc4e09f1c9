"""Price list files for tests: bulk CSV, products and documents made from a few words, and a plain reading of them."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

import polars as pl

from extract.aws.price_list import SOURCE
from extract.base import Context, Parsed
from warehouse.documents import Document, ScopeFetch

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)

PRICE_COLUMNS = (
    "SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange",
    "EndingRange", "Unit", "PricePerUnit", "Currency", "RelatedTo", "LeaseContractLength", "PurchaseOption",
    "OfferingClass",
)  # fmt: skip
PRODUCT_COLUMNS = {
    "Product Family": "",
    "serviceCode": "servicecode",
    "Location": "location",
    "Location Type": "locationType",
    "Instance Type": "instanceType",
    "Current Generation": "currentGeneration",
    "Instance Family": "instanceFamily",
    "vCPU": "vcpu",
    "Tenancy": "tenancy",
    "Operating System": "operatingSystem",
    "License Model": "licenseModel",
    "usageType": "usagetype",
    "operation": "operation",
    "CapacityStatus": "capacitystatus",
    "GPU": "gpu",
    "GPU Memory": "gpuMemory",
    "MarketOption": "marketoption",
    "Pre Installed S/W": "preInstalledSw",
    "Region Code": "regionCode",
}
"""Columns of the bulk file that say what is sold, with the API's name of each; in AWS's order."""
COLUMNS = (*PRICE_COLUMNS, *PRODUCT_COLUMNS)

P5 = {
    "SKU": "3D4V8UAYEMB38GU2",
    "OfferTermCode": "JRTCKXETXF",
    "RateCode": "3D4V8UAYEMB38GU2.JRTCKXETXF.6YS6EN2CT7",
    "TermType": "OnDemand",
    "PriceDescription": "$55.04 per On Demand Linux p5.48xlarge Instance Hour",
    "EffectiveDate": "2026-09-01",
    "StartingRange": "0",
    "EndingRange": "Inf",
    "Unit": "Hrs",
    "PricePerUnit": "55.0400000000",
    "Currency": "USD",
    "Product Family": "Compute Instance",
    "serviceCode": "AmazonEC2",
    "Location": "US East (N. Virginia)",
    "Location Type": "AWS Region",
    "Instance Type": "p5.48xlarge",
    "Instance Family": "GPU instance",
    "vCPU": "192",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "License Model": "No License required",
    "usageType": "BoxUsage:p5.48xlarge",
    "operation": "RunInstances",
    "CapacityStatus": "Used",
    "GPU": "8",
    "GPU Memory": "NA",
    "MarketOption": "OnDemand",
    "Pre Installed S/W": "NA",
    "Region Code": "us-east-1",
}
"""The on-demand line of p5.48xlarge as in offer version 20260910195514."""

Line = Mapping[str, str]
Ask = Callable[..., Context]
Read = Callable[..., Parsed]
"""A reader of lines through one of the doors."""


def quoted(values: Iterable[str]) -> str:
    """Return one line as AWS writes it: every value in quotes, empty ones bare."""
    return ",".join('"' + value.replace('"', '""') + '"' if value else "" for value in values) + "\n"


def offer_csv(
    lines: Iterable[Line],
    *,
    columns: Sequence[str] = COLUMNS,
    published: str = "2026-09-10T19:55:14Z",
    version: str = "20260910195514",
) -> bytes:
    """Return a bulk file with these lines."""
    preamble = (
        ("FormatVersion", "v1.0"), ("Disclaimer", "This pricing list is for informational purposes only, see ..."),
        ("Publication Date", published), ("Version", version), ("OfferCode", "AmazonEC2"),
    )  # fmt: skip
    rows = [*preamble, columns, *([line.get(column, "") for column in columns] for line in lines)]
    return "".join(quoted(row) for row in rows).encode()


def csv_lines(products: Iterable[Mapping[str, object]]) -> list[dict[str, str]]:
    """Return the lines of a bulk file that say the same as elements of the API's PriceList."""
    lines = []
    for offer in products:
        product = offer["product"]
        assert isinstance(product, dict)
        attributes = product["attributes"]
        about = {column: attributes.get(name, "") for column, name in PRODUCT_COLUMNS.items()}
        about["Product Family"] = product.get("productFamily", "")
        terms = offer["terms"]
        assert isinstance(terms, dict)
        for kind, by_code in terms.items():
            for term in by_code.values():
                for rate in term["priceDimensions"].values():
                    ((currency, amount),) = rate["pricePerUnit"].items()
                    lease = term.get("termAttributes", {})
                    lines.append(
                        about
                        | {
                            "SKU": product["sku"],
                            "OfferTermCode": term["offerTermCode"],
                            "RateCode": rate["rateCode"],
                            "TermType": kind,
                            "PriceDescription": rate["description"],
                            "Unit": rate["unit"],
                            "PricePerUnit": amount,
                            "Currency": currency,
                            "LeaseContractLength": lease.get("LeaseContractLength", ""),
                            "PurchaseOption": lease.get("PurchaseOption", ""),
                            "OfferingClass": lease.get("OfferingClass", ""),
                        }
                    )
    return lines


def page_of(products: Iterable[Mapping[str, object]]) -> bytes:
    """Return a page of GetProducts."""
    listed = [json.dumps(product) for product in products]
    return json.dumps({"FormatVersion": "aws_v1", "PriceList": listed, "NextToken": ""}).encode()


def products_of(lines: Iterable[Line]) -> list[dict[str, object]]:
    """Return elements of the API's PriceList that say the same as lines of a bulk file."""
    offers: dict[str, dict[str, object]] = {}
    for line in lines:
        attributes = {api: line[column] for column, api in PRODUCT_COLUMNS.items() if api and line.get(column)}
        product = {"productFamily": line["Product Family"], "sku": line["SKU"], "attributes": attributes}
        offer = offers.setdefault(line["SKU"], {"product": product, "serviceCode": "AmazonEC2", "terms": {}})
        terms = offer["terms"]
        assert isinstance(terms, dict)
        term = terms.setdefault(line["TermType"], {}).setdefault(
            f"{line['SKU']}.{line['OfferTermCode']}",
            {
                "sku": line["SKU"],
                "offerTermCode": line["OfferTermCode"],
                "priceDimensions": {},
                "effectiveDate": line["EffectiveDate"],
                "termAttributes": {
                    name: line[column]
                    for name, column in (
                        ("LeaseContractLength", "LeaseContractLength"),
                        ("PurchaseOption", "PurchaseOption"),
                        ("OfferingClass", "OfferingClass"),
                    )
                    if line.get(column)
                },
            },
        )
        term["priceDimensions"][line["RateCode"]] = {
            "unit": line["Unit"],
            "rateCode": line["RateCode"],
            "description": line["PriceDescription"],
            "pricePerUnit": {line["Currency"]: line["PricePerUnit"]},
        }
    return list(offers.values())


def json_file(lines: Iterable[Line]) -> bytes:
    """Return the JSON form of a bulk file with these lines: products and terms apart, both by SKU."""
    terms: dict[str, dict[str, object]] = {}
    products = {}
    for offer in products_of(lines):
        product, of_product = offer["product"], offer["terms"]
        assert isinstance(product, dict)
        assert isinstance(of_product, dict)
        products[product["sku"]] = product
        for kind, found in of_product.items():
            terms.setdefault(kind, {})[product["sku"]] = found
    head = {"formatVersion": "v1.0", "disclaimer": "", "offerCode": "AmazonEC2", "version": "20240528203522"}
    return json.dumps({**head, "products": products, "terms": terms, "attributesList": {}}).encode()


def document(body: bytes, scope: str = "us-east-1") -> Document:
    """Return a document with a body, as if fetched."""
    return Document(source="aws_price_list", scope=scope, url="https://x/index.csv", body=body, fetched_at=NOW)


def reserved(
    line: Line,
    *,
    lease: str,
    payment: str,
    hourly: str | None,
    upfront: str | None,
    code: str = "",
    klass: str = "standard",
) -> list[dict[str, str]]:
    """Return the lines of one Reserved term of a product, upfront fee first."""
    code = code or "".join(word[0] for word in (lease, *payment.split(), klass)).upper().ljust(10, "X")
    common = {
        **line, "TermType": "Reserved", "OfferTermCode": code, "LeaseContractLength": lease,
        "PurchaseOption": payment, "OfferingClass": klass, "PriceDescription": "Upfront Fee",
    }  # fmt: skip
    lines = []
    if upfront is not None:
        rate = f"{line['SKU']}.{code}.2TG2D8R56U"
        lines.append(common | {"RateCode": rate, "Unit": "Quantity", "PricePerUnit": upfront, "EndingRange": ""})
    if hourly is not None:
        rate = f"{line['SKU']}.{code}.6YS6EN2CT7"
        lines.append(common | {"RateCode": rate, "Unit": "Hrs", "PricePerUnit": hourly})
    return lines


def prices(parsed: Parsed) -> list[tuple[object, ...]]:
    """Return what a rule is usually about: type, option, amounts."""
    columns = ("instance_type", "purchase_option", "unit_price", "upfront_price")
    return parsed.rows.select(columns).rows()


def plain_csv(body: bytes) -> list[dict[str, str]]:
    """Return every line of a bulk file, read by the csv module alone: the reference for what is fast."""
    rows = list(csv.reader(io.StringIO(body.decode(), newline="")))
    header = next(number for number, row in enumerate(rows) if len(row) > 2)
    return [dict(zip(rows[header], row, strict=True)) for row in rows[header + 1 :]]


def rows(look: ScopeFetch) -> pl.DataFrame:
    """Return what all documents of a look say."""
    return pl.concat([SOURCE.parse(document).rows for document in look.documents])


def same(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Return whether two frames hold the same rows, whatever their order."""
    return left.sort(left.columns, nulls_last=True).equals(right.sort(right.columns, nulls_last=True))
