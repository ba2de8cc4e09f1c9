"""Scaleway: GPU Instances by the hour, in euros, zone by zone, from the public catalogue of its Instance API.

https://www.scaleway.com/en/developers/api/instance/instance-types , no key. A scope is a zone, which fails alone.
Settings: `url` (up to and without /instance), `regions` ("all" of ZONES, or a list of zones).

1. `hourly_price` is of the whole machine, in euros without tax; `gpu` counts its chips. The price of a chip falls with
   the size (B300: 9.48, 8.52 and 7.50 at 2, 4 and 8), so that each size is an offer of its own.
2. `monthly_price` is 730 x `hourly_price`, and no other option. Where it is not, within a hundredth, the unit of one of
   them has changed, and nothing is read.
3. A null price is none: the type is listed and not sold.
4. A page holds 100 types; a type that stands on two pages says that they moved while they were read.
5. Types without a GPU have `gpu` 0 or null. nl-ams-1 had none with one: a zone that lists no GPU is no error, and the
   batch gate refuses it where there had been some.
6. The chip is in `gpu_info`: H100-1-80G is H100-PCIe, H100-SXM-2-80G is H100-SXM, RENDER-S is a P100. A slice of a chip
   would be named in `mig_profile`, which stands in the label then.
7. Saved answers of a collector have five fields of each type and no `gpu_info`: of these, and of these alone, the name
   of the type is the label.
8. A type at its `end_of_service` can be had no more: counted, and no price.
9. The stock of a zone (available, scarce, shortage) is another answer, kept in the same document behind the types.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from extract.base import Context
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields, form_changed, refusal
from extract.neoclouds.fetching import chosen, numbered, web_source
from extract.neoclouds.offers import Empty, Found, each, offer, plain, stock
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.schema.vocabulary import HOURS_PER_MONTH

ZONES = tuple(f"{place}-{number}" for place in ("fr-par", "nl-ams", "pl-waw") for number in (1, 2, 3))
ZONE = r"[a-z]{2}-[a-z]{3}-\d"
SLICE = r"\d{1,2}g\.\d{1,3}gb"
TYPES_A_PAGE = 100
MAX_GIB = 2048
"""Seven times the memory of the largest chip: beyond it the unit is another."""
OTHERS = NO_GPU, END_OF_SERVICE = "no GPU", "end of service"
TRIMMED = frozenset({"gpu", "hourly_price", "arch", "ncpus", "ram"})
"""The fields of a type in saved answers that were cut down."""


def pages(ctx: Context, url: str, zone: str) -> Iterator[Response]:
    """Yield the pages of types of a zone, then those of their stock."""
    for path in ("servers", "servers/availability"):
        address = f"{url.rstrip('/')}/instance/v1/zones/{zone}/products/{path}?per_page={TYPES_A_PAGE}&page="
        yield from numbered(ctx, address, lambda page, _: len(list(page.inner("servers"))) >= TYPES_A_PAGE)


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each type with a GPU, and its stock where the answer has it."""
    zone = document.scope if re.fullmatch(ZONE, document.scope) else None
    types: dict[str, Fields] = {}
    statuses: dict[str, Fields] = {}
    for servers in (page.inner("servers") for page in answers.pages(document, ["EUR"])):
        for name in servers:
            one = servers.inner(name)
            known = statuses if "availability" in one else types
            if name in known:
                raise form_changed("duplicate type: the pages changed while they were read", "servers", name)
            known[name] = one
    if not types:
        raise refusal("expected types, found none", "servers", 0)
    found = list(each(((one, name, statuses.get(name), zone) for name, one in types.items()), _type))
    yield from found
    if sum(one in OTHERS for one in found if isinstance(one, str)) == len(types):
        yield Empty()


def _type(row: tuple[Fields, str, Fields | None, str | None]) -> Iterator[Found]:
    one, name, status, zone = row
    one.only_money("hourly_price", "monthly_price")
    count = one.whole("gpu") if one.any("gpu") is not None else 0
    if not count:
        yield NO_GPU
        return
    price, label = _hourly_price(one), _label(name, one)
    columns: dict[str, Any] = {"count": count, "instance_type": name, "region_id": zone}
    if status is not None:
        yield stock(label, stock_status=status.text("availability"), **columns)
    if "end_of_service" in one and one.flag("end_of_service"):
        yield END_OF_SERVICE
    else:
        yield offer(label, price, currency="EUR", **columns)


def _hourly_price(one: Fields) -> Decimal | None:
    price = one.number_or_none("hourly_price")
    if price is not None and not price:
        raise one.wrong("hourly_price", "a price of zero")
    monthly = one.number_or_none("monthly_price") if set(one) != TRIMMED else None
    if price is not None and monthly is not None and abs(monthly - price * HOURS_PER_MONTH) * 100 > monthly:
        raise one.wrong("monthly_price", f"expected {HOURS_PER_MONTH} x hourly_price, which is {price}")
    return price


def _label(name: str, one: Fields) -> str:
    if set(one) == TRIMMED:
        return name
    chip = one.inner("gpu_info")
    memory_gib = Decimal(chip.whole("gpu_memory")) / (1 << 30)
    if not 1 <= memory_gib <= MAX_GIB:
        raise chip.wrong("gpu_memory", f"expected bytes of 1 to {MAX_GIB} GiB")
    label = f"{chip.text('gpu_manufacturer')} {chip.text('gpu_name')} {plain(memory_gib)}GB"
    if one.any("mig_profile") is None:
        return label
    return f"{label} MIG {one.matching('mig_profile', SLICE, 'a slice such as 1g.10gb')}"


SOURCE = web_source(
    read,
    name="scaleway",
    provider="Scaleway",
    title="Scaleway GPU Instances, by zone",
    url="https://api.scaleway.com",
    pages=pages,
    scopes=chosen("regions", ZONES, ZONE),
    settings=("regions",),
)
