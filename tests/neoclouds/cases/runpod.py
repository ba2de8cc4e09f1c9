"""RunPod's GPU types."""

from extract.neoclouds.runpod import SOURCE
from neoclouds.case import Case

JULY = [
    # id with memory, secure, community; None: not sold there
    ("AMD Instinct MI300X OAM 192GB", "2.19", None),
    ("NVIDIA A100 80GB PCIe", "1.39", "1.19"),
    ("NVIDIA A100-SXM4-40GB", None, "1"),
    ("NVIDIA A100-SXM4-80GB", "1.49", "1.39"),
    ("NVIDIA A40 48GB", "0.44", None),
    ("NVIDIA B200 180GB", "5.89", "5.98"),
    ("NVIDIA B300 SXM6 AC 288GB", "7.39", "6.94"),
    ("NVIDIA GeForce RTX 3070 8GB", None, "0.13"),
    ("NVIDIA GeForce RTX 3080 10GB", None, "0.17"),
    ("NVIDIA GeForce RTX 3080 Ti 12GB", None, "0.18"),
    ("NVIDIA GeForce RTX 3090 24GB", "0.46", "0.22"),
    ("NVIDIA GeForce RTX 3090 Ti 24GB", None, "0.27"),
    ("NVIDIA GeForce RTX 4070 Ti 12GB", None, "0.19"),
    ("NVIDIA GeForce RTX 4080 16GB", None, "0.27"),
    ("NVIDIA GeForce RTX 4080 SUPER 16GB", None, "0.28"),
    ("NVIDIA GeForce RTX 4090 24GB", "0.69", "0.34"),
    ("NVIDIA GeForce RTX 5080 16GB", None, "0.39"),
    ("NVIDIA GeForce RTX 5090 32GB", "0.99", "0.69"),
    ("NVIDIA H100 80GB HBM3", "2.99", "2.69"),
    ("NVIDIA H100 NVL 94GB", "3.19", "2.59"),
    ("NVIDIA H100 PCIe 80GB", "2.89", "1.99"),
    ("NVIDIA H200 141GB", "4.39", "3.59"),
    ("NVIDIA H200 NVL 143GB", "3.79", None),
    ("NVIDIA L4 24GB", "0.39", None),
    ("NVIDIA L40 48GB", "0.82", "0.69"),
    ("NVIDIA L40S 48GB", "0.99", "0.79"),
    ("NVIDIA RTX 2000 Ada Generation 16GB", "0.24", None),
    ("NVIDIA RTX 4000 Ada Generation 20GB", "0.26", "0.2"),
    ("NVIDIA RTX 4000 SFF Ada Generation 20GB", None, "0.18"),
    ("NVIDIA RTX 5000 Ada Generation 32GB", None, "0.49"),
    ("NVIDIA RTX 6000 Ada Generation 48GB", "0.77", "0.74"),
    ("NVIDIA RTX A2000 6GB", None, "0.12"),
    ("NVIDIA RTX A4000 16GB", "0.25", "0.17"),
    ("NVIDIA RTX A4500 20GB", "0.25", "0.19"),
    ("NVIDIA RTX A5000 24GB", "0.27", "0.16"),
    ("NVIDIA RTX A6000 48GB", "0.49", "0.33"),
    ("NVIDIA RTX PRO 4000 Blackwell 24GB", "0.57", None),
    ("NVIDIA RTX PRO 4500 Blackwell 32GB", "0.74", None),
    ("NVIDIA RTX PRO 5000 Blackwell 48GB", "0.96", "0.82"),
    ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition 96GB", None, "1.64"),
    ("NVIDIA RTX PRO 6000 Blackwell Server Edition 96GB", "1.99", "1.69"),
    ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition 96GB", "1.89", "1.69"),
    ("Tesla V100-PCIE-16GB", None, "0.19"),
    ("Tesla V100-SXM2-16GB", None, "0.23"),
]
"""Prices of 2026-07-18, read off the answer by hand."""

CASE = Case(
    source=SOURCE,
    fixture="runpod.json",
    origin="prices of 2026-08-22 as kept by getcomputable/gpu-index (Apache-2.0), others and what each cloud sells of "
    "2026-07-18; the spot price of 1.5 is of 2026-05-05; stock, the slice of a B300 (whose 0.5 was seen in June) and "
    "the clouds of the RTX 3070 and of the slice of 24 GB are made up here",
    samples={
        "data/neocloud_samples/runpod/graphql_gputypes_2026-07-18.json": [
            {
                "accelerator_label": label, "unit_price": price, "tier": tier, "purchase_option": "on_demand",
                "accelerator_count": "1", "capacity_unit": "GPU", "pricing_currency": "USD", "instance_type": None,
                "region_id": None,
            }
            for label, *prices in JULY
            for tier, price in zip(("secure", "community"), prices, strict=True) if price
        ]
    },
    renamed=(
        "data", "gpuTypes", "id", "memoryInGb", "secureCloud", "communityCloud", "securePrice", "communityPrice",
        "secureSpotPrice", "communitySpotPrice", "stockStatus",
    ),
    inserted=(
        ('"securePrice"', '"securePriceMonthly": 900, "securePrice"'), ('"id"', '"discount": 0.1, "id"'),
        ('"data"', '"errors": [{"message": "Something went wrong."}], "data"'), ("2.69", '"2.69"'), ("2.69", "-2.69"),
        ('"secureCloud": true', '"secureCloud": 1'), ("1.5,", "15,"),
        ("NVIDIA B300 SXM6 AC MIG", "NVIDIA B300 SXM6 AC"),
    ),
    swapped=(
        ('"secureCloud"', '"securePrice"'), ('"communityPrice"', '"communitySpotPrice"'),
        ('"memoryInGb"', '"securePrice"'),
    ),
    harmless=(
        ('"displayName"', '"maxGpuCount": 8, "displayName"'), (", ", ",\n  "), ("3.29", "3.290"),
        ('"displayName": "B300"', '"displayName": "B300 SXM"'), ("NVIDIA  RTX A4500", "NVIDIA RTX A4500"),
    ),
)  # fmt: skip
