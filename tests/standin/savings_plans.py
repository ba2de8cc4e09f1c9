"""Savings Plans: DescribeSavingsPlansOfferingRates as REST JSON, and the bulk files, over one set of rates.

    standin.savings.change(lambda rate: replace(rate, amount="0") if rate.operation == "RunInstances" else rate)
    standin.savings.version = "20261101000000"
    standin.fault("savings:us-west-2", faults.THROTTLED)          # the API, by the filter on region
    standin.fault("plans:us-west-2", faults.Truncate(at=0.5))     # a bulk file

Labels: savings  savings:<region>  savings:<plan>  savings:<plan>:<region>; plans  plans:regions  plans:prices
plans:<region>  plans:<offer>:<region>.

Written from the service model, one captured answer of RDS, and public readers of the files. The discounts are invented;
so is which rates a region has. Real are the names: plans, usage types, operations, and that a Local Zone's rates stand
in its region's file.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any

from standin import api, ec2
from standin.catalogue import sku_of
from standin.exchange import NOT_FOUND, Answer
from standin.facts import CAPACITY_BLOCK_ONLY, CURRENT, PRICES, place_of
from standin.faults import Effect
from standin.render import DISCLAIMER, SAVINGS_PLANS, pretty

FAMILIES = {
    "Compute": "ComputeSavingsPlans",
    "EC2Instance": "EC2InstanceSavingsPlans",
    "SageMaker": "SageMakerSavingsPlans",
}
DISCOUNTS = {"Compute": "0.27", "EC2Instance": "0.37", "SageMaker": "0.25"}
PAYMENTS = {"No Upfront": "0", "Partial Upfront": "0.03", "All Upfront": "0.04"}
SECONDS = {1: 31536000, 3: 94608000}
LOCAL_ZONES = {"us-east-1-atl-1": "us-east-1"}
"""Zones whose rates stand in their region's file, and whose file is none of their own."""
MACHINES_OF_SAGEMAKER = {"us-east-1": ("p5.48xlarge", "g4dn.xlarge", "m5.xlarge"), "us-west-2": ("p5.48xlarge",)}
HEADER = (
    "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,DiscountedServiceCode,DiscountedUsageType,"
    "DiscountedOperation,PurchaseOption,LeaseContractLength,LeaseContractLengthUnit,ServiceCode,UsageType,Operation,"
    "Description,Instance Family,Location,Location Type,Granularity,Product Family,DiscountedRegionCode,"
    "DiscountedInstanceType"
)
CONTENT_TYPE = "application/json"
MAX_RESULTS = 1000
_PATH = re.compile(
    r"/savingsPlan/v1\.0/aws/(?P<offer>\w+)/(?P<version>current|\d{14})"
    r"/(?:(?P<index>region_index\.json)|(?P<region>[a-z0-9-]+)/index\.csv)"
)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """One discounted rate; every text is served as it is."""

    plan: str
    years: int
    payment: str
    region: str
    usage_type: str
    operation: str
    instance_type: str
    amount: str
    service: str = "AmazonEC2"
    description: str = "Linux/UNIX"
    tenancy: str = "shared"
    unit: str = "Hrs"
    currency: str = "USD"

    @property
    def file_region(self) -> str:
        return LOCAL_ZONES.get(self.region, self.region)

    @property
    def sku(self) -> str:
        """Return the SKU of what is discounted: one for each usage, whatever the plan."""
        return sku_of(self.region, self.usage_type, self.operation)

    @property
    def plan_sku(self) -> str:
        """Return the plan's SKU: an EC2 Instance plan is of one family in one region."""
        scope = (self.region, self.family) if self.plan == "EC2Instance" else ()
        return sku_of(self.plan, str(self.years), self.payment, *scope)

    @property
    def family(self) -> str:
        return self.instance_type.removeprefix("ml.").partition(".")[0]

    @property
    def seconds(self) -> int:
        return SECONDS.get(self.years, self.years * 31536000)


@dataclass(kw_only=True)
class Plans:
    """The rates on sale and their version; may be changed while the stand-in runs.

    `page_sizes` are the most rates that the API's first, second, ... page holds, over and over; with a zero among them,
    pages are empty although more follow. `empty_last_token` ends paging with "" in place of no token.
    """

    rates: tuple[Rate, ...]
    version: str = CURRENT
    page_sizes: Sequence[int] = (1000,)
    empty_last_token: bool = False

    @property
    def published(self) -> str:
        v = self.version
        return f"{v[:4]}-{v[4:6]}-{v[6:8]}T{v[8:10]}:{v[10:12]}:{v[12:]}Z"

    def change(self, change: Callable[[Rate], Rate | None]) -> None:
        """Change each rate, or take it away with None."""
        self.rates = tuple(rate for rate in map(change, self.rates) if rate is not None)


# --- what is on sale


