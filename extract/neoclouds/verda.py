"""Prices of Verda (formerly DataCrunch): its list of instance types, asked without a key, and its price page.

The API is https://api.datacrunch.io/v1/instance-types , the page https://verda.com/pricing ; both under
https://verda.com/terms-and-conditions . Fetched is the API. The page says the same once more, and adds clusters and
serverless containers: a document of either is told from the other by what it is, so that one can check the other.

Settings: `url`.

Quirks:

1. The answer of the API is a list, or an object with the list under `data`.
2. Prices are of the whole machine, as text in US dollars (`currency` says so in lower case). The chips are those of
   `gpu.number_of_gpus`, and `gpu.description` says the same number once more: two that differ are refused.
3. Machines without a chip (CPU.4V.16G) stand in the same list; on the page they have no name but " on-demand".
4. A spot price of 0 or null means that the machine is not sold so. Spot was 35 % of on-demand until 2026-08-06 and is
   half of it since: set by Verda, not by a market. One above the on-demand price means that the two were exchanged.
5. `dynamic_price` and `serverless_price` are other products, which Verda's own clients know; they are counted.
6. The page names its offers by chip alone, so that two machines with 30 and 32 vCPU read "1x H100 SXM5 80GB" both. At
   one price they are one offer; at two they contradict each other, and the batch gate says so.
7. On the page an offer is what its `description` says, and its name must end accordingly; the price stands twice.
8. CC in a name is confidential computing, about 2 % dearer, and is the tier.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from extract.base import Parsed
from extract.neoclouds.answers import Fields, content, objects, refusal
from extract.neoclouds.fetching import web_source
from extract.neoclouds.offers import Row, offer, once, parsed
from extract.neoclouds.pages import Page
from warehouse.documents import Document

NAME = "verda"
URL = "https://api.datacrunch.io/v1/instance-types"
PROVIDER = "Verda"
CURRENCIES = {"usd": "USD", "eur": "EUR"}
"""Both that Verda's own client knows."""
OTHER_PRODUCTS = ("dynamic_price", "max_dynamic_price", "serverless_price", "serverless_spot_price")
CONFIDENTIAL = "confidential computing"
CHIPS = re.compile(r"([1-9][0-9]{0,3})x (\S.*)")
"""What both documents call the chips of a machine: "8x H100 SXM5 80GB"."""
MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]*")
"""An id such as 1H100.80S.30V; the names beside it have blanks."""


class Kind(NamedTuple):
    """What the page's description of an offer says: how its name ends, and how it is bought (None: no machine)."""

    ending: str
    option: str | None
    tier: str | None = None
    unit: str = "hour"


KINDS = {
    "Hourly on-demand instance price": Kind("on-demand", "on_demand"),
    "Hourly spot instance price": Kind("spot", "spot"),
    "Hourly instant cluster price": Kind("instant cluster", "on_demand", "instant cluster"),
    "Hourly serverless container price": Kind("serverless continuous", "on_demand", "serverless continuous"),
    "Hourly serverless spot container price": Kind("serverless spot", "spot", "serverless spot"),
    "Monthly storage price per GiB": Kind("storage", None, unit="GiB-month"),
}


def parse(document: Document) -> Parsed:
    """Return the prices of an answer of the API or of the page; raise LayoutChanged where it is neither."""
    ignored: dict[str, int] = {}
    is_page = document.body.lstrip().startswith(b"<")
    found = list(_page(document, ignored) if is_page else _api(document, ignored))
    rows, twice = once(found)
    return parsed(rows, source=NAME, ignored=ignored | ({"the same offer twice": twice} if twice else {}))


def _api(document: Document, ignored: dict[str, int]) -> Iterator[Row]:
    answer = content(document)
    types = (
        objects(NAME, "instance types", answer)
        if isinstance(answer, list)
        else Fields(NAME, "answer", answer).objects("data")
    )
    for one in types:
        one.only_money("price_per_hour", "spot_price", *OTHER_PRODUCTS)
        machine, chips = one.text("instance_type"), one.inner("gpu")
        count, description = chips.whole("number_of_gpus"), chips.any("description")
        on_demand = one.in_text("price_per_hour")
        spot = None if one.any("spot_price") is None else one.in_text("spot_price")
        currency = one.text("currency")
        if currency not in CURRENCIES:
            raise refusal(NAME, "a currency that is not known", f"{one.place}.currency", currency)
        if not MACHINE.fullmatch(machine):
            raise refusal(NAME, "expected a machine as in 1H100.80S.30V", f"{one.place}.instance_type", machine)
        if count == 0 and not description:
            _count(ignored, "a machine without accelerators")
            continue
        if spot and on_demand and spot > on_demand:
            raise refusal(NAME, f"a spot price above {on_demand} on demand", f"{one.place}.spot_price", str(spot))
        label = _chips(description, f"{one.place}.gpu.description", count)
        for name in OTHER_PRODUCTS:
            if name in one and one.any(name) is not None:
                _count(ignored, f"{name}, another product")
        for option, price in (("on_demand", on_demand), ("spot", spot)):
            if not price:
                _count(ignored, f"no {option} price")
                continue
            yield offer(
                PROVIDER,
                label=label,
                price=price,
                count=count,
                instance_type=machine,
                option=option,
                currency=CURRENCIES[currency],
                tier=_tier(label, None),
            )


