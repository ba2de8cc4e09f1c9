"""DigitalOcean: GPU Droplets on demand and as spot, from the pricing page of its documentation, or from its API.

https://docs.digitalocean.com/products/droplets/details/pricing/ needs no key. https://api.digitalocean.com/v2/sizes
needs a token, from the environment variable DIGITALOCEAN_TOKEN (scope size:read), and adds the names of the sizes, and
where they are in stock. Dollars before tax. The setting `url` is of the page.

Without a token the one scope is "page", with one "sizes": no offer is listed twice. Documents of the scope "spot" are
of before the API had spot: of them spot alone is read.

1. All prices are of the whole Droplet: "NVIDIA H100 (8x)" has eight, "NVIDIA H100" one; `gpu_info.count` in the API.
2. The page has one table a way to buy, all with the columns GPU and Price. A heading names each, and a section that is
   new is noted and not read. Behind the heading of spot stands the word "public" while it is a preview. The page says
   that spot never costs more than on demand: where it does, the tables are not what their headings say.
3. Contracts have no price ("Per contract after contacting sales"): counted.
4. The page says RTX 4000 and RTX 6000 for what the API calls nvidia_rtx4000_ada and nvidia_rtx6000_ada.
5. "NVIDIA B300, air-cooled" and "liquid-cooled" are two machines: what stands behind the comma is a condition.
6. In the API `vram` is of all chips together; the label has one chip's. A month is 672 to 744 times the hourly price:
   beyond that one of them has another unit, and nothing is read.
7. Its name alone says how a size is sold: `-spot` (8 of 19 on 2026-10-08, by github.com/shyamsfo/bernoulli), and
   `-contracted`, at the price of one's own contract. `-lc` is cooled by liquid. A name of another form is reported.
8. A price holds in all regions. `regions` are those that have the size now; it may be none, and `available` false: then
   it has a price and no stock. The row without a region says if any has it.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from extract.base import Context, no_scope
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields, refusal
from extract.neoclouds.fetching import HTML, key_checked, no_key, numbered, web_source
from extract.neoclouds.offers import Found, Offer, Unknown, each, offer, refuse_exchanged, shown_price, stock
from extract.neoclouds.pages import Page, text_of
from extract.web.interface import Response
from warehouse.documents import Document

URL = "https://docs.digitalocean.com/products/droplets/details/pricing/"
API_URL = "https://api.digitalocean.com/v2/sizes"
TOKEN_VARIABLE = "DIGITALOCEAN_TOKEN"  # noqa: S105, the name of a variable
PAGE, SPOT, SIZES = "page", "spot", "sizes"
ON_DEMAND_HEADING = "On-Demand GPU Droplet Pricing"
SPOT_HEADINGS = ("Spot GPU Droplet Pricing", "Spot GPU Droplet Pricing public")
CONTRACT_HEADING = "Contract GPU Droplet Pricing"
NO_CONTRACT_PRICE = "Per contract after contacting sales"
COLUMNS = ("GPU", "Price")
_SIZE = re.compile(r"gpu-[a-z0-9]+x\d+-\d+gb(?P<liquid>-lc)?(?P<spot>-spot)?")
_CHIPS = re.compile(r"(?P<chip>[A-Za-z0-9][^,()$]*?)(?:, (?P<condition>[a-z -]+))?(?: \((?P<count>[1-9]\d?)x\))?")


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the sizes of the API, or the page where there is no token."""
    return (SIZES if os.environ.get(TOKEN_VARIABLE) else PAGE,)


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield the page, or all pages of sizes; raise CredentialsMissing where the token is missing or refused."""
    if scope not in (PAGE, SIZES):
        raise no_scope(SOURCE.name, scope, scopes(ctx))
    if scope != SIZES:
        yield ctx.web.get(url, accept=HTML)
        return
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        raise no_key(TOKEN_VARIABLE, "no token with the scope size:read")
    address, headers = f"{API_URL}?per_page=200&page=", {"Authorization": f"Bearer {token}"}
    with key_checked(TOKEN_VARIABLE, "the token was refused; it needs the scope size:read"):
        yield from numbered(ctx, address, _has_next, headers)


def _has_next(page: Fields, _: int) -> bool:
    links = page.inner("links")
    return "pages" in links and "next" in links.inner("pages")


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each GPU Droplet on the page or in the API."""
    return _page(document) if document.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else _sizes(document)


