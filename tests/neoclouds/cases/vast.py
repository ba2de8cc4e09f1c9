"""Vast.ai's offers."""

from extract.neoclouds.vast import SOURCE
from neoclouds.case import Case

JULY = [
    # chip, tier, country, then p25 and median on demand and as spot, from the largest offer of each machine
    ("H100 NVL 94GB", "verified", "US", "2.4", "2.6666666667", "1.2133333333", "1.2266666667"),
    ("H100 SXM 80GB", "verified", "TW", "2.1240835209", "2.2466666667", "1.29", "1.3333333333"),
    ("H100 SXM 80GB", "verified", "US", "1.7333333333", "2.9333333333", "1.7333333333", "1.7333333333"),
    ("H100 SXM 80GB", "verified datacenter", "NL", "2.2", "2.2", "1.0666666667", "1.0666666667"),
]
"""Of 2026-07-18: 17 of 48 offers are verified machines, by hand (three of them the only one of their country)."""

CASE = Case(
    source=SOURCE,
    fixture="vast.json",
    origin="prices and bids of H100 of 2026-07-18 as kept by markrusch/Compute-Index, on machines made up here",
    samples={
        "data/neocloud_samples/vast/bundles_2026-07-18.json": [
            {
                "accelerator_label": label, "tier": tier, "region_id": country, "purchase_option": option,
                "statistic": statistic, "unit_price": price, "accelerator_count": "1", "capacity_unit": "GPU",
                "conditions": "verified, one price a machine, without disk", "pricing_currency": "USD",
            }
            for label, tier, country, *prices in JULY
            for (option, statistic), price in zip(
                [(option, statistic) for option in ("on_demand", "spot") for statistic in ("p25", "median")],
                prices, strict=True,
            )
        ]
    },
    renamed=(
        "offers", '"id', "machine_id", "gpu_name", "num_gpus", "gpu_ram", "gpu_total_ram", "dph_base", "dph_total",
        "storage_total_cost", "min_bid", "verification", "hosting_type", "rentable", "rented", "is_bid", "external",
        "bundled_results", "geolocation", '"verified',
    ),
    inserted=(
        ('"dph_base"', '"dph_min": 0.1, "dph_base"'), ('"min_bid"', '"price": 0.1, "min_bid"'),
        ('"hosting_type": 1', '"hosting_type": 2'), ("unverified", "trusted"), ('"id": 9002', '"id": 9001'),
        ('"storage_total_cost": 0.00', '"storage_total_cost": 0.10'), ('"gpu_total_ram": ', '"gpu_total_ram": 1'),
        ('"is_bid": false', '"is_bid": true'), ('"num_gpus": 2', '"num_gpus": "2"'),
        ('{"offers"', '{"success": false, "offers"'), ('"min_bid": 1', '"min_bid": -1'),
        ('"bundled_results": null', '"bundled_results": [1]'),
    ),
    swapped=(
        ('"dph_base"', '"dph_total"'), ('"num_gpus"', '"gpu_ram"'), ('"gpu_ram"', '"gpu_total_ram"'),
        ('"dph_base"', '"storage_total_cost"'),
    ),
    harmless=(
        ('"reliability2"', '"dlperf": 300.5, "score"'), (', "', ',\n  "'), ('{"offers"', '{"success": true, "offers"'),
        ('"geolocation": "Taiwan, TW, AS"', '"geolocation": ", TW"'), ("2.2466666666666666", "2.24666666666666660"),
        ('"host_id": null', '"host_id": 7'),
    ),
)  # fmt: skip
