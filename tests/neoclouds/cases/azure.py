"""Azure's retail prices of one region, two pages of them."""

import json

from extract.neoclouds.azure import SOURCE
from neoclouds.case import Case

COLUMNS = ("instance_type", "purchase_option", "commitment_term_hours", "unit_price", "upfront_price")


def answer(path: str) -> bytes:
    """Return the page that an address names, as the API does by $skip."""
    first, second = json.loads(CASE.body)["chipledger_pages"]
    return json.dumps(second if "$skip=1000" in path else first).encode()


CASE = Case(
    source=SOURCE,
    fixture="azure.json",
    origin=(
        "eastus on 2026-07-27 as kept by mrmonroe90/compute-price-tracker, and Azure/karpenter-provider-azure's list "
        "of 2026-06-18; the prices of Windows, of savings plans and of Cloud Services, and the size ND900, are invented"
    ),
    samples={
        "data/clouds/samples/azure_retail_eastus_nd_20260727.json": [
            dict(zip(COLUMNS, row, strict=True))
            for row in (
                ("Standard_ND96isr_H100_v5", "on_demand", None, "98.32", None),
                ("Standard_ND96isr_H100_v5", "reserved", 8760, "0", "551221"),
                ("Standard_ND96isr_H100_v5", "reserved", 26280, "0", "1134310"),
                ("Standard_ND96asr_v4", "spot", None, "5.98334", None),
                ("Standard_ND96is_H100_v5", "on_demand", None, "88.488", None),
            )
        ]
    },
    renamed=(
        '"Items"', '"retailPrice"', '"unitPrice"', '"armSkuName"', '"productName"', '"skuName"', '"meterName"',
        '"type"',
        '"unitOfMeasure"', '"effectiveStartDate"', '"BillingCurrency"', '"currencyCode"', '"term"',
        '"isPrimaryMeterRegion"', '"tierMinimumUnits"', '"reservationTerm"', '"serviceName"', '"Reservation"',
    ),
    inserted=(
        ('"unitPrice"', '"monthlyPrice": 1.0, "unitPrice"'),
        ('"BillingCurrency": "USD"', '"BillingCurrency": "EUR"'),
        ('"currencyCode": "USD"', '"currencyCode": "EUR"'),
        ('"unitOfMeasure": "1 Hour"', '"unitOfMeasure": "1 Month"'),
        ('"reservationTerm": "1 Year"', '"reservationTerm": "1 Month"'),
        ('"retailPrice": 98.32', '"retailPrice": 9.832'),
        ('"skuName": "ND96isrH100v5 Spot"', '"skuName": "ND96isrH100v5"'),
    ),
    swapped=(('"retailPrice"', '"tierMinimumUnits"'), ('"armSkuName"', '"productName"')),
    harmless=(
        ("\n", " "),
        ('"location": "US East"', '"location": "East US"'),
        ('"serviceFamily": "Compute"', '"serviceFamily": "Compute", "tags": null'),
    ),
    answers=answer,
)  # fmt: skip
