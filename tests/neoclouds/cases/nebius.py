"""Nebius's price page: as it was in October 2026, and an excerpt of August's."""

from extract.neoclouds.nebius import SOURCE
from neoclouds.case import Case

AUGUST = [
    ("NVIDIA HGX B300", "4.3", "7.85", "price"),
    ("NVIDIA HGX B200", "3.95", "7.15", "price"),
    ("NVIDIA HGX H200", "2.45", "4.5", "price"),
    ("NVIDIA HGX H100", "2.15", "3.85", "price"),
    ("NVIDIA RTX PRO 6000", "0.95", "1.8", "price"),
    ("NVIDIA L40S with Intel CPU", "0.9", "1.82", "floor"),
    ("NVIDIA L40S with AMD CPU", "0.74", "1.55", "floor"),
]

CASE = Case(
    source=SOURCE,
    fixture="nebius.html",
    origin="https://nebius.com/prices in October 2026, as kept by ewyluda/gpu-price-index; the data around is ours",
    samples={
        "data/neocloud_samples/nebius/prices_layout2_2026-08.escaped_json.txt": [
            {
                "accelerator_label": label, "unit_price": price, "purchase_option": option, "statistic": statistic,
                "capacity_unit": "GPU", "restriction": None,
            }
            for label, spot, on_demand, statistic in AUGUST
            for option, price in (("spot", spot), ("on_demand", on_demand))
        ]
    },
    renamed=(
        "highlight-table-block", "NVIDIA GPU Instances", "On-demand, GPU-hour", "Effective October", "Spot price",
        "RAM, GB", "Item", "vCPUs", "October", '"table', '"content',
    ),
    inserted=(
        ("On-demand, GPU-hour", "Preemptible, GPU-hour"), ('"RAM, GB\\"', '"RAM, GB\\",\\"Reserved, GPU-hour\\"'),
        ('"112\\",', '"112\\",\\"$1.00\\",'), ("CPU-only instances", "AMD GPU Instances"), ("$9.50", "$9.50 or less"),
        ("Spot price, GPU-hour", "Spot price, GPU-minute"), ("$4.50", "4.50"), ("from $0.79", "from $9.79"),
        ("CPU-only instances", "NVIDIA GPU Instances"), ("$7.85", "$0"),
    ),
    swapped=(
        ('title\\":\\"NVIDIA GPU', 'title\\":\\"Preemptible NVIDIA GPU'),
        ("On-demand, GPU-hour", "Spot price, GPU-hour"), ("Item", "vCPUs"), ("$4.50", "$0.79"),
    ),
    harmless=(
        ("pc-", "px-"), ('contentSize\\":\\"l', 'size\\":\\"xl'), ("$4.50", " $4.50&nbsp;"),
        ("from $0.79", "From $0.79**"),
        ("NVL72", "NVL72*"), ('{\\"type\\":\\"divider\\"}', '{\\"type\\":\\"divider\\",\\"size\\":\\"m\\"}'),
        ("__APOLLO_STATE__", "state"),
        ('highlight-table-block\\",', 'highlight-table-block\\",\\"anchor\\": {},'),
    ),
)  # fmt: skip
