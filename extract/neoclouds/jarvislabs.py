"""Prices of JarvisLabs: GPUs by region, on demand and as spot, from the API that its own client asks with a key.

Where: GET https://backendprod.jarvislabs.net/misc/server_meta, the address behind `jl gpus` of its SDK
(https://docs.jarvislabs.ai/sdk ), one JSON answer without pages. The key is that of an account, in JL_API_KEY, and is
sent as a bearer token; without it the source is left out. Format read of test payloads of May 2026 in dstackai/gpuhunt.

1. `price_per_hour` and `spot_price` are of one GPU, whatever `num_gpus` says: that is how many a machine has. The
   answer names no currency; the price page has US dollars.
2. `vram` is a text ("24"). It is of one GPU and part of the label, since A100-80GB says it and A100 does not.
3. `workload_type` is the tier: a container or a virtual machine, each with its row, mostly at one price. It is null in
   older rows, such as those of Europe, and what is rented by them is a machine: dstack's client has done it. Others
   have not been seen.
4. `spot_price` is null where nothing is sold so. A spot price above the other means that the two were exchanged.
5. One chip has two names at times, RTX-PRO6000 and RTX PRO 6000, in two regions. Both are kept as they are.
6. `num_free_devices` says what is free, also 0, beside a price that holds; `effective_num_free_devices` has never said
   anything else.
7. Machines without GPUs stand by themselves, under `cpu_meta`: they are not read.
"""

import os
from collections.abc import Iterator

from extract.base import Context
from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import key_checked, web_source
from extract.neoclouds.offers import Found, by_option, each, offer, stock, with_memory
from extract.web.interface import Response
from warehouse.documents import Document

KEY = "JL_API_KEY"
PRICE, SPOT_PRICE = "price_per_hour", "spot_price"
FREE = {"on_demand": "num_free_devices", "spot": "spot_num_free_devices"}


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the one answer."""
    with key_checked(KEY):
        yield ctx.web.get(url, headers={"Authorization": f"Bearer {os.environ.get(KEY, '')}"})


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of each chip in each region, and what is free."""
    yield from each(answer(document).objects("server_meta"), _place)


def _place(place: Fields) -> Iterator[Found]:
    place.only_money(PRICE, SPOT_PRICE)
    memory = place.matching("vram", r"[1-9]\d{0,3}", "gigabytes, as a text")
    label, region, tier = with_memory(place.text("gpu_type"), memory), place.text("region"), "vm"
    if place.text_or_none("workload_type"):
        tier = place.one_of("workload_type", ("container", "vm"))
    prices = by_option(place.number(PRICE), place.number_or_none(SPOT_PRICE), f"{place.place}.{SPOT_PRICE}")
    for option, price in prices.items():
        yield offer(label, price, option=option, region_id=region, tier=tier)
        yield stock(label, option=option, region_id=region, tier=tier, n_accelerators=place.whole(FREE[option]))


SOURCE = web_source(
    read,
    name="jarvislabs",
    provider="JarvisLabs",
    title="JarvisLabs GPUs, by region",
    url="https://backendprod.jarvislabs.net/misc/server_meta",
    pages=pages,
    key=KEY,
    off_because=f"it needs a key in `{KEY}`, and nobody could read its terms",
)
