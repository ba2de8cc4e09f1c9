"""Prices of Vultr's plans: its public REST API, asked without a key.

Cloud GPU plans are at https://api.vultr.com/v2/plans?type=all , bare metal at https://api.vultr.com/v2/plans-metal
(https://www.vultr.com/api/ ). Each is a scope, with all its pages. The setting `url` goes up to and with /v2.

1. Costs are of the whole machine, in US dollars. The monthly ones are a ceiling (672 hours of bare metal), and no other
   option; they show when the unit of one of them changes, and nothing is read then.
2. A preemptible cost stands beside every plan, often equal to the other; whether it is sold so says
   `deploy_preemptible`, and `deploy_ondemand` says it of the other: 8 B200 had a cost of 68 that nobody could order.
   Saved answers without the two flags exist; there, a preemptible cost below the other is a price.
3. `gpu_vram_gb` is of all chips. A plan with less than a chip has a `gpu_count` such as "1/8": it is one slice, whose
   memory stands in the label, and never a chip at a tenth of the price. Saved answers without `gpu_count` leave out
   plans whose memory is not that of one chip or less. The name of a plan ends in its memory: where the two differ, it
   is left out. Dedicated metal (type vdm) has no such fields, but the chip and its memory in its name.
4. Bare metal had no fields about GPUs once: number and chip are in its name then (vbm-112c-2048gb-8-h100-gpu). Where
   there are fields, they hold, and a number in the name must agree. (A plan named l40 has L40S.)
5. `location_cost` names the places where a plan costs something else. All other places have the plan's own cost, which
   has no region here, so that a plan that is sold out keeps its price.
6. `locations` are where a plan is listed, with empty texts between; without a key they are said to be off. So they are
   rows of core.availability, as listed, and decide nothing about prices.
7. Plans without GPU, and the free one that costs 0, are other products.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from extract.base import Context
from extract.neoclouds import answers
from extract.neoclouds.answers import Digits, Fields, refusal
from extract.neoclouds.fetching import paged, web_source
from extract.neoclouds.offers import Found, Offer, by_option, each, offer, stock
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.reference.accelerators import resolve

KEYS = {"plans": "plans", "plans-metal": "plans_metal"}
"""The key of the list in the answer to each scope."""
COSTS = ("hourly_cost", "monthly_cost", "hourly_cost_preemptible", "monthly_cost_preemptible")
FLAGS = ("deploy_ondemand", "deploy_preemptible")
MONTH_LIMITS = (Decimal(300), Decimal(800))
"""What a month may cost, in hours: 672 to 744 by the calendar, less where a month is cheaper."""
METAL = re.compile(r"vbm-\d+c-\d+gb-([1-9]\d?)-([a-z0-9]+)-gpu(?:-.*)?")
CLOUD = re.compile(r"vcg-([a-z0-9]+)-.*-(\d+)vram")
SLICE = re.compile(r"([1-9]\d?)/([1-9]\d?)")


class Chips(NamedTuple):
    """The chips of a plan: their number (1 for a slice of one), and what Vultr calls them."""

    number: int
    label: str


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield every page of a scope, each by the cursor that the one before it names."""
    kind = "&type=all" if scope == "plans" else ""
    address = f"{url.rstrip('/')}/{scope}?per_page=500{kind}"

    def get(cursor: str) -> Response:
        return ctx.web.get(f"{address}&cursor={quote(cursor, safe='')}" if cursor else address)

    return paged(get, lambda page, _: Fields("page", page).inner("meta").inner("links").any("next"), first="")


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each plan with a GPU, as it is sold, and where it is listed."""
    yield from each(_plans(document), _plan)


def _plan(row: tuple[Fields, bool]) -> Iterator[Found]:
    plan, is_metal = row
    plan.only_money(*COSTS, "location_cost")
    places = plan.texts("locations")
    chips = _chips(plan, is_metal)
    if isinstance(chips, str):
        yield chips
        return
    for one in _rows(plan, chips, "bare metal" if is_metal else None):
        yield one
        if isinstance(one, Offer):
            listed: dict[str, Any] = {"instance_type": plan.text("id"), "tier": one["tier"], "count": chips.number}
            for place in places:
                option = str(one["purchase_option"])
                yield stock(chips.label, option=option, region_id=place, stock_status="listed", **listed)


def _plans(document: Document) -> Iterator[tuple[Fields, bool]]:
    """Yield the plans of all pages, and whether they are bare metal; raise where pages are missing or of two scopes."""
    pages = answers.pages(document)
    wanted = [KEYS[document.scope]] if document.scope in KEYS else list(KEYS.values())
    for page in pages:
        found = [key for key in KEYS.values() if key in page]
        if len(found) != 1 or found[0] not in wanted:
            raise refusal(f"expected one of {', '.join(wanted)}, found {', '.join(page)}", page.place, found)
    for key in wanted:
        mine = [page for page in pages if key in page]
        plans = [plan for page in mine for plan in page.objects(key)]
        if any("meta" in page for page in mine) or len(mine) > 1:
            for number, page in enumerate(mine, start=1):
                meta = page.inner("meta")
                if meta.whole("total") != len(plans):
                    raise meta.wrong("total", f"expected all plans, found {len(plans)}")
                following, is_last = meta.inner("links").any("next"), number == len(mine)
                if not isinstance(following, str) or isinstance(following, Digits) or (following == "") != is_last:
                    raise meta.wrong("links", "a page is missing, or one too many")
        for plan in plans:
            yield plan, key == "plans_metal"


def _chips(plan: Fields, is_metal: bool) -> Chips | str:
    """Return the chips of a plan; where it has none, or does not say how many, the reason."""
    machine = plan.text("id")
    name = plan.text("gpu_type") if "gpu_type" in plan and plan.any("gpu_type") else None
    named = METAL.fullmatch(machine) if is_metal else None
    count = plan.any("gpu_count") if plan.has("gpu_count") else named and Digits(named[1])
    if name is None and (cloud := CLOUD.fullmatch(machine)) and plan.any("type") == "vdm":
        facts = {"id": machine, "gpu_type": cloud[1], "gpu_vram_gb": Digits(cloud[2])}
        return _chips(Fields(plan.place, facts), is_metal)
    if name is None:
        if named and "gpu_count" not in plan:
            return Chips(int(named[1]), named[2])
        if machine.startswith("vcg-") or "-gpu" in machine or ("gpu_count" in plan and plan.any("gpu_count")):
            raise plan.wrong("gpu_type", f"expected the field gpu_type of {machine}, a plan with GPUs")
        return "a plan without accelerators"
    # Bare metal sells whole chips only, and has no field for their memory.
    memory = 0 if is_metal and not ("gpu_vram_gb" in plan and plan.any("gpu_vram_gb")) else plan.whole("gpu_vram_gb")
    if (cloud := CLOUD.fullmatch(machine)) and int(cloud[2]) != memory:
        return "a plan whose name has another memory"
    if count is None:
        # One chip, or a slice of one, where the memory shows that it is no more.
        label = f"{name} {memory} GB"
        chip = resolve(label, "Vultr") if memory else None
        is_one = chip is not None and chip.accelerator_memory_gib == memory
        return Chips(1, label) if is_one else "a plan that does not say how many chips it has"
    if isinstance(count, str) and (part := SLICE.fullmatch(count)) and int(part[1]) < int(part[2]):
        return Chips(1, f"{name} {memory} GB") if memory else "a slice of unknown size"
    if not isinstance(count, str) or not re.fullmatch(r"[1-9]\d?", count) or (named and named[1] != count):
        raise plan.wrong("gpu_count", f"expected a number of chips that fits {machine}")
    each, rest = divmod(memory, int(count))
    return Chips(int(count), f"{name} {each} GB" if each and not rest else name)


def _rows(plan: Fields, chips: Chips, tier: str | None) -> Iterator[Found]:
    """Yield the prices of a plan, and those of the places that have their own."""
    has_flags = any(name in plan for name in (*FLAGS, "invoice_type"))
    sold = {"on_demand": plan.flag(FLAGS[0]), "spot": plan.flag(FLAGS[1])} if has_flags else None
    plan.any("hourly_cost")
    is_monthly = "invoice_type" in plan and plan.one_of("invoice_type", ("hourly", "monthly")) == "monthly"
    places: list[tuple[str | None, Fields]] = [(None, plan)]
    if "location_cost" in plan and plan.any("location_cost"):
        costs = plan.inner("location_cost")
        places += [(place, costs.inner(place)) for place in costs]
    columns: dict[str, Any] = {"count": chips.number, "instance_type": plan.text("id"), "tier": tier}
    columns["conditions"] = "invoiced monthly" if is_monthly else None
    for place, fields in places:
        fields.only_money(*COSTS, "location_cost")
        for option, price in _prices(fields, sold).items():
            yield offer(chips.label, price, option=option, region_id=place, **columns)


def _prices(fields: Fields, sold: Mapping[str, bool] | None) -> dict[str, Decimal | None]:
    """Return the price per hour of each option, None where it is not sold so; raise where costs contradict."""
    hourly, spot = _cost(fields, ""), _cost(fields, "_preemptible")
    prices = by_option(hourly, spot, f"{fields.place}.hourly_cost_preemptible")
    if sold is None:
        sold = {"on_demand": True, "spot": spot is not None and hourly is not None and spot < hourly}
    return {option: price if sold[option] else None for option, price in prices.items()}


def _cost(fields: Fields, ending: str) -> Decimal | None:
    """Return a cost per hour, None where it is absent, null or 0; raise where that of a month does not fit it."""
    names = f"hourly_cost{ending}", f"monthly_cost{ending}"
    hour, month = (fields.number(name) if fields.has(name) else None for name in names)
    if hour and month and not MONTH_LIMITS[0] <= month / hour <= MONTH_LIMITS[1]:
        raise fields.wrong(names[1], f"expected a monthly cost that fits {hour} an hour")
    return hour or None


SOURCE = web_source(
    read,
    name="vultr",
    provider="Vultr",
    title="Vultr GPU plans",
    url="https://api.vultr.com/v2",
    pages=pages,
    scopes=tuple(KEYS),
)
