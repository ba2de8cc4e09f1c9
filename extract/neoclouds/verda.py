"""Prices of Verda (formerly DataCrunch): its list of instance types, asked without a key, and its price page.

The API is https://api.verda.com/v1/instance-types , and was https://api.datacrunch.io/v1/instance-types under the name
of before; the page is https://verda.com/pricing . They are fetched in this order until one is read. The page says the
same once more, and adds clusters and serverless containers: a document of either is told from the other by what it is.

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
9. A long-term contract takes some per cent off the price on demand of any machine: in September 2026 2, 3, 4, 8 and 25
   for 1, 3, 6, 12 and 24 months, as the page had as well. https://api.verda.com/v1/long-term/periods says so without a
   key, and is read with the machines. A month is counted as 730 hours, a year as 8760. Contracts are paid up-front
   (https://docs.verda.com/welcome-to-verda/pricing-and-billing), by what sum is not said.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urljoin

from extract.base import Context
from extract.neoclouds.answers import Fields, content, objects, parts, refusal
from extract.neoclouds.fetching import JSON, web_source
from extract.neoclouds.offers import Found, Offer, Priced, by_option, each, offer, plain
from extract.neoclouds.pages import Page
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import SourceError
from warehouse.schema.vocabulary import HOURS_PER_MONTH, HOURS_PER_YEAR

CURRENCIES = {"usd": "USD", "eur": "EUR"}
"""Both that Verda's own client knows."""
OTHER_PRODUCTS = ("dynamic_price", "max_dynamic_price", "serverless_price", "serverless_spot_price")
HOURS = {"month": HOURS_PER_MONTH, "year": HOURS_PER_YEAR}
"""Of each unit in which a contract's period is counted."""
CLOSED = (401, 403, 404, 410)
"""Statuses that say that there is nothing for anybody, and not that something failed for a while."""
CHIPS = re.compile(r"([1-9][0-9]{0,3})x (\S.*)")
"""What both documents call the chips of a machine: "8x H100 SXM5 80GB"."""


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


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the machines of the API and, as long as anybody gets them, the periods of contracts; or the page."""
    yield ctx.web.get(url, accept=JSON)
    if url.endswith("/instance-types"):
        try:
            periods = ctx.web.get(urljoin(url, "long-term/periods"), accept=JSON)
        except SourceError as error:
            if error.field == "status" and error.value in CLOSED:
                return
            raise
        yield periods


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of an answer of the API or of the page."""
    if document.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        yield from each((node for node in _nodes(document) if node.text("@type") == "Offer"), _node)
        return
    found, *periods = parts(document)
    types = objects("instance types", found) if isinstance(found, list) else Fields("answer", found).objects("data")
    contracts: dict[int, Decimal] = {}
    for answer in periods:
        yield from each(objects("periods", answer), _period, contracts)
    yield from each(types, _offers, contracts)


def _period(period: Fields, contracts: dict[int, Decimal]) -> Iterator[Found]:
    """Add to the contracts of this length, in hours, what is left of the price on demand."""
    hours = HOURS[period.one_of("unit_name", HOURS)] * period.whole("unit_value")
    percent = period.number("discount_percentage")
    if 0 < percent < 1 or percent >= 100:
        raise period.wrong("discount_percentage", "expected per cent, as 25")
    if not hours or hours in contracts:
        raise period.wrong("unit_value", "expected each period once")
    if period.flag("is_enabled"):
        contracts[hours] = 1 - percent / 100
        yield Priced()
    else:
        yield "a period of contracts that nobody can have now"


def _offers(one: Fields, contracts: dict[int, Decimal]) -> Iterator[Found]:
    """Yield the prices of a machine, and those of its contracts."""
    for found in _machine(one):
        yield found
        if isinstance(found, Offer) and found["purchase_option"] == "on_demand":
            for hours, share in contracts.items():
                price = plain(Decimal(str(found["unit_price"])) * share)
                contract = {"purchase_option": "reserved", "commitment_term_hours": hours, "unit_price": price}
                yield Offer(found | contract | {"conditions": "paid up-front"})


