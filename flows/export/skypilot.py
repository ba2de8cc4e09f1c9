"""Current prices as SkyPilot's catalogues: `<cloud>/vms.csv` in the columns of its schema v8.

SkyPilot reads a catalogue's price as today's and has no place for an age, so that only prices that are current
go in, of Linux machines at list price in US dollars: on demand as `Price`, spot as `SpotPrice`. A row is one type in
one zone, or in a region where no zone is known. Its reader sets the rest
(https://github.com/skypilot-org/skypilot/blob/master/sky/catalog/common.py, read 2026-11-21):

1. All zones of a region have one `Price`; a second price of the same machine makes it ambiguous, and leaves it out.
2. Each type has one number of vCPUs and one of memory in all its rows, and none is as good as two, so that a type with
   unknown ones may have one row only.
3. Zones of AWS are the ids that are the same for every account (use1-az1), which it translates itself. It reads Google
   Cloud's machines by zone only, which no price of ours has. Where there are no zones there is no column of them.
4. `GpuInfo` is read as a Python literal, whose memory is that of one chip.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from flows.export.exporting import Written
from flows.export.machines import PRICES, refusal, write
from flows.shared import tabular
from flows.shared.output import as_json
from flows.shared.query import columns, rows
from warehouse.reference.cloud_machines import machines
from warehouse.reference.instance_types import machine_facts

_OURS = "AWS, Azure, DigitalOcean, Google Cloud, Lambda, Nebius, Oracle Cloud, RunPod, Vast.ai, Verda"
_THEIRS = {"DigitalOcean": "do", "Google Cloud": "gcp", "Oracle Cloud": "oci", "Vast.ai": "vast"}
CLOUDS = {name: _THEIRS.get(name, name.lower()) for name in columns(_OURS)}
"""Our providers that SkyPilot has a catalogue of, and its name for them."""

_SAME = """
A100-80GB, A10G, A6000, B200, B300, H100, H200, Inferentia2, K80, L4, L40S, M60, MI300X, MI325X, T4, Trainium2, V100
"""
CHIPS = {
    "A100-40GB": "A100",
    "Gaudi1": "Gaudi HL-205",
    "Inferentia1": "Inferentia",
    "Trainium1": "Trainium",
    "RTX-PRO-6000": "RTXPRO6000",
    "RTX-6000-Ada": "RTX6000-Ada",
    "RTX-4000-Ada": "RTX4000-Ada",
    "T4G": "T4g",
    "Radeon-Pro-V520": "Radeon Pro V520",
    **{name: name for name in columns(_SAME)},
}
"""SkyPilot's names of chips by ours; what has none is left out."""

ZONES = """
select distinct region_id, instance_type, availability_zone_id
from core.instance_zone
where availability_zone_id is not null
qualify observed_at = max(observed_at) over (partition by region_id, instance_type)
order by all
"""


class Machine(NamedTuple):
    """One row of a catalogue; its fields are SkyPilot's columns. None: unknown, an empty cell."""

    InstanceType: str
    AcceleratorName: str
    AcceleratorCount: Decimal
    vCPUs: float | None  # noqa: N815 - SkyPilot's column
    MemoryGiB: float | None
    GpuInfo: str | None
    Price: Decimal | None
    SpotPrice: Decimal | None
    Region: str
    AvailabilityZone: str | None


Catalogue = tuple[list[Machine], dict[str, int]]
"""The rows of a cloud, and how many types or prices were left out, by the reason."""

Price = Mapping[str, Any]
Place = tuple[str, str]
"""Type and region."""


def export(file: Path, folder: Path, *, force: bool = False) -> list[Written]:
    """Write one catalogue per cloud, `<cloud>/vms.csv`, for SkyPilot. Raises ChipledgerError without current prices."""
    with duckdb.connect(str(file), read_only=True) as con:
        made = catalogues(con)
    texts: dict[tuple[str, ...], list[str]] = {}
    for cloud, (found, _) in made.items():
        n_columns = len(Machine._fields) - (cloud != "aws")
        text = io.StringIO()
        if tabular.write_csv(Machine._fields[:n_columns], (one[:n_columns] for one in found), text):
            texts[cloud, "vms.csv"] = text.getvalue().splitlines(keepends=True)
    left_out = {f"{cloud}, {why}": n for cloud, (_, reasons) in made.items() for why, n in reasons.items()}
    return write(folder, texts, left_out, force=force)


