"""OVHcloud: GPU instances and AI plans of its Public Cloud, from the public order catalogue of each subsidiary.

https://api.ovh.com/1.0/order/catalog/public/cloud (euros) and https://api.us.ovhcloud.com/1.0/order/catalog/public/cloud
(dollars; another company with other machines and prices), no key. A scope is a subsidiary. Prices are without tax.
Settings: `regions` ("all" of SUBSIDIARIES, or a list of them), `url` (up to and without /1.0).

1. A price is a whole number of 1e-8 units: 280000000 is 2.80. Beside it stands `formattedPrice`, the same for readers,
   to its last decimal ("2.80 €"): where they differ the scale has changed, and nothing is read.
2. The term is the ending of `planCode`: US plans have the intervalUnit "none" for hours and months.
   `.consumption` is an hour, `.minute.consumption` a minute (AI plans), `.monthly.postpaid` a month taken whole.
   Another ending, an intervalUnit that contradicts it, or a `commitment` of months, never seen so far, is refused.
3. GPU instances are those with the commercial brick "gpu". AI plans (`ai-training.h100-1-gpu.minute.consumption`) have
   the same technical data under another brick: as hours they would be sixty times too cheap. Their service is the tier.
4. Counted are AI plans without technical data, and plans of partners' software (`ai-app.<partner>-<app>-gpu...`,
   `...-bracket1.unit.consumption`), which sell no chip. A plan with GPUs under a brick that is new is named.
5. Flavours of family windows (`win-...`) have a licence in their price: counted, never mixed with Linux.
6. `t1-le-45` and `t1-45` are two machines of one price: each keeps its name.
7. "coming_soon" among the tags says that a price is not to be had yet (A10 in August 2026), "active" that it is; of a
   machine with neither nothing is known.
8. The catalogue says not in which regions a machine is.
9. The answer of FR has 8 MB, and names its subsidiary and currency: another than was asked for is refused.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from extract.base import Context, no_scope
from extract.neoclouds.answers import Fields, answer
from extract.neoclouds.fetching import chosen, web_source
from extract.neoclouds.offers import Found, Unknown, each, offer, plain
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.schema.vocabulary import HOURS_PER_MONTH

URL, URL_US = "https://api.ovh.com", "https://api.us.ovhcloud.com"
CURRENCIES = {"FR": "EUR", "US": "USD"}
"""The currency of each subsidiary; the others repeat the prices of these."""
SYMBOLS = {"EUR": "\N{EURO SIGN}", "USD": "$"}
AROUND = "\N{EURO SIGN}$USDEUR \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
"""What may stand around a price."""
AI_PLAN = re.compile(r"(?P<service>ai-(?:training|notebook|app))\.(?P<machine>[a-z0-9]+-\d+-gpu)\.minute\.consumption")
INSTANCE = re.compile(r"(?P<machine>[a-z0-9]+(?:-[a-z0-9]+)*)\.(?P<term>consumption|monthly\.postpaid)")
SHOWN = re.compile(r"(?P<whole>\d{1,3}(?:[ ,.\xa0\u202f]?\d{3})*)[.,](?P<decimals>\d{2,8})")


def pages(ctx: Context, url: str, subsidiary: str) -> Iterator[Response]:
    """Yield the one answer of a subsidiary."""
    if subsidiary not in CURRENCIES:
        raise no_scope(SOURCE.name, subsidiary, CURRENCIES)
    base = URL_US if subsidiary == "US" and url == URL else url.rstrip("/")
    yield ctx.web.get(f"{base}/1.0/order/catalog/public/cloud?ovhSubsidiary={subsidiary}")


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each plan that is a machine with GPUs."""
    catalogue = answer(document, CURRENCIES.values())
    locale = catalogue.inner("locale")
    subsidiary, currency = locale.one_of("subsidiary", CURRENCIES), locale.text("currencyCode")
    if document.scope not in (subsidiary, "all"):
        raise locale.wrong("subsidiary", f"expected the subsidiary {document.scope}")
    if currency != CURRENCIES[subsidiary]:
        raise locale.wrong("currencyCode", f"expected {CURRENCIES[subsidiary]}, the currency of {subsidiary}")
    codes: set[str] = set()

    def read_plan(addon: Fields) -> Iterator[Found]:
        code = addon.text("planCode")
        ai_plan = AI_PLAN.fullmatch(code)
        reason = _reason_to_leave_out(addon, code, is_ai=ai_plan is not None)
        if reason is None and code in codes:
            raise addon.form_changed("planCode", "duplicate plan")
        codes.add(code)
        yield reason or _row(addon, code, currency, ai_plan)

    yield from each(catalogue.objects("addons"), read_plan)