def _machine(one: Fields) -> Iterator[Found]:
    one.only_money("price_per_hour", "spot_price", *OTHER_PRODUCTS)
    # The names of machines, next to their ids, have blanks.
    machine = one.matching("instance_type", r"[A-Za-z0-9][A-Za-z0-9.+_-]*", "a machine as in 1H100.80S.30V")
    chips = one.inner("gpu")
    count, description = chips.whole("number_of_gpus"), chips.any("description")
    on_demand = one.in_text("price_per_hour")
    spot = None if one.any("spot_price") is None else one.in_text("spot_price")
    if (named := one.text("currency")) not in CURRENCIES:
        raise one.form_changed("currency", f"expected one of {', '.join(CURRENCIES)}")
    currency = CURRENCIES[named]
    if count == 0 and not description:
        yield "a machine without accelerators"
        return
    named_count, label = _chips(description, f"{one.place}.gpu.description")
    if named_count != count:
        raise chips.wrong("description", f"expected {count} chips")
    for name in filter(one.has, OTHER_PRODUCTS):
        yield f"{name}, another product"
    for option, price in by_option(on_demand, spot, f"{one.place}.spot_price").items():
        others = {"instance_type": machine, "tier": _tier(label, None)}
        yield offer(label, price, count=count, option=option, currency=currency, **others)


def _node(node: Fields) -> Iterator[Found]:
    node.only_money("price", "priceCurrency", "priceSpecification")
    kind = KINDS[node.one_of("description", KINDS)]
    name = node.text("name")
    if not name.endswith(f" {kind.ending}"):
        raise node.wrong("name", f"expected a name that ends in {kind.ending!r}")
    price, currency = _price(node, kind.unit)
    chips = name.removesuffix(kind.ending).strip()
    if kind.option is None:
        yield "storage"
    elif not chips or chips.startswith("CPU."):
        yield "a machine without accelerators"
    else:
        count, label = _chips(chips, f"{node.place}.name")
        others = {"tier": _tier(label, kind.tier), "minimum_quantity": "1" if count == 1 else None}
        yield offer(label, price, count=count, option=kind.option, currency=currency, **others)


def _nodes(document: Document) -> list[Fields]:
    """Return the nodes of the page's one graph of JSON-LD that has offers."""
    scripts = Page(document).tree.css("script")
    linked = [node.text() for node in scripts if node.attributes.get("type") == "application/ld+json"]
    graphs = [Fields("JSON-LD", content(text)).objects("@graph") for text in linked if '"Offer"' in text]
    if len(graphs) != 1:
        raise refusal(f"expected one graph of offers, found {len(graphs)}", "JSON-LD", len(linked))
    return graphs[0]


def _price(node: Fields, unit: str) -> tuple[Decimal, str]:
    """Return the price of an offer of the page and its currency: said twice, in the unit of its kind."""
    inner = node.inner("priceSpecification")
    inner.only_money("price", "priceCurrency")
    price, currency = node.number("price"), node.text("priceCurrency")
    if currency not in CURRENCIES.values():
        raise node.form_changed("priceCurrency", f"expected one of {', '.join(CURRENCIES.values())}")
    if (inner.number("price"), inner.text("priceCurrency")) != (price, currency):
        raise node.wrong("price", "the two prices of an offer differ")
    if inner.text("unitText") != unit:
        raise inner.form_changed("unitText", f"expected {unit}")
    return price, currency


def _chips(text: object, field: str) -> tuple[int, str]:
    """Return number and name of the chips in a text such as "8x H100 SXM5 80GB"."""
    found = CHIPS.fullmatch(" ".join(text.split())) if isinstance(text, str) else None
    if found is None:
        raise refusal('expected chips as in "8x H100 SXM5 80GB"', field, text)
    return int(found[1]), found[2]


def _tier(label: str, tier: str | None) -> str | None:
    return ", ".join(filter(None, (tier, "confidential computing" if "CC" in label.split() else None))) or None


SOURCE = web_source(
    read,
    name="verda",
    provider="Verda",
    title="Verda instance types",
    url="https://api.verda.com/v1/instance-types",
    pages=pages,
    other_urls=("https://api.datacrunch.io/v1/instance-types", "https://verda.com/pricing"),
)
