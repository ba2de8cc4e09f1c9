"""Hot Aisle's pricing page."""

from extract.neoclouds.hotaisle import SOURCE
from neoclouds.case import Case

VM = {"purchase_option": "on_demand", "tier": "VM", "unit_price": "2.99", "accelerator_label": "MI300x"}
ROWS = [
    {"purchase_option": "on_demand", "restriction": "grandfathered", "unit_price": "1.99", "tier": None,
     "accelerator_label": "MI300X", "minimum_quantity": None},
    VM | {"minimum_quantity": "1"},
    VM | {"minimum_quantity": "2"},
    VM | {"minimum_quantity": "4"},
    {"purchase_option": "reserved", "tier": "bare metal", "commitment_term_hours": 730, "unit_price": "3.39",
     "accelerator_label": "MI300x", "minimum_quantity": "8"},
]  # fmt: skip

CASE = Case(
    source=SOURCE,
    fixture="hotaisle.html",
    origin="the page of 2026-08-22, as kept by getcomputable/gpu-index (Apache-2.0); the footer is made up",
    samples={
        "data/neocloud_samples/hotaisle/pricing_2026-08.html": [
            {"restriction": None} | row | {"accelerator_count": "1", "capacity_unit": "GPU", "pricing_currency": "USD"}
            for row in ROWS
        ]
    },
    renamed=(
        "Virtual machines", "8x bare metal", "New customer rate", "One-month minimum", ">VM<", ">Bare metal<",
        "/GPU/hr", "grandfathered", "one-month minimum", "h2",
    ),
    inserted=(
        ('<p class="mb-3">$2.99/GPU/hr</p>', '<p class="mb-3">$2.99/GPU/hr</p><p>$2.59/GPU/hr yearly</p>'),
        ('<p class="mb-3">$2.99/GPU/hr</p>', '<p>from</p><p class="mb-3">$2.99/GPU/hr</p>'),
        ("<span>1x</span>", "<span>1x</span><span>1 year</span>"),
        ("<h2>Compute</h2>", "<h2>Compute</h2><p>$2.99/GPU/hr</p>"),
    ),
    swapped=(("Virtual machines", "8x bare metal"), (">VM<", ">Bare metal<"), ("1x</span>", "8x</span>")),
    harmless=(
        ("</div>", "</div>\n  "),
        ('class="uppercase"', 'class="lowercase"'),
        ("Ideal for experimentation", "Good for learning"),
        ("<!-- -->", ""),
        ('<a href="/mi355x">', '<a data-x="1" href="/mi355x">'),
    ),
)  # fmt: skip
