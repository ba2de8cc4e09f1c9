"""Hyperbolic's rental options."""

from extract.neoclouds.hyperbolic import SOURCE
from neoclouds.case import Case

NORMAL, ROCE, INFINIBAND = "ethernet", "ethernet rocev2", "infiniband"
VM, METAL = "virtual-machine", "bare-metal"

CASE = Case(
    source=SOURCE,
    fixture="hyperbolic.json",
    origin=(
        "Prices and options of August 2026 (getcomputable/gpu-index, hyperbolic/rental_options.json); invented are the "
        "second option in us-east-1, the price of the RTX 6000 PRO, the disabled option and the one of 16 chips"
    ),
    samples={
        "data/neocloud_samples/hyperbolic/rental_options_2026.json": [
            {"accelerator_label": label, "accelerator_count": count, "unit_price": price, "region_id": region,
             "purchase_option": "on_demand", "tier": tier, "fabric": fabric, "conditions": cores,
             "capacity_unit": "GPU" if count == "1" else "instance"}
            for label, count, price, region, tier, fabric, cores in [
                ("h100 sxm5", "1", "3.19", "us-east-1", VM, NORMAL, "20 vCPU"),
                ("h200 sxm5", "1", "3.99", "us-east-2", VM, NORMAL, "24 vCPU"),
                ("h100 sxm5", "1", "4.85", "ca-east-3", VM, NORMAL, "20 vCPU"),
                ("h200 sxm5", "1", "4.92", "us-east-1", VM, NORMAL, "24 vCPU"),
                ("h100 sxm5", "1", "3.58", "eu-north-6", VM, NORMAL, "30 vCPU"),
                ("h100 sxm5", "1", "3.58", "eu-north-7", VM, NORMAL, "32 vCPU"),
                ("h100 pcie", "1", "2.75", "ca-east-1", VM, NORMAL, "28 vCPU"),
                ("h100 sxm5", "8", "25.52", "uk-southeast-3", METAL, INFINIBAND, "96 CPU"),
                ("h100 sxm5", "8", "25.52", "eu-west-3", METAL, INFINIBAND, "96 CPU"),
                ("h100 sxm5", "8", "25.52", "eu-west-4", METAL, INFINIBAND, "96 CPU"),
                ("h100 sxm5", "8", "25.52", "eu-north-4", VM, ROCE, "160 vCPU"),
                ("h200 sxm5", "8", "31.92", "eu-north-5", VM, NORMAL, "160 vCPU"),
                ("h100 sxm5", "8", "25.52", "jp-east-1", VM, NORMAL, "160 vCPU"),
            ]
        ]
    },
    renamed=(
        "enabled", "costPerHourCents", "gpuType", "connectionType", "machineType", "gpuFormFactor", "vcpuCount",
        "ethernetVariant",
    ),
    inserted=(
        ('"region":', '"z_region":'),
        ('"gpuCount":', '"z_gpuCount":'),
        ('"nodes":', '"z_nodes":'),
        ('"virtual-machine"', '"container"'),
        ('"ethernet"', '"ethernet 2"'),
        ('"rocev2"', '"rocev3"'),
        ('"region"', '"reservedCostPerHourCents": 199, "region"'),
        ('"vcpuCount"', '"storageFee": 1, "vcpuCount"'),
        ('"costPerHourCents": 319,', '"costPerHourCents": "319",'),
        ('"costPerHourCents": 319', '"costPerHourCents": -319'),
        ('"enabled": true', '"enabled": "true"'),
        ('"gpuFormFactor": "pcie", ', ""),
        ('"connectionType": "infiniband"', '"connectionType": "infiniband", "ethernetVariant": "normal"'),
    ),
    swapped=(('"gpuType"', '"gpuCount"'), ('"connectionType"', '"machineType"')),
    harmless=(
        ('"region"', '"providerCostPerHourCents": 111, "region"'),
        ('"cpuModel"', '"driver": "580", "cpuModel"'),
        (" {", "\n\t{"),
    ),
)  # fmt: skip
