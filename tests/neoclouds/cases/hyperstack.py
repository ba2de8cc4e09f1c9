"""Hyperstack's page: three cards of GPUs with other columns each, and cards of the same markup behind them."""

from extract.neoclouds import hyperstack
from neoclouds.case import Case

ON_DEMAND = {
    "NVIDIA H200 SXM 141GB": "3.99",
    "NVIDIA H100 SXM 80GB": "3.2",
    "NVIDIA H100 NVLink 80GB": "2.6",
    "NVIDIA H100 80GB": "2.5",
    "NVIDIA RTX Pro 6000 SE 96GB": "1.85",
    "NVIDIA A100 SXM 80GB": "1.6",
    "NVIDIA A100 NVLink 80GB": "1.4",
    "NVIDIA A100 80GB": "1.35",
    "NVIDIA L40 48GB": "1",
    "NVIDIA A6000 48GB": "0.5",
    "NVIDIA A4000 16GB": "0.15",
    "NVIDIA B200 192GB": "6",
    "NVIDIA B300 288GB": "7.4",
}
RESERVED = {
    "NVIDIA H200 SXM": "2.79",
    "NVIDIA H100 SXM": "2.72",
    "NVIDIA H100 NVLink": "1.82",
    "NVIDIA H100": "1.75",
    "NVIDIA A100 SXM": "1.36",
    "NVIDIA RTX Pro 6000 SE": "1.3",
    "NVIDIA A100 NVLink": "0.98",
    "NVIDIA A100": "0.95",
    "NVIDIA L40": "0.7",
    "NVIDIA A6000": "0.35",
    "NVIDIA A4000": "0.11",
}
EACH = {"accelerator_count": "1", "capacity_unit": "GPU", "region_id": None, "commitment_term_hours": None}

CASE = Case(
    source=hyperstack.SOURCE,
    fixture="hyperstack.html",
    origin=(
        "Figures of https://www.hyperstack.cloud/gpu-pricing as captured in October 2026 in the test fixtures of "
        "ewyluda/gpu-price-index (commit eb72cc6), read on 2026-11-21"
    ),
    samples={
        "data/neocloud_samples/hyperstack/gpu-pricing_2026-10.html": [
            *(
                EACH
                | {"accelerator_label": label, "unit_price": price, "purchase_option": "on_demand"}
                | {"statistic": "price", "tier": None}
                for label, price in ON_DEMAND.items()
            ),
            *(
                EACH
                | {"accelerator_label": label, "unit_price": price, "purchase_option": "reserved"}
                | {"statistic": "floor", "tier": "Reservation"}
                for label, price in RESERVED.items()
            ),
        ]
    },
    renamed=(
        "On-Demand GPU",
        "<span>Reservation</span> Pricing",
        "<span>Spot VM</span> Pricing",
        "GPU Model",
        "VRAM (GB)",
        "Max pCPUs per GPU",
        "Max RAM (GB) per GPU",
        "<span>Pricing Per Hour</span>",
        "Starting from",
        "<span>Reserve</span>",
        "<span>Spot VM</span></div>",
    ),
    inserted=(
        (
            '<div class="page-price_card_head_item page-price_card_head_item5"><span>Pricing Per Hour</span></div>',
            "<div><span>Pricing Per Month</span></div><div><span>Pricing Per Hour</span></div>",
        ),
        ("<span>$3.20</span>\n                  </div>", "<span>$3.20</span></div><div><span>$2.72</span></div>"),
        ("<span>Model</span>", "<span>GPU Model</span>"),
        ("Reserve here", "Reserve here at $100"),
    ),
    swapped=(
        ("<span>On-Demand GPU</span>", "<span>Reservation</span>"),
        ("<span>On-Demand GPU</span>", "<span>On-Demand CPU</span>"),
        ("<span>Spot VM</span> Pricing", "<span>Storage</span> Pricing"),
        ("<span>VRAM (GB)</span>", "<span>Pricing Per Hour</span>"),
        ("<span>VRAM (GB)</span>", "<span>Max RAM (GB) per GPU</span>"),
        ("<span>240</span>", "<span>$3.20</span>"),
        ("row_item_col2", "row_item_col4"),
    ),
    harmless=(
        ("page-price_card_row_item_col", "c17"),
        ("page-price_card_head_item", "c18"),
        ("\n", "\n\n   "),
        ("$3.20", "&nbsp;$3.20 "),
        ("<span>Storage</span> Pricing", "<span>Other</span> Pricing"),
        (
            "<h2>Frequently",
            '<div class="page-price_card_row_item df"></div><h3>Bare metal</h3><p>$1.00</p><h2>Frequently',
        ),
    ),
)