def _page(document: Document) -> Iterator[Found]:
    page = Page(document)
    headings = [text_of(node) for node in page.tree.css("h2")]
    spot_heading = next((heading for heading in SPOT_HEADINGS if heading in headings), SPOT_HEADINGS[0])
    on_demand = list(each(page.part(ON_DEMAND_HEADING).table(COLUMNS), lambda line: [_droplet(line, "on_demand")]))
    spot = list(each(page.part(spot_heading).table(COLUMNS), lambda line: [_droplet(line, "spot")]))
    refuse_exchanged([*on_demand, *spot])
    in_api = ["in the API's answer" if isinstance(one, Offer) else one for one in on_demand]
    yield from on_demand if document.scope != SPOT else in_api
    yield from spot
    if CONTRACT_HEADING in headings:
        for line in page.part(CONTRACT_HEADING).table(COLUMNS):
            if line["Price"] != NO_CONTRACT_PRICE:
                raise refusal(f"expected {NO_CONTRACT_PRICE!r}", line["GPU"], line["Price"])
            yield "per contract"
    known = {ON_DEMAND_HEADING, spot_heading, CONTRACT_HEADING, "CPU Droplet Pricing", "Bandwidth Billing"}
    yield from (Unknown(f"section {heading!r}") for heading in headings if heading not in known)


def _droplet(line: dict[str, str], option: str) -> Offer | str:
    found = _CHIPS.fullmatch(line["GPU"])
    if found is None:
        raise refusal("expected a GPU and how many, such as NVIDIA H100 (8x)", "GPU", line["GPU"])
    price, count = shown_price(line["Price"], line["GPU"], units=("hour",)), int(found["count"] or 1)
    others = {"capacity_unit": "instance", "conditions": found["condition"]}
    return offer(found["chip"], price, count=count, option=option, **others)


def _sizes(document: Document) -> Iterator[Found]:
    slugs: set[str] = set()

    def read_size(size: Fields) -> Iterator[Found]:
        size.only_money("price_hourly", "price_monthly")
        if not size.has("gpu_info"):
            yield "no GPU"
            return
        slug = size.text("slug")
        if slug in slugs:
            raise size.form_changed("slug", "duplicate size")
        slugs.add(slug)
        if name := _SIZE.fullmatch(slug):
            yield from _size(size, name)
        else:
            yield "per contract" if slug.endswith("-contracted") else Unknown(f"the size {slug}")

    found = list(each((size for page in answers.pages(document) for size in page.objects("sizes")), read_size))
    refuse_exchanged(found)
    yield from found


def _size(size: Fields, name: re.Match[str]) -> Iterator[Found]:
    """Yield the price of a size, and its stock in each region."""
    chip = size.inner("gpu_info")
    count, memory = chip.whole("count"), chip.inner("vram")
    total, unit = memory.whole("amount"), memory.text("unit")
    if not count or not total or total % count or unit != "gib":
        raise memory.wrong("amount", f"expected gib of all GPUs together, found {total} {unit} of {count}")
    price, monthly = size.number("price_hourly"), size.number("price_monthly")
    if not price or not 670 * price <= monthly <= 750 * price:
        raise size.wrong("price_monthly", f"expected 670 to 750 x price_hourly, which is {price}")
    label = f"{chip.text('model')} {total // count}GB"
    option = "spot" if name["spot"] else "on_demand"
    columns: dict[str, Any] = {"count": count, "instance_type": name[0], "option": option}
    yield offer(label, price, conditions="liquid-cooled" if name["liquid"] else None, **columns)
    regions = size.texts("regions")
    status = "available" if size.flag("available") and regions else "not available"
    for region in (None, *regions):
        yield stock(label, region_id=region, stock_status=status, **columns)


SOURCE = web_source(
    read,
    name="digitalocean",
    provider="DigitalOcean",
    title="DigitalOcean GPU Droplets",
    url=URL,
    pages=pages,
    scopes=scopes,
    credentials=f"none, or `{TOKEN_VARIABLE}`",
)
