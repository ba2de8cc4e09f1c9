"""Vast.ai, a marketplace: quantiles over the verified machines of each chip, by tier and country, with their count.

Where: POST https://console.vast.ai/api/v0/bundles/ (https://docs.vast.ai/api-reference/search/search-offers). The
documentation asks for a key; calls without one were answered from July to October 2026, so that a key is sent where
VAST_API_KEY holds one. Settings: `enabled`, `url`, `gpu_names` ("all" of GPU_NAMES, or a list of Vast's names). A scope
is a chip by Vast's name. Format read in July and August 2026; prices are US dollars.

Filters, in short in `conditions`: verified, rentable, not rented, on demand, not of another cloud (external). Medians
of Vast under other filters differ by 5 to 25 %: never join the two.

1. Bytes are not kept as received here, as they are of every other source: addresses, names and hardware of the hosts
   (HIDDEN) are made null before anything is landed, and an answer in which one is left is not landed at all. All other
   bytes stay as they came.
2. Asks, not trades. A machine is offered several times, as 1, 2, 4 and 8 of its chips: it counts once, by its largest
   offer. `dph_base` is of all chips of the offer, without disk; `dph_total` has a disk of a size that Vast chooses on
   top. Where the two and the price of that disk do not add up, or the disk is dearer than the chips, the offer is left
   out; where a quarter of them are so, the answer is another one.
3. A row is the p25 or the median over the machines of one chip, tier and country, to ten decimals. One machine alone is
   no market (an RTX 5090 stood at 53.34): no price, but its count stands in core.availability.
4. `min_bid` is what the least bid for the same chips must be now: the host's own or, where others bid, above theirs. It
   is the spot price unless it is above the price on demand (13.33 beside 3.78): nobody would pay that, and it is none.
5. An A100 of 40 GB and one of 80 have one name: the label has `gpu_ram`, MiB of one chip as its driver sees them, in
   whole GiB. `gpu_total_ram` is of all chips.
6. Tiers: verified, or verified datacenter where `hosting_type` is 1. "deverified" and "unverified" are counted.
7. The country is the code in `geolocation`: "Montana, US", ", US", or "Taiwan, TW, AS" with the continent behind it.
8. An answer is cut at a cap that changes (64 offers, 1000) and does not say so. Where it has as many offers as caps do
   (round numbers), the next is queried from its last price on, until one is not round. A fetch that ends in a round
   number is refused.
9. Vast bundles identical offers into one unless a query forbids it; a bundle is left out.
"""

import ipaddress
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from extract.base import Context
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields, refusal
from extract.neoclouds.fetching import JSON, chosen, key_checked, paged, web_source
from extract.neoclouds.offers import TEN_DECIMALS, Empty, Found, Priced, Strange, each, market, stock
from extract.web.interface import Response
from warehouse.documents import Document

KEY = "VAST_API_KEY"
GPU_NAMES = (
    *("A100 PCIE", "A100 SXM4", "B200", "B300", "H100 NVL", "H100 PCIE", "H100 SXM", "H200", "H200 NVL", "L40S"),
    *("RTX 4090", "RTX 5090", "RTX 6000Ada", "RTX A6000", "RTX PRO 6000 S", "RTX PRO 6000 WS"),
)
"""Vast's names, letter for letter."""
ANY_CHIP = ("", "all")
"""Scopes of saved answers of which nobody says what was asked."""
FILTERS: Mapping[str, object] = {
    "verified": {"eq": True},
    "rentable": {"eq": True},
    "rented": {"eq": False},
    "external": {"eq": False},
    "type": "on-demand",
    "disable_bundling": True,
    "order": [["dph_total", "asc"]],
    "limit": 1000,
}
CONDITIONS = "verified, one price a machine, without disk"

HIDDEN = ("public_ipaddr", "hostname", "webpage", "logo", "host_id", "mobo_name", "gpu_ids")
"""Fields by which a host could be found."""
HIDDEN_VALUE = re.compile(
    rb'("(?:%s)"\s*:\s*)("(?:[^"\\]|\\.)*"|\[[^\[\]{}"]*\]|[-+.0-9eE]+|true|false)' % "|".join(HIDDEN).encode()
)

