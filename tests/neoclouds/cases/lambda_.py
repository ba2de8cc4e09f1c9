"""Lambda's price page."""

from extract.neoclouds.lambda_ import SOURCE
from neoclouds.case import Case

CLUSTERS = [
    ("NVIDIA HGX B200", "16", "9.86"), ("NVIDIA HGX B200", "64", "9.36"), ("NVIDIA HGX B200", "256", "8.87"),
    ("NVIDIA HGX H100", "16", "6.16"), ("NVIDIA HGX H100", "64", "5.85"), ("NVIDIA HGX H100", "256", "5.54"),
]  # fmt: skip
INSTANCES = {
    "8": [
        ("NVIDIA B200 SXM6 180 GB", "6.69"), ("NVIDIA H100 SXM 80 GB", "3.99"), ("NVIDIA A100 SXM 80 GB", "2.79"),
        ("NVIDIA A100 SXM 40 GB", "1.99"), ("NVIDIA Tesla V100 16 GB", "0.79"),
    ],
    "4": [
        ("NVIDIA B200 SXM6 180 GB", "6.79"), ("NVIDIA H100 SXM 80 GB", "4.09"), ("NVIDIA A100 PCIe 40 GB", "1.99"),
        ("NVIDIA A6000 48 GB", "1.09"),
    ],
    "2": [
        ("NVIDIA B200 SXM6 180 GB", "6.89"), ("NVIDIA H100 SXM 80 GB", "4.19"), ("NVIDIA A100 PCIe 40 GB", "1.99"),
        ("NVIDIA A6000 48 GB", "1.09"),
    ],
    "1": [
        ("NVIDIA B200 SXM6 180 GB", "6.99"), ("NVIDIA GH200 96 GB", "2.29"), ("NVIDIA H100 SXM 80 GB", "4.29"),
        ("NVIDIA H100 PCIe 80 GB", "3.29"), ("NVIDIA A100 SXM 40 GB", "1.99"), ("NVIDIA A100 PCIe 40 GB", "1.99"),
        ("NVIDIA A10 24 GB", "1.29"), ("NVIDIA A6000 48 GB", "1.09"), ("NVIDIA Quadro RTX 6000 24 GB", "0.69"),
    ],
}  # fmt: skip

CASE = Case(
    source=SOURCE,
    fixture="lambda.html",
    origin="https://lambda.ai/pricing in August 2026, as kept by getcomputable/gpu-index (Apache-2.0)",
    samples={
        "data/neocloud_samples/lambda/pricing_2026-08.html": [
            {
                "accelerator_label": label, "unit_price": price, "minimum_quantity": least, "capacity_unit": "GPU",
                "purchase_option": "reserved", "commitment_term_hours": 336, "tier": "1-Click Clusters",
            }
            for label, least, price in CLUSTERS
        ] + [
            {
                "accelerator_label": label, "unit_price": price, "minimum_quantity": least, "capacity_unit": "GPU",
                "purchase_option": "on_demand", "commitment_term_hours": None, "tier": None,
            }
            for least, rows in INSTANCES.items() for label, price in rows
        ]
    },
    renamed=(
        "1-Click Clusters<br>pricing", "Instances pricing", 'data-label="PRICE/GPU/HR*"', 'data-label="VRAM/GPU"',
        'data-label="GPU COUNT"', 'data-label="DURATION"', 'data-label="Plan"', ">8x<", "2 weeks", "/HR*</th>",
        'aria-controls="tabpanel-island-i-0"',
    ),
    inserted=(
        ('<td data-label="PRICE/GPU/HR*">', '<td data-label="RESERVED">$1.00</td><td data-label="PRICE/GPU/HR*">'),
        ('<th scope="col">PRICE/GPU/HR*</th>', '<th scope="col">SPOT</th><th scope="col">PRICE/GPU/HR*</th>'),
        ('data-plan="NVIDIA GH200"', 'data-plan="NVIDIA H200"'),
        ("</h3>", '</h3><table><tr><td data-label="Plan">NVIDIA H100</td></tr></table>'),
    ),
    swapped=(
        ("1-Click Clusters<br>pricing", "Instances pricing"), ('data-label="VRAM/GPU"', 'data-label="PRICE/GPU/HR*"'),
        ("8x", "tab"), ('aria-labelledby="tab-island-i-0"', 'aria-labelledby="tab-island-i-1"'),
    ),
    harmless=(
        ("_1a2b3_", "_9z8y7_"), ('class="h2"', 'data-x="1"  class="other"'), ("</tr>", "</tr>\n  "),
        ("$3.99", "&nbsp;$3.99 "), ("<td data-label=\"PRICE/GPU/HR*\">", "<td class='a' data-label='PRICE/GPU/HR*'>"),
        (" hidden", ""), ("island-i", "island-q7"),
    ),
)  # fmt: skip
