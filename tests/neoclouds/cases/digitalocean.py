"""DigitalOcean's page of Droplet prices."""

from extract.neoclouds.digitalocean import SOURCE
from neoclouds.case import Case

CASE = Case(
    source=SOURCE,
    fixture="digitalocean.html",
    origin="the page of 2026-08-18, as kept by getcomputable/gpu-index (Apache-2.0): some rows of each table",
    samples={
        "data/neocloud_samples/digitalocean/sizes.json": [
            {
                "instance_type": name, "accelerator_label": label, "accelerator_count": "8", "unit_price": price,
                "purchase_option": "on_demand", "capacity_unit": "instance", "pricing_currency": "USD",
                "region_id": None,
            }
            for name, label, price in [
                ("gpu-h100x8-640gb", "nvidia_h100 80GB", "23.92"),
                ("gpu-mi300x8-1536gb", "amd_mi300x 192GB", "15.92"),
            ]
        ]
    },
    renamed=(
        ">On-Demand GPU Droplet Pricing", ">Spot GPU Droplet Pricing", "<th>GPU</th>", "<th>Price</th>",
        "per hour", "Per contract after",
    ),
    inserted=(
        ("<th>Price</th>", "<th>Monthly</th><th>Price</th>"),
        ("$4.41 per hour", "$4.41 per hour or $3.90 per hour"),
        ("$35.28 per hour", "$35.28 per month"),
    ),
    swapped=(
        ("<th>GPU</th>", "<th>Price</th>"),
        ("Contract GPU Droplet Pricing\n", "On-Demand GPU Droplet Pricing\n"),
    ),
    harmless=(
        ('class="overflow-auto"', 'class="scroll"'),
        ("</tr>\n", "</tr>"),
        ('<span class="pill pill-in-header pill-public">public</span>', ""),
        ("<td>NVIDIA L40s</td>", "<td class='new'> NVIDIA\n L40s </td>"),
    ),
)  # fmt: skip
