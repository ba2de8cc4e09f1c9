"""Prices of Azure's machines with accelerators: the Retail Prices API, asked without a key.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices describes it. Each region is a
scope, with all its pages: pages of all regions together may lose or repeat rows while the list changes.

Settings: `url`, up to and with /api/retail/prices; `regions`, the names of regions or "all" of those known.

1. What a size has, is nowhere in the answer: `warehouse/data/cloud_machine.csv` says it, also of sizes with other names
   of the same server. A size with N, the letter of accelerators, that it does not know is refused by name.
   `Standard_ND96asr_A100_v4` is the list's other name of `Standard_ND96asr_v4`; `_Promo` is a size with another price.
2. A reservation is a total for its term, though it says "1 Hour": an amount paid upfront. A savings plan, inside of
   the on-demand item, is per hour.
3. Linux and Windows share sizes and meters. Only `productName` tells: it ends in Windows, or in Win. "Cloud Services"
   is the platform with the same machines at the price of Windows.
4. "Spot" and "Low Priority" are words of `skuName`, with `meterName` in agreement; Low Priority, an older product, is
   left out. DevTestConsumption is a price for subscribers of Visual Studio alone.
5. A price that has ended, begins later or belongs to a meter that another region leads, is left out. Of several that
   hold, the last to begin does.
6. Four requests in nine seconds were refused with 429 and `x-ms-ratelimit-retailprices-retry-after: 60`, which is
   waited for; six seconds lie between two requests.
7. A region without such machines answers with no item.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from extract.base import Context, no_scope
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields, form_changed, refusal
from extract.neoclouds.fetching import chosen, paged, web_source
from extract.neoclouds.offers import Empty, Found, Offer, Unknown, detail, each, offer, plain
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.reference.cloud_machines import CloudMachine, known
from warehouse.schema.vocabulary import HOURS_PER_YEAR

PROVIDER = "Azure"
TERMS = {"1 Year": HOURS_PER_YEAR, "3 Years": 3 * HOURS_PER_YEAR, "5 Years": 5 * HOURS_PER_YEAR}
_REGIONS = """
australiaeast australiasoutheast brazilsouth canadacentral canadaeast centralindia centralus eastus eastus2
francecentral germanywestcentral indonesiacentral italynorth japaneast japanwest koreacentral koreasouth malaysiawest
mexicocentral northcentralus northeurope norwayeast polandcentral qatarcentral southafricanorth southcentralus
southeastasia southindia spaincentral swedencentral switzerlandnorth uaenorth uksouth ukwest westcentralus westeurope
westus westus2 westus3
"""
REGIONS = tuple(_REGIONS.split())
"""Regions that are fetched by default: open to anybody, with a chip of 80 GB or more on 2026-06-18."""
REGION = r"[a-z0-9]{3,40}"
SIZE = re.compile(r"Standard_N[A-Z][A-Za-z]*\d")
"""How names of sizes with accelerators begin; NP is a family of FPGAs."""
LINUX = re.compile(r"(series|srs|linux| v\d+)$", re.IGNORECASE)  # how products with Linux end


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield every page of a region, each by the address that the one before it names."""
    if not re.fullmatch(REGION, scope):
        raise no_scope(SOURCE.name, scope, REGIONS)
    wanted = f"serviceName eq 'Virtual Machines' and armRegionName eq '{scope}' and contains(armSkuName, 'Standard_N')"
    address = f"{url}?api-version=2023-01-01-preview&currencyCode='USD'&$filter={quote(wanted)}"

    def following(page: Any, _: str) -> str | None:
        place = Fields("page", page).any("NextPageLink")
        if not place:
            return None
        if not (query := str(place).partition("?")[2]):
            raise refusal("expected an address with a query", "NextPageLink", place)
        return f"{url}?{query}"  # its own address names the port, which is another host

    return paged(ctx.web.get, following, address)


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of a region."""
    items = []
    for page in answers.pages(document):
        if (currency := page.text("BillingCurrency")) != "USD":
            raise form_changed("expected prices in USD", "BillingCurrency", currency)
        items += page.objects("Items")
    if not items:
        yield Empty()
    newest: dict[tuple[str, ...], str] = {}
    for item in items:
        with suppress(LayoutChanged):  # which refuses the row below
            if key := _key(item, document):
                newest[key[:-1]] = max(newest.get(key[:-1], ""), key[-1])
    yield from each(items, _item, document, newest)


def _key(item: Fields, document: Document) -> tuple[str, ...] | None:
    """Return what a price is of, and when it began; None where it does not hold, or is of a meter of another region."""
    if not item.flag("isPrimaryMeterRegion") or not _begins(item, document):
        return None
    term = item.text("reservationTerm") if item.has("reservationTerm") else ""
    names = ("armRegionName", "type", "armSkuName", "productName", "skuName")
    return (*map(item.text, names), term, item.text("effectiveStartDate"))


def _begins(item: Fields, document: Document) -> bool:
    """Return whether a price holds when it was fetched."""
    start = item.moment("effectiveStartDate")
    end = item.moment("effectiveEndDate") if item.has("effectiveEndDate") else None
    return start <= document.fetched_at and (end is None or end > document.fetched_at)


def _item(item: Fields, document: Document, newest: dict[tuple[str, ...], str]) -> Iterator[Found]:
    """Yield the prices of an item, or the reason why it has none."""
    item.only_money("currencyCode", "retailPrice", "unitPrice", "effectiveStartDate", "effectiveEndDate")
    size = item.text("armSkuName").removesuffix("_Promo") if item.any("armSkuName") != "" else ""
    if reason := _left_out(item, size, document, newest):
        yield reason
        return
    machine = known(PROVIDER, size)
    if machine is None:
        yield Unknown(f"the size {size}")
        return
    if item.number("tierMinimumUnits"):
        raise item.wrong("tierMinimumUnits", "expected 0")
    price = item.number("retailPrice")
    if item.number("unitPrice") != price:
        raise item.form_changed("unitPrice", "expected the retail price")
    for found in _prices(item, machine, price):
        yield found
        if isinstance(found, Offer):
            yield detail(found, item.moment("effectiveStartDate"))


def _left_out(item: Fields, size: str, document: Document, newest: dict[tuple[str, ...], str]) -> str | None:
    """Return why an item is no price that anybody pays for a machine with Linux, None where it is one."""
    if not SIZE.match(size):
        return "a machine without accelerators" if size else "a price of no size of machine"
    if size.startswith("Standard_NP"):
        return "an FPGA"
    if item.text("serviceName") != "Virtual Machines":
        return "another service"
    if item.text("currencyCode") != "USD":
        raise item.form_changed("currencyCode", "expected prices in USD")
    if document.scope not in ("", "all", item.text("armRegionName")):
        raise item.form_changed("armRegionName", f"expected prices of {document.scope}")
    if item.text("unitOfMeasure") != "1 Hour":
        raise item.form_changed("unitOfMeasure", "expected 1 Hour")
    product, sku, meter = item.text("productName"), item.text("skuName"), item.text("meterName")
    for word in ("Spot", "Low Priority"):
        if sku.endswith(f" {word}") != meter.endswith(f" {word}"):
            raise item.form_changed("meterName", f"expected {word} in skuName and meterName, or in neither")
    if item.one_of("type", ("Consumption", "Reservation", "DevTestConsumption")) == "DevTestConsumption":
        return "a price for developers and tests"
    if product.endswith((" Windows", " Win")):
        return "a machine with Windows"
    if "Cloud Services" in product or "CloudServices" in product:
        return "Cloud Services"
    if not LINUX.search(product):
        return Unknown(f"the system of {product}")
    if sku.endswith(" Low Priority"):
        return "Low Priority"
    if item.text("armSkuName").endswith("_Promo") or " Promo" in product:
        return "a promotion"
    if not item.flag("isPrimaryMeterRegion"):
        return "a meter of another region"
    if not _begins(item, document):
        return "a price that does not hold now"
    key = _key(item, document)
    return "a price before the present one" if key and newest[key[:-1]] != key[-1] else None


def _prices(item: Fields, machine: CloudMachine, price: Decimal) -> Iterator[Found]:
    columns: dict[str, Any] = {
        "count": machine.accelerator_count,
        "instance_type": machine.instance_type,
        "region_id": item.matching("armRegionName", REGION, "the name of a region"),
        "fabric": machine.fabric,
    }
    if item.text("type") == "Reservation":
        columns["commitment_term_hours"] = TERMS[item.one_of("reservationTerm", TERMS)]
        found = offer(machine.accelerator_label, price, option="reserved", **columns)
        total = {"unit_price": "0", "upfront_price": plain(price), "purchase_payment_model": "All Upfront"}
        yield Offer(found | total) if isinstance(found, Offer) else found
        return
    if item.has("reservationTerm"):
        raise item.form_changed("reservationTerm", "expected no term of a price on demand")
    option = "spot" if item.text("skuName").endswith(" Spot") else "on_demand"
    yield offer(machine.accelerator_label, price, option=option, **columns)
    for plan in item.objects("savingsPlan") if item.has("savingsPlan") else ():
        hourly = plan.number("retailPrice")
        if option != "on_demand" or hourly > price:
            raise plan.wrong("retailPrice", f"expected a savings plan of a price on demand, below {price}")
        yield offer(
            machine.accelerator_label,
            hourly,
            option="savings_plan",
            commitment_discount_type="Azure savings plan for compute",
            purchase_payment_model="No Upfront",
            commitment_term_hours=TERMS[plan.one_of("term", TERMS)],
            **columns,
        )


SOURCE = web_source(
    read,
    name="azure",
    provider=PROVIDER,
    title="Azure retail prices",
    url="https://prices.azure.com/api/retail/prices",
    pages=pages,
    scopes=chosen("regions", REGIONS, REGION),
    settings=("regions",),
)