def _reason_to_leave_out(addon: Fields, code: str, *, is_ai: bool) -> str | None:
    """Return why a plan is no price of a machine with GPUs; None where it is one."""
    brick, gpu = _inside(addon, "commercial", "brick"), _inside(addon, "technical", "gpu")
    if brick is None and not is_ai and gpu is not None:
        raise addon.wrong("blobs", "expected the brick of a machine with GPUs")
    if is_ai:
        return "AI plan that names no GPU" if gpu is None else None
    if brick != "gpu":
        return "no GPU instance" if gpu is None else Unknown(f"a plan with GPUs of the brick {brick}, {code}")
    system = addon.inner("blobs").inner("technical").inner("os")
    is_windows = system.one_of("family", ("linux", "windows")) == "windows"
    if is_windows != code.startswith("win-"):
        raise system.wrong("family", f"expected Linux, or Windows by name and family, for {code}")
    return "Windows licence included" if is_windows else None


def _inside(addon: Fields, part: str, name: str) -> object:
    """Return a field of the blobs of a plan; None where one of them is not there, as in plans of credits."""
    found = addon
    for step in ("blobs", part):
        if not found.has(step):
            return None
        found = found.inner(step)
    return found.any(name) if name in found else None


def _row(addon: Fields, code: str, currency: str, ai_plan: re.Match[str] | None) -> Found:
    found = ai_plan or INSTANCE.fullmatch(code)
    if found is None:
        raise addon.wrong("planCode", "expected a plan of an hour (.consumption) or of a month (.monthly.postpaid)")
    blobs = addon.inner("blobs")
    gpu = blobs.inner("technical").inner("gpu")
    count, memory = gpu.whole("number"), gpu.inner("memory").whole("size")
    if not count or not memory:
        raise gpu.wrong("number", f"expected at least one GPU with memory, found {count} with {memory} GB")
    columns: dict[str, Any] = {"instance_type": found["machine"], "sku_price_id": code}
    price = _price(addon, currency, "month" if code.endswith(".monthly.postpaid") else "hour")
    if ai_plan:
        columns |= {"pricing_unit": "Minutes", "tier": ai_plan["service"]}
    else:
        if found["term"] == "monthly.postpaid":
            columns |= {"option": "reserved", "commitment_term_hours": HOURS_PER_MONTH}
            columns |= {"pricing_unit": "Months", "tier": "monthly"}
        tags = blobs.texts("tags")
        if not {"active", "coming_soon"} & {*tags}:
            raise blobs.wrong("tags", "expected active or coming_soon among the tags of a machine")
        if "coming_soon" in tags:
            columns |= {"restriction": "announced", "conditions": "coming soon"}
    return offer(f"{gpu.text('model')} {memory}GB", price, count=count, currency=currency, **columns)


def _price(addon: Fields, currency: str, unit: str) -> Decimal:
    pricings = addon.objects("pricings")
    if len(pricings) != 1:
        raise addon.wrong("pricings", f"expected one price, found {len(pricings)}")
    pricing = pricings[0]
    pricing.only_money("price", "formattedPrice", "strategy")
    pricing.one_of("intervalUnit", ("none", unit))
    if pricing.whole("commitment"):
        raise pricing.wrong("commitment", "expected a price without a commitment of months")
    price = pricing.whole("price") * Decimal("1e-8")
    text = pricing.text("formattedPrice")
    shown = SHOWN.search(text)
    if not price or shown is None or SYMBOLS[currency] not in text or text.replace(shown[0], "").strip(AROUND):
        raise pricing.wrong("formattedPrice", f"expected a price in {currency}")
    decimals = len(shown["decimals"])
    read = Decimal(re.sub(r"\D", "", shown["whole"]) + shown["decimals"]).scaleb(-decimals)
    if abs(read - price) * 2 > Decimal(1).scaleb(-decimals):
        raise pricing.wrong("price", f"price is {plain(price)}, but its text is {text}")
    return price


SOURCE = web_source(
    read,
    name="ovh",
    provider="OVHcloud",
    title="OVHcloud Public Cloud, GPU instances and AI plans",
    url=URL,
    pages=pages,
    scopes=chosen("regions", tuple(CURRENCIES)),
    settings=("regions",),
)
