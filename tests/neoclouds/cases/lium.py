"""Lium's public feed of nodes."""

from extract.neoclouds.lium import SOURCE
from neoclouds.case import Case

CASE = Case(
    source=SOURCE,
    fixture="lium.json",
    origin="the first four nodes of 2026-09-10 as recorded in dstackai/gpuhunt's tests (MPL-2.0); the others have the "
    "least, usual and highest prices that https://lium.io/pricing.json said on 2026-10-05, on machines made up here",
    renamed=(
        '"nodes"', '"count"', '"id"', '"gpu_model"', '"gpu_count"', '"available_gpu_count"', '"price_per_gpu_hour"',
        '"price_per_node_hour"', '"min_rentable_gpu_count"', '"gpu_memory_gb"', '"tier"', '"country_code"', "secure",
        "spot",
    ),
    inserted=(
        ('"price_per_gpu_hour"', '"spot_price_per_gpu_hour": 0.1, "price_per_gpu_hour"'),
        ('"price_per_gpu_hour"', '"discount": 0.1, "price_per_gpu_hour"'),
        ('"count": 11', '"count": 12'), ("31.92", "3.99"), ('"available_gpu_count": 5', '"available_gpu_count": 9'),
        ('"price_per_gpu_hour": 3.99', '"price_per_gpu_hour": "3.99"'), ('"US"', '"USA"'), ("3.99", "-3.99"),
        ("00000003-875a", "00000002-875a"),
    ),
    swapped=(('"price_per_gpu_hour"', '"price_per_node_hour"'), ('"gpu_count"', '"gpu_memory_gb"')),
    harmless=(
        ('"city"', '"score": 1, "town"'), ('"rent_url"', '"network_download_mbps": 900, "rent_url"'), (", ", ",\n  "),
        ('"generated_at"', '"made_at"'), ("3.99", "3.9900"), ("31.92", "31.9201"), ("Jackson", "Fe\\u00e9"),
    ),
)  # fmt: skip
