"""Crusoe's page: rows without a price before rows with one, two rows of one name, and other sections behind them."""

from extract.neoclouds import crusoe
from neoclouds.case import Case

PRICES = {
    "NVIDIA H200 141GB HGX": "4.29",
    "NVIDIA H100 80GB HGX": "3.9",
    "NVIDIA A100 80GB SXM": "2.3",
    "NVIDIA A100 80GB PCIe": "2",
    "NVIDIA L40S 48GB": "1.5",
    "AMD MI300X 192GB": "3.45",
}

CASE = Case(
    source=crusoe.SOURCE,
    fixture="crusoe.html",
    origin=(
        "Figures of https://www.crusoe.ai/cloud/pricing as captured in August 2026 in the test fixtures of "
        "getcomputable/gpu-index (Apache-2.0, commit 055204a), the same in October 2026 in those of "
        "ewyluda/gpu-price-index, read on 2026-11-21"
    ),
    samples={
        "data/neocloud_samples/crusoe/pricing_2026-08.html": [
            {
                "accelerator_label": label,
                "unit_price": price,
                "purchase_option": "on_demand",
                "accelerator_count": "1",
                "capacity_unit": "GPU",
                "tier": None,
                "region_id": None,
            }
            for label, price in PRICES.items()
        ]
    },
    renamed=(
        "GPU instances pricing",
        "GPU model",
        "On-demand",
        "Current spot",
        "/GPU-hr",
        "141GB",
        "Contact sales",
        'role="listitem"',
    ),
    inserted=(
        (
            "On-demand</div>",
            'On-demand</div><div class="pricing-heading">Reserved, 1 year</div>',
        ),
        ("<p>$4.29/GPU-hr</p></div>", "<p>$4.29/GPU-hr</p></div><div><p>$3.29/GPU-hr</p></div>"),
        ("$4.29/GPU-hr", "$4.29/GPU-hr $3.29/GPU-hr reserved"),
        ('<div class="pricing-tag">SXM</div>', '<div class="pricing-tag">SXM</div><div class="pricing-tag">8x</div>'),
    ),
    swapped=(
        ("GPU instances pricing", "CPU instances pricing"),
        ("GPU instances pricing", "Serverless Inference pricing "),
        ("GPU model", "On-demand"),
        ("On-demand", "Current spot"),
        ("186GB", "NVL72"),
        ("$4.29/GPU-hr", "$0.04/vCPU-hr"),
        ("$2.30/GPU-hr", "$1.74"),
    ),
    harmless=(
        ("pricing-tag", "c17"),
        ("pricing-rich", "c18"),
        ("\n", "\n\n   "),
        ('role="listitem" class="prixing-item w-dyn-item"', 'class="w-dyn-item" data-new="1" role="listitem"'),
        ("<p>$4.29/GPU-hr</p>", "<p>&nbsp;$4.29 / GPU-hr </p>"),
        ("CPU instances pricing", "Bare metal pricing"),
        ('<div class="embed-icon w-embed"></div>', ""),
    ),
)
