"""AWS's Savings Plans: what an hour of an accelerator costs under a plan of one or three years.

Compute, EC2 Instance and SageMaker plans, No, Partial and All Upfront; Linux, shared tenancy, no software, per region.
https://aws.amazon.com/savingsplans/pricing/ ; data under the AWS Site Terms, https://aws.amazon.com/terms/ . The API
(savingsplans.DescribeSavingsPlansOfferingRates, needs credentials) and the public bulk files (hundreds of MB a region,
read as they stream by) give the same prices.

Settings: `access` (auto, api, bulk), `regions` ("all" or a list of Region Codes; Local Zones and China's are named),
`bulk_url`.

Quirks:

1. The rate is what an hour of usage costs under the plan, upfront part included; no fee comes on top, and it is not
   the commitment. So `upfront_price` is NULL, and the rates of the three payments are compared as they are.
2. Rates come once for each operating system, tenancy and operation; real ones differ in `operation` only, and in
   nothing but the rate. `rates` keeps every one; prices are those of Linux/UNIX, shared, operation RunInstances.
3. The discounted instance type may be a family ("M7i"), empty, or absent: then the usage type decides, which ends with
   the type (BoxUsage:p5.48xlarge, Studio:KernelGateway-ml.p3.2xlarge).
4. A region's file holds rates of other regions and of its Local Zones, by the Region Code of each rate; prefixes of
   usage types follow no rule. What is not of the scope is counted and left out.
5. A Local Zone is a scope of its own where it has a file, or where the settings name it, in that of its region.
6. An EC2 Instance plan is bought for one family in one region, a Compute plan for any: the offer of either is the rate
   of one type in one region.
7. SageMaker sells by component (Train, Host, Cluster), each with a rate of its own: the component is in `conditions`.
   Its machines are named ml.p5.48xlarge and are never read as p5.48xlarge.
8. The API has one endpoint for all regions, no paginator, no list of regions, and says neither SKU nor rate code. Of
   EC2, the families of accelerators in `warehouse/data/instance_type.csv` are queried; the bulk files show any.
9. The region index of the bulk files is a list, where that of the price list is an object; their CSV quotes nothing.
10. China has its own index and currency, as for the price list.
11. Neither way says how many rates there are, and some regions sell no SageMaker plans. But AWS ends a machine, not
    some of its rates: an answer that lacks some, or all of a plan, may be cut short, and ends no offer.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from extract.aws import bulk, places, price_list, reading
from extract.aws.bulk import Excerpt, Files, Head
from extract.aws.client import Call
from extract.aws.reading import Layout, plain_number
from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, SourceError
from warehouse.reference import instance_types
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.vocabulary import HOURS_PER_YEAR, PAYMENT_MODELS

NAME = "aws_savings_plans"
LAYOUT = Layout(NAME)

EC2_PLANS = ("Compute", "EC2Instance")
ML_PLAN = "SageMaker"
PAGE_SIZE = 1000
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
CREDENTIALS_HINT = (
    "Give credentials that may call savingsplans:DescribeSavingsPlansOfferingRates, "
    'or set access = "bulk", which needs none'
)
EC2_OFFER, ML_OFFER = "AmazonEC2", "AmazonSageMaker"

MARKERS = (b",RunInstances,", b"ml.")
"""Every line that can become a price has one of them: EC2's operation, or the name of a SageMaker machine."""
NAMED = re.compile(
    rb'[:,."-](?:p|gr?|inf|trn|dl|vt|f|cg)\d'
    rb"|,(?:P|G|GR|Gr|INF|Inf|TRN|Trn|DL|Dl|VT|Vt|F|CG|Cg)\d[A-Za-z0-9]{0,8}(?:,|\r?\n)"
)
"""A name such as p5.48xlarge after what comes before one, or a family such as "P5" in a field of its own."""