def plans() -> Plans:
    """Return the rates of our small world, those of other systems and tenancies among them."""
    return Plans(rates=_every_rate())


@cache
def _every_rate() -> tuple[Rate, ...]:
    return tuple(_rates())


def _rates() -> Iterator[Rate]:
    for region, prices in PRICES.items():
        prefix = place_of(region).prefix
        for instance_type, price in prices.items():
            if price == CAPACITY_BLOCK_ONLY:
                continue
            for usage, operation, description, tenancy, factor in (
                ("BoxUsage", "RunInstances", "Linux/UNIX", "shared", "1"),
                ("BoxUsage", "RunInstances:0010", "Red Hat Enterprise Linux", "shared", "1.02"),
                ("BoxUsage", "RunInstances:0800", "Windows BYOL", "shared", "1"),
                ("BoxUsage", "RunInstances:0002", "Windows", "shared", "1.3"),
                ("DedicatedUsage", "RunInstances", "Linux/UNIX", "dedicated", "1.0625"),
                ("UnusedBox", "RunInstances", "Linux/UNIX", "shared", "1"),
            ):
                usage_type = f"{prefix}{usage}:{instance_type}"
                for plan in ("Compute", "EC2Instance"):
                    amount = Decimal(price) * Decimal(factor)
                    yield from _terms(plan, region, usage_type, operation, instance_type, amount,
                                      description=description, tenancy=tenancy)  # fmt: skip
        yield from _terms("Compute", region, f"{prefix}Fargate-vCPU-Hours:perCPU", "", "", Decimal("0.04"),
                          service="AmazonECS", unit="Hrs")  # fmt: skip
        for name in MACHINES_OF_SAGEMAKER.get(region, ()):
            for usage in ("Train:", "Host:", "Studio:KernelGateway-"):
                amount = Decimal(prices[name]) * Decimal("1.15")
                yield from _terms("SageMaker", region, f"{prefix or 'USE1-'}{usage}ml.{name}", "RunInstance",
                                  f"ml.{name}", amount, service="AmazonSageMaker", description="")  # fmt: skip


def _terms(
    plan: str, region: str, usage_type: str, operation: str, instance_type: str, amount: Decimal, **more: str
) -> Iterator[Rate]:
    for years in (1, 3):
        for payment, extra in PAYMENTS.items():
            share = 1 - Decimal(DISCOUNTS[plan]) - Decimal(extra) - (Decimal("0.18") if years == 3 else 0)
            yield Rate(plan=plan, years=years, payment=payment, region=region, usage_type=usage_type,
                       operation=operation, instance_type=instance_type, amount=f"{amount * share:.10f}",
                       **more)  # fmt: skip


# --- the API


@dataclass(frozen=True)
class RepeatToken(Effect):
    """Every page has a token, one and the same, or new ones for ever."""

    same: bool = True

    def answer(self, answer: Answer) -> Answer:
        page = json.loads(answer.body)
        page["nextToken"] = "0/0" if self.same else f"0/{uuid.uuid4().int}"
        return replace(answer, body=json.dumps(page).encode())


