"""Vultr's plans on two pages, and its bare metal on one."""

import json
from urllib.parse import parse_qs, urlsplit

from extract.neoclouds.answers import PAGES
from extract.neoclouds.vultr import SOURCE
from neoclouds.case import Answer, Case


def answers(path: str) -> Answer:
    """Return the page of the fixture that an address asks for, as the API would give it."""
    first, second, metal = json.loads(CASE.body)[PAGES]
    asked = urlsplit(path)
    if asked.path.endswith("/plans-metal"):
        return json.dumps(metal).encode()
    cursor = parse_qs(asked.query).get("cursor", [""])[0]
    return json.dumps({"": first, first["meta"]["links"]["next"]: second}[cursor]).encode()


def _row(machine: str, label: str, count: str, option: str, price: str, tier: str | None = None) -> dict[str, object]:
    return {"instance_type": machine, "accelerator_label": label, "accelerator_count": count, "region_id": None,
            "capacity_unit": "instance", "purchase_option": option, "unit_price": price, "tier": tier}  # fmt: skip


CASE = Case(
    source=SOURCE,
    fixture="vultr.json",
    origin=(
        "Plans and costs of dstackai/gpuhunt's test payloads (A100, H100, MI300X) and of an answer of 2026-09-17 that "
        "a public test quotes (B200); hourly costs of A16, L40S and bare-metal L40S as public collectors have them. "
        "Invented are other monthly costs, the preemptible A100, its cost in sao, and the four L40S"
    ),
    samples={
        "data/neocloud_samples/vultr/plans.json": [
            _row("vcg-a100-1c-6g-4vram", "NVIDIA_A100 4 GB", "1", "on_demand", "0.123"),
            _row("vcg-a100-12c-120g-80vram", "NVIDIA_A100 80 GB", "1", "on_demand", "2.397"),
            _row("vcg-a100-6c-60g-40vram", "NVIDIA_A100 40 GB", "1", "on_demand", "1.397"),
        ],
        "data/neocloud_samples/vultr/plans_metal.json": [
            _row("vbm-256c-2048gb-8-mi300x-gpu", "mi300x", "8", "on_demand", "17.52", "bare metal"),
            _row("vbm-256c-2048gb-8-mi300x-gpu", "mi300x", "8", "spot", "14.72", "bare metal"),
            _row("vbm-112c-2048gb-8-h100-gpu", "h100", "8", "on_demand", "23.92", "bare metal"),
            _row("vbm-112c-2048gb-8-h100-gpu", "h100", "8", "spot", "18.4", "bare metal"),
        ],
    },
    renamed=(
        "plans_metal", "hourly_cost", "gpu_type", "gpu_vram_gb", "deploy_ondemand", "deploy_preemptible",
        "locations",
    ),
    inserted=(
        ('"plans":', '"z_plans":'),
        ('"id":', '"z_id":'),
        ('"total":', '"z_total":'),
        ('"links":', '"z_links":'),
        ('"next":', '"z_next":'),
        ('"invoice_type": "hourly"', '"invoice_type": "yearly"'),
        ('"1/8"', '"8/1"'),
        ('"1/8"', '"an eighth"'),
        ('"hourly_cost":', '"cost":'),
        ('"monthly_cost"', '"yearly_cost": 9000, "monthly_cost"'),
        ('"hourly_cost": 2.876', '"spot_price": 1, "hourly_cost": 2.876'),
        ('"hourly_cost": 2.397', '"hourly_cost": "2.397"'),
        ('"hourly_cost": 2.397', '"hourly_cost": 1750'),
        ('"hourly_cost": 23.92', '"hourly_cost": 2.99'),
        ('"hourly_cost_preemptible": 18.4', '"hourly_cost_preemptible": 28.4'),
        ('"gpu_count": 8', '"gpu_count": 4'),
        ('"gpu_count": 8', '"gpu_count": 8.5'),
        ('"total": 7', '"total": 8'),
        ('"deploy_ondemand": false', '"deploy_ondemand": 0'),
    ),
    swapped=(
        ('"hourly_cost"', '"hourly_cost_preemptible"'), ('"hourly_cost"', '"monthly_cost"'),
        ('"gpu_type"', '"gpu_count"'), ('"gpu_vram_gb"', '"gpu_type"'),
    ),
    harmless=(
        ('"disk_count"', '"storage_type": "local_storage", "disk_count"'),
        ("\n  ", "\n\t"),
        ('"type": "vcg"', '"type": "vdm"'),
        ('"location_cost": {}', '"location_cost": []'),
        ('"locations": ["atl"]', '"locations": []'),
    ),
    answers=answers,
)  # fmt: skip