CSV, API, JSON = range(3)
FIELDS = {
    "plan_id": ("SKU", "offeringId", "sku"),
    "plan": ("Product Family", "planType", "productFamily"),
    "payment": ("PurchaseOption", "paymentOption", "purchaseOption"),
    "service": ("DiscountedServiceCode", "serviceCode", "discountedServiceCode"),
    "usage_type": ("DiscountedUsageType", "usageType", "discountedUsageType"),
    "operation": ("DiscountedOperation", "operation", "discountedOperation"),
    "product_description": (None, "productDescription", None),
    "tenancy": (None, "tenancy", None),
    "instance_type": ("DiscountedInstanceType", "instanceType", "discountedInstanceType"),
    "region": ("DiscountedRegionCode", "region", "discountedRegionCode"),
    "unit": ("Unit", "unit", "unit"),
    "amount": ("DiscountedRate", "rate", "price"),
    "currency": ("Currency", "currency", "currency"),
    "sku": ("DiscountedSKU", None, "discountedSku"),
    "rate_code": ("RateCode", None, "rateCode"),
}
"""A rate's fields by their names in the bulk files' CSV, in the API and in the bulk files' JSON; None: not there."""
NEEDED = ("plan_id", "usage_type", "amount")
COLUMNS = (*filter(None, (names[CSV] for names in FIELDS.values())), "LeaseContractLength", "LeaseContractLengthUnit")
"""Columns of the CSV that are read, and expected."""

PLANS = {
    f"{plan}{end}": plan for plan in ("Compute", "EC2Instance", "SageMaker", "Database") for end in ("", "SavingsPlans")
} | {"MachineLearningSavingsPlans": "SageMaker"}
"""Kinds of plan by planType and by product family, in the API's words; any other is reported."""
SERVICES = {"Compute": "AmazonEC2", "EC2Instance": "AmazonEC2", "SageMaker": "AmazonSageMaker"}
"""Which service's usage is read of each plan: a Compute plan covers Fargate and Lambda too."""
TERM_HOURS = dict.fromkeys(("31536000", "1 year"), HOURS_PER_YEAR)
TERM_HOURS |= dict.fromkeys(("94608000", "3 year"), 3 * HOURS_PER_YEAR)
"""Durations in seconds, as the API says, and in years, as the bulk files say; any other is reported."""

HOURLY_UNIT = "Hrs"
OPERATION = "RunInstances"
RATE = ("instance_type", "commitment_discount_type", "commitment_term_hours", "purchase_payment_model", "conditions")
"""What tells the rates of a region apart; the machine and the plan first."""
ML_OPERATIONS = ("RunInstance", "")
LINUX, SHARED = "Linux/UNIX", "shared"
USAGE = {"BoxUsage": None} | {
    **dict.fromkeys(("DedicatedUsage", "HostBoxUsage", "HostUsage"), "other_tenancy"),
    **dict.fromkeys(("UnusedBox", "UnusedDed", "Reservation", "DedicatedRes"), "unused_reservation"),
}
"""Why a kind of EC2 usage is not the price of running a shared machine; None where it is. Any other is reported."""

