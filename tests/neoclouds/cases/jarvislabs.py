"""JarvisLabs' regions and what they have."""

from extract.neoclouds.jarvislabs import SOURCE
from neoclouds.case import Case

MAY = [
    ("L4 24GB", "india-noida-01", "container", "0.44", "0.29"),
    ("L4 24GB", "india-noida-01", "vm", "0.44", "0.29"),
    ("A100-80GB", "india-noida-01", "vm", "1.49", "0.89"),
    ("RTX-PRO6000 96GB", "india-chennai-01", "vm", "1.89", "1.19"),
    ("RTX PRO 6000 96GB", "india-noida-01", "vm", "1.89", None),
    ("H100 80GB", "europe-01", "vm", "2.99", None),
    ("H100 80GB", "unknown-region", "vm", "2.99", None),
]

CASE = Case(
    source=SOURCE,
    fixture="jarvislabs.json",
    origin="prices of test payloads of May 2026 in dstackai/gpuhunt (MPL-2.0); that no H100 is free is made up",
    samples={
        "data/neocloud_samples/jarvislabs/server_meta.json": [
            {
                "accelerator_label": label, "region_id": region, "tier": tier, "purchase_option": option,
                "unit_price": price, "accelerator_count": "1", "capacity_unit": "GPU",
            }
            for label, region, tier, *prices in MAY
            for option, price in zip(("on_demand", "spot"), prices, strict=True) if price
        ]
    },
    renamed=(
        '"server_meta"', '"gpu_type"', '"region"', '"price_per_hour"', '"spot_price"', '"vram"', '"workload_type"',
        '"num_free_devices"', '"spot_num_free_devices"', '"vm"',
    ),
    inserted=(
        ('"spot_price"', '"reserved_price": 0.99, "spot_price"'), ('"vram": "24"', '"vram": 24'), ("1.49", '"1.49"'),
        ('"spot_price": 0.89', '"spot_price": 1.89'), ('"vram": "80"', '"vram": "80 GB"'), ("1.49", "-1.49"),
        ('"region"', '"currency": "INR", "region"'),
    ),
    swapped=(('"price_per_hour"', '"spot_price"'), ('"gpu_type"', '"num_free_devices"'), ('"vram"', '"cpus_per_gpu"')),
    harmless=(
        ('"cpus_per_gpu"', '"driver": "580", "cpus_per_gpu"'), (" {", "\n\t{"), ('"num_gpus": "8"', '"num_gpus": "4"'),
        ('"region"', '"currency": "usd", "region"'), ('"price": 0.0992', '"price": 1.5'),
    ),
)  # fmt: skip
