"""The rules of FOCUS SkuPrice, as of the 1.5 draft, checked over the rows of a CSV file.

The draft (https://github.com/FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec/pull/2424, read 2026-11-21) has two of its own:
a record is unique on six columns, and the times of one price never overlap. The rest is FOCUS 1.4's on formats.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise

PRICE = ("ServiceProviderName", "SkuPriceId", "ContractId", "PricingCurrency", "UnitPriceType")
UNIQUE = (*PRICE, "SkuPriceEffectiveStart")
NEVER_EMPTY = (
    "ServiceProviderName", "SkuPriceId", "ChargeCategory", "PricingUnit", "PricingCurrency", "UnitPrice",
    "UnitPriceType",
)  # fmt: skip
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase"},
    "PricingCategory": {"Standard", "Committed", "Dynamic", "Other", ""},
    "UnitPriceType": {"List", "Contracted"},
    "PurchasePaymentModel": {"No Upfront", "Partial Upfront", "All Upfront", ""},
}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
EARLIEST, LATEST = "", "9999"

Line = Mapping[str, str]


def broken(lines: Sequence[Line]) -> list[str]:
    """Return what breaks a rule, in words; nothing where all hold."""
    return [*_one_by_one(lines), *_together(lines)]


def _one_by_one(lines: Sequence[Line]) -> Iterator[str]:
    for number, line in enumerate(lines, start=2):
        for name in NEVER_EMPTY:
            if not line[name]:
                yield f"line {number}: {name} is empty"
        for name, allowed in ALLOWED.items():
            if line[name] not in allowed:
                yield f"line {number}: {name} is {line[name]!r}"
        for name in ("SkuPriceEffectiveStart", "SkuPriceEffectiveEnd"):
            if line[name] and not MOMENT.fullmatch(line[name]):
                yield f"line {number}: {name} is no UTC time: {line[name]!r}"
        if not re.fullmatch("[A-Z]{3}", line["PricingCurrency"]):
            yield f"line {number}: PricingCurrency is {line['PricingCurrency']!r}"
        try:
            is_amount = Decimal(line["UnitPrice"]) >= 0
        except InvalidOperation:
            is_amount = False
        if not is_amount:
            yield f"line {number}: UnitPrice is {line['UnitPrice']!r}"
        if line["PricingCategory"] == "Committed" and not line["PurchaseDurationType"]:
            yield f"line {number}: committed, for how long is not said"
        for name in line:
            if not re.fullmatch("(x_)?([A-Z][A-Za-z0-9]*)", name):
                yield f"{name} is no name of FOCUS's, and none of our own"


def _together(lines: Sequence[Line]) -> Iterator[str]:
    for key, count in Counter(tuple(line[name] for name in UNIQUE) for line in lines).items():
        if count > 1:
            yield f"{count} records of {key}"
    times = defaultdict(list)
    for line in lines:
        start, end = line["SkuPriceEffectiveStart"] or EARLIEST, line["SkuPriceEffectiveEnd"] or LATEST
        if end <= start:
            yield f"{line['SkuPriceId']} ends at {end}, before it begins at {start}"
        times[tuple(line[name] for name in PRICE)].append((start, end))
    for key, spans in times.items():
        spans.sort()
        for (_, end), (start, _) in pairwise(spans):
            if start < end:
                yield f"{key}: a price from {start} overlaps one until {end}"
