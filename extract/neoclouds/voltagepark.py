"""Prices of Voltage Park: its data centres with bare-metal machines, asked without a key.

The answer of https://cloud-api.voltagepark.com/api/v1/bare-metal/locations is what the sign-up page shows to anybody,
under https://voltagepark.com/terms-of-service .

Settings: `url`.

Quirks:

1. Prices are per chip, as text without a currency: US dollars, which the site prints for the first of them. They must
   not be multiplied or divided by `specs_per_node.gpu_count`; that is how many one machine has, the least that is sold
   of bare metal.
2. There are two prices, by the network between machines: Ethernet, and InfiniBand. Nothing tells the one from the other
   but the names of their fields.
3. `gpu_count_ethernet` and `gpu_count_infiniband` are what is free now. 0 stands beside a price that still holds.
4. A location has no name but its id.
5. An answer of several pages was never seen: it is refused, as one that was cut short would look the same.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from extract.base import Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Row, offer, once, parsed
from warehouse.documents import Document

NAME = "voltagepark"
URL = "https://cloud-api.voltagepark.com/api/v1/bare-metal/locations"
PROVIDER = "Voltage Park"
OFF_BECAUSE = (
    "Voltage Park was left out by a reader of its terms and robots.txt (2026-10-10), and its page names no price; "
    "read https://voltagepark.com/terms-of-service and decide"
)
TIER = "bare metal"
FABRICS = {"Ethernet": "ethernet", "InfiniBand": "infiniband"}
"""Each network, and how the names of its fields end."""
MODEL = re.compile(r"[a-z0-9][a-z0-9.-]*")
"""A chip such as h100-sxm5-80gb; the CPU's name beside it has blanks."""
MAX_CHIPS = 16
"""In one machine; numbers beside it count CPU cores and gigabytes."""


def parse(document: Document) -> Parsed:
    """Return the prices of every location; raise LayoutChanged where the answer is another or not whole."""
    answer = Fields(NAME, "answer", content(document))
    locations = answer.objects("results")
    if answer.flag("has_next") or answer.flag("has_previous"):
        raise refusal(NAME, "expected one page, found several", "has_next", "true")
    if answer.whole("total_result_count") != len(locations):
        raise refusal(NAME, f"expected all results, found {len(locations)}", "total_result_count", "more")
    rows, twice = once(row for location in locations for row in _rows(location))
    ignored = {"the same offer twice": twice} if twice else {}
    return parsed(rows, source=NAME, ignored=ignored, availability=[_free(x, f) for x in locations for f in FABRICS])


def _rows(location: Fields) -> Iterator[Row]:
    location.only_money(*(f"gpu_price_{ending}" for ending in FABRICS.values()))
    machine = location.inner("specs_per_node")
    machine.only_money()
    chips, model = machine.whole("gpu_count"), machine.text("gpu_model")
    if not MODEL.fullmatch(model):
        raise refusal(NAME, "expected a chip as in h100-sxm5-80gb", f"{machine.place}.gpu_model", model)
    if not 1 <= chips <= MAX_CHIPS:
        raise refusal(NAME, f"expected 1 to {MAX_CHIPS} chips", f"{machine.place}.gpu_count", chips)
    for fabric, ending in FABRICS.items():
        price = location.in_text(f"gpu_price_{ending}")
        if not price:
            raise refusal(NAME, "a price of zero", f"{location.place}.gpu_price_{ending}", "0")
        yield offer(
            PROVIDER,
            label=model,
            price=price,
            minimum_quantity=str(chips),
            fabric=fabric,
            region_id=location.text("id"),
            tier=TIER,
        )


def _free(location: Fields, fabric: str) -> Mapping[str, object]:
    """Return how many chips a location has free on a network; the tier names it, for want of another column."""
    return {
        "service_provider_name": PROVIDER,
        "accelerator_label": location.inner("specs_per_node").text("gpu_model"),
        "region_id": location.text("id"),
        "purchase_option": "on_demand",
        "tier": f"{TIER}, {fabric}",
        "n_accelerators": location.whole(f"gpu_count_{FABRICS[fabric]}"),
    }


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Voltage Park bare metal",
    url=URL,
    terms_url="https://voltagepark.com/terms-of-service",
    max_age=timedelta(days=3),
    parse=parse,
    off_because=OFF_BECAUSE,
)
