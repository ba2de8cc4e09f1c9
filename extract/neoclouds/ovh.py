"""OVHcloud: GPU instances and AI plans of its Public Cloud, from the public order catalogue of each subsidiary.

https://api.ovh.com/1.0/order/catalog/public/cloud (euros) and https://api.us.ovhcloud.com/1.0/order/catalog/public/cloud
(dollars; another company with other machines and prices), no key; terms
https://www.ovhcloud.com/en/terms-and-conditions/contracts/ . A scope is a subsidiary. Prices are without tax.

Settings: `regions` ("all" of SUBSIDIARIES, or a list of them), `url` (up to and without /1.0).

Quirks:

1. A price is a whole number of 1e-8 units: 280000000 is 2.80. Beside it stands `formattedPrice`, the same for readers,
   to its last decimal ("2.80 €"): where they differ the scale has changed, and nothing is read.
2. The term is the ending of `planCode` and nothing else: US plans have the intervalUnit "none" for hours and months.
   `.consumption` is an hour, `.minute.consumption` a minute (AI plans), `.monthly.postpaid` a month taken whole.
   A machine with another ending, never seen so far, is another layout.
3. GPU instances are those with the commercial brick "gpu". AI plans (`ai-training.h100-1-gpu.minute.consumption`) have
   the same technical data under another brick: as hours they would be sixty times too cheap. Their service is the tier.
4. Counted are AI plans without technical data, and plans of partners' software (`ai-app.<partner>-<app>-gpu...`,
   `...-bracket1.unit.consumption`), which sell no chip.
5. Flavours of family windows (`win-...`) have a licence in their price: counted, never mixed with Linux.
6. `t1-le-45` and `t1-45` are two machines of one price: each keeps its name.
7. "coming_soon" among the tags says that a price is not to be had yet (A10 in August 2026).
8. The catalogue says not in which regions a machine is.
9. The answer of FR has 8 MB, and names its subsidiary and currency: another than was asked for is refused.
"""

import dataclasses
import re
from collections.abc import Iterator
from decimal import Decimal

from extract.base import Context, Parsed
from extract.neoclouds import answers, offers
from extract.neoclouds.fetching import base_url, web_source
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import SettingsError

