"""Prices of RunPod's pods, per chip, in its secure and its community cloud: one GraphQL question, asked without a key.

Where: POST https://api.runpod.io/graphql (https://graphql-spec.runpod.io/ names the fields, and asks for a key that
these do not need: answered without one from March to August 2026). Prices are US dollars per GPU-hour.

1. The two clouds are the tiers: secure in data centres, community on machines of others. Each has its own price, and a
   price stands in the answer where there is nothing to buy: what a cloud sells is what `secureCloud` and
   `communityCloud` say, and a price without them is counted and left out.
2. 0 and 0.5 are no prices: an RTX 3070 costs 0 in the secure cloud, and an H200 NVL or a slice of a B300 0.5 wherever
   nobody sells them. A chip that really costs half a dollar cannot be told from them, and has no price here.
3. The id is the chip: displayName is B300 for the chip and was B300 for a slice of it (June 2026, at 0.5). An id that
   names no memory is followed by `memoryInGb` in the label, so that such a slice is no chip; an entry with 0 there is
   left out. Ids have two spaces now and then ("NVIDIA  RTX A4500").
4. Spot prices have been equal to the others since 2026-05-06 (1.50 and 2.69 the day before), and those of terms, such
   as threeMonthPrice, in September 2026: no discounts. An equal spot price is counted and left out, a higher one is
   another format; those of terms are not requested.
5. `lowestPrice` is of the whole pod: 11.12 for eight A100. Of it only the stock is read, as `stockOfOne` for pods of
   one chip, and `secureStockOfOne` in the secure cloud. A null says that it quotes none, not that none is there.
6. GraphQL tells errors with status 200, under `errors`; other fields may then be missing or null.
"""

from collections.abc import Iterator
from decimal import Decimal

from extract.base import Context
from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import JSON, web_source
from extract.neoclouds.offers import Found, by_option, each, offer, stock, with_memory
from extract.web.interface import Response
from warehouse.documents import Document

CLOUDS = ("secure", "community")
"""The tiers: "secure" has the fields secureCloud (whether a chip is sold there), securePrice and secureSpotPrice."""
STOCKS = {"stockOfOne": None, "secureStockOfOne": "secure"}
"""Names of ours for what is in stock, with the tier that each is of."""
PLACEHOLDERS = (None, Decimal(0), Decimal("0.5"))
QUESTION = """{ gpuTypes {
  id displayName memoryInGb secureCloud communityCloud
  securePrice communityPrice secureSpotPrice communitySpotPrice
  stockOfOne: lowestPrice(input: {gpuCount: 1}) { stockStatus }
  secureStockOfOne: lowestPrice(input: {gpuCount: 1, secureCloud: true}) { stockStatus }
} }"""


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the one answer."""
    yield ctx.web.post(url, json={"query": QUESTION}, accept=JSON)


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of each chip in each cloud that sells it, and its stock."""
    found = answer(document)
    if "errors" in found:
        raise found.wrong("errors", "expected data, found errors")
    chips = found.inner("data").objects("gpuTypes")
    prices, spots = ([f"{tier}{kind}" for tier in CLOUDS] for kind in ("Price", "SpotPrice"))
    has_spot = any(name in chip for chip in chips for name in spots)
    seen: set[str] = set()

    def read_chip(chip: Fields) -> Iterator[Found]:
        chip.only_money(*prices, *spots, "lowestPrice")
        name, memory = chip.text("id"), chip.whole("memoryInGb")
        if name in seen:
            raise chip.form_changed("id", "duplicate id")
        seen.add(name)
        label = with_memory(name, memory)
        is_named = memory > 0 or label == name
        for tier in CLOUDS:
            yield from _rows(chip, label if is_named else "", tier, has_spot=has_spot)
        for field, stock_tier in STOCKS.items():
            status = chip.inner(field).text_or_none("stockStatus") if chip.has(field) else None
            if is_named and status:
                yield stock(label, count=1, tier=stock_tier, stock_status=status)

    yield from each(chips, read_chip)


def _rows(chip: Fields, label: str, tier: str, *, has_spot: bool) -> Iterator[Found]:
    is_sold, price = chip.flag(f"{tier}Cloud"), chip.number_or_none(f"{tier}Price")
    spot = chip.number_or_none(f"{tier}SpotPrice") if has_spot else None
    if not is_sold:
        yield f"not sold in the {tier} cloud"
    elif price in PLACEHOLDERS:
        yield "a placeholder for a price"
    elif not label:
        yield "a chip of no memory"
    else:
        spot = None if spot in PLACEHOLDERS else spot
        by_option(price, spot, f"{chip.place}.{tier}SpotPrice")
        yield offer(label, price, tier=tier)
        is_same = spot == price
        yield "a spot price equal to the one on demand" if is_same else offer(label, spot, option="spot", tier=tier)


SOURCE = web_source(
    read, name="runpod", provider="RunPod", title="RunPod, GPU types", url="https://api.runpod.io/graphql", pages=pages
)
