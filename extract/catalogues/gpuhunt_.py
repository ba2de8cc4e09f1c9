"""The long tail, as the library gpuhunt read it: documents that landed are still read; nothing is fetched any more.

What: https://github.com/dstackai/gpuhunt (MPL-2.0), through which chipledger fetched CloudRift, Daytona and Seeweb
until November 2026, where the settings enabled it. gpuhunt minds no robots.txt and keeps no provider's own document.

1. A document is what gpuhunt 0.1.34 gave for one provider, as JSON, with its version and its warnings. Amounts had been
   binary fractions on their way. Every row is marked "via gpuhunt <version>" in `conditions`.
2. It renamed chips (RTX-PRO-6000 to RTXPRO6000). The label is the provider's own name where gpuhunt gave it,
   followed by the memory of one chip.
3. It knew no currencies. Seeweb bills in euros, and its figures are as they came.
4. Daytona's prices are sums that gpuhunt made for a sandbox of its own choice (1x-H100-8cpu-100gb-256gb), and its
   region, earth, is gpuhunt's: none. CloudRift's regions are its data centres.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import NoReturn

from extract.base import Context, Source
from extract.neoclouds.answers import Fields, answer, refusal
from extract.neoclouds.offers import Found, Unknown, each, offer, parser, plain, with_memory
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing

NAME = "gpuhunt"
URL = "https://github.com/dstackai/gpuhunt"
OFF_BECAUSE = "gpuhunt minds no robots.txt: it is used no more, and documents that landed are still read"
PLACELESS = ("earth", "")
SERVED = {"cloudrift": ("CloudRift", "USD"), "daytona": ("Daytona", "USD"), "seeweb": ("Seeweb", "EUR")}
"""Name and currency of each provider whose prices were fetched through gpuhunt."""


def _retired(ctx: Context, scope: str = "") -> NoReturn:
    """Raise CredentialsMissing, so that a run leaves it out with a note."""
    hint = "Remove [sources.gpuhunt] from the settings; the documents that it gave are still read"
    raise CredentialsMissing("gpuhunt is used no more", field="enabled", value="true", hint=hint)


def read(document: Document) -> Iterator[Found]:
    """Yield the offers with chips that gpuhunt gave, and its warnings."""
    fields = answer(document)
    scope, conditions = fields.one_of("provider", SERVED), f"via gpuhunt {fields.text('gpuhunt')}"
    warnings = [f"gpuhunt says: {warning}" for warning in fields.texts("warnings")]
    has_offer = False

    def read_item(item: Fields) -> Iterator[Found]:
        item.only_money("price")
        if item.text("provider") != scope:
            raise item.form_changed("provider", f"expected {scope}")
        yield _row(*SERVED[scope], item, conditions) if item.whole("gpu_count") else "without accelerators"

    for one in each(fields.objects("items"), read_item):
        has_offer |= not isinstance(one, str)
        yield one
    if not has_offer:
        raise refusal("; ".join([f"expected offers of {scope}, found none with a chip", *warnings]), "items", scope)
    yield from map(Unknown, warnings)


def _row(provider: str, currency: str, item: Fields, conditions: str) -> Found:
    place = item.any("location")
    data = item.inner("provider_data")
    name = data.text("gpu_type") if "gpu_type" in data else item.text("gpu_name")
    memory = item.number_or_none("gpu_memory")
    return offer(
        with_memory(name, plain(memory)) if memory else name,
        item.number("price"),
        count=item.whole("gpu_count"),
        instance_type=item.text("instance_name"),
        option="spot" if item.flag("spot") else "on_demand",
        currency=currency,
        conditions=conditions,
        region_id=None if place in PLACELESS else item.text("location"),
        service_provider_name=provider,
    )


SOURCE = Source(
    name=NAME,
    provider="several",
    title="Providers of the long tail, through gpuhunt",
    url=URL,
    terms_url=URL,
    max_age=timedelta(days=3),
    scopes=_retired,
    fetch=_retired,
    parse=parser(NAME, "several", read),
    off_because=OFF_BECAUSE,
)