def labels(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names by which faults and counts find a call."""
    region = _filters(parameters).get("region", ("",))[0]
    plan = next(iter(parameters.get("savingsPlanTypes", [""])))
    return ("savings", f"savings:{region}", f"savings:{plan}", f"savings:{plan}:{region}")


def answer(parameters: Mapping[str, Any], headers: Mapping[str, str], on_sale: Plans) -> Answer:
    """Return the answer to a call."""
    try:
        body = _page(parameters, headers, on_sale)
    except api.ApiFailureError as failure:
        return failure.answer()
    return Answer(body=json.dumps(body).encode(), content_type=CONTENT_TYPE, gzip="never")


def _page(parameters: Mapping[str, Any], headers: Mapping[str, str], on_sale: Plans) -> dict[str, object]:
    key, _, _ = ec2.signed_for(headers)
    if key != api.ACCESS_KEY:
        raise api.ApiFailureError("UnrecognizedClientException", "The security token is invalid.", 403)
    if headers.get("x-amz-security-token") == api.EXPIRED_SESSION:
        raise api.ApiFailureError("ExpiredTokenException", "The security token is expired", 403)
    wanted = parameters.get("maxResults", 100)
    if not 0 < wanted <= MAX_RESULTS:
        raise api.ApiFailureError("ValidationException", f"maxResults must be at most {MAX_RESULTS}")
    found = [rate for rate in on_sale.rates if _asked_for(rate, parameters)]
    token = str(parameters.get("nextToken", ""))
    offset, page = (int(part) for part in token.split("/")) if token else (0, 0)
    end = offset + min(wanted, on_sale.page_sizes[page % len(on_sale.page_sizes)])
    end_token = {"nextToken": ""} if on_sale.empty_last_token else {}
    more = {"nextToken": f"{end}/{page + 1}"} if end < len(found) else end_token
    return {"searchResults": [_result(rate) for rate in found[offset:end]], **more}


def _filters(parameters: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    return {each["name"]: each["values"] for each in parameters.get("filters", [])}


def _asked_for(rate: Rate, parameters: Mapping[str, Any]) -> bool:
    values = {
        "savingsPlanTypes": rate.plan,
        "savingsPlanPaymentOptions": rate.payment,
        "serviceCodes": rate.service,
        "usageTypes": rate.usage_type,
        "operations": rate.operation,
    }
    if not all(value in parameters.get(name, [value]) for name, value in values.items()):
        return False
    properties = _properties(rate)
    return all(properties.get(name) in wanted for name, wanted in _filters(parameters).items())


def _properties(rate: Rate) -> dict[str, str]:
    properties = {
        "region": rate.region,
        "instanceType": rate.instance_type,
        "instanceFamily": rate.family,
        "productDescription": rate.description,
        "tenancy": rate.tenancy,
    }
    if rate.service != "AmazonEC2":
        properties = {"region": rate.region, "instanceType": rate.instance_type}
    return {name: value for name, value in properties.items() if value}


def _result(rate: Rate) -> dict[str, object]:
    digest = sku_of(rate.plan_sku).encode().hex()
    return {
        "savingsPlanOffering": {
            "offeringId": f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}",
            "paymentOption": rate.payment,
            "planType": rate.plan,
            "durationSeconds": rate.seconds,
            "currency": rate.currency,
            "planDescription": f"{rate.years} year {rate.payment} {rate.plan} Savings Plan",
        },
        "rate": rate.amount,
        "unit": rate.unit,
        "productType": {"AmazonSageMaker": "SageMaker", "AmazonECS": "Fargate"}.get(rate.service, "EC2"),
        "serviceCode": rate.service,
        "usageType": rate.usage_type,
        "operation": rate.operation,
        "properties": [{"name": name, "value": value} for name, value in _properties(rate).items()],
    }


# --- the bulk files


def bulk_labels(path: str) -> tuple[str, ...]:
    """Return the names of a file; empty where the path is none of ours."""
    found = _PATH.fullmatch(path)
    if found is None:
        return ()
    if found["index"]:
        return ("plans", "plans:regions", f"plans:{found['offer']}:regions", path)
    return ("plans", "plans:prices", f"plans:{found['region']}", f"plans:{found['offer']}:{found['region']}", path)


def bulk_answer(path: str, on_sale: Plans) -> Answer:
    """Return a region index, which is a list, or a region's CSV, which quotes nothing."""
    found = _PATH.fullmatch(path)
    if found is None or found["version"] not in ("current", on_sale.version):
        return NOT_FOUND
    of_ml = found["offer"] == SAVINGS_PLANS["AmazonSageMaker"]
    rates = [rate for rate in on_sale.rates if (rate.plan == "SageMaker") is of_ml]
    if found["index"]:
        base = f"/savingsPlan/v1.0/aws/{found['offer']}/{on_sale.version}"
        regions = [
            {"regionCode": region, "versionUrl": f"{base}/{region}/index.json"}
            for region in dict.fromkeys(rate.file_region for rate in rates)
        ]
        index = {"disclaimer": DISCLAIMER, "publicationDate": on_sale.published, "regions": regions}
        return Answer(body=pretty({**index, "formatVersion": "v1.0"}))
    listed = [rate for rate in rates if rate.file_region == found["region"]]
    return Answer(body=csv_of(listed, on_sale, found["offer"]), content_type="text/csv") if listed else NOT_FOUND


def csv_of(rates: Sequence[Rate], on_sale: Plans, offer: str) -> bytes:
    """Return a file, ordered by SKU of what is discounted as AWS's is."""
    preamble = {
        "FormatVersion": "v1.0",
        "Disclaimer": DISCLAIMER,
        "Publication Date": on_sale.published,
        "Version": on_sale.version,
        "OfferCode": offer,
    }
    lines = [f"{name},{value}" for name, value in preamble.items()] + [HEADER]
    for rate in sorted(rates, key=lambda each: each.sku):
        plan = FAMILIES.get(rate.plan, rate.plan)
        values = (
            rate.plan_sku, f"{rate.plan_sku}.{rate.sku}", rate.unit, on_sale.published, rate.amount, rate.currency,
            rate.sku, rate.service, rate.usage_type, rate.operation, rate.payment, str(rate.years), "year",
            "MachineLearningSavingsPlans" if rate.plan == "SageMaker" else "ComputeSavingsPlans",
            f"{rate.plan}SP:{rate.years}yr{rate.payment.replace(' ', '')}", "",
            f"{rate.years} year {rate.payment} {rate.plan} Savings Plan", "", "Any", "AWS Region", "hourly", plan,
            rate.region, rate.instance_type,
        )  # fmt: skip
        lines.append(",".join(values))
    return ("\n".join(lines) + "\n").encode()
