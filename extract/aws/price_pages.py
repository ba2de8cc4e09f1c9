"""The maps of prices behind AWS's own price pages: on demand, Reserved and Savings Plans of a region within a minute.

https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ , under the AWS Site Terms (https://aws.amazon.com/terms/);
no key. Undocumented: the form is that of five public readers of 2023 to 2026. So it is never the only source:
aws_price_list and aws_savings_plans are believed before it, and truth checks compare both.

Setting: `enabled`. Regions are those of aws_price_list, where its settings name some, or of `places.own_regions`.

Quirks:

1. A file is of one place, term and payment, and is called by AWS's name of the place: for some regions of Europe
   "EU (Ireland)", for later ones "Europe (Spain)". A region without reservations or plans has no such file.
2. Files are gzip, whatever their head says.
3. Every value is text, prices too. One type stands in a file once; a second time is another layout.
4. A Reserved price (standard) is of an hour beside the fee, and may be absent; that of a plan includes the fee.
5. Rates of other software stand beside those without: `Pre Installed S/W` must be NA, the tenancy Shared.
6. EC2 Instance plans are a file a family: read are those that begin with p and trn.
7. A fetch is never complete, and of the moment when its run began: the price list, read meanwhile, is the later word.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import product
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from extract.aws import places, reading
from extract.aws.reading import Layout, plain_number
from extract.base import Context, Parsed, Source
from extract.web.interface import Response
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.vocabulary import HOURS_PER_YEAR

NAME = "aws_price_pages"
LAYOUT = Layout(NAME)
ROOT = "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/"
ON_DEMAND = "ec2/USD/current/ec2-ondemand-without-sec-sel/{place}/Linux/index.json"
RESERVED = "ec2/USD/current/ec2-reservedinstance/{term}/{payment}/{place}/Linux/Shared/index.json"
COMPUTE = "computesavingsplan/USD/current/compute-savings-plan-ec2/{term}/{payment}/{place}/Linux/Shared/index.json"
INSTANCE = (
    "computesavingsplan/USD/current/instance-savings-plan-ec2/{term}/{payment}/{family}/{place}/Linux/Shared/index.json"
)
TERMS = {"1 year": HOURS_PER_YEAR, "3 year": 3 * HOURS_PER_YEAR}
PAYMENTS = ("No Upfront", "Partial Upfront", "All Upfront")
FAMILIES = ("p", "trn")
ON_DEMAND_CODE = ".JRTCKXETXF."
"""In the rate codes of a map of on-demand prices, which is known by them where it was saved without its address."""
ABSENT = (403, 404)
"""What the host answers where there is no such file."""


class Kind(NamedTuple):
    """What a file has, by a part of its address: a purchase option, and how its rows name type, tenancy, software."""

    option: str
    names: tuple[str, str, str]
    plan: str | None = None


_NAMES = ("Instance Type", "Tenancy", "Pre Installed S/W")
_OF_PLANS = ("ec2:InstanceType", "ec2:Tenancy", "ec2:PreInstalledSW")
KINDS = {
    "ec2-ondemand-without-sec-sel": Kind("on_demand", _NAMES),
    "ec2-reservedinstance": Kind("reserved", _NAMES),
    "compute-savings-plan-ec2": Kind("savings_plan", _OF_PLANS, "Compute"),
    "instance-savings-plan-ec2": Kind("savings_plan", _OF_PLANS, "EC2Instance"),
}


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions that `places.own_regions` says; the fetch of all of them begins here."""
    ctx.memo.once(NAME, ctx.now)
    listed = [name for name in places.region_names() if not name.startswith(("cn-", "us-iso", "eu-iso", "eusc-"))]
    return places.own_regions(listed, ctx)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of the files of one region; raise SourceError where its on-demand prices cannot be had."""
    name = places.region_names().get(scope, scope)
    place, answer = name, None
    for place in dict.fromkeys((name.replace("Europe (", "EU ("), name)):
        if (answer := _answer(ctx, ON_DEMAND.format(place=quote(place)))) is not None:
            break
    if answer is None:
        raise SourceError("no on-demand prices there", source=NAME, field="region", value=scope, hint="Check the name")
    documents = [answer.document(NAME, scope, ctx.now())]
    types = {str(row["instance_type"]) for row in _rows(documents[0])}
    families = sorted({kind.partition(".")[0] for kind in types if kind.startswith(FAMILIES)})
    forms = (RESERVED, COMPUTE, *(INSTANCE.replace("{family}", family) for family in families))
    missing = 0
    for form, term, payment in product(forms, TERMS, PAYMENTS):
        found = _answer(ctx, form.format(term=quote(term), payment=quote(payment), place=quote(place)))
        missing += found is None
        documents += [] if found is None else [found.document(NAME, scope, ctx.now())]
    notes = (f"{missing} files of terms and payments are not there",) if missing else ()
    at = ctx.memo.once(NAME, ctx.now)
    return ScopeFetch(source=NAME, scope=scope, observed_at=at, complete=False, documents=tuple(documents), notes=notes)


def _answer(ctx: Context, path: str) -> Response | None:
    try:
        return ctx.web.get(ROOT + path)
    except SourceError as error:
        if error.field == "status" and error.value in ABSENT:
            return None
        raise


def parse(document: Document) -> Parsed:
    """Return the prices of accelerators in a file; raise LayoutChanged."""
    return reading.parsed(_rows(document), sort=("instance_type",))


def _rows(document: Document) -> Iterator[dict[str, object]]:
    parts = [unquote(part) for part in urlsplit(document.url).path.split("/")]
    named = next((part for part in parts if part in KINDS), "ec2-ondemand-without-sec-sel")
    kind = KINDS[named]
    term = next((part for part in parts if part in TERMS), None)
    payment = next((part for part in parts if part in PAYMENTS), None)
    content = LAYOUT.mapping(LAYOUT.json(LAYOUT.plain(document.body)[0]), "body")
    regions = LAYOUT.mapping(content.get("regions"), "regions")
    if named not in parts and ON_DEMAND_CODE not in str(content):
        raise LAYOUT.refusal("what the prices are of, the address alone says", document.url, "url")
    if len(regions) != 1:
        raise LAYOUT.refusal("expected the prices of one place", ", ".join(regions), "regions")
    ((place, listed),) = regions.items()
    region = places.region_named(place)
    if region is None or region != (document.scope or region):
        raise LAYOUT.refusal(f"expected the prices of {document.scope}", place, "regions")
    seen: set[str] = set()
    for key, value in LAYOUT.mapping(listed, place).items():
        row = LAYOUT.mapping(value, key)
        name, tenancy, software = (LAYOUT.optional(row, each) for each in kind.names)
        is_plain = software == "NA" and tenancy in (None, "Shared")
        if name is None or not is_plain or not ACCELERATOR_TYPE.match(name):
            continue
        if name in seen:
            raise LAYOUT.refusal("a type with two prices", name, kind.names[0])
        seen.add(name)
        yield _row(row, kind, name, region) | _terms(row, kind, term, payment)


def _row(row: Mapping[str, object], kind: Kind, name: str, region: str) -> dict[str, object]:
    code = LAYOUT.optional(row, "rateCode") if kind.option == "on_demand" else None
    return reading.offer(
        name,
        kind.option,
        region_id=region,
        pricing_currency="USD",
        unit_price=plain_number(LAYOUT.optional(row, "price") or ""),
        sku_id=code.partition(".")[0] if code else None,
        sku_price_id=code,
    )


def _terms(row: Mapping[str, object], kind: Kind, term: str | None, payment: str | None) -> dict[str, object]:
    """Return what a commitment adds to a row; that of a Reserved Instance without an hourly part is 0."""
    if kind.option == "on_demand":
        return {}
    added = {"commitment_term_hours": TERMS.get(term or ""), "purchase_payment_model": payment}
    if kind.plan:
        return {**added, "commitment_discount_type": kind.plan}
    fee = LAYOUT.optional(row, "riupfront:PricePerUnit")
    fee = "0" if fee is None and payment == "No Upfront" else fee
    none = {"unit_price": "0"} if payment == "All Upfront" and LAYOUT.optional(row, "price") is None else {}
    return {**added, **none, "offering_class": "standard", "upfront_price": None if fee is None else plain_number(fee)}


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="The maps behind AWS's price pages, undocumented: first prices, and a check",
    url=ROOT,
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    polite=True,
)
