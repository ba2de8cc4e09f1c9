"""The live door: two queries a region, every page kept as it came."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from extract.aws import SPOT as NAME
from extract.aws.spot import ec2
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SettingsError, SourceError

PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
ACCELERATORS = ("cg*", "dl*", "f*", "g*", "inf*", "p*", "trn*", "vt*")
"""How names of accelerator types begin; the parser leaves out what is none."""
HISTORY = timedelta(days=90)
LIVELY = timedelta(days=2)
"""EC2 repeats every price about daily: an offer with a record of the last two days has a price in force."""
_TYPE = re.compile(r"[a-z0-9*?-]+(\.[a-z0-9*?-]+)?")


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """The documents of one query, and the offers (zone, type) in it with the time of their last record."""

    documents: tuple[Document, ...]
    last_seen: Mapping[tuple[str, str], datetime]


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at one region: the prices in force, and the changes since the look before."""
    call = ec2.Call(
        source=NAME,
        region=scope,
        operation="DescribeSpotPriceHistory",
        method="describe_spot_price_history",
        result="SpotPriceHistory",
    )
    chosen = _instance_types(ctx.settings)
    at = ctx.now().astimezone(UTC).replace(microsecond=0)
    start, known_until = _window(ctx, scope, at)
    client = call.client()
    current, product = _Answer(documents=(), last_seen={}), PRODUCTS[0]
    for product in PRODUCTS:
        current = _answer(ctx, client, call, chosen, product, {"query": "current", "StartTime": _text(at)})
        if current.last_seen:
            break
    window = {"query": "history", "StartTime": _text(start), "EndTime": _text(at)}
    if known_until is not None:
        window["known_until"] = _text(known_until)
    history = _answer(ctx, client, call, chosen, product if current.last_seen else PRODUCTS[0], window)
    lively = {offer for offer, seen in history.last_seen.items() if at - LIVELY <= seen <= at}
    if lively and not current.last_seen:
        hint = "Try again later"
        message = f"{scope}: the history has prices of the last days, and none is in force"
        raise SourceError(message, source=NAME, field=call.result, value=len(lively), hint=hint)
    missing = sorted(lively - current.last_seen.keys())
    return ScopeFetch(
        source=NAME,
        scope=scope,
        observed_at=at,
        complete=chosen is None and not missing,
        documents=(*current.documents, *history.documents),
        notes=tuple(_notes(current, chosen, missing)),
    )


def _notes(current: _Answer, chosen: tuple[str, ...] | None, missing: list[tuple[str, str]]) -> list[str]:
    notes = []
    if not current.last_seen:
        wanted = ", ".join(chosen) if chosen else "any accelerator"
        notes.append(f"no spot price of {wanted} here")
    if missing:
        named = ", ".join(f"{kind} in {zone}" for zone, kind in missing[:5])
        notes.append(f"{len(missing)} offers of the last days are not among the prices in force: {named}")
    return notes


def _answer(
    ctx: Context,
    client: Any,
    call: ec2.Call,
    chosen: tuple[str, ...] | None,
    product: str,
    parameters: Mapping[str, str],
) -> _Answer:
    request: dict[str, object] = {"ProductDescriptions": [product], "MaxResults": ec2.PAGE_SIZE}
    request |= {
        name: datetime.fromisoformat(parameters[name]) for name in ("StartTime", "EndTime") if name in parameters
    }
    types = chosen or ACCELERATORS
    if any("*" in name or "?" in name for name in types):
        request["Filters"] = [{"Name": "instance-type", "Values": list(types)}]
    else:
        request["InstanceTypes"] = list(types)
    stated = {**parameters, "ProductDescription": product, "InstanceTypes": ",".join(types)}
    documents: list[Document] = []
    last_seen: dict[tuple[str, str], datetime] = {}
    for number, page in enumerate(call.pages(client, request), start=1):
        for record in page[call.result]:
            offer = (record.get("AvailabilityZone", ""), record.get("InstanceType", ""))
            seen = record.get("Timestamp") or datetime.min.replace(tzinfo=UTC)
            last_seen[offer] = max(seen, last_seen.get(offer, seen))
        documents.append(call.document(ctx, page, {**stated, "page": str(number)}))
    return _Answer(documents=tuple(documents), last_seen=last_seen)


def _window(ctx: Context, scope: str, at: datetime) -> tuple[datetime, datetime | None]:
    """Return the start of the history to ask for, and the look up to which all is known; None where there is none."""
    oldest = at - HISTORY
    if "since" in ctx.settings:
        return max(_moment(ctx.settings["since"]), oldest), None
    last = ctx.last_observed(scope)
    if last is None:
        return oldest, None
    last = last.astimezone(UTC)
    return max(last, oldest), last


def _moment(value: object) -> datetime:
    """Return a date or time of the settings, which is UTC unless it says otherwise."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError as error:
        hint = 'Expected is a date such as "2026-10-01"'
        raise SettingsError("not a date", source=NAME, field="since", value=value, hint=hint) from error
    return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)


def _instance_types(settings: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the types to ask for; None for all. A wrong name would give an empty list and no error (trap 23)."""
    chosen = ec2.names_in(settings, "instance_types", source=NAME)
    for name in chosen or ():
        if not _TYPE.fullmatch(name):
            hint = 'Expected is a name such as "p5.48xlarge", or "p5.*"; one name to each entry'
            raise SettingsError("not an instance type", source=NAME, field="instance_types", value=name, hint=hint)
    return chosen


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
