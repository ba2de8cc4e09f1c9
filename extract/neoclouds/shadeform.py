"""Shadeform, which resells the machines of other clouds: each machine in each region, with whose it is.

Where: GET https://api.shadeform.ai/v1/instances/types
(https://docs.shadeform.ai/api-reference/instances/instances-types), one JSON answer without pages. The documentation
asks for a key; calls without one were answered in March, August and September 2026, so that a key is sent where
SHADEFORM_API_KEY holds one. Terms: https://shadeform.com/terms-of-service. Settings: `enabled`, `url`. Format read in
August and October 2026.

1. Off unless a deployment says otherwise: the terms of 2026-08-06 are reported to forbid retrieving data
   systematically to make a database of it, and automated systems without permission.
2. `hourly_price` is in whole cents, of the whole machine, and the same in all its regions. The answer names no
   currency; Shadeform bills in US dollars.
3. `cloud` owns the machine: host_provider_name. The same chips are sold by it and by others who resell Shadeform, such
   as Sesterce: never add their stock. Prices lag behind the cloud's own; Crusoe's A100 was 1.65 here and 2.00 there.
4. `shade_instance_type` is Shadeform's name of a machine and several clouds have one of that name;
   `cloud_instance_type`, the cloud's own, is the sku_id. Where one cloud has two machines of one name, it is in
   conditions.
5. What is said of the chips stands in `configuration`, and again beside it: the two must agree.
6. `interconnect` is wrong at times: Crusoe's A100_80G_sxm4x8 has pcie. Where the name says SXM and the field does not,
   the label says neither.
7. An entry of `availability` is one region. Since September 2026 it may have a `rental_type`, and a spot entry an
   `hourly_price` of its own, as a text ("36" beside 3600 cents). Nobody says in which unit, so that spot has no price
   here, but is available or not. The same goes for any other region with a price of its own.
8. The name of a machine begins with its chips and ends in their count (H100_nvlx2_NVLINK; no count: one). A machine
   whose fields say otherwise is left out, for a wrong count makes a price wrong by a whole factor.
9. Machines without GPUs, without a price or without a region are counted and left out.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from extract.base import Context, Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import JSON, base_url, web_source
from extract.neoclouds.offers import CENTS, Row, offer, once, parsed, plain
from extract.web.interface import Response
from warehouse.documents import Document

NAME = "shadeform"
PROVIDER = "Shadeform"
URL = "https://api.shadeform.ai/v1/instances/types"
TERMS_URL = "https://shadeform.com/terms-of-service"
OFF_BECAUSE = (
    "Shadeform's terms of 2026-08-06 are reported to forbid collecting its data in a database without permission; "
    "read https://shadeform.com/terms-of-service and decide"
)
KEY = "SHADEFORM_API_KEY"

DEPLOYMENTS = ("vm", "baremetal", "container")
OPTIONS = {"on_demand": "on_demand", "spot": "spot"}
PRICE = "hourly_price"
TWICE = ("num_gpus", "gpu_type", "interconnect")
CONTRADICTED = "whose name has other chips or another count"
MAX_CONTRADICTED = Decimal("0.1")
"""Part of the machines whose fields may contradict their names, before the fields are taken to have changed."""


class Machine(NamedTuple):
    """What a machine is wherever it stands; `is_ambiguous` where its cloud has another of its name."""

    label: str
    chips: int
    name: str
    cloud: str
    tier: str
    own_name: str
    is_ambiguous: bool


def parse(document: Document) -> Parsed:
    """Return the machines of the answer and where they are; raise LayoutChanged where it is not what it was."""
    machines = Fields(NAME, "answer", content(document)).objects("instance_types")
    rows: list[Row] = []
    availability: list[Row] = []
    ignored: Counter[str] = Counter()
    names = _names(machines)
    for machine in machines:
        machine.only_money(PRICE)
        count = machine.inner("configuration").whole("num_gpus")
        cents = machine.number_or_none(PRICE)
        if machine.text("deployment_type") not in DEPLOYMENTS:
            known = ", ".join(DEPLOYMENTS)
            raise refusal(NAME, f"expected one of {known}", machine.place, machine.text("deployment_type"))
        if not count:
            ignored["without GPUs"] += 1
            continue
        _check_twice(machine)
        if _contradicts(machine, count):
            ignored[CONTRADICTED] += 1
        elif not cents:
            ignored["without a price"] += 1
        elif not machine.inner("configuration").number("vram_per_gpu_in_gb"):
            ignored["without the memory of its chips"] += 1
        elif cents != int(cents):
            raise refusal(NAME, "expected whole cents", f"{machine.place}.{PRICE}", cents)
        else:
            read = _machine(machine, count, is_ambiguous=len(names[_name(machine)]) > 1)
            found, stock, left_out = _regions(machine.objects("availability"), read, cents / CENTS)
            rows += found
            availability += stock
            ignored += left_out
    if ignored[CONTRADICTED] > len(machines) * MAX_CONTRADICTED:
        raise refusal(NAME, CONTRADICTED, "configuration", f"{ignored[CONTRADICTED]} of {len(machines)}")
    rows, repeated = once(rows)
    ignored += Counter({"repeated": repeated})
    return parsed(rows, source=NAME, ignored=ignored, availability=once(availability)[0])


def _name(machine: Fields) -> tuple[str, str]:
    return machine.text("cloud"), machine.text("shade_instance_type")


def _names(machines: list[Fields]) -> dict[tuple[str, str], set[str]]:
    """Return the clouds' own names of the machines that have one name here."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for machine in machines:
        names[_name(machine)].add(machine.text("cloud_instance_type"))
    return names