def _page(document: Document, ignored: dict[str, int]) -> Iterator[Row]:
    for place, node in _nodes(document):
        if node.text("@type") != "Offer":
            continue
        node.only_money("price", "priceCurrency", "priceSpecification")
        kind = KINDS.get(node.text("description"))
        if kind is None:
            raise refusal(NAME, "an offer of a kind that is not known", f"{place}.description", node.any("description"))
        name = node.text("name")
        if not name.endswith(f" {kind.ending}"):
            raise refusal(NAME, f"expected a name that ends in {kind.ending!r}", f"{place}.name", name)
        price, currency = _price(node, kind.unit)
        chips = name.removesuffix(kind.ending).strip()
        if kind.option is None:
            _count(ignored, "storage")
        elif not chips or chips.startswith("CPU."):
            _count(ignored, "a machine without accelerators")
        elif not price:
            _count(ignored, f"no {kind.option} price")
        else:
            count = int(_matched(chips, f"{place}.name")[1])
            label = _chips(chips, f"{place}.name", count)
            yield offer(
                PROVIDER,
                label=label,
                price=price,
                count=count,
                option=kind.option,
                currency=currency,
                tier=_tier(label, kind.tier),
                minimum_quantity="1" if count == 1 else None,
            )


def _nodes(document: Document) -> Iterator[tuple[str, Fields]]:
    """Yield the nodes of the page's one graph of JSON-LD that has offers."""
    page = Page(document)
    scripts = [node.text() for node in page.tree.css("script") if node.attributes.get("type") == "application/ld+json"]
    graphs = [
        Fields(NAME, "JSON-LD", content(replace(document, body=script.encode()))).objects("@graph")
        for script in scripts
        if '"Offer"' in script
    ]
    if len(graphs) != 1:
        raise refusal(NAME, f"expected one graph of offers, found {len(graphs)}", "JSON-LD", len(scripts))
    for node in graphs[0]:
        yield node.place, node


def _price(node: Fields, unit: str) -> tuple[Decimal, str]:
    """Return the price of an offer of the page and its currency: said twice, in the unit of its kind."""
    price, currency, inner = node.number("price"), node.text("priceCurrency"), node.inner("priceSpecification")
    inner.only_money("price", "priceCurrency")
    if (inner.number("price"), inner.text("priceCurrency")) != (price, currency):
        raise refusal(NAME, "the two prices of an offer differ", f"{node.place}.price", str(price))
    if inner.text("unitText") != unit:
        raise refusal(NAME, f"expected a price per {unit}", f"{inner.place}.unitText", inner.any("unitText"))
    if currency not in CURRENCIES.values():
        raise refusal(NAME, "a currency that is not known", f"{node.place}.priceCurrency", currency)
    return price, currency


def _chips(text: object, field: str, count: int) -> str:
    """Return the chip that a text such as "8x H100 SXM5 80GB" names; raise where it says another number of them."""
    found = _matched(text, field)
    if int(found[1]) != count:
        raise refusal(NAME, f"expected {count} chips", field, text)
    return found[2]


def _matched(text: object, field: str) -> re.Match[str]:
    found = CHIPS.fullmatch(" ".join(text.split())) if isinstance(text, str) else None
    if found is None:
        raise refusal(NAME, 'expected chips as in "8x H100 SXM5 80GB"', field, text)
    return found


def _tier(label: str, tier: str | None) -> str | None:
    words = [word for word in (tier, CONFIDENTIAL if "CC" in label.split() else None) if word]
    return ", ".join(words) or None


def _count(ignored: dict[str, int], reason: str) -> None:
    ignored[reason] = ignored.get(reason, 0) + 1


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Verda instance types",
    url=URL,
    terms_url="https://verda.com/terms-and-conditions",
    max_age=timedelta(days=3),
    parse=parse,
)
