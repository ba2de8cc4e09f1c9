"""Scaleway's Instance types of one zone."""

from extract.neoclouds.scaleway import SOURCE
from neoclouds.case import Case

TRIMMED = [
    ("B300-SXM-2-288G", 2, "18.96"),
    ("B300-SXM-4-288G", 4, "34.08"),
    ("B300-SXM-8-288G", 8, "60"),
    ("H100-1-80G", 1, "2.8665"),
    ("H100-2-80G", 2, "5.733"),
    ("H100-SXM-2-80G", 2, "6.6198"),
    ("A100-SXM-2-80G", 2, "4"),
    ("L4-1-24G", 1, "0.75"),
    ("GPU-3070-S", 1, "0.35"),
]

CASE = Case(
    source=SOURCE,
    fixture="scaleway.json",
    origin="fr-par-2 on 2026-08-22, as kept by getcomputable/gpu-index (Apache-2.0); H100-2 was given the null here",
    samples={
        "data/neocloud_samples/scaleway/products_servers_fr-par-2_trimmed.json": [
            {
                "service_provider_name": "Scaleway", "instance_type": name, "accelerator_label": name,
                "accelerator_count": str(count), "capacity_unit": "instance", "purchase_option": "on_demand",
                "pricing_currency": "EUR", "unit_price": price,
            }
            for name, count, price in TRIMMED
        ]
    },
    renamed=(
        '"servers"', '"hourly_price"', '"gpu":', '"gpu_info"', '"gpu_manufacturer"', '"gpu_name"', '"gpu_memory"',
        '"mig_profile"', '"monthly_price"',
    ),
    inserted=(
        ('"hourly_price"', '"yearly_price": 1.0, "hourly_price"'),
        ('"hourly_price"', '"hourly_price_usd": 1.0, "hourly_price"'),
    ),
    swapped=(('"hourly_price"', '"monthly_price"'),),
    harmless=(
        ("\n", " "),
        ('"alt_names": [], ', ""),
        ('"arch": "x86_64", "ncpus"', '"sockets": 2, "ncpus"'),
    ),
)  # fmt: skip
