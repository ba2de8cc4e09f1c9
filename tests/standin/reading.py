"""How the stand-in's tests, and any others that want to, read prices with unmodified clients."""

import csv
import io
import json
from typing import Any

import boto3
import botocore.loaders
import botocore.session
from botocore.config import Config

Item = dict[str, Any]
"""A document of GetProducts, decoded."""

LINUX_ON_DEMAND = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}
"""The attributes that leave one price of an instance type in a region."""

SERVICE_MODELS = botocore.loaders.create_loader()
"""Read once for all clients; nothing else of boto3 is shared or changed."""


def client(service: str, region: str = "us-east-1") -> Any:
    """Return boto3's own client of a service, made from the environment; it does not retry."""
    session = botocore.session.Session()
    session.register_component("data_loader", SERVICE_MODELS)
    config = Config(retries={"total_max_attempts": 1}, read_timeout=5)
    return boto3.session.Session(botocore_session=session).client(service, region_name=region, config=config)


def filters(**fields: str) -> list[dict[str, str]]:
    """Return filters, one for each field."""
    return [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()]


def products(client: Any, wanted: list[dict[str, str]]) -> list[Item]:
    """Return the documents of all pages that match the filters."""
    pages = client.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=wanted)
    return [json.loads(item) for page in pages for item in page["PriceList"]]


def rows(body: bytes) -> list[dict[str, str]]:
    """Return the rows of a bulk CSV below its five lines of preamble and its header."""
    lines = body.decode().splitlines(keepends=True)
    return list(csv.DictReader(io.StringIO("".join(lines[5:]), newline="")))


def price_facts(items: list[Item]) -> set[tuple[str, ...]]:
    """Return SKU, instance type, rate code, unit, amount and currency of each price in API documents."""
    return {
        (
            item["product"]["sku"],
            item["product"]["attributes"].get("instanceType", ""),
            rate["rateCode"],
            rate["unit"],
            amount,
            currency,
        )
        for item in items
        for terms in item["terms"].values()
        for term in terms.values()
        for rate in term["priceDimensions"].values()
        for currency, amount in rate["pricePerUnit"].items()
    }
