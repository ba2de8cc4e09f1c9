"""Prices of Voltage Park, read without a key: data centres with bare-metal machines, and virtual machines.

https://cloud-api.voltagepark.com/api/v1/bare-metal/locations is what the sign-up page shows to anybody (scope `all`).
Scope `presets` is .../api/v1/instant-deploy-presets/ , whose answer of 2026-08-25 is in markrusch/Compute-Indices
(tests/fixtures/computable/voltagepark/instant_deploy_presets.json @d6dad046, accessed on 2026-11-28).

1. Prices are per chip, as text without a currency: US dollars, which the site prints for the first of them. They must
   not be multiplied or divided by `specs_per_node.gpu_count`; that is how many one machine has, the least that is sold
   of bare metal.
2. There are two prices, by the network between machines: Ethernet, and InfiniBand. Nothing tells the one from the other
   but the names of their fields.
3. `gpu_count_ethernet` and `gpu_count_infiniband` are what is free now. 0 stands beside a price that still holds.
4. A location has no name but its id.
5. An answer of several pages was never seen: it is refused, as one that was cut short would look the same.
6. The rates of a preset are of the whole machine. It runs with its disk, so both are paid: 1.89 and 0.10 are the 1.99
   that the site prints for a chip, and those of eight chips eight times as much.
7. A preset is of no location: it says where one is free. Those with another system than Linux are not read.
"""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from extract.base import Context
from extract.neoclouds.answers import Fields, answer, content, objects
from extract.neoclouds.fetching import JSON, web_source
from extract.neoclouds.offers import Found, each, offer, stock
from extract.web.interface import Response
from warehouse.documents import Document

TIER, PRESET_TIER = "bare metal", "virtual machine"
RATES = ("compute_rate_hourly", "storage_rate_hourly")
LINUX = re.compile(r"(Ubuntu|TensorML) .+")
FABRICS = {"Ethernet": "ethernet", "InfiniBand": "infiniband"}
"""Each network, and how the names of its fields end."""
MAX_CHIPS = 16
"""In one machine; other numbers count CPU cores and gigabytes."""


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the one answer of a scope."""
    yield ctx.web.get(urljoin(url, "../instant-deploy-presets/") if scope == "presets" else url, accept=JSON)


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the presets; or of every location, and how many chips it has free on a network."""
    if document.scope == "presets":
        yield from each(objects("presets", content(document.body)), _preset)
        return
    found = answer(document)
    locations = found.objects("results")
    if found.flag("has_next") or found.flag("has_previous"):
        raise found.wrong("has_next", "expected one page, found several")
    if found.whole("total_result_count") != len(locations):
        raise found.wrong("total_result_count", f"expected all results, found {len(locations)}")
    yield from each(locations, _location)


def _location(location: Fields) -> Iterator[Found]:
    location.only_money(*(f"gpu_price_{ending}" for ending in FABRICS.values()))
    machine, region = location.inner("specs_per_node"), location.text("id")
    machine.only_money()
    # A chip such as h100-sxm5-80gb; the CPU's name in the same object has blanks.
    chips, model = machine.whole("gpu_count"), machine.matching("gpu_model", r"[a-z0-9][a-z0-9.-]*", "a chip")
    if not 1 <= chips <= MAX_CHIPS:
        raise machine.wrong("gpu_count", f"expected 1 to {MAX_CHIPS} chips")
    for fabric, ending in FABRICS.items():
        price = location.in_text(f"gpu_price_{ending}")
        if not price:
            raise location.wrong(f"gpu_price_{ending}", "a price of zero")
        yield offer(model, price, minimum_quantity=str(chips), fabric=fabric, region_id=region, tier=TIER)
        # The tier names the network, for want of another column.
        free = location.whole(f"gpu_count_{ending}")
        yield stock(model, region_id=region, tier=f"{TIER}, {fabric}", n_accelerators=free)


def _preset(preset: Fields) -> Iterator[Found]:
    preset.only_money(*RATES)
    if not LINUX.fullmatch(preset.text("operating_system")):
        yield "another system than Linux"
        return
    chips = preset.inner("resources").inner("gpus")
    if len([*chips]) != 1:
        raise chips.wrong("gpus", "expected one kind of chip")
    (model,) = chips
    count = chips.inner(model).whole("count")
    compute, storage = map(preset.in_text, RATES)
    if not compute or not 1 <= count <= MAX_CHIPS:
        raise preset.wrong(RATES[0], f"expected a price of 1 to {MAX_CHIPS} chips")
    yield offer(model, compute + storage, count=count, tier=PRESET_TIER)
    for place in preset.texts("location_ids_with_availability"):
        yield stock(model, count=count, region_id=place, tier=PRESET_TIER, stock_status="available")


SOURCE = web_source(
    read,
    name="voltagepark",
    provider="Voltage Park",
    title="Voltage Park bare metal and virtual machines",
    url="https://cloud-api.voltagepark.com/api/v1/bare-metal/locations",
    pages=pages,
    scopes=("all", "presets"),
)
