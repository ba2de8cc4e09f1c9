"""Voltage Park's locations with bare-metal machines."""

from extract.neoclouds.voltagepark import SOURCE
from neoclouds.case import Case

CASE = Case(
    source=SOURCE,
    fixture="voltagepark.json",
    origin=(
        "The first location is the one of August 2026 (getcomputable/gpu-index, voltagepark/locations.json), but for "
        "16 free chips where there were none; the second is invented, to have two"
    ),
    samples={
        "data/neocloud_samples/voltagepark/bare_metal_locations_2026.json": [
            {"accelerator_label": "h100-sxm5-80gb", "accelerator_count": "1", "minimum_quantity": "8",
             "capacity_unit": "GPU", "purchase_option": "on_demand", "fabric": fabric, "unit_price": price,
             "region_id": "a3111bd4-550a-47d0-838a-0a52bff2ae3f", "tier": "bare metal"}
            for fabric, price in [("Ethernet", "1.99"), ("InfiniBand", "2.49")]
        ]
    },
    renamed=(
        "results", "gpu_price_ethernet", "gpu_price_infiniband", "gpu_count_ethernet", "gpu_count_infiniband",
        "specs_per_node", "gpu_model", "total_result_count", "has_next", "has_previous",
    ),
    inserted=(
        ('"id":', '"z_id":'),
        ('"gpu_count":', '"z_gpu_count":'),
        ('"gpu_count_ethernet"', '"gpu_price_spot": "0.99", "gpu_count_ethernet"'),
        ('"gpu_model"', '"node_price": "15.92", "gpu_model"'),
        ('"1.99"', "1.99"),
        ('"1.99"', '"0"'),
        ('"1.99"', '"$1.99"'),
        ('"1.99"', "null"),
        ('"total_result_count": 2', '"total_result_count": 3'),
        ('"has_next": false', '"has_next": true'),
    ),
    swapped=(
        ('"gpu_price_ethernet"', '"gpu_count_ethernet"'), ('"gpu_model"', '"cpu_model"'), ('"gpu_count"', '"ram_gb"'),
    ),
    harmless=(
        ('"ram_gb"', '"gpu_generation": "Hopper", "ram_gb"'),
        ("\n  ", "\n\t"),
        ('"reserved_gpu_count_infiniband_cluster_one": null', '"reserved_gpu_count_infiniband_cluster_one": 8'),
    ),
)  # fmt: skip
