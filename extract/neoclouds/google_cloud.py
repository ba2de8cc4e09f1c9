"""Prices of Google Cloud's machines with accelerators, summed from the SKUs of its Cloud Billing Catalogue.

https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list describes it. It needs an API key
(GOOGLE_API_KEY), which any project can make; it is sent as a header. No SKU is of a machine: the price of one is
vCPUs x core + GiB x RAM + accelerators x accelerator + GB of local SSD x (a month's price / 730), or none where one
of these is missing. `warehouse/data/cloud_machine.csv` has what a machine is made of.

1. A price is `units` and `nanos`, billionths of one: nanos alone lose the dollars. The currency may follow the
   account: USD is asked for, any other refused.
2. Which part and which purchase option a SKU is of, only its description says: flex-start ("DWS Defined Duration") and
   the calendar mode of the Dynamic Workload Scheduler have usageType OnDemand too, as has spot of A4. Both are blocks
   of capacity for a time, and have a tier of their own. A description of an accelerator that is not known is named.
3. A3 Mega has cores and memory of its own (A3Plus), and its accelerator three names.
4. An A4 is sold by "1 gpu slice", with cores and memory in it.
5. G4 of 6, 12 and 24 vCPUs are one, two and four of "1/8 vGPU no lssd", with cores and memory in it
   (https://cloud.google.com/skus/sku-groups/g4-on-demand-vms). T4, P4, P100, V100 and K80 are attached to any N1.
6. `serviceRegions` says where a price holds, not the words of the description: "Americas" are three regions or six.
7. A commitment is of parts, each by the hour; "Reserved ..." without a mode is a reservation's own line at no price.
8. TPUs v5e, v5p, v6e and 7x are sold by the chip: TpuV5e, and in some options V5e or V5e TPU. That the 12.00 of TPU7x
   is a chip's is read of notes on https://cloud.google.com/tpu/pricing , not of the page. Others are named, not read.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from extract.base import Context
from extract.neoclouds import answers
from extract.neoclouds.answers import Fields, form_changed
from extract.neoclouds.fetching import key_checked, paged, web_source
from extract.neoclouds.offers import TEN_DECIMALS, Found, Offer, Priced, Unknown, detail, each, offer, plain
from extract.web.interface import Response
from warehouse.documents import Document
from warehouse.reference.cloud_machines import CloudMachine, machines
from warehouse.schema.vocabulary import HOURS_PER_MONTH, HOURS_PER_YEAR

KEY = "GOOGLE_API_KEY"
PROVIDER = "Google Cloud"
HOSTS = ("A2", "A3", "A3Plus", "A3Ultra", "G2", "G4")
HOST_PARTS = {"Instance Core": "core", "Instance Ram": "ram", "Core": "core", "Cpu": "core", "Ram": "ram"}
ACCELERATORS = {
    "Nvidia Tesla A100 GPU": "A100",
    "Nvidia Tesla A100 80GB GPU": "A100 80GB",
    "Nvidia H100 80GB GPU": "H100",
    **{f"Nvidia H100 {words} GPU": "H100 Mega" for words in ("80GB Plus", "80GB Mega", "Mega 80GB")},
    "H200 141GB GPU": "H200",
    "Nvidia L4 GPU": "L4",
    "RTX 6000 96GB": "RTX PRO 6000",
    "A4 Nvidia B200 (1 gpu slice)": "B200 slice",
    "1/8 vGPU no lssd": "RTX PRO 6000 slice",
}
PARTS = {f"{host} {words}": (host, part) for host in HOSTS for words, part in HOST_PARTS.items()}
PARTS |= {words: (accelerator, "gpu") for words, accelerator in ACCELERATORS.items()}
PARTS |= dict.fromkeys(("SSD backed Local Storage", "Local SSD"), ("local SSD", "ssd"))
TPUS = ("TPU v5e", "TPU v5p", "TPU v6e", "TPU7x")
PARTS |= {form.format(name[-2:]): (name, "gpu") for name in TPUS for form in ("TpuV{}", "TPU{}", "V{}", "V{} TPU")}
"""Descriptions of parts, without place and option: whose part, and which."""
UNITS = {"core": "h", "gpu": "h", "ram": "GiBy.h", "ssd": "GiBy.mo"}
MACHINES = {
    "a2-highgpu": ("A2", "A100"), "a2-megagpu": ("A2", "A100"), "a2-ultragpu": ("A2", "A100 80GB"),
    "a3-edgegpu": ("A3", "H100"), "a3-highgpu": ("A3", "H100"), "a3-megagpu": ("A3Plus", "H100 Mega"),
    "a3-ultragpu": ("A3Ultra", "H200"), "a4-highgpu": (None, "B200 slice"),
    "g2-standard": ("G2", "L4"), "g4-standard": ("G4", "RTX PRO 6000"),
}  # fmt: skip
"""Series of machines: whose cores and memory they have (None: in the accelerator's price), and which accelerator."""
RESERVED_ONLY = ("a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g", "a3-ultragpu-8g", "a4-highgpu-8g")
"""Machines whose price on demand only a reservation gets (accelerator-optimized-machines of Google's documentation)."""
ATTACHED = re.compile(
    r"Nvidia Tesla (T4|P4|P100|V100|K80)( GPU)?( Virtual Workstation)?|Nvidia L4 Virtual Workstation.*"
)
FORMS = (
    ("commitment", r"Commitment v1: (?P<item>.+?)(?: running)? [Ii]n .+ for (?P<years>[13]) Years?"),
    ("calendar mode", r"Reserved (?P<item>.+) in .+ in Calendar Mode"),
    ("calendar mode", r"DWS Calendar Mode (?P<item>.+?)(?: running)? in .+"),
    ("reservation", r"Reserved (?P<item>.+) in .+"),
    ("flex-start", r"(?P<item>.+) attached to DWS Defined Duration VMs(?:(?: running)? in .+)?"),
    ("flex-start", r"DWS Defined Duration (?P<item>.+?)(?: running)? in .+"),
    ("spot", r"(?P<item>.+) attached to Spot Preemptible VMs(?:(?: running)? in .+)?"),
    ("spot", r"Spot Preemptible (?P<item>.+) running in .+"),
    ("on_demand", r"(?P<item>.+) running in .+"),
    ("on_demand", r"(?P<item>SSD backed Local Storage)(?: in .+)?"),
)
"""How descriptions say a purchase option, the first that fits."""
USAGE_TYPES = {"spot": ("Preemptible", "OnDemand"), "commitment": ("Commit1Yr", "Commit3Yr")}
"""Of options whose usageType may be another than OnDemand."""
TIERS = ("flex-start", "calendar mode")


class Rate(NamedTuple):
    """The price of a part an hour, in USD, and since when it holds."""

    price: Decimal
    effective_at: datetime | None


Part = tuple[str, Decimal, Rate]
"""A part of a machine, and how many of its unit: cores, GiB, accelerators or GB of local SSD."""

Prices = dict[tuple[str, str], dict[tuple[str, str], dict[Decimal, Rate]]]
"""By region and option: the prices of each part."""


def pages(ctx: Context, url: str, scope: str) -> Iterator[Response]:
    """Yield every page of the catalogue, without the blanks that are half of its bytes."""
    address = f"{url}?pageSize=5000&currencyCode=USD&prettyPrint=false"
    headers = {"X-Goog-Api-Key": os.environ.get(KEY, "")}

    def get(token: str) -> Response:
        return ctx.web.get(f"{address}&pageToken={quote(token)}" if token else address, headers=headers)

    def following(page: Any, _: str) -> str:
        return str(page.get("nextPageToken") or "") if isinstance(page, dict) else ""

    with key_checked(KEY, "the API refused the key", (400, 401, 403)):  # 400: "API key not valid"
        yield from paged(get, following, first="")


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each machine under each option in each region where all of its parts have one."""
    prices: Prices = defaultdict(lambda: defaultdict(dict))
    for page in answers.pages(document):
        yield from each(page.objects("skus"), _sku, prices)
    for (region, option), parts in sorted(prices.items()):
        twice = [" ".join(name) for name, found in sorted(parts.items()) if len(found) > 1]
        yield from (Unknown(f"two prices of {name}, {option}, in {region}") for name in twice)
        for name in TPUS:
            if len(found := parts.get((name, "gpu"), {})) == 1:
                yield _offer(name, next(iter(found)), region, option)
        for machine in machines(PROVIDER).values():
            made_of = _parts(machine, parts)
            if isinstance(made_of, str):
                yield made_of
            elif made_of is not None:
                price = sum((quantity * rate.price for _, quantity, rate in made_of), Decimal(0))
                columns = {"count": machine.accelerator_count, "instance_type": machine.instance_type}
                priced = _offer(machine.accelerator_label, price, region, option, fabric=machine.fabric, **columns)
                yield priced
                if isinstance(priced, Offer):
                    since = max((moment for _, _, one in made_of if (moment := one.effective_at)), default=None)
                    words = (f"{plain(number)} {name} x {plain(one.price)}" for name, number, one in made_of)
                    yield detail(priced, since, " + ".join(words))


def _sku(sku: Fields, prices: Prices) -> Iterator[Found]:
    """Add the price of a part to `prices`, or yield the reason why it is none."""
    category = sku.inner("category")
    group, description = category.text("resourceGroup"), sku.text("description")
    option, item, years = _described(description)
    if item not in PARTS:
        if group == "TPU" or "tpu" in description.lower():
            yield Unknown(f"a price of a TPU, {re.sub(' (running )?in .*', '', description)}")
        elif group != "GPU":
            yield "no part of a machine with accelerators"
        elif ATTACHED.fullmatch(item):
            yield "an accelerator without a machine of its own"
        else:
            yield Unknown(f"the accelerator {item}")
        return
    if option == "reservation":
        yield "a reservation's own line"
        return
    category.one_of("usageType", USAGE_TYPES.get(option, ("OnDemand",)))
    regions = sku.texts("serviceRegions")
    if not regions:
        yield "a price without a region"
        return
    rate = _rate(sku, PARTS[item])
    for region in regions:
        prices[region, f"{option} {years}" if years else option][PARTS[item]][rate.price] = rate
    yield Priced()


def _described(description: str) -> tuple[str, str, str]:
    """Return option, part and years of a commitment, as a description says them."""
    for option, form in FORMS:
        if found := re.fullmatch(form, description):
            return option, found["item"], found.groupdict().get("years") or ""
    return "", description, ""


def _rate(sku: Fields, part: tuple[str, str]) -> Rate:
    """Return the price of a part an hour; that of storage is divided by 730, as Google does for a month."""
    infos = sku.objects("pricingInfo")
    if len(infos) != 1:
        raise sku.wrong("pricingInfo", "expected one price")
    expression = infos[0].inner("pricingExpression")
    if expression.text("usageUnit") != UNITS[part[1]]:
        raise expression.form_changed("usageUnit", f"expected {UNITS[part[1]]} of {' '.join(part)}")
    rates = expression.objects("tieredRates")
    if len(rates) != 1 or rates[0].number("startUsageAmount"):
        raise expression.wrong("tieredRates", "expected one rate, from 0 on")
    price = rates[0].inner("unitPrice")
    if (currency := price.text("currencyCode")) != "USD":
        raise form_changed("expected prices in USD", "currencyCode", currency)
    nanos = price.number("nanos")
    if nanos >= 10**9 or nanos % 1:
        raise price.wrong("nanos", "expected billionths of a dollar")
    amount = price.in_text("units") + nanos / 10**9
    if not amount:
        raise price.wrong("units", "a price of zero")
    since = infos[0].readable(infos[0].moment, "effectiveTime") if "effectiveTime" in infos[0] else None
    return Rate(amount / HOURS_PER_MONTH if part[1] == "ssd" else amount, since)


def _parts(machine: CloudMachine, parts: dict[tuple[str, str], dict[Decimal, Rate]]) -> list[Part] | str | None:
    """Return what a machine is made of, or why it has no price; None where its accelerator has none."""
    host, accelerator = MACHINES[machine.instance_type.rpartition("-")[0]]
    wanted = [(accelerator, "gpu", machine.accelerator_count)]
    if machine.accelerator_count < 1:
        host, wanted = None, [("RTX PRO 6000 slice", "gpu", 8 * machine.accelerator_count)]
    if wanted[0][:2] not in parts:
        return None
    if host is not None and machine.local_ssd_gb is None:
        return f"{machine.instance_type}, the size of whose local SSD is not known"
    if host is not None:
        wanted += [(host, "core", Decimal(machine.vcpus)), (host, "ram", machine.host_memory_gib)]
        wanted += [("local SSD", "ssd", Decimal(machine.local_ssd_gb))] if machine.local_ssd_gb else []
    found = [(f"{who} {part}", quantity, [*parts.get((who, part), {}).values()]) for who, part, quantity in wanted]
    if lacking := [name for name, _, rates in found if len(rates) != 1]:
        return f"a machine without one price of {lacking[0]}"
    return [(name, quantity, rates[0]) for name, quantity, rates in found]


def _offer(label: str, price: Decimal, region: str, option: str, **columns: Any) -> Found:
    if option == "on_demand" and columns.get("instance_type") in RESERVED_ONLY:
        columns["restriction"] = "reservation"
    if option in TIERS:
        option, columns["tier"] = "capacity_block", option
    elif option.startswith("commitment"):
        columns["commitment_term_hours"] = int(option[-1]) * HOURS_PER_YEAR
        columns["commitment_discount_type"] = "Resource-based committed use discount"
        option, columns["purchase_payment_model"] = "reserved", "No Upfront"
    return offer(label, price.quantize(TEN_DECIMALS), option=option, region_id=region, **columns)


SOURCE = web_source(
    read,
    name="google_cloud",
    provider=PROVIDER,
    title="Google Cloud Billing Catalogue",
    url="https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus",
    pages=pages,
    key=KEY,
)
