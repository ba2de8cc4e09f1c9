"""DigitalOcean: GPU Droplets on demand and as spot, from the pricing page of its documentation, or from its API.

https://docs.digitalocean.com/products/droplets/details/pricing/ needs no key. https://api.digitalocean.com/v2/sizes
needs a token, from the environment variable DIGITALOCEAN_TOKEN (scope size:read), and adds the names of the sizes, and
where they are in stock. Terms https://www.digitalocean.com/legal/terms-of-service-agreement . Dollars before tax.

Settings: `url` (the page).

Without a token the one scope is "page". With one there are "sizes" (the API) and "spot" (of the page its spot prices
alone, which the API does not have), so that no offer is told twice.

Quirks:

1. All prices are of the whole Droplet: "NVIDIA H100 (8x)" has eight, "NVIDIA H100" one; `gpu_info.count` in the API.
2. The page has one table a way to buy, all with the columns GPU and Price. A heading names each, and a section that is
   new is told and not read. Behind the heading of spot stands the word "public" while it is a preview. The page says
   that spot never costs more than on demand: where it does, the tables are not what their headings say.
3. Contracts have no price ("Per contract after contacting sales"): counted.
4. The page says RTX 4000 and RTX 6000 for what the API calls nvidia_rtx4000_ada and nvidia_rtx6000_ada.
5. "NVIDIA B300, air-cooled" and "liquid-cooled" are two machines: what stands behind the comma is a condition.
6. In the API `vram` is of all chips together; the label has one chip's. A month is 672 to 744 times the hourly price:
   beyond that one of them has another unit, and nothing is read.
7. A price holds in all regions. `regions` are those that have the size now; it may be none, and `available` false: then
   it has a price and no stock.
"""

