"""Scaleway: GPU Instances by the hour, in euros, zone by zone, from the public catalogue of its Instance API.

https://www.scaleway.com/en/developers/api/instance/instance-types , no key; terms
https://www.scaleway.com/en/contracts/ . A scope is a zone, so that one that fails is missing alone.

Settings: `url` (up to and without /instance), `regions` ("all" of ZONES, or a list of zones).

Quirks:

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

import dataclasses
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from extract.base import Context, Parsed
from extract.neoclouds import answers, offers
from extract.neoclouds.fetching import base_url, numbered_pages, pages_of, web_source
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import SettingsError

NAME = "scaleway"
PROVIDER = "Scaleway"
URL = "https://api.scaleway.com"
ZONES = (
    "fr-par-1",
    "fr-par-2",
    "fr-par-3",
    "nl-ams-1",
    "nl-ams-2",
    "nl-ams-3",
    "pl-waw-1",
    "pl-waw-2",
    "pl-waw-3",
)
ZONE = re.compile(r"[a-z]{2}-[a-z]{3}-\d")
SLICE = re.compile(r"\d{1,2}g\.\d{1,3}gb")
TYPES_A_PAGE = 100
HOURS_PER_MONTH = 730
MAX_GIB = 2048
"""Seven times the memory of the largest chip: beyond it the unit is another."""
TRIMMED = frozenset({"gpu", "hourly_price", "arch", "ncpus", "ram"})
"""The fields of a type in saved answers that were cut down."""


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the zones of the settings, or all."""
    wanted = ctx.settings.get("regions", "all")
    if wanted == "all":
        return ZONES
    if isinstance(wanted, list | tuple) and wanted and all(isinstance(z, str) and ZONE.fullmatch(z) for z in wanted):
        return tuple(dict.fromkeys(wanted))
    hint = 'Expected is "all" or a list of zones, such as ["fr-par-1", "fr-par-2"]'
    raise SettingsError("not a list of zones", source=NAME, field="regions", value=wanted, hint=hint)


def pages(ctx: Context, zone: str) -> Iterator[Response]:
    """Yield the pages of types of a zone, then those of their stock."""
    base = base_url(ctx, NAME, URL).rstrip("/")
    for path in ("servers", "servers/availability"):
        address = f"{base}/instance/v1/zones/{zone}/products/{path}?per_page={TYPES_A_PAGE}&page="
        yield from numbered_pages(
            lambda number, address=address: ctx.web.get(f"{address}{number}"),  # type: ignore[misc]
            lambda content, _: len(_servers(content)) < TYPES_A_PAGE,
            source=NAME,
        )


def parse(document: Document) -> Parsed:
    """Return the price of each type with a GPU, and its stock where that was asked for; raise LayoutChanged."""
    zone = document.scope if ZONE.fullmatch(document.scope) else None
    types: dict[str, answers.Fields] = {}
    stock: dict[str, str] = {}
    for page in pages_of(answers.content(document)):
        for name, value in _servers(page).items():
            one = answers.Fields(NAME, f"servers.{name}", value)
            if "availability" in one:
                _once(stock, name, one.text("availability"))
            else:
                _once(types, name, one)
    if not types:
        raise answers.refusal(NAME, "expected types, found none", "servers", 0)
    ignored = {"no GPU": 0, "no price": 0, "end of service": 0}
    rows, available = [], []
    for name, one in types.items():
        one.only_money("hourly_price", "monthly_price")
        count = 0 if one.any("gpu") is None else one.whole("gpu")
        if not count:
            ignored["no GPU"] += 1
            continue
        price = _hourly_price(one)
        label = _label(name, one)
        if name in stock:
            available.append(_stock(name, label, count, zone, stock[name]))
        if "end_of_service" in one and one.flag("end_of_service"):
            ignored["end of service"] += 1
        elif price is None:
            ignored["no price"] += 1
        else:
            rows.append(
                offers.offer(
                    PROVIDER, label=label, price=price, count=count, instance_type=name, currency="EUR", region_id=zone
                )
            )
    return offers.parsed(
        rows,
        source=NAME,
        ignored={reason: number for reason, number in ignored.items() if number},
        availability=available,
        may_be_empty=ignored["no GPU"] + ignored["end of service"] == len(types),
    )


def _servers(page: object) -> dict[str, object]:
    """Return the types, or their stock, of one page."""
    found = answers.Fields(NAME, "page", page).inner("servers")
    return {name: found.any(name) for name in found}


def _once(found: dict[str, Any], name: str, value: object) -> None:
    if name in found:
        raise answers.refusal(NAME, "duplicate type: the pages changed while they were read", "servers", name)
    found[name] = value


def _hourly_price(one: answers.Fields) -> Decimal | None:
    price = one.number_or_none("hourly_price")
    if price is not None and not price:
        raise answers.refusal(NAME, "a price of zero", f"{one.place}.hourly_price", price)
    monthly = one.number_or_none("monthly_price") if set(one) != TRIMMED else None
    if price is not None and monthly is not None and abs(monthly - price * HOURS_PER_MONTH) * 100 > monthly:
        message = f"expected {HOURS_PER_MONTH} x hourly_price, which is {price}"
        raise answers.refusal(NAME, message, f"{one.place}.monthly_price", monthly)
    return price


def _label(name: str, one: answers.Fields) -> str:
    if set(one) == TRIMMED:
        return name
    chip = one.inner("gpu_info")
    memory_gib = Decimal(chip.whole("gpu_memory")) / (1 << 30)
    if not 1 <= memory_gib <= MAX_GIB:
        raise answers.refusal(NAME, f"expected bytes of 1 to {MAX_GIB} GiB", f"{chip.place}.gpu_memory", memory_gib)
    words = [chip.text("gpu_manufacturer"), chip.text("gpu_name"), f"{offers.plain(memory_gib)}GB"]
    slice_of_it = one.text_or_none("mig_profile")
    if slice_of_it and not SLICE.fullmatch(slice_of_it):
        raise answers.refusal(NAME, "expected a slice such as 1g.10gb", f"{one.place}.mig_profile", slice_of_it)
    return " ".join([*words, f"MIG {slice_of_it}"] if slice_of_it else words)


def _stock(name: str, label: str, count: int, zone: str | None, status: str) -> dict[str, object]:
    return {
        "service_provider_name": PROVIDER,
        "instance_type": name,
        "accelerator_label": label,
        "accelerator_count": Decimal(count),
        "region_id": zone,
        "purchase_option": "on_demand",
        "stock_status": status,
    }


SOURCE = dataclasses.replace(
    web_source(
        name=NAME,
        provider=PROVIDER,
        title="Scaleway GPU Instances, by zone",
        url=URL,
        terms_url="https://www.scaleway.com/en/contracts/",
        parse=parse,
        pages=pages,
        settings=("regions",),
    ),
    scopes=scopes,
)