_FULL_TYPE = re.compile(r"(?:ml\.)?[a-z][a-z0-9-]*\.(?:metal(?:-\d+xl)?|(?:\d*x)?large|nano|micro|small|medium)")
_TYPE_AT_END = re.compile(rf"(?:^|[:-])({_FULL_TYPE.pattern})$")
_LIKE_AN_ACCELERATOR = re.compile(r"(?:^|[:.-])(?:p|gr?|inf|trn|dl|vt|f|cg)\d", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:[A-Z0-9]+-)+")
"""How usage types name a region. It is cut off where only the kind of usage is wanted, and never read."""


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or those of the public index that `own_regions` says."""
    wanted = places.names_in(ctx.settings, "regions", source=NAME)
    if wanted:
        return wanted
    places.either_access(ctx, NAME, _may_ask, lambda: None)
    files = Files(ctx=ctx, layout=LAYOUT, partition=places.GLOBAL)
    return places.own_regions(_region_index(files, EC2_OFFER), ctx)


# --- API: one query for each kind of plan, every page as it came


def families() -> tuple[str, ...]:
    """Return the families of the accelerator types that the dated table knows."""
    return tuple(sorted({fact.instance_type.partition(".")[0] for fact in instance_types.read_table()}))


_call = functools.partial(
    Call,
    source=NAME,
    operation="savingsplans.DescribeSavingsPlansOfferingRates",
    result="searchResults",
    token_name="nextToken",  # noqa: S106 -- the name of a field
    max_pages=MAX_PAGES,
    hint=CREDENTIALS_HINT,
)


def _may_ask() -> None:
    """Raise CredentialsMissing where the API refuses the smallest question."""
    call = _call(scope=places.GLOBAL.api_region)
    next(call.pages(call.client(), {"savingsPlanTypes": ["Compute"], "maxResults": 1}))


def _api_documents(ctx: Context, scope: str) -> ScopeFetch:
    call = _call(scope=scope, region=places.partition_of(scope).api_region)
    client = call.client()
    documents: tuple[Document, ...] = ()
    empty = {*EC2_PLANS}
    for plan in (*EC2_PLANS, ML_PLAN):
        parameters = {"region": scope, "savingsPlanType": plan}
        for page, document in call.documents(ctx, client, _request(scope, plan), parameters):
            documents += (document,)
            empty -= {plan} if page[call.result] else set()
    notes: tuple[str, ...] = ()
    if empty:
        # Every region sells both kinds. Where the price list has accelerators, a filter no longer means what it did.
        if len(empty) < len(EC2_PLANS) or price_list.has_accelerators(ctx, scope):
            hint = 'Check the Region Code, or set access = "bulk"'
            message = f"{scope}: no {' and no '.join(sorted(empty))} rate of any accelerator"
            raise SourceError(message, source=NAME, field="region", value=scope, hint=hint)
        notes += ("no accelerator under a Compute or EC2 Instance plan, and none in the price list",)
    return ScopeFetch(source=NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=documents, notes=notes)


def _request(scope: str, plan: str) -> Mapping[str, object]:
    filters: dict[str, Sequence[str]] = {"region": [scope]}
    request: dict[str, object] = {"serviceCodes": [SERVICES[plan]]}
    if plan in EC2_PLANS:
        filters |= {"instanceFamily": families(), "productDescription": [LINUX], "tenancy": [SHARED]}
        request["operations"] = [OPERATION]
    listed = [{"name": name, "values": list(values)} for name, values in filters.items()]
    return request | {"savingsPlanTypes": [plan], "filters": listed, "maxResults": PAGE_SIZE}


# --- bulk files: offer index, then the index of EC2's and of SageMaker's plans, then the region's CSV of each


def _region_index(files: Files, offer: str) -> Mapping[str, str]:
    """Return the path of each region's file."""
    index = files.index(LAYOUT.text(files.offer(offer), "currentSavingsPlanIndexUrl"))
    entries = LAYOUT.listed(index.get("regions"), "regions")
    return {LAYOUT.text(entry, "regionCode"): LAYOUT.text(entry, "versionUrl") for entry in entries}


def _current_urls(ctx: Context, scope: str) -> Iterator[str]:
    files = Files(ctx=ctx, layout=LAYOUT, partition=places.partition_of(scope))
    for offer in (EC2_OFFER, ML_OFFER):
        index = _region_index(files, offer)
        # A file of its own, or that of the region which the scope is a zone of.
        place = max((name for name in index if f"{scope}-".startswith(f"{name}-")), key=len, default=None)
        if place is not None:
            yield files.csv_url(index[place], field="versionUrl")
        elif offer == EC2_OFFER:
            hint = f"The index lists {', '.join(sorted(index)) or 'no region'}"
            raise SourceError("no Savings Plans there", source=NAME, field="region", value=scope, hint=hint)


