"""Verda's instance types, as its API lists them; the price page has tests of its own."""

from extract.neoclouds.verda import SOURCE
from neoclouds.case import Case

SAMPLE = [
    {"instance_type": machine, "accelerator_label": label, "accelerator_count": count, "purchase_option": option,
     "unit_price": price, "pricing_currency": "USD", "tier": None}
    for machine, label, count, prices in [
        ("1H100.80S.30V", "H100 SXM5 80GB", "1", ("3.95", "1.7")),
        ("2A6000.20V", "RTX A6000 48GB", "2", ("1.98", "0.7")),
        ("1V100.6V", "Tesla V100 16GB", "1", ("0.89", "0.25")),
    ]
    for option, price in zip(("on_demand", "spot"), prices, strict=True)
]  # fmt: skip

# The CPU rows have no name, and the H100 stands there twice (30 and 32 vCPU) at one price.
PAGE = [
    {"instance_type": None, "accelerator_label": label, "accelerator_count": "1", "minimum_quantity": "1",
     "purchase_option": option, "unit_price": price, "pricing_currency": "USD", "tier": tier}
    for label, tier, prices in [
        ("GB300 SXM6 288GB", None, ("8.62", "4.31")),
        ("B300 SXM6 268GB", None, ("7.5", "3.75")),
        ("B200 SXM6 180GB", None, ("6.11", "3.055")),
        ("H200 SXM5 141GB", None, ("4", "2")),
        ("H100 SXM5 80GB", None, ("3.25", "1.625")),
        ("A100 SXM4 80GB", None, ("1.79", "0.895")),
        ("A100 SXM4 40GB", None, ("1.29", "0.645")),
        ("Tesla V100 16GB", None, ("0.17", "0.085")),
        ("RTX PRO 6000 96GB", None, ("1.89", "0.945")),
        ("L40S 48GB", None, ("1.37", "0.685")),
        ("RTX 6000 Ada 48GB", None, ("1.04", "0.52")),
        ("RTX A6000 48GB", None, ("0.61", "0.305")),
        ("RTX PRO 6000 CC 96GB", "confidential computing", ("1.928", "0.9639")),
        ("B300 CC SXM6 268GB", "confidential computing", ("7.65", "3.825")),
        ("B200 CC SXM6 180GB", "confidential computing", ("6.232", "3.116")),
    ]
    for option, price in zip(("on_demand", "spot"), prices, strict=True)
] + [
    {"instance_type": None, "accelerator_label": "GB300 SXM6 288GB", "accelerator_count": count,
     "minimum_quantity": None, "purchase_option": "on_demand", "unit_price": price, "pricing_currency": "USD",
     "tier": "instant cluster"}
    for count, price in [("8", "68.96"), ("12", "103.4"), ("16", "137.9")]
]  # fmt: skip

CASE = Case(
    source=SOURCE,
    fixture="verda.json",
    origin=(
        "Prices of the page's table of 2026-10-08 (Bw0410/GPU-compute-scraper, verda_pricing_history.csv); the A6000 "
        "and the CPU machine of dstackai/gpuhunt's test payload; spot of 0 and null, and dynamic_price, are invented"
    ),
    samples={
        "data/neocloud_samples/verda/instance_types.json": SAMPLE,
        "data/neocloud_samples/verda/pricing_jsonld_2026-08.html": PAGE,
    },
    renamed=(
        "instance_type",
        "number_of_gpus",
        "price_per_hour",
        "spot_price",
        "currency",
        "1x H100",
        "2x RTX A6000",
    ),
    inserted=(
        ('"gpu":', '"z_gpu":'),
        ('"description":', '"z_description":'),
        ('"usd"', '"sek"'),
        ('"price_per_hour": "3.89"', '"price_per_hour": "1.89"'),
        ('"spot_price"', '"price_per_month": "900", "spot_price"'),
        ('"price_per_hour": "3.89"', '"price_per_hour": 3.89'),
        ('"number_of_gpus": 2', '"number_of_gpus": 1'),
        ('"number_of_gpus": 2', '"number_of_gpus": 0'),
        ('"price_per_hour": "1.98"', '"price_per_hour": "$1.98"'),
    ),
    swapped=(('"price_per_hour"', '"spot_price"'), ('"gpu"', '"cpu"'), ('"instance_type"', '"name"')),
    harmless=(
        ('"best_for"', '"ranking": null, "best_for"'),
        ("\n ", "\n\t "),
        ('"p2p": "50GB/s"', '"p2p": null'),
    ),
)