NAME = "ovh"
PROVIDER = "OVHcloud"
URL = "https://api.ovh.com"
SUBSIDIARIES = {"FR": (URL, "EUR"), "US": ("https://api.us.ovhcloud.com", "USD")}
"""Where the catalogue of each is, and its currency; other subsidiaries repeat the prices of these."""
SYMBOLS = {"EUR": "\N{EURO SIGN}", "USD": "$"}
WORDS = "\N{EURO SIGN}$USDEUR \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
"""What may stand around a price."""
SCALE = Decimal("1e-8")
HOURS_PER_MONTH = 730
GPU_BRICK = "gpu"
COMING_SOON = "coming_soon"
AI_PLAN = re.compile(r"(?P<service>ai-(?:training|notebook|app))\.(?P<machine>[a-z0-9]+-\d+-gpu)\.minute\.consumption")
INSTANCE = re.compile(r"(?P<machine>[a-z0-9]+(?:-[a-z0-9]+)*)\.(?P<term>consumption|monthly\.postpaid)")
SHOWN = re.compile(r"(?P<whole>\d{1,3}(?:[ ,.\xa0\u202f]?\d{3})*)[.,](?P<decimals>\d{2,8})")


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the subsidiaries of the settings, or all."""
    wanted = ctx.settings.get("regions", "all")
    if wanted == "all":
        return tuple(SUBSIDIARIES)
    if isinstance(wanted, list | tuple) and wanted and all(each in SUBSIDIARIES for each in wanted):
        return tuple(dict.fromkeys(wanted))
    hint = f'Expected is "all" or a list of {", ".join(SUBSIDIARIES)}'
    raise SettingsError("not a list of subsidiaries", source=NAME, field="regions", value=wanted, hint=hint)


def pages(ctx: Context, subsidiary: str) -> Iterator[Response]:
    """Yield the one answer of a subsidiary."""
    if subsidiary not in SUBSIDIARIES:
        hint = f"Known: {', '.join(SUBSIDIARIES)}"
        raise SettingsError("not a subsidiary", source=NAME, field="scope", value=subsidiary, hint=hint)
    base = base_url(ctx, NAME, SUBSIDIARIES[subsidiary][0]).rstrip("/")
    yield ctx.web.get(f"{base}/1.0/order/catalog/public/cloud?ovhSubsidiary={subsidiary}")


def parse(document: Document) -> Parsed:
    """Return the price of each plan that is a machine with GPUs; raise LayoutChanged."""
    catalogue = answers.Fields(NAME, "catalog", answers.content(document))
    currency = _currency(catalogue.inner("locale"), document.scope)
    ignored: dict[str, int] = {}
    rows: dict[str, offers.Row] = {}
    for addon in catalogue.objects("addons"):
        code = addon.text("planCode")
        ai_plan = AI_PLAN.fullmatch(code)
        reason = _reason_to_leave_out(addon, code, is_ai=ai_plan is not None)
        if reason:
            ignored[reason] = ignored.get(reason, 0) + 1
            continue
        if code in rows:
            raise answers.refusal(NAME, "duplicate plan", f"{addon.place}.planCode", code)
        rows[code] = _row(addon, code, currency, ai_plan)
    return offers.parsed(rows.values(), source=NAME, ignored=ignored)


def _currency(locale: answers.Fields, scope: str) -> str:
    subsidiary, currency = locale.text("subsidiary"), locale.text("currencyCode")
    expected = SUBSIDIARIES.get(subsidiary)
    if expected is None or currency != expected[1] or scope not in (subsidiary, "all"):
        message = f"expected the subsidiary {scope}, one of {', '.join(SUBSIDIARIES)}, in its own currency"
        raise answers.refusal(NAME, message, "locale", f"{subsidiary} in {currency}")
    return currency


def _reason_to_leave_out(addon: answers.Fields, code: str, *, is_ai: bool) -> str | None:
    """Return why a plan is no price of a machine with GPUs; None where it is one."""
    brick = _inside(addon, "commercial", "brick")
    if brick is None and not is_ai and _inside(addon, "technical", "gpu") is not None:
        raise answers.refusal(NAME, "expected the brick of a machine with GPUs", f"{addon.place}.commercial", code)
    if brick != GPU_BRICK and not is_ai:
        return "no GPU instance"
    if is_ai and _inside(addon, "technical", "gpu") is None:
        return "AI plan that names no GPU"
    is_windows = False
    if not is_ai:
        family = addon.inner("blobs").inner("technical").inner("os").text("family")
        is_windows = family == "windows"
        if family not in ("linux", "windows") or is_windows != code.startswith("win-"):
            raise answers.refusal(NAME, "expected Linux, or Windows by name and family", f"{addon.place}.os", family)
    return "Windows licence included" if is_windows else None


def _inside(addon: answers.Fields, part: str, name: str) -> object:
    """Return a field of the blobs of a plan; None where one of them is not there, as in plans of credits."""
    found = addon
    for step in ("blobs", part):
        if step not in found or found.any(step) is None:
            return None
        found = found.inner(step)
    return found.any(name) if name in found else None


def _row(addon: answers.Fields, code: str, currency: str, ai_plan: re.Match[str] | None) -> offers.Row:
    found = ai_plan or INSTANCE.fullmatch(code)
    if found is None:
        message = "expected a plan of an hour (.consumption) or of a month (.monthly.postpaid)"
        raise answers.refusal(NAME, message, f"{addon.place}.planCode", code)
    blobs = addon.inner("blobs")
    gpu = blobs.inner("technical").inner("gpu")
    count = gpu.whole("number")
    memory = gpu.inner("memory").whole("size")
    if not count or not memory:
        raise answers.refusal(NAME, "expected at least one GPU with memory", gpu.place, f"{count} x {memory}")
    is_monthly = ai_plan is None and found["term"] == "monthly.postpaid"
    tags = [] if ai_plan else blobs.texts("tags")
    if not ai_plan and not tags:
        raise answers.refusal(NAME, "expected tags of a machine, such as active", f"{blobs.place}.tags", tags)
    is_coming = COMING_SOON in tags
    return offers.offer(
        PROVIDER,
        label=f"{gpu.text('model')} {memory}GB",
        price=_price(addon, currency),
        count=count,
        instance_type=found["machine"],
        option="reserved" if is_monthly else "on_demand",
        currency=currency,
        commitment_term_hours=HOURS_PER_MONTH if is_monthly else None,
        pricing_unit="Minutes" if ai_plan else "Months" if is_monthly else None,
        tier=ai_plan["service"] if ai_plan else "monthly" if is_monthly else None,
        restriction="announced" if is_coming else None,
        conditions="coming soon" if is_coming else None,
        sku_price_id=code,
    )


def _price(addon: answers.Fields, currency: str) -> Decimal:
    pricings = addon.objects("pricings")
    if len(pricings) != 1:
        raise answers.refusal(NAME, "expected one price", f"{addon.place}.pricings", len(pricings))
    pricing = pricings[0]
    pricing.only_money("price", "formattedPrice", "strategy")
    price = pricing.whole("price") * SCALE
    text = pricing.text("formattedPrice")
    shown = SHOWN.search(text)
    if not price or shown is None or SYMBOLS[currency] not in text or text.replace(shown[0], "").strip(WORDS):
        raise answers.refusal(NAME, f"expected a price in {currency}", f"{pricing.place}.formattedPrice", text)
    decimals = len(shown["decimals"])
    read = Decimal(re.sub(r"\D", "", shown["whole"]) + shown["decimals"]).scaleb(-decimals)
    if abs(read - price) * 2 > Decimal(1).scaleb(-decimals):
        raise answers.refusal(
            NAME, f"price is {offers.plain(price)}, but its text differs", f"{pricing.place}.price", text
        )
    return price


SOURCE = dataclasses.replace(
    web_source(
        name=NAME,
        provider=PROVIDER,
        title="OVHcloud Public Cloud, GPU instances and AI plans",
        url=URL,
        terms_url="https://www.ovhcloud.com/en/terms-and-conditions/contracts/",
        parse=parse,
        pages=pages,
        settings=("regions",),
    ),
    scopes=scopes,
)
