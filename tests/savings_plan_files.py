"""Savings Plan documents made of a few rates, for tests: lines of the CSV, results of the API."""

import json
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

import polars as pl

from extract.aws import savings_plans
from warehouse.documents import Document

HEADER = (
    "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,DiscountedServiceCode,DiscountedUsageType,"
    "DiscountedOperation,PurchaseOption,LeaseContractLength,LeaseContractLengthUnit,ServiceCode,UsageType,Operation,"
    "Description,Instance Family,Location,Location Type,Granularity,Product Family,DiscountedRegionCode,"
    "DiscountedInstanceType"
)
PREAMBLE = (
    "FormatVersion,v1.0\nDisclaimer,For information only, subject to change\n"
    "Publication Date,2026-10-01T20:00:00Z\nVersion,20261001200000\nOfferCode,AmazonComputeSavingsPlan\n"
)
P5: dict[str, str] = {
    "SKU": "PLAN",
    "RateCode": "PLAN.P5",
    "Unit": "Hrs",
    "DiscountedRate": "40.1792000000",
    "Currency": "USD",
    "DiscountedSKU": "BB8PM5YDQ3ZXCVBN",
    "DiscountedServiceCode": "AmazonEC2",
    "DiscountedUsageType": "BoxUsage:p5.48xlarge",
    "DiscountedOperation": "RunInstances",
    "PurchaseOption": "No Upfront",
    "LeaseContractLength": "1",
    "LeaseContractLengthUnit": "year",
    "Product Family": "ComputeSavingsPlans",
    "DiscountedRegionCode": "us-east-1",
    "DiscountedInstanceType": "p5.48xlarge",
}
"""The rate that is a price; tests change one thing of it."""


def document(body: bytes, scope: str = "us-east-1") -> Document:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return Document(source="aws_savings_plans", scope=scope, url="https://x/index.csv", body=body, fetched_at=at)


def csv_file(*lines: dict[str, str], header: str = HEADER) -> bytes:
    names = header.split(",")
    body = [",".join((P5 | line).get(name, "") for name in names) for line in lines]
    return (PREAMBLE + "\n".join([header, *body]) + "\n").encode()


def result(**changes: Any) -> dict[str, Any]:
    """Return a rate of the API: that of P5, with changes; `properties` by name."""
    offering = {
        "offeringId": "8870e805-fb04",
        "paymentOption": "No Upfront",
        "planType": "Compute",
        "durationSeconds": 31536000,
        "currency": "USD",
    }
    properties = {
        "region": "us-east-1",
        "instanceType": "p5.48xlarge",
        "productDescription": "Linux/UNIX",
        "tenancy": "shared",
    }
    offering |= {name: changes.pop(name) for name in list(changes) if name in offering}
    properties |= changes.pop("properties", {})
    rate = {
        "savingsPlanOffering": offering,
        "rate": "40.1792",
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": "BoxUsage:p5.48xlarge",
        "operation": "RunInstances",
        "properties": [{"name": name, "value": value} for name, value in properties.items() if value],
    }
    return rate | changes


def page(*results: dict[str, Any]) -> bytes:
    return json.dumps({"searchResults": list(results)}).encode()


def rates(of: Document) -> pl.DataFrame:
    """Return every rate of a document, one row each."""
    names = [field.name for field in fields(savings_plans.Rate)]
    return pl.DataFrame([asdict(rate) for rate in savings_plans.rates(of)], schema=dict.fromkeys(names, pl.String))