def cut(blocks: Iterable[bytes], url: str) -> Excerpt:
    """Return the excerpt of a streamed file; raise LayoutChanged.

    A region's file is hundreds of MB: every plan, term and payment times every machine, system and tenancy. A line can
    become a price where it names an accelerator, and its operation is RunInstances or its machine SageMaker's; other
    systems, software and licenses have a code after a colon (RunInstances:0002). What fits that is a little more than
    the prices, which `parse` selects.
    """

    def select(head: Head, start: bytes) -> bulk.Select:
        if start.rstrip(b"\r\n").rpartition(b"\n")[2].startswith(b'"'):
            # Then the lines may be quoted too, and no marker would be found.
            raise LAYOUT.refusal("the header is quoted", url, "header")
        return lambda block, start, end: filter(NAMED.search, bulk.marked_lines(block, start, end, MARKERS))

    return bulk.excerpt_of(blocks, url=url, layout=LAYOUT, read_head=_read_head, select=select)


# --- both


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a fetch of one region, complete unless it may be cut short (quirk 11); raise SourceError."""
    found = _ACCESS.fetch(ctx, scope)
    with suppress(LayoutChanged):  # which refuses the documents when they are loaded
        if doubt := _doubt(ctx, found):
            return replace(found, complete=False, notes=(*found.notes, f"{doubt}, so this answer ends no offer"))
    return found


def _doubt(ctx: Context, found: ScopeFetch) -> str:
    """Return why an answer may be cut short, or nothing; raise LayoutChanged."""
    known = ctx.memo.once(f"{NAME}: known prices", ctx.known_prices)
    if known is None:
        return reading.NO_KNOWN_PRICES if ctx.last_observed(found.scope) else ""
    expected = {*known.filter(known["region_id"] == found.scope).select(RATE).rows()}
    documents = found.documents if expected else ()  # to parse them takes long
    shown = {rate for document in documents for rate in parse(document).rows.select(RATE).rows()}
    lost = expected - shown
    machines = sorted({machine for machine, *_ in lost} & {machine for machine, *_ in shown})
    if plans := sorted({plan for _, plan, *_ in lost} - {plan for _, plan, *_ in shown}):
        return f"no machine under a {' or '.join(plans)} plan"
    return f"only some of the known rates of {', '.join(machines[:3])}" if machines else ""


# --- rates: nothing is merged and nothing left out, so that a document of n rates gives n


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """One discounted rate. None: the document does not say.

    `plan` is planType in the API and the plan's product family in the bulk files; `duration` is in seconds in the API
    and has a unit in the bulk files.
    """

    plan_id: str
    plan: str | None
    payment: str | None
    duration: str | None
    service: str | None
    usage_type: str
    operation: str
    product_description: str | None = None
    tenancy: str | None = None
    instance_type: str | None
    region: str | None
    unit: str
    amount: str
    currency: str | None
    sku: str | None = None
    rate_code: str | None = None


def rates(document: Document) -> Iterator[Rate]:
    """Yield every rate of a document in its order; raise LayoutChanged."""
    body, start = LAYOUT.plain(document.body)
    if start not in b"{[":
        rows = bulk.rows_of(body, _read_head(body), LAYOUT)
        return (
            _rate(row, CSV, f"{row['LeaseContractLength']} {row['LeaseContractLengthUnit']}".strip()) for row in rows
        )
    content = LAYOUT.answer(body, "searchResults")
    if "searchResults" in content:
        return map(_api_rate, LAYOUT.listed(content["searchResults"], "searchResults"))
    if "terms" in content:
        return _bulk_json_rates(content)
    raise LAYOUT.refusal("expected searchResults, found other keys", ", ".join(list(content)[:10]))


def _read_head(start: bytes) -> Head | None:
    # Nothing is quoted, so that a disclaimer with commas resembles a header: this one is known by its first name.
    head = bulk.read_head(start, layout=LAYOUT, is_header=lambda fields: len(fields) > 1 and fields[0] == "SKU")
    missing = [name for name in COLUMNS if head and head.header.count(name) != 1]
    if missing:
        raise LAYOUT.refusal("columns expected once each and not found so", ", ".join(missing), "header")
    return head


def _api_rate(result: Mapping[str, object]) -> Rate:
    offering = LAYOUT.mapping(result.get("savingsPlanOffering"), "savingsPlanOffering")
    listed = LAYOUT.listed(result.get("properties", []), "properties")
    properties = {LAYOUT.text(entry, "name"): LAYOUT.optional(entry, "value") for entry in listed}
    seconds = offering.get("durationSeconds")
    return _json_rate({**properties, **offering, **result}, API, "" if seconds is None else str(seconds))


def _bulk_json_rates(document: Mapping[str, object]) -> Iterator[Rate]:
    """Yield the rates of the bulk files' other form."""
    products = LAYOUT.listed(document.get("products", []), "products")
    plans = {LAYOUT.optional(product, "sku"): product for product in products}
    for term in LAYOUT.listed(LAYOUT.mapping(document["terms"], "terms").get("savingsPlan"), "terms.savingsPlan"):
        product = plans.get(LAYOUT.text(term, "sku"), {})
        attributes = LAYOUT.mapping(product.get("attributes", {}), "attributes")
        lease = LAYOUT.mapping(term.get("leaseContractLength", {}), "leaseContractLength")
        duration = f"{lease.get('duration', '')} {lease.get('unit', '')}".strip()
        for rate in LAYOUT.listed(term.get("rates"), "rates"):
            price = LAYOUT.mapping(rate.get("discountedRate"), "discountedRate")
            yield _json_rate({**attributes, **product, **term, **rate, **price}, JSON, duration)