def catalogues(con: duckdb.DuckDBPyConnection) -> dict[str, Catalogue]:
    """Return the catalogue of each cloud that has prices."""
    by_provider: dict[str, list[Price]] = defaultdict(list)
    for price in rows(con, PRICES):
        by_provider[price["service_provider_name"]].append(price)
    zones: dict[Place, set[str]] = defaultdict(set)
    for region, instance_type, zone in con.execute(ZONES).fetchall():
        zones[instance_type, region].add(zone)
    return {
        cloud: catalogue(by_provider[provider], zones if cloud == "aws" else {}, hosts(provider))
        for provider, cloud in CLOUDS.items()
    }


def hosts(provider: str) -> dict[str, dict[str, float]]:
    """Return vCPUs and memory in GiB of each type of a provider, as far as they are known."""
    facts: dict[str, dict[str, float]] = defaultdict(dict)
    for machine in machines(provider).values():
        facts[machine.instance_type] = {
            "vcpus": float(machine.vcpus),
            "host_memory_gib": float(machine.host_memory_gib),
        }
    for fact in machine_facts():
        facts[fact.machine][fact.fact] = float(fact.value)
    return facts


def catalogue(
    prices: Sequence[Price], zones: Mapping[Place, set[str]], hosts: Mapping[str, Mapping[str, float]]
) -> Catalogue:
    """Return the rows of one cloud, sorted, and what was left out of them."""
    left_out: Counter[str] = Counter()
    usable: dict[str, dict[tuple[str, str | None, str], list[Price]]] = defaultdict(lambda: defaultdict(list))
    for price in prices:
        if reason := _refusal(price):
            left_out[reason] += 1
            continue
        key = (price["region_id"], price["availability_zone_id"], price["purchase_option"])
        usable[price["instance_type"]][key].append(price)
    machines: list[Machine] = []
    for instance_type, by_key in usable.items():
        if any(len(same) > 1 for same in by_key.values()):
            left_out["several prices of one machine"] += 1
            continue
        places = _rows(
            instance_type, {key: same[0] for key, same in by_key.items()}, zones, hosts.get(instance_type, {})
        )
        if len({(row.AcceleratorName, row.AcceleratorCount, row.GpuInfo) for row in places}) > 1:
            left_out["several machines of one name"] += 1
        elif len(places) > 1 and None in (places[0].vCPUs, places[0].MemoryGiB):
            left_out["vCPUs or memory unknown"] += 1
        else:
            machines += places
    return sorted(machines, key=lambda row: (row[0], row.Region, row.AvailabilityZone or "")), dict(left_out)


def _refusal(price: Price) -> str | None:
    if reason := refusal(price):
        return reason
    if price.get("service_provider_name") == "Google Cloud":
        return "zone unknown"
    if price["accelerator_name"] is None or price["accelerator_count"] is None:
        return "chip unknown"
    return None if price["accelerator_name"] in CHIPS else "chip without a name of SkyPilot's"


def _rows(
    instance_type: str,
    prices: Mapping[tuple[str, str | None, str], Price],
    zones: Mapping[Place, set[str]],
    host: Mapping[str, float],
) -> list[Machine]:
    found = []
    for region in dict.fromkeys(key[0] for key in prices):
        stated = {key[1] for key in prices if key[0] == region and key[1] is not None}
        everywhere: list[str | None] = [*sorted(stated | zones.get((instance_type, region), set()))] or [None]
        for zone in everywhere:
            on_demand = prices.get((region, zone, "on_demand")) or prices.get((region, None, "on_demand"))
            spot = prices.get((region, zone, "spot"))
            of = on_demand or spot
            if of is None:
                continue
            name = _chip(of)
            found.append(
                Machine(
                    InstanceType=instance_type,
                    AcceleratorName=name,
                    AcceleratorCount=of["accelerator_count"],
                    vCPUs=host.get("vcpus"),
                    MemoryGiB=host.get("host_memory_gib"),
                    GpuInfo=_info(of, name),
                    Price=on_demand["unit_price"] if on_demand else None,
                    SpotPrice=spot["unit_price"] if spot else None,
                    Region=region,
                    AvailabilityZone=zone,
                )
            )
    return found


def _chip(price: Price) -> str:
    """Return SkyPilot's name of a machine's chip; a V100 of 32 GB has its own."""
    if price["accelerator_name"] == "V100" and price["accelerator_memory_gib"] == 32:
        return "V100-32GB"
    return CHIPS[price["accelerator_name"]]


def _info(price: Price, name: str) -> str | None:
    if price["accelerator_memory_gib"] is None:
        return None
    mib = int(price["accelerator_memory_gib"] * 1024)
    chip = {
        "Name": name,
        "Manufacturer": price["accelerator_vendor"] or "",
        "Count": float(price["accelerator_count"]),
        "MemoryInfo": {"SizeInMiB": mib},
    }
    return as_json({"Gpus": [chip], "TotalGpuMemoryInMiB": int(mib * max(price["accelerator_count"], 1))})