def _check_twice(machine: Fields) -> None:
    """Raise LayoutChanged where a machine says one thing of its chips beside `configuration` and another in it."""
    inner = machine.inner("configuration")
    inner.only_money()
    for name in TWICE:
        if name in machine and machine.any(name) != inner.any(name):
            message = f"expected {inner.any(name)}, as in configuration"
            raise refusal(NAME, message, f"{machine.place}.{name}", machine.any(name))


def _contradicts(machine: Fields, count: int) -> bool:
    """Return whether a machine's name, such as A100_80G_sxm4x8, has other chips or another count than its fields."""
    name, chip = machine.text("shade_instance_type"), machine.inner("configuration").text("gpu_type")
    counts = re.findall(r"x(\d{1,3})(?=_|$)", name)
    return counts not in ([str(count)], [] if count == 1 else None) or not name.startswith(chip.split("_")[0])


def _machine(machine: Fields, count: int, *, is_ambiguous: bool) -> Machine:
    """Return what a machine is."""
    inner = machine.inner("configuration")
    words = [inner.text("gpu_type"), f"{plain(inner.number('vram_per_gpu_in_gb'))}GB"]
    link = inner.text("interconnect")
    says_sxm = re.search(r"sxm", machine.text("shade_instance_type"), re.IGNORECASE)
    if not says_sxm or "sxm" in link.lower():
        words.append(link)
    return Machine(
        label=" ".join(words),
        chips=count,
        name=machine.text("shade_instance_type"),
        cloud=machine.text("cloud"),
        tier=machine.text("deployment_type"),
        own_name=machine.text("cloud_instance_type"),
        is_ambiguous=is_ambiguous,
    )


def _regions(entries: list[Fields], machine: Machine, price: Decimal) -> tuple[list[Row], list[Row], Counter[str]]:
    """Return a price for each region, whether the machine is available there, and what was left out."""
    rows: list[Row] = []
    availability: list[Row] = []
    ignored: Counter[str] = Counter()
    for entry in entries:
        entry.only_money(PRICE)
        rental = entry.text("rental_type") if "rental_type" in entry else "on_demand"
        if rental not in OPTIONS:
            raise refusal(NAME, f"expected one of {', '.join(OPTIONS)}", f"{entry.place}.rental_type", rental)
        region = entry.text("region")
        availability.append(
            {
                "service_provider_name": PROVIDER,
                "host_provider_name": machine.cloud,
                "instance_type": machine.name,
                "accelerator_label": machine.label,
                "accelerator_count": Decimal(machine.chips),
                "region_id": region,
                "purchase_option": OPTIONS[rental],
                "tier": machine.tier,
                "stock_status": "available" if entry.flag("available") else "unavailable",
            }
        )
        if rental == "spot" or PRICE in entry:
            ignored["a region's own price, of unknown unit"] += 1
            continue
        rows.append(
            offer(
                PROVIDER,
                label=machine.label,
                price=price,
                count=machine.chips,
                instance_type=machine.name,
                option=OPTIONS[rental],
                region_id=region,
                tier=machine.tier,
                host_provider_name=machine.cloud,
                conditions=machine.own_name if machine.is_ambiguous else None,
                sku_id=machine.own_name,
            )
        )
    if not rows and not availability:
        ignored["without a region"] += 1
    return rows, availability, ignored


def pages(ctx: Context, scope: str) -> Iterator[Response]:
    """Yield the one answer, asked for with the key where there is one."""
    key = os.environ.get(KEY)
    headers = {"X-API-KEY": key} if key else {}
    yield ctx.web.get(base_url(ctx, NAME, URL), accept=JSON, headers=headers)


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Shadeform, instance types",
    url=URL,
    terms_url=TERMS_URL,
    parse=parse,
    pages=pages,
    max_age=timedelta(days=1),
    off_because=OFF_BECAUSE,
    credentials=f"none, or `{KEY}`",
)