MONEY = (
    *("dph_base", "dph_total", "dph_total_adj", "discounted_dph_total", "discounted_hourly", "discount_rate"),
    *("credit_discount_max", "storage_cost", "storage_total_cost", "inet_up_cost", "inet_down_cost"),
    *("internet_up_cost_per_tb", "internet_down_cost_per_tb", "vram_costperhour", "avail_vol_dph", "sla_broker_rate"),
    *("dlperf_per_dphtotal", "flops_per_dphtotal"),
)
TIERS = {0: "verified", 1: "verified datacenter"}
VERIFICATIONS = ("verified", "unverified", "deverified")
MIN_MACHINES = 2
"""Machines that make a market."""
MAX_CHIPS = 16
ROUNDING = Decimal("0.001")
"""By how much of a dollar an offer may differ from the sum of its parts."""
COUNTRY = re.compile(r"(?:[^,]*, ?)?([A-Z]{2})(?:, ?(?:AF|AS|EU|NA|OC|SA))?")
STRANGE = Strange("which says things that do not go together")

Place = tuple[str, str, str]
"""Label, tier and country."""


class Ask(NamedTuple):
    """The largest offer of one machine: its chips, the price of one of them, and the minimum bid for one."""

    chips: int
    price: Decimal
    bid: Decimal | None


def read(document: Document) -> Iterator[Found]:
    """Yield quantiles and counts of a fetch; raise LayoutChanged where it is cut short, or another answer."""
    offers = _offers(document)
    machines: dict[Place, dict[str, Ask]] = defaultdict(dict)
    for found in each(offers, _ask, document.scope):
        yield found
        if not isinstance(found, Priced):
            continue
        place, machine, ask = found.ask
        known = machines[place].get(machine)
        if known is not None:
            yield "a smaller offer of the same machine"
        if known is None or (ask.chips, -ask.price) > (known.chips, -known.price):
            machines[place][machine] = ask
    for place, asks in sorted(machines.items()):
        yield from _market(place, list(asks.values()))
    if machines or not offers:
        yield Empty()


def _offers(document: Document) -> list[Fields]:
    """Return the offers of all pages, each once; raise LayoutChanged where they may not be all."""
    every = answers.pages(document)
    if any("success" in answer and not answer.flag("success") for answer in every):
        raise refusal("expected offers, found a failure", "success", "false")
    pages = [answer.objects("offers") for answer in every]
    found: dict[object, Fields] = {}
    last = Decimal(0)
    for number, page in enumerate(pages, start=1):
        prices = [price for one in page if (price := one.readable(one.number, "dph_total")) is not None]
        if is_cut(len(page)) != (number < len(pages)):
            raise refusal("expected pages up to one that is not round", f"page {number}", len(page))
        if len(pages) > 1 and prices != sorted([last, *prices])[1:]:
            raise refusal(f"expected prices from {last} up", f"page {number}", "dph_total")
        last = prices[-1] if prices else last
        for one in page:
            identity = one.readable(one.whole, "id")
            found.setdefault(one.place if identity is None else identity, one)
    if len(pages) == 1 and len(found) < len(pages[0]):
        raise refusal("duplicate id", "page 1", len(found))
    return list(found.values())


def _ask(one: Fields, scope: str) -> Iterator[Found]:
    """Yield the market of an offer with its machine and ask, or why it has none."""
    one.only_money(*MONEY)
    one.whole("id")
    if scope not in ANY_CHIP:
        one.one_of("gpu_name", [scope])
    verification, hosting = one.one_of("verification", VERIFICATIONS), one.whole("hosting_type")
    if hosting not in TIERS:
        raise one.wrong("hosting_type", f"unknown hosting_type; expected one of {', '.join(map(str, TIERS))}")
    chips, base, total = one.whole("num_gpus"), one.number("dph_base"), one.number("dph_total")
    memory, bid = one.whole("gpu_ram"), one.number_or_none("min_bid")
    machine = one.whole("machine_id")
    disk = one.number("storage_total_cost")
    adds_up = abs(total - base - disk) <= ROUNDING and disk <= base
    if not 0 < chips <= MAX_CHIPS or not base or not memory or not adds_up or one.flag("is_bid"):
        yield STRANGE
        return
    if one.whole("gpu_total_ram") != memory * chips or one.any("bundled_results") is not None:
        yield STRANGE
        return
    if verification != "verified":
        yield verification
        return
    if one.any("external"):
        yield "of another cloud"
        return
    if not one.flag("rentable") or one.flag("rented"):
        yield "cannot be rented now"
        return
    place = "" if one.any("geolocation") == "" else one.text_or_none("geolocation")
    country = COUNTRY.fullmatch(place or "")
    if country is None:
        yield "without a country"
        return
    label = f"{one.text('gpu_name')} {round(memory / 1024)}GB"
    yield Priced(((label, TIERS[hosting], country[1]), machine, Ask(chips, base / chips, bid / chips if bid else None)))


