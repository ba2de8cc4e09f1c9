"""Massed Compute's price page: its data, as React brings it along."""

from extract.neoclouds.massedcompute import SOURCE, TIMES
from neoclouds.case import Case

AUGUST = [
    ("B300 SXM6", 8, "52.8"),
    ("B200 SXM6", 8, "43.46"),
    ("RTX PRO 6000 Blackwell (96GB)", 1, "2.19"),
    ("H200 NVL (141GB)", 1, "3.62"),
    ("H200 NVL (141GB) NVLink", 4, "15.28"),
    ("RTX PRO 4500 Blackwell (32GB)", 1, "0.92"),
    ("H100 (80GB)", 1, "2.73"),
]

CASE = Case(
    source=SOURCE,
    fixture="massedcompute.html",
    origin="https://vm.massedcompute.com/pricing in August 2026, as kept by getcomputable/gpu-index (Apache-2.0)",
    samples={
        "data/neocloud_samples/massedcompute/pricing_rsc_2026-08.html": [
            {
                "accelerator_label": label, "instance_type": f"{label} x {count}", "accelerator_count": str(count),
                "unit_price": price, "purchase_option": "on_demand", "capacity_unit": "instance",
            }
            for label, count, price in AUGUST
        ]
    },
    renamed=("__next_f.push", "$$52.80", "/hr", "$$23.36", "Request", TIMES, '\\"8\\"', "7d:", '\\"children\\"'),
    inserted=(
        ('[\\"$$52.80\\"', '[\\"$$60.00\\",\\"$$52.80\\"'), ('\\"280\\"', '\\"$$280\\"'), ('"/hr', '"/mo'),
        ("Request", "Request or $$30.00"), ("/hr", "/hr*"), ("7e:", "7d:"), ("$$2.73", "$$0.00"),
        ("H100 (80GB)-x 1-0", "H100 NVL (94GB) NVLink-x 2-0"), ("H100 (80GB)-x 1-0", "H100 (80GB)-x 2-0"),
    ),
    swapped=(("$$2.73", "Request"), ("H100 (80GB)-x 1-0", "B300 SXM6-x 8-0")),
    harmless=(
        ("className", "class"), ("font-bold", "font-thin"), ("Deploy", "Launch"), ('"$L7', '"$7'),
        ("<p>$52.80/hr</p>", "<p>$1.00/hr</p>"),
        ('\\"children\\":\\"/hr\\"', '\\"id\\":\\"a\\",\\"children\\":\\" /hr \\"'),
    ),
)  # fmt: skip