import dataclasses
import operator
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from extract.base import Context, Parsed
from extract.neoclouds import answers, offers, pages, words
from extract.neoclouds.fetching import HTML, base_url, numbered_pages, pages_of, web_source
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing, SourceError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NAME = "digitalocean"
PROVIDER = "DigitalOcean"
URL = "https://docs.digitalocean.com/products/droplets/details/pricing/"
OFF_BECAUSE = (
    "DigitalOcean's terms are reported to forbid automated collection of its pages (read on 2026-10-10); "
    "read https://www.digitalocean.com/legal/terms-of-service-agreement and decide"
)
API_URL = "https://api.digitalocean.com/v2/sizes"
TOKEN_VARIABLE = "DIGITALOCEAN_TOKEN"  # noqa: S105, the name of a variable
SIZES_A_PAGE = 200
PAGE, SPOT, SIZES = "page", "spot", "sizes"
ON_DEMAND_HEADING = "On-Demand GPU Droplet Pricing"
SPOT_HEADINGS = ("Spot GPU Droplet Pricing", "Spot GPU Droplet Pricing public")
CONTRACT_HEADING = "Contract GPU Droplet Pricing"
OTHER_HEADINGS = ("CPU Droplet Pricing", "Bandwidth Billing")
NO_CONTRACT_PRICE = "Per contract after contacting sales"
HOURS_PER_MONTH = (670, 750)
_CHIPS = re.compile(r"(?P<chip>[A-Za-z0-9][^,()$]*?)(?:, (?P<condition>[a-z -]+))?(?: \((?P<count>[1-9]\d?)x\))?")


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the page alone, or the sizes of the API and what the page alone has."""
    return (SIZES, SPOT) if os.environ.get(TOKEN_VARIABLE) else (PAGE,)


def answers_of(ctx: Context, scope: str) -> Iterator[Response]:
    """Yield the page, or all pages of sizes; raise CredentialsMissing where the token is missing or refused."""
    if scope != SIZES:
        yield ctx.web.get(base_url(ctx, NAME, URL), accept=HTML)
        return
    token = os.environ.get(TOKEN_VARIABLE, "")
    hint = f"Put a token with the scope size:read into the environment variable {TOKEN_VARIABLE}"
    if not token:
        raise CredentialsMissing("no token", source=NAME, field=TOKEN_VARIABLE, value="", hint=hint)
    try:
        yield from numbered_pages(
            lambda number: ctx.web.get(
                f"{API_URL}?per_page={SIZES_A_PAGE}&page={number}", headers={"Authorization": f"Bearer {token}"}
            ),
            lambda content, _: not _has_more(answers.Fields(NAME, "page", content)),
            source=NAME,
        )
    except SourceError as error:
        if error.field == "status" and error.value in (401, 403):
            raise CredentialsMissing(
                "the token was refused", source=NAME, field=TOKEN_VARIABLE, value="(hidden)", hint=hint
            ) from error
        raise


def parse(document: Document) -> Parsed:
    """Return the price of each GPU Droplet on the page or in the API; raise LayoutChanged."""
    if document.body.lstrip().startswith(b"<"):
        return _page(document)
    return _sizes(document)


def _page(document: Document) -> Parsed:
    page = pages.Page(document)
    headings = [pages.text_of(node) for node in page.tree.css("h2")]
    spot_heading = next((heading for heading in SPOT_HEADINGS if heading in headings), SPOT_HEADINGS[0])
    on_demand = _table(page, ON_DEMAND_HEADING)
    rows = [row for line in on_demand for row in _droplet(line, "on_demand")]
    spot = [row for line in _table(page, spot_heading) for row in _droplet(line, "spot")]
    _check_spot(rows, spot)
    ignored = {}
    if document.scope == SPOT:
        ignored["in the API's answer"] = len(rows)
        rows = []
    rows += spot
    if CONTRACT_HEADING in headings:
        contracts = _table(page, CONTRACT_HEADING)
        for line in contracts:
            if line["Price"] != NO_CONTRACT_PRICE:
                raise answers.refusal(NAME, f"expected {NO_CONTRACT_PRICE!r}", line["GPU"], line["Price"])
        ignored["per contract"] = len(contracts)
    known = {ON_DEMAND_HEADING, spot_heading, CONTRACT_HEADING, *OTHER_HEADINGS}
    unknown = [f"section {heading!r}" for heading in headings if heading not in known]
    return offers.parsed(rows, source=NAME, ignored=ignored, unknown=unknown)


def _table(page: pages.Page, heading: str) -> list[dict[str, str]]:
    tables: list[LexborNode] = page.part(heading).css("table")
    if len(tables) != 1:
        raise answers.refusal(NAME, f"expected one table below {heading!r}", "table", len(tables))
    return pages.table(NAME, tables[0], ("GPU", "Price"))


def _droplet(line: dict[str, str], option: str) -> Iterator[offers.Row]:
    found = _CHIPS.fullmatch(line["GPU"])
    if found is None:
        raise answers.refusal(NAME, "expected a GPU and how many, such as NVIDIA H100 (8x)", "GPU", line["GPU"])
    price = words.price(line["Price"], source=NAME, field=line["GPU"], units=("hour",))
    if price.amount is not None:
        yield offers.offer(
            PROVIDER,
            label=found["chip"],
            price=price.amount,
            count=int(found["count"] or 1),
            option=option,
            currency=price.currency,
            capacity_unit="instance",
            conditions=found["condition"],
            statistic="floor" if price.is_floor else "price",
        )


def _check_spot(on_demand: list[offers.Row], spot: list[offers.Row]) -> None:
    """Raise where a machine costs more as spot than on demand."""
    machine = operator.itemgetter("accelerator_label", "accelerator_count", "conditions")
    list_prices = {machine(row): Decimal(str(row["unit_price"])) for row in on_demand}
    for row in spot:
        price = Decimal(str(row["unit_price"]))
        if price > list_prices.get(machine(row), price):
            message = f"expected at most the price on demand, which is {list_prices[machine(row)]}"
            raise answers.refusal(NAME, message, f"spot {row['accelerator_label']}", price)


def _sizes(document: Document) -> Parsed:
    sizes = [
        size
        for page in pages_of(answers.content(document))
        for size in answers.Fields(NAME, "page", page).objects("sizes")
    ]
    rows: dict[str, offers.Row] = {}
    stock: list[dict[str, object]] = []
    n_others = 0
    for size in sizes:
        size.only_money("price_hourly", "price_monthly")
        if "gpu_info" not in size or size.any("gpu_info") is None:
            n_others += 1
            continue
        slug = size.text("slug")
        if slug in rows:
            raise answers.refusal(NAME, "duplicate size", f"{size.place}.slug", slug)
        rows[slug] = _size(size, slug)
        stock += _stock(size, rows[slug])
    return offers.parsed(rows.values(), source=NAME, ignored={"no GPU": n_others}, availability=stock)


def _size(size: answers.Fields, slug: str) -> offers.Row:
    chip = size.inner("gpu_info")
    count, memory = chip.whole("count"), chip.inner("vram")
    total, unit = memory.whole("amount"), memory.text("unit")
    if not count or not total or total % count or unit != "gib":
        raise answers.refusal(NAME, "expected gib of all GPUs together", memory.place, f"{total} {unit} of {count}")
    price, monthly = size.number("price_hourly"), size.number("price_monthly")
    least, most = HOURS_PER_MONTH
    if not price or not least * price <= monthly <= most * price:
        message = f"expected {least} to {most} x price_hourly, which is {price}"
        raise answers.refusal(NAME, message, f"{size.place}.price_monthly", monthly)
    label = f"{chip.text('model')} {total // count}GB"
    return offers.offer(PROVIDER, label=label, price=price, count=count, instance_type=slug)


def _stock(size: answers.Fields, row: offers.Row) -> Iterator[dict[str, object]]:
    fields = {name: row[name] for name in ("service_provider_name", "instance_type", "accelerator_label")}
    fields |= {"accelerator_count": size.inner("gpu_info").number("count"), "purchase_option": "on_demand"}
    is_available = size.flag("available")
    regions: list[str | None] = [*size.texts("regions")]
    for region in regions or [None]:
        status = "available" if is_available and region else "not available"
        yield {**fields, "region_id": region, "stock_status": status}


def _has_more(page: answers.Fields) -> bool:
    links = page.inner("links")
    return "pages" in links and "next" in links.inner("pages")


SOURCE = dataclasses.replace(
    web_source(
        name=NAME,
        provider=PROVIDER,
        title="DigitalOcean GPU Droplets",
        url=URL,
        terms_url="https://www.digitalocean.com/legal/terms-of-service-agreement",
        parse=parse,
        pages=answers_of,
        off_because=OFF_BECAUSE,
        credentials=f"none, or `{TOKEN_VARIABLE}`",
    ),
    scopes=scopes,
)
