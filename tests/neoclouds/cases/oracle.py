"""Oracle Cloud's price list."""

from extract.neoclouds.oracle import SOURCE
from neoclouds.case import Case

PRICES = {
    "NVIDIA L40S": "3.5", "AMD MI300X": "6", "NVIDIA H200": "10", "NVIDIA B200": "14", "NVIDIA GB200": "16",
    "AMD MI355X": "8.6", "NVIDIA GB300": "18", "NVIDIA B300": "15", "NVIDIA RTX PRO 6000": "4.5",
    "NVIDIA P100": "1.275", "NVIDIA V100": "2.95", "NVIDIA A100 80GB": "4", "NVIDIA A10": "2", "NVIDIA H100": "10",
}  # fmt: skip
DERIVED = {"NVIDIA V100": "1.475", "NVIDIA A10": "1"}
"""Half of the price on demand, of virtual machines."""


def shown(*labels: str) -> list[dict[str, object]]:
    """Return the rows of chips, each with the derived one that follows it."""
    return [
        {"accelerator_label": label, "purchase_option": option, "unit_price": price, "pricing_currency": "USD"}
        for label in labels
        for option, price in (("on_demand", PRICES[label]), ("spot", DERIVED.get(label)))
        if price is not None
    ]


CASE = Case(
    source=SOURCE,
    fixture="oracle.json",
    origin=(
        "The list of 2026-08-14 as kept by getcomputable/gpu-index, and of 2024-10-24 as kept by opencost/opencost "
        "(both Apache-2.0), shortened"
    ),
    samples={
        "data/clouds/samples/oci_products_usd_2026-08-14.json": shown(*PRICES),
        "data/clouds/samples/oci_products_usd_opencost_2024.json": [
            {"accelerator_label": "NVIDIA P100", "tier": "bare metal", "minimum_quantity": "2", "unit_price": "1.275"},
            {"accelerator_label": "NVIDIA P100", "tier": "virtual machine", "minimum_quantity": "1",
             "unit_price": "1.275"},
            {"accelerator_label": "NVIDIA P100", "purchase_option": "spot", "unit_price": "0.6375"},
            *shown("NVIDIA V100", "NVIDIA A100 80GB", "NVIDIA A10", "NVIDIA H100"),
        ],
    },
    renamed=(
        '"items"', '"partNumber"', '"displayName"', '"metricName"', '"serviceCategory"', '"currencyCodeLocalizations"',
        '"prices"', '"model"', '"value"', '"currencyCode"', "GPU - H100", "MI300X", "GPU Per Hour",
    ),
    inserted=(
        ('"currencyCode": "USD"', '"currencyCode": "EUR"'),
        ('"model": "PAY_AS_YOU_GO"', '"model": "MONTHLY_COMMIT"'),
        ('"value": 14', '"rate": 12.0, "value": 14'),
        ('"partNumber": "B98415"', '"partNumber": "B111758"'),
        ('"metricName": "GPU Per Hour"', '"metricName": "Node Per Hour"'),
    ),
    swapped=(('"partNumber"', '"displayName"'), ('"B98415"', '"B110978"')),
    harmless=(
        ("\n", " "),
        ("OCI - Compute - GPU - B200", "OCI - Compute  - GPU - B200"),
        ('"lastUpdated"', '"lastChanged"'),
    ),
)  # fmt: skip
