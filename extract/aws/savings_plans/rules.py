"""Which rates are prices of accelerators, and what each says; one path for both doors."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import polars as pl

from extract.aws.price_list.rules import plain_number
from extract.aws.savings_plans.rates import Rate
from extract.base import Parsed
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.tables import OBSERVATION
from warehouse.schema.vocabulary import HOURS_PER_YEAR, PAYMENT_MODELS

PLANS = {
    "Compute": "Compute",
    "EC2Instance": "EC2Instance",
    "SageMaker": "SageMaker",
    "Database": "Database",
    "ComputeSavingsPlans": "Compute",
    "EC2InstanceSavingsPlans": "EC2Instance",
    "SageMakerSavingsPlans": "SageMaker",
    "DatabaseSavingsPlans": "Database",
}
"""Kinds of plan by planType and by product family, in the API's words; any other is reported."""
SERVICES = {"Compute": "AmazonEC2", "EC2Instance": "AmazonEC2", "SageMaker": "AmazonSageMaker"}
"""Which service's usage is read of each plan: a Compute plan covers Fargate and Lambda too."""
TERM_HOURS = {
    "31536000": HOURS_PER_YEAR,
    "1 year": HOURS_PER_YEAR,
    "94608000": 3 * HOURS_PER_YEAR,
    "3 year": 3 * HOURS_PER_YEAR,
}
"""Durations in seconds, as the API says, and in years, as the bulk files say; any other is reported."""

HOURLY_UNIT = "Hrs"
OPERATION = "RunInstances"
ML_OPERATIONS = ("RunInstance", "")
LINUX, SHARED = "Linux/UNIX", "shared"
USAGE = {
    "BoxUsage": None,
    "DedicatedUsage": "other_tenancy",
    "HostBoxUsage": "other_tenancy",
    "HostUsage": "other_tenancy",
    "UnusedBox": "unused_reservation",
    "UnusedDed": "unused_reservation",
    "Reservation": "unused_reservation",
    "DedicatedRes": "unused_reservation",
}
"""Why a kind of EC2 usage is not the price of running a shared machine; None where it is. Any other is reported."""

_FULL_TYPE = re.compile(r"(?:ml\.)?[a-z][a-z0-9-]*\.(?:metal(?:-\d+xl)?|(?:\d*x)?large|nano|micro|small|medium)")
_TYPE_AT_END = re.compile(rf"(?:^|[:-])({_FULL_TYPE.pattern})$")
_LIKE_AN_ACCELERATOR = re.compile(r"(?:^|[:.-])(?:p|gr?|inf|trn|dl|vt|f|cg)\d", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:[A-Z0-9]+-)+")
"""How usage types name a region. It is cut off where only the kind of usage is wanted, and never read."""


def observations(rates: Iterable[Rate], *, scope: str) -> Parsed:
    """Return the prices of accelerators among the rates, the reasons for leaving out the rest, the unknown."""
    rows: list[tuple[object, ...]] = []
    ignored: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    for rate in rates:
        instance_type = instance_type_of(rate)
        reason = _refusal(rate, instance_type, scope)
        if reason is None:
            rows.append(_row(rate, instance_type or ""))
        else:
            ignored[reason] += 1
        for name in _unknown(rate, instance_type, reason):
            unknown.setdefault(name, f"{name} (such as {rate.usage_type})")
    schema = {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(OBSERVATION, nulls_last=True)
    return Parsed(
        rows=frame, ignored=dict(sorted(ignored.items())), unknown=tuple(unknown[name] for name in sorted(unknown))
    )


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
    """Return why a rate is none of ours; None where it is one. What concerns whole regions is asked first."""
    if scope and rate.region != scope:
        return "other_region" if rate.region else "no_region"
    plan = PLANS.get(rate.plan or "")
    if plan not in SERVICES:
        return "other_plan" if plan else "unknown_plan"
    if rate.service != SERVICES[plan]:
        return "other_service"
    if instance_type is None:
        return "no_instance_type"
    if not ACCELERATOR_TYPE.match(instance_type):
        return "not_accelerator"
    return None if plan == "SageMaker" else _ec2_refusal(rate)


def _ec2_refusal(rate: Rate) -> str | None:
    if rate.product_description not in (None, LINUX):
        return "other_os"
    if (rate.tenancy or SHARED).lower() != SHARED:
        return "other_tenancy"
    kind = usage_kind(rate)
    if kind not in USAGE:
        return "unknown_usage"
    if USAGE[kind] is not None:
        return USAGE[kind]
    # Codes after a colon are other systems, software, licenses, and Capacity Blocks (":CB").
    return None if rate.operation == OPERATION else "other_operation"


def _unknown(rate: Rate, instance_type: str | None, reason: str | None) -> Iterator[str]:
    """Yield what no rule here has a word for, in rates that would be prices."""
    if reason == "unknown_plan":
        yield f"plan {rate.plan!r}"
    if reason == "unknown_usage":
        yield f"usage {usage_kind(rate)!r}"
    if reason == "no_instance_type" and _LIKE_AN_ACCELERATOR.search(rate.instance_type or rate.usage_type):
        yield f"instance type {rate.instance_type!r}"
    if reason is not None:
        return
    if rate.duration not in TERM_HOURS:
        yield f"duration {rate.duration!r}"
    if rate.payment not in PAYMENT_MODELS:
        yield f"payment option {rate.payment!r}"
    if rate.unit != HOURLY_UNIT:
        yield f"unit {rate.unit!r}"


def _row(rate: Rate, instance_type: str) -> tuple[object, ...]:
    """Return one observation; what has no rule is NULL or as it is, for the row gate to refuse."""
    plan = PLANS[rate.plan or ""]
    values: dict[str, object] = {
        "service_provider_name": "AWS",
        "instance_type": instance_type,
        "capacity_unit": "UltraServer" if instance_type.startswith("u-") else "instance",
        "region_id": rate.region,
        "purchase_option": "savings_plan",
        "commitment_discount_type": plan,
        "commitment_term_hours": TERM_HOURS.get(rate.duration or ""),
        "purchase_payment_model": rate.payment,
        "statistic": "price",
        "conditions": _conditions(rate) if plan == "SageMaker" else None,
        "pricing_currency": rate.currency,
        "unit_price_type": "List",
        "sku_id": rate.sku,
        "sku_price_id": rate.rate_code,
        "unit_price": plain_number(rate.amount) if rate.unit == HOURLY_UNIT else f"{rate.amount} per {rate.unit}",
    }
    return tuple(values.get(name) for name in OBSERVATION)


def _conditions(rate: Rate) -> str:
    """Return SageMaker's component, with the operation where it is not the usual one: both have rates of their own."""
    component = f"SageMaker {usage_kind(rate)}"
    return component if rate.operation in ML_OPERATIONS else f"{component}, operation {rate.operation}"
