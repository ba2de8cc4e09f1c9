"""Prices of JarvisLabs: GPUs by region, on demand and as spot, from the API that its own client asks with a key.

Where: GET https://backendprod.jarvislabs.net/misc/server_meta, the address behind `jl gpus` of its SDK
(https://docs.jarvislabs.ai/sdk ), one JSON answer without pages. The key is that of an account, in JL_API_KEY, and is
sent as a bearer token; without it the source is left out. The address of its terms is not known here; the site is
https://jarvislabs.ai/ . Setting: `url`. Format read of test payloads of May 2026 in a client, dstackai/gpuhunt.

1. `price_per_hour` and `spot_price` are of one GPU, whatever `num_gpus` says: that is how many a machine has. The
   answer names no currency; the price page has US dollars. Should it ever name one, nothing else is read.
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

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from extract.base import Context, Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import base_url, web_source
from extract.neoclouds.offers import Row, offer, once, parsed
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing

NAME = "jarvislabs"
PROVIDER = "JarvisLabs"
URL = "https://backendprod.jarvislabs.net/misc/server_meta"
KEY = "JL_API_KEY"
WORKLOADS = {None: "vm", "container": "container", "vm": "vm"}
PRICE, SPOT_PRICE = "price_per_hour", "spot_price"
FREE = {"on_demand": "num_free_devices", "spot": "spot_num_free_devices"}
MEMORY = re.compile(r"[1-9]\d{0,3}")


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the one scope; raise CredentialsMissing where there is no key."""
    if not os.environ.get(KEY):
        hint = f"Put an API key into the environment variable {KEY}"
        raise CredentialsMissing("no key", source=NAME, field=KEY, value="", hint=hint)
    return ("all",)


def pages(ctx: Context, scope: str) -> Iterator[Response]:
    """Yield the one answer."""
    yield ctx.web.get(base_url(ctx, NAME, URL), headers={"Authorization": f"Bearer {os.environ.get(KEY, '')}"})


def parse(document: Document) -> Parsed:
    """Return the prices of each chip in each region; raise LayoutChanged where the answer is another."""
    places = Fields(NAME, "answer", content(document)).objects("server_meta")
    ignored: Counter[str] = Counter()
    rows, ignored["the same offer twice"] = once(row for place in places for row in _rows(place, ignored))
    free = once(row for place in places for row in _free(place))[0]
    return parsed(rows, source=NAME, ignored=+ignored, availability=free)


def _rows(place: Fields, ignored: Counter[str]) -> Iterator[Row]:
    place.only_money(PRICE, SPOT_PRICE)
    if "currency" in place and place.text("currency").upper() != "USD":
        raise refusal(NAME, "expected USD", f"{place.place}.currency", place.text("currency"))
    price, spot = place.number(PRICE), place.number_or_none(SPOT_PRICE)
    if spot is not None and spot > price:
        raise refusal(NAME, f"a spot price above {price} on demand", f"{place.place}.{SPOT_PRICE}", str(spot))
    prices = {"on_demand": price, "spot": spot}
    for option, amount in prices.items():
        if not amount:
            ignored[f"no {option} price"] += 1
            continue
        yield offer(
            PROVIDER,
            label=_label(place),
            price=amount,
            option=option,
            region_id=place.text("region"),
            tier=_tier(place),
        )


def _label(place: Fields) -> str:
    memory = place.text("vram")
    if not MEMORY.fullmatch(memory):
        raise refusal(NAME, "expected gigabytes, as a text", f"{place.place}.vram", memory)
    name = place.text("gpu_type")
    return name if f"{memory}GB" in name else f"{name} {memory}GB"


def _tier(place: Fields) -> str:
    workload = place.text_or_none("workload_type")
    if workload not in WORKLOADS:
        raise refusal(NAME, "a workload_type that is not known", f"{place.place}.workload_type", workload)
    return WORKLOADS[workload]


def _free(place: Fields) -> Iterator[Row]:
    for option, name in FREE.items():
        yield {
            "service_provider_name": PROVIDER,
            "accelerator_label": _label(place),
            "region_id": place.text("region"),
            "purchase_option": option,
            "tier": _tier(place),
            "n_accelerators": place.whole(name),
        }


SOURCE = dataclasses.replace(
    web_source(
        name=NAME,
        provider=PROVIDER,
        title="JarvisLabs GPUs, by region",
        url=URL,
        terms_url="https://jarvislabs.ai/",
        parse=parse,
        pages=pages,
        max_age=timedelta(days=3),
        credentials=f"`{KEY}`",
    ),
    scopes=scopes,
)
