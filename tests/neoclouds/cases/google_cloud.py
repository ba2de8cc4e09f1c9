"""Google Cloud's catalogue of SKUs, two pages of it."""

import json

from extract.neoclouds.google_cloud import SOURCE
from neoclouds.case import Case


def answer(path: str) -> bytes:
    """Return the page that an address names, as the API does by pageToken."""
    first, second = json.loads(CASE.body)["chipledger_pages"]
    return json.dumps(second if "pageToken=APKCS1HVa0Y%3D" in path else first).encode()


CASE = Case(
    source=SOURCE,
    fixture="google_cloud.json",
    origin=(
        "Descriptions and prices as written down from the catalogue in 2025 and 2026 (OpenAgentsInc/openagents, "
        "maheshbabugorantla/llm-inference-pricing, opencost/opencost); the spot price of local SSD, the L4 of Delhi, "
        "the place of the TPU, and the SKU of H900 are invented"
    ),
    renamed=(
        '"skus"', '"description"', '"category"', '"resourceGroup"', '"serviceRegions"', '"pricingInfo"',
        '"pricingExpression"', '"usageUnit"', '"tieredRates"', '"unitPrice"', '"units"', '"nanos"', '"currencyCode"',
        '"startUsageAmount"', '"usageType"',
    ),
    inserted=(
        ('"currencyCode": "USD"', '"currencyCode": "IDR"'),
        ('"usageUnit": "h"', '"usageUnit": "mo"'),
        ('"nanos": 796550569', '"nanos": 7965505690'),
        ('"startUsageAmount": 0', '"startUsageAmount": 100'),
        ('"units": "9"', '"units": "-9"'),
        ('"usageType": "Preemptible"', '"usageType": "OnDemandish"'),
    ),
    swapped=(('"units"', '"nanos"'), ('"description"', '"skuId"')),
    harmless=(
        ("\n", " "),
        ('"summary": ""', '"summary": "a note"'),
        ('"serviceProviderName": "Google"', '"serviceProviderName": "Google", "geoTaxonomy": null'),
    ),
    answers=answer,
)  # fmt: skip
