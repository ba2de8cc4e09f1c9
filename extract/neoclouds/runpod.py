"""Prices of RunPod's pods, per chip, in its secure and its community cloud: one GraphQL question, asked without a key.

Where: POST https://api.runpod.io/graphql (https://graphql-spec.runpod.io/ names the fields, and asks for a key that
these do not need: answered without one from March to August 2026). Terms: https://www.runpod.io/legal/terms-of-service.
Settings: `enabled`, `url`. Format read in July and August 2026; prices are US dollars per GPU-hour.

1. Off unless a deployment says otherwise: the terms are reported to forbid data mining, robots and the like, and use
   in order to compete.
2. The two clouds are the tiers: secure in data centres, community on machines of others. Each has its own price, and a
   price stands in the answer where there is nothing to buy: what a cloud sells is what `secureCloud` and
   `communityCloud` say, and a price without them is counted and left out.
3. 0 and 0.5 are no prices: an RTX 3070 costs 0 in the secure cloud, and an H200 NVL or a slice of a B300 0.5 wherever
   nobody sells them. A chip that really costs half a dollar cannot be told from them, and has no price here.
4. The id is the chip: displayName is B300 for the chip and was B300 for a slice of it (June 2026, at 0.5). An id that
   names no memory is followed by `memoryInGb` in the label, so that such a slice is no chip; an entry with 0 there is
   left out. Ids have two spaces now and then ("NVIDIA  RTX A4500").
5. Spot prices have been equal to the others since 2026-05-06 (1.50 and 2.69 the day before): administered, not a
   discount. An equal one is counted and left out, and a higher one is another format.
6. `lowestPrice` is of the whole pod: 11.12 for eight A100. No price of it is asked for, only what it says of stock, and
   under names that say of what: `stockOfOne` for pods of one chip, `secureStockOfOne` in the secure cloud. A null says
   that it quotes none, not that there is none, and makes no row.
7. GraphQL tells errors with status 200, under `errors`; fields beside them may be missing or null.
"""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from extract.base import Context, Parsed
from extract.neoclouds.answers import Fields, content, refusal
from extract.neoclouds.fetching import JSON, base_url, web_source
from extract.neoclouds.offers import Row, offer, parsed
from extract.web.interface import Response
from warehouse.documents import Document

NAME = "runpod"
PROVIDER = "RunPod"
URL = "https://api.runpod.io/graphql"
TERMS_URL = "https://www.runpod.io/legal/terms-of-service"
OFF_BECAUSE = (
    "RunPod's terms are reported to forbid data mining, robots and similar gathering of data, and use to compete; "
    f"read {TERMS_URL} and decide"
)

SPOTS = {"securePrice": "secureSpotPrice", "communityPrice": "communitySpotPrice"}
CLOUDS = {"secure": ("secureCloud", "securePrice"), "community": ("communityCloud", "communityPrice")}
"""Each tier, with the field that says whether a chip is sold there, and the one that prices it."""
STOCKS = {"stockOfOne": None, "secureStockOfOne": "secure"}
"""Names of ours for what is in stock, with the tier that each is of."""
PLACEHOLDERS = (Decimal(0), Decimal("0.5"))
QUESTION = """{ gpuTypes {
  id displayName memoryInGb secureCloud communityCloud
  securePrice communityPrice secureSpotPrice communitySpotPrice
  stockOfOne: lowestPrice(input: {gpuCount: 1}) { stockStatus }
  secureStockOfOne: lowestPrice(input: {gpuCount: 1, secureCloud: true}) { stockStatus }
} }"""


def pages(ctx: Context, scope: str) -> Iterator[Response]:
    """Yield the one answer."""
    yield ctx.web.post(base_url(ctx, NAME, URL), json={"query": QUESTION}, accept=JSON)


def parse(document: Document) -> Parsed:
    """Return the prices of each chip in each cloud that sells it; raise LayoutChanged where the answer is another."""
    answer = Fields(NAME, "answer", content(document))
    if "errors" in answer:
        raise refusal(NAME, "expected data, found errors", "errors", str(answer.any("errors"))[:120])
    chips = answer.inner("data").objects("gpuTypes")
    ignored: Counter[str] = Counter()
    rows: list[Row] = []
    availability: list[Row] = []
    seen: set[str] = set()
    has_spot = any(name in chip for chip in chips for name in SPOTS.values())
    for chip in chips:
        chip.only_money(*SPOTS, *SPOTS.values(), "lowestPrice")
        if chip.text("id") in seen:
            raise refusal(NAME, "one id twice", f"{chip.place}.id", chip.text("id"))
        seen.add(chip.text("id"))
        for tier in CLOUDS:
            rows += _rows(chip, tier, ignored, has_spot=has_spot)
        availability += _stock(chip)
    return parsed(rows, source=NAME, ignored=+ignored, availability=availability)


def _label(chip: Fields) -> str | None:
    """Return the id of a chip, with its memory where the id is silent on it; None where nobody says it."""
    name, memory = " ".join(chip.text("id").split()), chip.whole("memoryInGb")
    if re.search(r"\d ?GB\b", name, re.IGNORECASE):
        return name
    return f"{name} {memory}GB" if memory else None


def _rows(chip: Fields, tier: str, ignored: Counter[str], *, has_spot: bool) -> Iterator[Row]:
    """Yield the prices of a chip in one cloud."""
    label, (flag, name) = _label(chip), CLOUDS[tier]
    is_sold, price = chip.flag(flag), chip.number_or_none(name)
    spot = chip.number_or_none(SPOTS[name]) if has_spot else None
    if not is_sold:
        ignored[f"not sold in the {tier} cloud"] += 1
        return
    if price is None or price in PLACEHOLDERS:
        ignored["a placeholder for a price"] += 1
        return
    if label is None:
        ignored["a chip of no memory"] += 1
        return
    prices = {"on_demand": price}
    if spot is None or spot in PLACEHOLDERS:
        ignored["no spot price"] += 1
    elif spot == price:
        ignored["a spot price equal to the one on demand"] += 1
    elif spot > price:
        raise refusal(NAME, f"a spot price above {price} on demand", f"{chip.place}.{SPOTS[name]}", str(spot))
    else:
        prices["spot"] = spot
    for option, amount in prices.items():
        yield offer(PROVIDER, label=label, price=amount, option=option, tier=tier)


def _stock(chip: Fields) -> Iterator[Row]:
    """Yield what is said of the stock of pods of one chip."""
    label = _label(chip)
    for name, tier in STOCKS.items():
        if name not in chip or chip.any(name) is None:
            continue
        status = chip.inner(name).text_or_none("stockStatus")
        if label is not None and status is not None:
            yield {
                "service_provider_name": PROVIDER,
                "accelerator_label": label,
                "accelerator_count": Decimal(1),
                "purchase_option": "on_demand",
                "tier": tier,
                "stock_status": status,
            }


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="RunPod, GPU types",
    url=URL,
    terms_url=TERMS_URL,
    parse=parse,
    pages=pages,
    off_because=OFF_BECAUSE,
)
