"""Prices of Spheron, a marketplace that resells the machines of other providers: its list of offers, without a key.

The list is https://app.spheron.ai/api/gpu-offers , which https://docs.spheron.ai/api-reference calls a public endpoint
(with a key it shows discounts of one's own team, which nobody else gets). All its pages make one fetch. The
setting `url` is without page and limit.

1. Prices are of the whole offer; `gpuCount` are its chips. `lowestPrice`, `highestPrice` and `averagePrice` of a group
   are over offers of one to eight chips, and say nothing: they are never read.
2. `provider` is whose machine it is: spheron-ai (itself a reseller of Hyperstack), sesterce (of Shadeform),
   data-crunch (Verda), massed-compute. Adding what they have to those providers' own would count machines twice.
3. `instanceType` says what can be booked, and is the tier: SPOT at `spot_price`, or at `price` where that one is
   absent; anything else at `price`. A DEDICATED offer may name a spot price too, which is kept as the spot price of
   that tier. A SPOT offer with two different prices is left out.
4. Offers that are not available, or in maintenance, cannot be rented: no price, but a row of what is there.
5. A cluster stands twice, once as newyork-usa-1 and once as 90e8fe74:newyork-usa-1: one place. A machine with a larger
   root disk (-bigroot) is another offer at the same price.
6. The group CPU NODE has no accelerators. Names of groups carry "(Low RAM)" or "Bare Metal", and stay as they are;
   `gpu_memory` of one chip is added where the name lacks it, since some say 80G of a chip of 40.
7. p25 and median are ours: over the offers that can be rented, per chip, tier and place, of the price of one chip.
   Offers of one host that agree in chips and price count once; one offer alone has neither, nor has a market with an
   offer whose price could not be read. They are rounded to ten decimals; of how many offers they are stands in
   core.availability.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from extract.base import Context
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields
from extract.neoclouds.fetching import numbered, web_source
from extract.neoclouds.offers import Found, Priced, by_option, each, market, offer, stock
from extract.web.interface import Response
from warehouse.documents import Document

LIMIT = 100
"""Groups a page, as Spheron's own clients ask."""
TIERS = ("SPOT", "DEDICATED", "CLUSTER", "BARE_METAL")
"""Values of instanceType that the API's reference names."""
PREFIXED = re.compile(r"[0-9a-f]{8}:(.+)")

Market = tuple[str, str, str, str]
Markets = dict[Market, dict[tuple[object, ...], Decimal | None]]
"""Prices of one chip by label, option, tier and place, each by what makes it another offer; None: not read."""


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield every page of the list; raise LayoutChanged where a page does not say how many there are."""
    return numbered(ctx, f"{url}?limit={LIMIT}&page=", lambda page, number: number < page.whole("totalPages"))


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of every offer, and the market's."""
    markets: Markets = defaultdict(dict)
    rows = [(one, group) for group in _groups(document) for one in group.objects("offers")]
    for found in each(rows, _row):
        if isinstance(found, Priced):
            for market_of, key, price in found.ask:
                markets[market_of][key] = price
        yield found
    for (label, option, tier, place), prices in sorted(markets.items(), key=str):
        columns: dict[str, Any] = {"option": option, "region_id": place, "tier": tier}
        known = [price for price in prices.values() if price is not None]
        if len(known) == len(prices) >= 2:  # of one offer there is no market
            yield from market(label, known, **columns)
        # Of how many chips is not known, as a machine is sold in parts too.
        yield stock(label, n_machines=len(prices), **columns)


def _row(row: tuple[Fields, Fields]) -> Iterator[Found]:
    one, group = row
    group.only_money("lowestPrice", "highestPrice", "averagePrice")
    one.only_money("price", "spot_price")
    name, places = group.text("displayName"), one.texts("clusters")
    places = list(dict.fromkeys(found[1] if (found := PREFIXED.fullmatch(place)) else place for place in places))
    if group.text("gpuType").upper().startswith("CPU") or not one.whole("gpuCount"):
        yield "a machine without accelerators"
    elif not one.whole("gpu_memory"):
        yield "an offer without the memory of its chip"
    elif not places:
        yield "an offer without a place"
    else:
        yield from _offer(one, name, places)


def _groups(document: Document) -> Iterator[Fields]:
    """Yield the groups of all pages, which must be as many as the pages say."""
    every = answers.pages(document)
    groups = [group for page in every for group in page.objects("data")]
    for page in every:
        if page.whole("totalPages") != len(every):
            raise page.wrong("totalPages", f"expected all pages, found {len(every)}")
        if page.whole("total") != len(groups):
            raise page.wrong("total", f"expected all groups, found {len(groups)}")
    yield from groups


def _offer(one: Fields, name: str, places: list[str]) -> Iterator[Found]:
    """Yield the prices of an offer in each of its places, its stock, and what it adds to which market."""
    tier, memory, count = one.one_of("instanceType", TIERS), one.whole("gpu_memory"), one.whole("gpuCount")
    memory_in_name = re.search(rf"\b{memory} ?G(i?B)?\b", name, re.IGNORECASE)
    label = name if memory_in_name else f"{name} {memory}GB"
    host, machine, is_spot = one.text("provider"), one.text("offerId"), tier == "SPOT"
    is_in_maintenance, is_available = one.flag("maintenance"), one.flag("available")
    status = "maintenance" if is_in_maintenance else "available" if is_available else "unavailable"
    columns: dict[str, Any] = {"count": count, "instance_type": machine, "tier": tier, "host_provider_name": host}
    prices = _prices(one, is_spot)
    if prices is None:
        yield "a spot offer with two prices"
    elif not any(prices.values()):
        yield "an offer without price"
    if not is_available or is_in_maintenance:
        yield "an offer that cannot be rented now"
    usual = "spot" if is_spot else "on_demand"
    asks: list[tuple[Market, tuple[object, ...], Decimal | None]] = []
    for place in places:
        yield stock(label, option=usual, region_id=place, stock_status=status, **columns)
        if not is_available or is_in_maintenance:
            continue
        for option, price in (prices or {usual: None}).items():
            if price:
                yield offer(label, price, option=option, region_id=place, **columns)
                of_one = price / count
                asks.append(((label, option, tier, place), (host, count, of_one), of_one))
            elif option == usual:
                asks.append(((label, option, tier, place), (machine,), None))
    yield Priced(asks)


def _prices(one: Fields, is_spot: bool) -> dict[str, Decimal | None] | None:
    """Return the prices of an offer by option; None where those of a spot offer contradict each other."""
    price, spot = (one.number(name) or None if one.has(name) else None for name in ("price", "spot_price"))
    if not is_spot:
        one.any("price")
        return by_option(price, spot, f"{one.place}.spot_price")
    return None if price and spot and price != spot else {"spot": spot or price}


SOURCE = web_source(
    read,
    name="spheron",
    provider="Spheron",
    title="Spheron GPU offers",
    url="https://app.spheron.ai/api/gpu-offers",
    max_age=timedelta(days=1),
    pages=pages,
)
