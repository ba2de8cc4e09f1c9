"""Lium, a marketplace: quantiles over the machines that can be rented, by chip, tier and country, with their count.

Where: https://lium.io/api/public/v1/nodes, one JSON answer without pages or key, made for this
(https://docs.lium.io/developers/public-nodes-feed): "fields are only ever added under /public/v1", at most 60 requests
a minute, rebuilt once a minute. Format read of an answer of 2026-09-10; prices are US dollars per GPU-hour.

1. Each node is one machine of one host, with its own price: asks, not trades. A row is the p25 or the median over the
   nodes of one chip, tier and country, one node counting once whatever its size; a single node is both. Amounts
   between two nodes are rounded to ten decimals. How many they are stands in the availability of the same answer.
2. `price_per_gpu_hour` holds for any number of GPUs from `min_rentable_gpu_count` to `available_gpu_count`; most nodes
   are sold whole. What is free in a node is less than its smallest order, now and then: nobody can rent it, so it
   counts for nothing.
3. `price_per_node_hour` is the same price times `gpu_count`. Where the two disagree by more than a rounding, one of
   them has changed its meaning.
4. Only `id` and `rent_url` are promised not to be null. A node without what makes a price is counted and left out;
   where more than a quarter of them lack it, the answer is another one.
5. `tier` is secure, or spot, whose pods may be taken away. Others have not been seen.
6. `gpu_model` is the driver's name of the chip without NVIDIA, such as H100 80GB HBM3 or A100-SXM4-80GB. Where it
   names no memory, the label has `gpu_memory_gb`: cards of one name exist with twice its memory. It is what the driver
   reports, so that an H200 has 140.
7. The country is the region: `region` is a subdivision with one or two hosts in it. Nodes without a country are
   counted and left out, for a price of no region would look like one of all of them.
8. `count` is the number of nodes: an answer cut short does not have them all.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Found, Priced, Strange, each, market, plain, stock, with_memory
from warehouse.documents import Document

OPTIONS = {"secure": "on_demand", "spot": "spot"}
PRICE, NODE_PRICE, FREE = "price_per_gpu_hour", "price_per_node_hour", "available_gpu_count"
ROUNDING = Decimal("0.01")
"""By how much of a dollar the price of a node may differ from that of its GPUs."""
NEEDED = ("gpu_model", "gpu_count", FREE, PRICE, "min_rentable_gpu_count", "tier", "country_code")


def read(document: Document) -> Iterator[Found]:
    """Yield the quantiles and counts of the answer."""
    found = answer(document)
    nodes = found.objects("nodes")
    if found.whole("count") != len(nodes):
        raise found.wrong("count", f"expected as many nodes as the count says, found {len(nodes)}")
    markets: dict[tuple[str, str, str], list[Fields]] = defaultdict(list)
    seen: dict[str, tuple[object, ...]] = {}

    def read_node(node: Fields) -> Iterator[Found]:
        node.only_money(PRICE, NODE_PRICE)
        facts = tuple(node.any(name) for name in (*NEEDED, NODE_PRICE, "gpu_memory_gb"))
        identity = node.text("id")
        if seen.setdefault(identity, facts) is not facts:
            if seen[identity] != facts:
                raise node.form_changed("id", "one node says two things")
            yield "repeated"
            return
        place = _market(node)
        yield place if isinstance(place, str) else Priced((place, node))

    for one in each(nodes, read_node):
        if isinstance(one, Priced):
            markets[one.ask[0]].append(one.ask[1])
        yield one
    for (label, tier, country), asks in sorted(markets.items()):
        columns: dict[str, Any] = {"option": OPTIONS[tier], "tier": tier, "region_id": country}
        yield from market(label, [node.number(PRICE) for node in asks], **columns)
        yield stock(label, n_machines=len(asks), n_accelerators=sum(node.whole(FREE) for node in asks), **columns)


def _market(node: Fields) -> tuple[str, str, str] | str:
    """Return label, tier and country of a node that can be rented; else why it cannot."""
    missing = [name for name in NEEDED if node.any(name) is None]
    if missing:
        return Strange(f"without {missing[0]}")
    tier, country = node.one_of("tier", OPTIONS), node.matching("country_code", "[A-Z]{2}", "two letters")
    price, count, free = node.number(PRICE), node.whole("gpu_count"), node.whole(FREE)
    of_node = node.number_or_none(NODE_PRICE)
    if of_node is not None and abs(of_node - price * count) > ROUNDING:
        raise node.wrong(NODE_PRICE, f"expected {count} times {price}")
    if free > count:
        raise node.wrong(FREE, f"expected at most {count}")
    if not price:
        return "a price of zero"
    if not free or free < node.whole("min_rentable_gpu_count"):
        return "less free than the smallest order"
    model, memory = node.text("gpu_model"), node.number_or_none("gpu_memory_gb")
    label = with_memory(model, plain(memory or Decimal(0)))
    return (label, tier, country) if memory or label == model else Strange("without gpu_memory_gb")


SOURCE = web_source(
    read,
    name="lium",
    provider="Lium",
    title="Lium, public feed of nodes",
    url="https://lium.io/api/public/v1/nodes",
    max_age=timedelta(days=1),
)
