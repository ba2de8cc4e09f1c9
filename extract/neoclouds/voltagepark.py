"""Prices of Voltage Park: its data centres with bare-metal machines, asked without a key.

https://cloud-api.voltagepark.com/api/v1/bare-metal/locations is what the sign-up page shows to anybody.

1. Prices are per chip, as text without a currency: US dollars, which the site prints for the first of them. They must
   not be multiplied or divided by `specs_per_node.gpu_count`; that is how many one machine has, the least that is sold
   of bare metal.
2. There are two prices, by the network between machines: Ethernet, and InfiniBand. Nothing tells the one from the other
   but the names of their fields.
3. `gpu_count_ethernet` and `gpu_count_infiniband` are what is free now. 0 stands beside a price that still holds.
4. A location has no name but its id.
5. An answer of several pages was never seen: it is refused, as one that was cut short would look the same.
"""

from collections.abc import Iterator

from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Found, each, offer, stock
from warehouse.documents import Document

TIER = "bare metal"
FABRICS = {"Ethernet": "ethernet", "InfiniBand": "infiniband"}
"""Each network, and how the names of its fields end."""
MAX_CHIPS = 16
"""In one machine; other numbers count CPU cores and gigabytes."""


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of every location, and how many chips it has free on a network."""
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


SOURCE = web_source(
    read,
    name="voltagepark",
    provider="Voltage Park",
    title="Voltage Park bare metal",
    url="https://cloud-api.voltagepark.com/api/v1/bare-metal/locations",
)
