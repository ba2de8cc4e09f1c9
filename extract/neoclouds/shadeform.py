"""Shadeform, which resells the machines of other clouds: each machine in each region, with whose it is.

Where: GET https://api.shadeform.ai/v1/instances/types
(https://docs.shadeform.ai/api-reference/instances/instances-types), one JSON answer without pages. The documentation
asks for a key; calls without one were answered in March, August and September 2026, so that a key is sent where
SHADEFORM_API_KEY holds one. Format read in August and October 2026.

1. `hourly_price` is in whole cents, of the whole machine, and the same in all its regions. The answer names no
   currency; Shadeform bills in US dollars.
2. `cloud` owns the machine: host_provider_name. The same chips are sold by it and by others who resell Shadeform, such
   as Sesterce: never add their stock. Prices lag behind the cloud's own; Crusoe's A100 was 1.65 here and 2.00 there.
3. `shade_instance_type` is Shadeform's name of a machine and several clouds have one of that name;
   `cloud_instance_type`, the cloud's own, is the sku_id. Where one cloud has two machines of one name, it is in
   conditions.
4. The chips are in `configuration`, and again outside of it: the two must agree.
5. `interconnect` is wrong at times: Crusoe's A100_80G_sxm4x8 has pcie. Where the name says SXM and the field does not,
   the label says neither.
6. An entry of `availability` is one region. Since September 2026 it may have a `rental_type`, and a spot entry an
   `hourly_price` of its own, as a text ("36" beside 3600 cents). Nobody says in which unit, so that spot has no price
   here, but is available or not. The same goes for any other region with a price of its own.
7. The name of a machine begins with its chips and ends in their count (H100_nvlx2_NVLINK; no count: one). A machine
   whose fields say otherwise is left out, for a wrong count makes a price wrong by a whole factor.
8. Machines without GPUs, without a price or without a region are counted and left out.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from extract.base import Context
from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import JSON, key_checked, web_source
from extract.neoclouds.offers import CENTS, Found, Strange, each, offer, plain, stock
from extract.web.interface import Response
from warehouse.documents import Document

KEY = "SHADEFORM_API_KEY"
PRICE = "hourly_price"
NAME = ("cloud", "shade_instance_type")
CONTRADICTED = Strange("whose name has other chips or another count")
MAX_CONTRADICTED = Decimal("0.1")
"""Part of the machines whose fields may contradict their names, before the fields are taken to have changed."""


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the one answer, with the key where there is one."""
    key = os.environ.get(KEY)
    with key_checked(KEY):
        yield ctx.web.get(url, accept=JSON, headers={"X-API-KEY": key} if key else {})


def read(document: Document) -> Iterator[Found]:
    """Yield the machines of the answer and where they are."""
    machines = answer(document).objects("instance_types")
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for machine in machines:
        if all(map(machine.has, (*NAME, "cloud_instance_type"))):
            names[_name(machine)].add(machine.text("cloud_instance_type"))

    def read_machine(machine: Fields) -> Iterator[Found]:
        machine.only_money(PRICE)
        machine.one_of("deployment_type", ("vm", "baremetal", "container"))
        inner, cents = machine.inner("configuration"), machine.number_or_none(PRICE)
        count = inner.whole("num_gpus")
        if not count:
            yield "without GPUs"
            return
        inner.only_money()
        for name in ("num_gpus", "gpu_type", "interconnect"):
            if name in machine and machine.any(name) != inner.any(name):
                raise machine.wrong(name, f"expected {inner.any(name)}, as in configuration")
        if _contradicts(machine, count):
            yield CONTRADICTED
        elif not cents:
            yield "without a price"
        elif not inner.number("vram_per_gpu_in_gb"):
            yield "without the memory of its chips"
        elif cents != int(cents):
            raise machine.wrong(PRICE, "expected whole cents")
        else:
            yield from _regions(machine, count, cents / CENTS, is_ambiguous=len(names[_name(machine)]) > 1)

    yield from each(machines, read_machine, max_strange=MAX_CONTRADICTED)


def _name(machine: Fields) -> tuple[str, str]:
    return machine.text(NAME[0]), machine.text(NAME[1])


def _contradicts(machine: Fields, count: int) -> bool:
    """Return whether a machine's name, such as A100_80G_sxm4x8, has other chips or another count than its fields."""
    name, chip = machine.text("shade_instance_type"), machine.inner("configuration").text("gpu_type")
    counts = re.findall(r"x(\d{1,3})(?=_|$)", name)
    return counts not in ([str(count)], [] if count == 1 else None) or not name.startswith(chip.split("_")[0])


def _regions(machine: Fields, count: int, price: Decimal, *, is_ambiguous: bool) -> Iterator[Found]:
    """Yield a price for each region, and whether the machine is available there."""
    inner, (cloud, name) = machine.inner("configuration"), _name(machine)
    label, link = f"{inner.text('gpu_type')} {plain(inner.number('vram_per_gpu_in_gb'))}GB", inner.text("interconnect")
    if not re.search(r"sxm", name, re.IGNORECASE) or "sxm" in link.lower():
        label += f" {link}"
    columns: dict[str, Any] = {"count": count, "instance_type": name, "host_provider_name": cloud}
    columns["tier"] = machine.text("deployment_type")
    own_name = machine.text("cloud_instance_type")
    regions = machine.objects("availability")
    for entry in regions:
        entry.only_money(PRICE)
        option = entry.one_of("rental_type", ("on_demand", "spot")) if "rental_type" in entry else "on_demand"
        columns |= {"option": option, "region_id": entry.text("region")}
        yield stock(label, stock_status="available" if entry.flag("available") else "unavailable", **columns)
        if option == "spot" or PRICE in entry:
            yield "a region's own price, of unknown unit"
        else:
            yield offer(label, price, sku_id=own_name, conditions=own_name if is_ambiguous else None, **columns)
    if not regions:
        yield "without a region"


SOURCE = web_source(
    read,
    name="shadeform",
    provider="Shadeform",
    title="Shadeform, instance types",
    url="https://api.shadeform.ai/v1/instances/types",
    pages=pages,
    max_age=timedelta(days=1),
    credentials=f"none, or `{KEY}`",
)
