"""Lium, a marketplace: quantiles over the machines that can be rented, by chip, tier and country, with their count.

Where: https://lium.io/api/public/v1/nodes, one JSON answer without pages or key, made for this
(https://docs.lium.io/developers/public-nodes-feed): "fields are only ever added under /public/v1", at most 60 requests
a minute, rebuilt once a minute. Terms: https://lium.io/terms. Setting: `url`. Format read of an answer of 2026-09-10;
prices are US dollars per GPU-hour.

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

import re
from collections import Counter, defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from extract.base import Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Row, offer, parsed, plain, quantile
from warehouse.documents import Document

NAME = "lium"
PROVIDER = "Lium"
URL = "https://lium.io/api/public/v1/nodes"
TERMS_URL = "https://lium.io/terms"

OPTIONS = {"secure": "on_demand", "spot": "spot"}
QUANTILES = {"p25": Decimal("0.25"), "median": Decimal("0.5")}
PRICE, NODE_PRICE = "price_per_gpu_hour", "price_per_node_hour"
ROUNDING = Decimal("0.01")
"""By how much of a dollar the price of a node may differ from that of its GPUs."""

NEEDED = (
    "gpu_model",
    "gpu_count",
    "available_gpu_count",
    PRICE,
    "min_rentable_gpu_count",
    "tier",
    "country_code",
)


WITHOUT = "without "
MAX_LACKING = Decimal("0.25")
"""Part of the nodes that may lack what makes a price, before the answer is another one."""


class Ask(NamedTuple):
    """One node: its price of one GPU, and the GPUs that are free."""

    price: Decimal
    free: int


def parse(document: Document) -> Parsed:
    """Return the quantiles and counts of the answer; raise LayoutChanged where it is not the answer that it was."""
    answer = Fields(NAME, "answer", content(document))
    nodes = answer.objects("nodes")
    if answer.whole("count") != len(nodes):
        raise refusal(NAME, f"expected {answer.whole('count')} nodes, found {len(nodes)}", "count", len(nodes))
    asks: dict[tuple[str, str, str], list[Ask]] = defaultdict(list)
    ignored: Counter[str] = Counter()
    seen: dict[str, tuple[object, ...]] = {}
    for node in nodes:
        node.only_money(PRICE, NODE_PRICE)
        node_facts = tuple(node.any(name) for name in (*NEEDED, NODE_PRICE, "gpu_memory_gb"))
        identity = node.text("id")
        if identity in seen:
            if seen[identity] != node_facts:
                raise refusal(NAME, "one node says two things", f"{node.place}.id", identity)
            ignored["repeated"] += 1
            continue
        seen[identity] = node_facts
        place, ask, reason = _ask(node)
        if ask is None or place is None:
            ignored[reason] += 1
        else:
            asks[place].append(ask)
    lacking = {reason: number for reason, number in ignored.items() if reason.startswith(WITHOUT)}
    if sum(lacking.values()) > len(nodes) * MAX_LACKING:
        raise refusal(NAME, f"{lacking} of {len(nodes)} nodes", f"nodes, {', '.join(lacking)}", len(nodes))
    rows, availability = _rows(asks)
    return parsed(rows, source=NAME, ignored=ignored, availability=availability)


def _ask(node: Fields) -> tuple[tuple[str, str, str] | None, Ask | None, str]:
    """Return label, tier and country of a node with its ask, or why it has none."""
    missing = [name for name in NEEDED if node.any(name) is None]
    if missing:
        return None, None, f"{WITHOUT}{missing[0]}"
    tier, country = node.text("tier"), node.text("country_code")
    if tier not in OPTIONS:
        raise refusal(NAME, f"expected one of {', '.join(OPTIONS)}", f"{node.place}.tier", tier)
    if not re.fullmatch(r"[A-Z]{2}", country):
        raise refusal(NAME, "expected two letters", f"{node.place}.country_code", country)
    price, count, free = node.number(PRICE), node.whole("gpu_count"), node.whole("available_gpu_count")
    of_node = node.number_or_none(NODE_PRICE)
    if of_node is not None and abs(of_node - price * count) > ROUNDING:
        raise refusal(NAME, f"expected {count} times {price}", f"{node.place}.{NODE_PRICE}", of_node)
    if not 0 <= free <= count:
        raise refusal(NAME, f"expected at most {count}", f"{node.place}.available_gpu_count", free)
    if not price:
        return None, None, "a price of zero"
    if not free or free < node.whole("min_rentable_gpu_count"):
        return None, None, "less free than the smallest order"
    model, memory = node.text("gpu_model"), node.number_or_none("gpu_memory_gb")
    if re.search(r"\d ?GB\b", model):
        return (model, tier, country), Ask(price, free), ""
    if not memory:
        return None, None, f"{WITHOUT}gpu_memory_gb"
    return (f"{model} {plain(memory)}GB", tier, country), Ask(price, free), ""


def _rows(asks: dict[tuple[str, str, str], list[Ask]]) -> tuple[list[Row], list[Row]]:
    """Return the prices of each chip, tier and country, and how many machines and chips they are of."""
    rows: list[Row] = []
    availability: list[Row] = []
    for (label, tier, country), found in sorted(asks.items()):
        prices = [ask.price for ask in found]
        rows += [
            offer(
                PROVIDER,
                label=label,
                price=quantile(prices, share),
                option=OPTIONS[tier],
                tier=tier,
                region_id=country,
                statistic=statistic,
            )
            for statistic, share in QUANTILES.items()
        ]
        availability.append(
            {
                "service_provider_name": PROVIDER,
                "accelerator_label": label,
                "region_id": country,
                "purchase_option": OPTIONS[tier],
                "tier": tier,
                "n_machines": len(found),
                "n_accelerators": sum(ask.free for ask in found),
            }
        )
    return rows, availability


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Lium, public feed of nodes",
    url=URL,
    terms_url=TERMS_URL,
    parse=parse,
    max_age=timedelta(days=1),
)
