"""Prices of Spheron, a marketplace that resells the machines of other providers: its list of offers, without a key.

The list is https://app.spheron.ai/api/gpu-offers , which https://docs.spheron.ai/api-reference calls a public endpoint
(with a key it shows discounts of one's own team, which nobody else gets). All its pages make one look. The address of
its terms is not known here; the site is https://www.spheron.network/ .

Settings: `url`, without page and limit.

Quirks:

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
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from extract.base import Context, Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import HINT, base_url, numbered_pages, pages_of, web_source
from extract.neoclouds.offers import Row, offer, once, parsed, quantile
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

NAME = "spheron"
URL = "https://app.spheron.ai/api/gpu-offers"
PROVIDER = "Spheron"
LIMIT = 100
"""Groups a page, as Spheron's own clients ask."""
TIERS = ("SPOT", "DEDICATED", "CLUSTER", "BARE_METAL")
"""Values of instanceType that the API's reference names."""
STATISTICS = {"p25": Decimal("0.25"), "median": Decimal("0.5")}
FEWEST = 2
"""Offers that make a market."""
PREFIXED = re.compile(r"[0-9a-f]{8}:(.+)")

Market = dict[tuple[str, str, str, object], dict[tuple[object, ...], Decimal | None]]
"""Prices of one chip by label, option, tier and place, each by what makes it another offer; None: not read."""


def pages(ctx: Context, scope: str) -> Iterator[Response]:
    """Yield every page of the list; raise LayoutChanged where a page does not say how many there are."""
    url = base_url(ctx, NAME, URL)
    return numbered_pages(lambda number: ctx.web.get(f"{url}?page={number}&limit={LIMIT}"), _is_last, source=NAME)


def _is_last(page: Any, number: int) -> bool:
    total = page.get("totalPages") if isinstance(page, Mapping) else None
    if not isinstance(total, int) or isinstance(total, bool):
        raise LayoutChanged("expected a number of pages", source=NAME, field="totalPages", value=total, hint=HINT)
    return number >= total


def parse(document: Document) -> Parsed:
    """Return the prices of every offer, and the market's; raise LayoutChanged where a page is another or missing."""
    ignored: Counter[str] = Counter()
    found: list[Row] = []
    there: list[Row] = []
    market: Market = {}
    for group in _groups(document):
        group.only_money("lowestPrice", "highestPrice", "averagePrice")
        name = group.text("displayName")
        for one in group.objects("offers"):
            one.only_money("price", "spot_price")
            if group.text("gpuType").upper().startswith("CPU") or not one.whole("gpuCount"):
                ignored["a machine without accelerators"] += 1
                continue
            if not one.whole("gpu_memory"):
                ignored["an offer without the memory of its chip"] += 1
                continue
            if not _places(one):
                ignored["an offer without a place"] += 1
                continue
            rows = list(_rows(one, name, ignored))
            there += _there(one, name)
            if one.flag("available") and not one.flag("maintenance"):
                found += rows
                _add(market, one, name, rows)
            else:
                ignored["an offer that cannot be rented now"] += 1
    kept, twice = once(found)
    ignored["the same offer twice"] += twice
    counted, _ = once(there)
    return parsed(
        [*kept, *_statistics(market)],
        source=NAME,
        ignored=+ignored,
        availability=[*counted, *_sizes(market)],
    )


def _groups(document: Document) -> Iterator[Fields]:
    """Yield the groups of all pages, which must be as many as the pages say."""
    every = [Fields(NAME, f"page {number}", page) for number, page in enumerate(pages_of(content(document)), start=1)]
    groups = [group for page in every for group in page.objects("data")]
    for page in every:
        if page.whole("totalPages") != len(every):
            raise refusal(NAME, f"expected all pages, found {len(every)}", "totalPages", page.whole("totalPages"))
        if page.whole("total") != len(groups):
            raise refusal(NAME, f"expected all groups, found {len(groups)}", "total", page.whole("total"))
    yield from groups