def _market(place: Place, asks: list[Ask]) -> Iterator[Found]:
    """Yield the prices of one chip, tier and country, and how many machines and chips they are of."""
    label, tier, country = place
    columns: dict[str, Any] = {"tier": tier, "region_id": country}
    # Both are binary fractions written out: the same price may end in another digit.
    bids = [ask.bid for ask in asks if ask.bid is not None and ask.bid <= ask.price + TEN_DECIMALS]
    yield from ["without a bid below the price on demand"] * (len(asks) - len(bids))
    for option, prices in (("on_demand", [ask.price for ask in asks]), ("spot", bids)):
        if len(prices) >= MIN_MACHINES:
            yield from market(label, prices, option=option, conditions=CONDITIONS, **columns)
        else:
            yield from [f"the only machine of its chip, tier and country, {option}"] * len(prices)
    yield stock(label, n_machines=len(asks), n_accelerators=sum(ask.chips for ask in asks), **columns)


def is_cut(number: int) -> bool:
    """Return whether an answer with so many offers may have been cut there: where limits are, at round numbers."""
    return number >= 10 and (number % 10 == 0 or number % 25 == 0 or number.bit_count() == 1)


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the offers of one chip from the cheapest up, each page without what leads to its hosts.

    Raises LayoutChanged where a page is no JSON or does not lead on, CredentialsMissing where the key is refused.
    """
    key = os.environ.get(KEY, "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    seen: set[int] = set()

    def get(least: float | None) -> Response:
        further = {"dph_total": {"gte": least}} if least is not None else {}
        answer = ctx.web.post(url, json={**FILTERS, "gpu_name": {"eq": scope}, **further}, accept=JSON, headers=headers)
        return replace(answer, body=without_hosts(answer.body))

    def following(page: Any, _: float | None) -> float | None:
        try:
            found = {int(one["id"]): float(one["dph_total"]) for one in page["offers"]}
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise refusal(f"no offers: {error!r:.200}", "offers", "") from error
        if not is_cut(len(found)):
            return None
        if seen >= found.keys():
            raise refusal("a page repeats earlier rows", "page", len(found))
        seen.update(found)
        return max(found.values())

    with key_checked(KEY):
        yield from paged(get, following, first=None)


def without_hosts(body: bytes) -> bytes:
    """Return an answer with what leads to hosts as null; raise LayoutChanged where some of it is left, or no JSON is.

    Nothing of the answer stands in the error: it is what must not be kept.
    """
    hidden = HIDDEN_VALUE.sub(rb"\1null", body)
    try:
        visible = json.loads(hidden)
    except (ValueError, RecursionError):
        raise refusal("no JSON", "body", len(body)) from None
    left = next(_leads_to_hosts(visible, ""), None)
    if left is not None:
        raise refusal("the host of a machine is visible", left, "(hidden)")
    return hidden


def _leads_to_hosts(value: Any, name: str) -> Iterator[str]:
    """Yield the names of fields that are to be hidden and are not null, and of those that hold an address."""
    if name in HIDDEN and value is not None:
        yield name
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leads_to_hosts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leads_to_hosts(inner, name)
    elif isinstance(value, str):
        try:
            ipaddress.ip_address(value.strip())
        except ValueError:
            return
        yield name


SOURCE = web_source(
    read,
    name="vast",
    provider="Vast.ai",
    title="Vast.ai, verified machines",
    url="https://console.vast.ai/api/v0/bundles/",
    pages=pages,
    scopes=chosen("gpu_names", GPU_NAMES, r".*\S.*"),
    max_age=timedelta(days=1),
    settings=("gpu_names",),
    credentials=f"none, or `{KEY}`",
)
