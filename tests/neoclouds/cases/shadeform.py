"""Shadeform's instance types."""

from extract.neoclouds.shadeform import SOURCE
from neoclouds.case import Case

HOMEPAGE = [
    ("imwt", "A6000x8", "A6000 48GB pcie", 8, "3.92", "vm", "desmoines-usa-2 kansascity-usa-2 kansascity-usa-6"),
    ("lambdalabs", "A6000x4", "A6000 48GB pcie", 4, "4.36", "vm", "mumbai-india-1 dallas-usa-3"),
    ("crusoe", "A100_80G_sxm4x8", "A100_80G 80GB", 8, "15.6", "vm", "culpeper-usa-1"),
    ("paperspace", "A100_sxm4_80Gx8", "A100_80G 80GB sxm4", 8, "25.76", "vm", "amsterdam-netherlands-1 newyork-usa-1"),
    ("hyperstack", "A100_80Gx8_NVLINK", "A100_80G 80GB pcie", 8, "11.2", "vm", "montreal-canada-2"),
    ("boostrun", "RTX4090x8", "RTX4090 24GB pcie", 8, "3.92", "baremetal", "raleigh-usa-1"),
    ("hyperstack", "H100x8_NVLINK", "H100 80GB pcie", 8, "20.8", "vm", "montreal-canada-2"),
    ("scaleway", "L4", "L4 24GB pcie", 1, "0.95", "vm", "paris-france-5 paris-france-1 warsaw-poland-1"),
    ("massedcompute", "H100_nvlx8_NVLINK", "H100_nvl 94GB pcie", 8, "25.28", "vm", "desmoines-usa-1"),
    (
        "excesssupply", "H200_sxm5x8_NVLINK", "H200 141GB sxm5", 8, "36.13", "vm",
        "helsinki-finland-4 paris-france-3 kansascity-usa-4",
    ),
    ("hyperstack", "A4000x10", "A4000 16GB pcie", 10, "1.5", "vm", "oslo-norway-1"),
    (
        "excesssupply", "H200_sxm5x8_NVLINK_eu", "H200 141GB sxm5", 8, "36.13", "vm",
        "kansascity-usa-4 helsinki-finland-4 paris-france-3",
    ),
    ("excesssupply", "H200_sxm5_eu", "H200 141GB sxm5", 1, "4.63", "vm", "paris-france-3"),
    ("hyperstack", "H100_sxm5x8", "H100 80GB sxm5", 8, "25.6", "vm", "houston-usa-3 montreal-canada-2 CANADA-2"),
    ("massedcompute", "H100_nvlx2_NVLINK", "H100_nvl 94GB pcie", 2, "6.32", "vm", "desmoines-usa-3"),
    ("massedcompute", "L40", "L40 48GB pcie", 1, "0.88", "vm", "desmoines-usa-1"),
    ("denvr", "A100_sxm4x8", "A100 40GB sxm4", 8, "11.2", "vm", "calgary-canada-1"),
    ("crusoe", "A100_80G", "A100_80G 80GB pcie", 1, "1.65", "vm", "fairview-usa-1"),
]  # fmt: skip

CASE = Case(
    source=SOURCE,
    fixture="shadeform.json",
    origin="Shadeform's home page on 2026-08-22, as kept by getcomputable/gpu-index (Apache-2.0); the B300 is of "
    "brevdev/cloud's test of rental types in October 2026",
    samples={
        "data/neocloud_samples/shadeform/homepage_instance_types_2026-08-22.json": [
            {
                "host_provider_name": cloud, "instance_type": name, "accelerator_label": label, "region_id": region,
                "accelerator_count": str(count), "unit_price": price, "tier": tier, "purchase_option": "on_demand",
                "capacity_unit": "instance", "conditions": None,
            }
            for cloud, name, label, count, price, tier, regions in HOMEPAGE for region in regions.split()
        ]
    },
    renamed=(
        '"instance_types"', '"cloud"', '"shade_instance_type"', '"cloud_instance_type"', '"configuration"',
        '"num_gpus"', '"gpu_type"', '"interconnect"', '"vram_per_gpu_in_gb"', '"hourly_price": 1560',
        '"availability"', '"region"', '"available"', '"deployment_type"', '"baremetal"', '"spot"',
    ),
    inserted=(
        ('"hourly_price": 1560', '"spot_hourly_price": 900, "hourly_price": 1560'), ("1560", "15.60"),
        ("1560", '"1560"'), ('"available": false', '"available": false, "setup_fee": 10'),
        ('96, "num_gpus": 8, "gpu_type": "H100"', '96, "num_gpus": 4, "gpu_type": "H100"'),
        ('"available": true', '"available": "yes"'),
        ('"nvlink": false, "os', '"nvlink": false, "price": 1, "os'),
    ),
    swapped=(('"num_gpus"', '"vcpus"'), ('"gpu_type"', '"interconnect"'), ('"hourly_price"', '"num_gpus"')),
    harmless=(
        ('"boot_time"', '"started"'), ('"available"', '"note": null, "available"'), ('", "', '",\n "'),
        ("Montreal", "Laval"),
        ('{"instance_types"', '{"dehydratedAt": 1787421778775, "instance_types"'), ("os_options", "images"),
    ),
)  # fmt: skip