def _rows(one: Fields, name: str, ignored: Counter[str]) -> Iterator[Row]:
    """Yield the prices of an offer, in each of its places; none where it has none or contradicts itself."""
    tier = one.text("instanceType")
    if tier not in TIERS:
        raise refusal(NAME, "an instanceType that is not known", f"{one.place}.instanceType", tier)
    price, spot = _amount(one, "price"), _amount(one, "spot_price")
    if tier == "SPOT" and price and spot and price != spot:
        ignored["a spot offer with two prices"] += 1
        return
    if tier == "SPOT":
        prices = {"spot": spot or price}
    else:
        one.any("price")
        prices = {"on_demand": price, "spot": spot}
        if price and spot and spot > price:
            raise refusal(NAME, f"a spot price above {price} on demand", f"{one.place}.spot_price", str(spot))
    if not any(prices.values()):
        ignored["an offer without price"] += 1
    for place in _places(one):
        for option, amount in prices.items():
            if amount:
                yield offer(
                    PROVIDER,
                    label=_label(one, name),
                    price=amount,
                    count=one.whole("gpuCount"),
                    instance_type=one.text("offerId"),
                    option=option,
                    region_id=place,
                    tier=tier,
                    host_provider_name=one.text("provider"),
                )


def _amount(one: Fields, name: str) -> Decimal | None:
    """Return an amount, None where the field is absent, null or 0."""
    return (one.number_or_none(name) or None) if name in one else None


def _label(one: Fields, name: str) -> str:
    """Return the group's name of the chip, with the memory of one chip where the name does not say it."""
    memory = one.whole("gpu_memory")
    memory_in_name = re.search(rf"\b{memory} ?G(i?B)?\b", name, re.IGNORECASE)
    return name if memory_in_name else f"{name} {memory}GB"


def _places(one: Fields) -> list[str]:
    """Return the places of an offer, each once and without the prefix that some have."""
    names = [found[1] if (found := PREFIXED.fullmatch(name)) else name for name in one.texts("clusters")]
    return list(dict.fromkeys(names))


def _there(one: Fields, name: str) -> Iterator[Row]:
    """Yield whether an offer can be rented, as rows of core.availability, one for each of its places."""
    status = "maintenance" if one.flag("maintenance") else "available" if one.flag("available") else "unavailable"
    for place in _places(one):
        yield {
            "service_provider_name": PROVIDER,
            "host_provider_name": one.text("provider"),
            "instance_type": one.text("offerId"),
            "accelerator_label": _label(one, name),
            "accelerator_count": one.whole("gpuCount"),
            "region_id": place,
            "purchase_option": "spot" if one.text("instanceType") == "SPOT" else "on_demand",
            "tier": one.text("instanceType"),
            "stock_status": status,
        }


def _add(market: Market, one: Fields, name: str, rows: list[Row]) -> None:
    """Add the prices of one chip of an offer to the markets that it belongs to, None where it should have one."""
    count, tier = one.whole("gpuCount"), one.text("instanceType")
    label, option = _label(one, name), "spot" if tier == "SPOT" else "on_demand"
    for row in rows:
        price = Decimal(str(row["unit_price"])) / count
        key = label, str(row["purchase_option"]), tier, row["region_id"]
        market.setdefault(key, {})[(one.text("provider"), count, price)] = price
    if option not in {row["purchase_option"] for row in rows}:
        for place in _places(one):
            market.setdefault((label, option, tier, place), {})[(one.text("offerId"),)] = None


def _statistics(market: Market) -> Iterator[Row]:
    for (label, option, tier, place), prices in sorted(market.items(), key=str):
        known = [price for price in prices.values() if price is not None]
        if len(known) == len(prices) >= FEWEST:
            for statistic, share in STATISTICS.items():
                yield offer(
                    PROVIDER,
                    label=label,
                    price=quantile(known, share),
                    option=option,
                    region_id=place,
                    tier=tier,
                    statistic=statistic,
                )


def _sizes(market: Market) -> Iterator[Row]:
    """Yield of how many offers each market is; of how many chips is not known, as a machine is sold in parts too."""
    for (label, option, tier, place), prices in sorted(market.items(), key=str):
        yield {
            "service_provider_name": PROVIDER,
            "accelerator_label": label,
            "region_id": place,
            "purchase_option": option,
            "tier": tier,
            "n_machines": len(prices),
        }


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Spheron GPU offers",
    url=URL,
    terms_url="https://www.spheron.network/",
    max_age=timedelta(days=1),
    parse=parse,
    pages=pages,
)