def _json_rate(values: Mapping[str, object], form: int, duration: str) -> Rate:
    for name in NEEDED:
        LAYOUT.text(values, str(FIELDS[name][form]))
    return _rate(values, form, duration)


def _rate(values: Mapping[str, object], form: int, duration: str) -> Rate:
    texts: dict[str, Any] = {name: LAYOUT.optional(values, names[form] or "") for name, names in FIELDS.items()}
    texts |= {name: texts[name] or "" for name in (*NEEDED, "operation", "unit")}
    return Rate(**texts, duration=duration or None)


# --- which of them are prices of accelerators


def parse(document: Document) -> Parsed:
    """Return the prices in a document of either form; raise LayoutChanged where any part of it has another layout."""
    rows: list[Mapping[str, object]] = []
    doubtful: list[Mapping[str, object]] = []
    ignored: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    for rate in rates(document):
        instance_type = instance_type_of(rate)
        reason = _refusal(rate, instance_type, document.scope)
        if reason is None:
            rows.append(_row(rate, instance_type))
        else:
            ignored[reason] += 1
        for name in _unknown(rate, reason):
            # Whose rate one of an unknown plan or type is nobody knows: one of each name is refused without a type.
            whose = instance_type if reason == "unknown_usage" else None
            if reason and (whose or name not in unknown):
                doubtful.append(_row(replace(rate, amount=f"{rate.amount} of the {name}"), whose))
            unknown.setdefault(name, f"{name} (such as {rate.usage_type})")
    return reading.parsed(rows, doubtful=doubtful, ignored=ignored, unknown=unknown.values())


def instance_type_of(rate: Rate) -> str | None:
    """Return the full instance type: as stated, else from the end of the usage type; None where neither names one."""
    if _FULL_TYPE.fullmatch(rate.instance_type or ""):
        return rate.instance_type
    found = _TYPE_AT_END.search(rate.usage_type)
    return found[1] if found else None


def usage_kind(rate: Rate) -> str:
    """Return what kind of usage is meant: BoxUsage, Train, Studio:KernelGateway; without prefix and type."""
    found = _TYPE_AT_END.search(rate.usage_type)
    kind = rate.usage_type[: found.start()] if found else rate.usage_type.partition(":")[0]
    return _PREFIX.sub("", kind)


def _refusal(rate: Rate, instance_type: str | None, scope: str) -> str | None:
    """Return why a rate is none of ours; None where it is one. What concerns whole regions comes first."""
    if scope and rate.region != scope:
        return "other_region" if rate.region else "no_region"
    plan = PLANS.get(rate.plan or "")
    if plan and plan not in SERVICES:
        return "other_plan"
    if rate.service not in ([SERVICES[plan]] if plan else SERVICES.values()):
        return "other_service"
    if instance_type is None and not _LIKE_AN_ACCELERATOR.search(rate.instance_type or rate.usage_type):
        return "no_instance_type"
    if instance_type and not ACCELERATOR_TYPE.match(instance_type):
        return "not_accelerator"
    refusal = _ec2_refusal(rate) if rate.service == SERVICES["Compute"] else None
    unsaid = "unknown_type" if instance_type is None else None
    return refusal or (unsaid if plan else "unknown_plan")


def _ec2_refusal(rate: Rate) -> str | None:
    if rate.product_description not in (None, LINUX):
        return "other_os"
    if (rate.tenancy or SHARED).lower() != SHARED:
        return "other_tenancy"
    kind = usage_kind(rate)
    if USAGE.get(kind) is not None:
        return USAGE[kind]
    # Codes after a colon are other systems, software, licenses, and Capacity Blocks (":CB").
    if rate.operation != OPERATION:
        return "other_operation"
    return None if kind in USAGE else "unknown_usage"


def _unknown(rate: Rate, reason: str | None) -> Iterator[str]:
    """Yield what no rule here has a word for, in rates that would be prices."""
    if reason == "unknown_plan":
        yield f"plan {rate.plan!r}"
    if reason == "unknown_usage":
        yield f"usage {usage_kind(rate)!r}"
    if reason == "unknown_type":
        yield f"instance type {rate.instance_type!r}"
    if reason is not None:
        return
    if rate.duration not in TERM_HOURS:
        yield f"duration {rate.duration!r}"
    if rate.payment not in PAYMENT_MODELS:
        yield f"payment option {rate.payment!r}"
    if rate.unit != HOURLY_UNIT:
        yield f"unit {rate.unit!r}"


def _row(rate: Rate, instance_type: str | None) -> dict[str, object]:
    """Return one observation; what has no rule is NULL or as it is, for the row gate to refuse."""
    plan = PLANS.get(rate.plan or "")
    conditions = None
    if plan == ML_PLAN:
        # The component, with the operation where it is not the usual one: both have rates of their own.
        operation = "" if rate.operation in ML_OPERATIONS else f", operation {rate.operation}"
        conditions = f"SageMaker {usage_kind(rate)}{operation}"
    return reading.offer(
        instance_type,
        "savings_plan",
        region_id=rate.region,
        commitment_discount_type=plan,
        commitment_term_hours=TERM_HOURS.get(rate.duration or ""),
        purchase_payment_model=rate.payment,
        conditions=conditions,
        pricing_currency=rate.currency,
        sku_id=rate.sku,
        sku_price_id=rate.rate_code,
        unit_price=plain_number(rate.amount) if rate.unit == HOURLY_UNIT else f"{rate.amount} per {rate.unit}",
    )


_ACCESS = bulk.EitherAccess(source=NAME, api=_api_documents, urls=_current_urls, cut=cut)

SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS Savings Plans: Compute, EC2 Instance and SageMaker",
    url="https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html",
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    settings=("access", "regions", "bulk_url"),
    downloads=_ACCESS.downloads,
    credentials="none, or `savingsplans:DescribeSavingsPlansOfferingRates`",
)
