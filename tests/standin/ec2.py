"""EC2: the query protocol over POST, answered in XML after botocore's own service model, over a small cloud.

Operations: DescribeRegions, DescribeInstanceTypes, DescribeInstanceTypeOfferings, DescribeSpotPriceHistory,
DescribeCapacityBlockOfferings. They answer from `standin.cloud`, an `ec2_cloud.Cloud`:

    standin.cloud.change("us-east-1", spot=(Spot(...), Spot(...)))
    standin.cloud.page_sizes = (2, 0, 1000)                       # short and empty pages
    standin.fault("ec2:us-west-2", faults.Delay(0.5))             # a slow region
    standin.fault("ec2:us-west-2", ec2.UNAUTHORIZED)              # refused in one region
    standin.fault("ec2", ec2.EXPIRED, after=2)                    # credentials that expire midway
    standin.fault("ec2", ec2.RepeatToken())                       # pages without an end

Labels: ec2  ec2:<operation>  ec2:<region>  ec2:<operation>:<region>. A region that is not opted in answers
AuthFailure by itself. The last page of DescribeSpotPriceHistory has the token "", as AWS has it; others have none.

Written from the service model and captured answers. Assumed, for want of a capture: a StartTime more than 90 days ago
is taken for 90 days ago, without a word; how an UltraServer's refusal is coded.
"""

import fnmatch
import functools
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

import botocore.loaders
import botocore.model

from standin.ec2_cloud import Block, Cloud, Region
from standin.exchange import Answer
from standin.faults import Effect

CONTENT_TYPE = "text/xml;charset=UTF-8"
NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
HISTORY = timedelta(days=90)
NEW_FIELD = "AvailabilityZoneId"
"""Of spot records; captures before 2025 lack it."""
DAY_STEPS, WEEK_STEPS = range(24, 24 * 14 + 1, 24), range(24 * 21, 24 * 182 + 1, 24 * 7)
"""Durations of Capacity Blocks in hours: days up to two weeks, then weeks up to 26."""
_CREDENTIAL = re.compile(r"Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")

Page = dict[str, Any]
"""An answer as boto3 shows it, before it becomes XML."""


class QueryFailureError(Exception):
    """An error of the query protocol: its code, what it says, and the HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status

    def answer(self) -> Answer:
        error = f"<Code>{escape(self.code)}</Code><Message>{escape(self.message)}</Message>"
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Response><Errors><Error>{error}</Error></Errors><RequestID>{uuid.uuid4()}</RequestID></Response>"
        )
        return Answer(status=self.status, body=body.encode(), content_type=CONTENT_TYPE, gzip="never")


# --- what goes wrong


@dataclass(frozen=True)
class QueryError(Effect):
    """An error of EC2 in place of the answer."""

    code: str
    message: str = "stand-in"
    status: int = 400

    def answer(self, answer: Answer) -> Answer:
        return replace(QueryFailureError(self.code, self.message, self.status).answer(), delay=answer.delay)


LIMIT_EXCEEDED = (
    "CapacityBlockDescribeLimitExceeded",
    "You've reached the limit for this account. The returned message provides details.",
)
AUTH_FAILURE = QueryError("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
UNAUTHORIZED = QueryError("UnauthorizedOperation", "You are not authorized to perform this operation.", 403)
EXPIRED = QueryError("RequestExpired", "Request has expired.")
THROTTLED = QueryError("RequestLimitExceeded", "Request limit exceeded.", 503)
NO_SUCH_ACTION = QueryError("InvalidAction", "The action DescribeCapacityBlockOfferings is not valid in this region.")
UNSUPPORTED = QueryError("UnsupportedOperation", "The functionality you requested is not available in this region.")
PENDING = QueryError("PendingVerification", "Your request for accessing resources in this region is being validated.")
INTERNAL_ERROR = QueryError("InternalError", "An internal error has occurred", 500)


@dataclass(frozen=True, kw_only=True)
class RepeatToken(Effect):
    """Every page has a token, so that there is no last one; `same` gives every page one and the same."""

    same: bool = True

    def answer(self, answer: Answer) -> Answer:
        token = "0" if self.same else f"0:{uuid.uuid4().hex}"
        plain = re.sub(rb"<nextToken>.*?</nextToken>|<nextToken/>", b"", answer.body)
        end = plain.rfind(b"</")
        return replace(answer, body=plain[:end] + f"<nextToken>{token}</nextToken>".encode() + plain[end:])


# --- requests and answers


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call: the region it is for, its parameters as they came (InstanceType.1 and so on), and the cloud."""

    operation: str
    region: Region
    parameters: Mapping[str, str]
    cloud: Cloud

    def text(self, name: str) -> str:
        """Return a parameter; empty where it is absent."""
        return self.parameters.get(name, "")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of a list, in order."""
        found = {key: value for key, value in self.parameters.items() if re.fullmatch(rf"{re.escape(name)}\.\d+", key)}
        return tuple(found[key] for key in sorted(found, key=lambda key: int(key.rsplit(".", 1)[1])))

    def filters(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each filter; those of EC2 may hold * and ?."""
        names = {key: value for key, value in self.parameters.items() if re.fullmatch(r"Filter\.\d+\.Name", key)}
        return {name: self.texts(key.removesuffix("Name") + "Value") for key, name in names.items()}

    def moment(self, name: str) -> datetime | None:
        text = self.text(name)
        at = datetime.fromisoformat(text) if text else None
        return at.replace(tzinfo=at.tzinfo or UTC) if at else None

    def number(self, name: str, default: int) -> int:
        text = self.text(name)
        if text and not text.isdecimal():
            raise QueryFailureError("InvalidParameterValue", f"Invalid value '{text}' for {name}")
        return int(text) if text else default


def signed_for(headers: Mapping[str, str]) -> tuple[str, str, str]:
    """Return key, region and service of a request's signature; empty ones where it is not signed."""
    found = _CREDENTIAL.search(headers.get("authorization", ""))
    return (found["key"], found["region"], found["service"]) if found else ("", "", "")


def parameters_of(body: bytes) -> dict[str, str]:
    """Return the parameters of a query request, Action among them."""
    return dict(parse_qsl(body.decode(), keep_blank_values=True))


def answer(parameters: Mapping[str, str], headers: Mapping[str, str], cloud: Cloud, *, key: str) -> Answer:
    """Return the answer to a call; `key` is the access key that is let in."""
    try:
        return _answer(parameters, headers, cloud, key)
    except QueryFailureError as failure:
        return failure.answer()


def _answer(parameters: Mapping[str, str], headers: Mapping[str, str], cloud: Cloud, key: str) -> Answer:
    given, name, _ = signed_for(headers)
    if given != key or name not in cloud.regions or not cloud.regions[name].opted_in:
        raise QueryFailureError(AUTH_FAILURE.code, AUTH_FAILURE.message, AUTH_FAILURE.status)
    if headers.get("x-amz-security-token") == "expired":
        raise QueryFailureError(EXPIRED.code, EXPIRED.message)
    operation = parameters.get("Action", "")
    if operation not in OPERATIONS:
        raise QueryFailureError("InvalidAction", f"The action {operation} is not valid for this web service.")
    call = Call(operation=operation, region=cloud.regions[name], parameters=parameters, cloud=cloud)
    return Answer(body=xml(operation, OPERATIONS[operation](call)), content_type=CONTENT_TYPE, gzip="never")


@functools.cache
def _service() -> botocore.model.ServiceModel:
    return botocore.model.ServiceModel(botocore.loaders.create_loader().load_service_model("ec2", "service-2"), "ec2")


def xml(operation: str, page: Page) -> bytes:
    """Return an answer, in boto3's form, as the XML that EC2 sends."""
    shape = _service().operation_model(operation).output_shape
    request = f"<requestId>{uuid.uuid4()}</requestId>"
    name = f"{operation}Response"
    inner = _element(shape, page)
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<{name} xmlns="{NAMESPACE}">\n    '
    return f"{head}{request}{inner}\n</{name}>".encode()


def _element(shape: Any, value: Any) -> str:
    """Return what stands between the tags of a value."""
    if shape.type_name == "structure":
        known = [(shape.members[name], name, each) for name, each in value.items() if name in shape.members]
        return "".join(_tagged(member.serialization.get("name", name), member, each) for member, name, each in known)
    if shape.type_name == "list":
        return "".join(_tagged(shape.member.serialization.get("name", "item"), shape.member, each) for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return escape(str(value))


def _tagged(tag: str, shape: Any, value: Any) -> str:
    inner = _element(shape, value)
    return f"<{tag}>{inner}</{tag}>" if inner else f"<{tag}/>"


def _paged(call: Call, items: Sequence[Page], *, most: int, least: int = 1) -> tuple[list[Page], str]:
    """Return a page and the next one's token, empty after the last. A token is `offset:page`."""
    wanted = call.number("MaxResults", most)
    if not least <= wanted <= most:
        raise QueryFailureError("InvalidParameterValue", f"Value ( {wanted} ) for parameter maxResults is invalid.")
    token = call.text("NextToken")
    if token and not re.fullmatch(r"\d+(:\w+)?", token):
        raise QueryFailureError("InvalidParameterValue", f"Value ( {token} ) for parameter nextToken is invalid.")
    offset, page = (int(part) if part.isdecimal() else 0 for part in (*token.split(":"), "0", "0")[:2])
    sizes = call.cloud.page_sizes
    end = offset + min(wanted, sizes[page % len(sizes)] if sizes else most)
    return list(items[offset:end]), f"{end}:{page + 1}" if end < len(items) else ""


def _matches(filters: Mapping[str, Sequence[str]], fields: Mapping[str, str]) -> bool:
    for name, patterns in filters.items():
        if name not in fields:
            raise QueryFailureError("InvalidParameterValue", f"The filter '{name}' is invalid")
        if not any(fnmatch.fnmatchcase(fields[name], pattern) for pattern in patterns):
            return False
    return True


# --- places and machines


def describe_regions(call: Call) -> Page:
    """Return the regions that the account has."""
    wanted = call.texts("RegionName")
    regions = [
        {
            "OptInStatus": "opt-in-not-required",
            "RegionName": each.name,
            "Endpoint": f"ec2.{each.name}.amazonaws.com",
        }
        for each in call.cloud.regions.values()
        if each.opted_in and (not wanted or each.name in wanted)
    ]
    return {"Regions": regions}


def describe_instance_types(call: Call) -> Page:
    """Return a page of machines."""
    named, filters = call.texts("InstanceType"), call.filters()
    if call.text("MaxResults") and named:
        message = "The parameter instancetypes cannot be used with the parameter maxresults"
        raise QueryFailureError("InvalidParameterCombination", message)
    known = {str(each["InstanceType"]): dict(each) for each in call.region.machines}
    strange = [name for name in named if name not in known]
    if strange:
        raise QueryFailureError("InvalidInstanceType", f"The following supplied instance types do not exist: {strange}")
    found = [
        each
        for name, each in known.items()
        if (not named or name in named)
        and any(
            _matches(filters, {"instance-type": name, "supported-usage-class": usage})
            for usage in each["SupportedUsageClasses"]
        )
    ]
    page, token = _paged(call, found, most=100, least=5)
    return {"InstanceTypes": page, **({"NextToken": token} if token else {})}


def describe_instance_type_offerings(call: Call) -> Page:
    """Return a page of where machines are offered: in the region, or by zone or zone id."""
    kind = call.text("LocationType") or "region"
    zones = {zone.zone_id: {"availability-zone": zone.name, "availability-zone-id": zone.zone_id}
             for zone in call.region.zones}  # fmt: skip
    offered = []
    for instance_type, zone_ids in call.region.offered.items():
        places = [call.region.name] if kind == "region" else [zones[zone_id][kind] for zone_id in zone_ids]
        for place in places:
            if _matches(call.filters(), {"instance-type": instance_type, "location": place}):
                offered.append({"InstanceType": instance_type, "LocationType": kind, "Location": place})
    page, token = _paged(call, offered, most=1000, least=5)
    return {"InstanceTypeOfferings": page, **({"NextToken": token} if token else {})}


# --- spot


def describe_spot_price_history(call: Call) -> Page:
    """Return a page of records, newest first: those in the window, and the last one before it of each series."""
    if call.text("AvailabilityZone") and call.text("AvailabilityZoneId"):
        message = "AvailabilityZone and AvailabilityZoneId cannot be used together"
        raise QueryFailureError("InvalidParameterCombination", message)
    cloud = call.cloud
    oldest = cloud.now - HISTORY
    start, end = max(call.moment("StartTime") or oldest, oldest), call.moment("EndTime") or cloud.now
    names = {zone.zone_id: zone.name for zone in call.region.zones}
    last_before: dict[tuple[str, str, str], datetime] = {}
    for record in call.region.spot:
        if record.at < start:
            last_before[record.series] = max(record.at, last_before.get(record.series, record.at))
    found = []
    for record in sorted(call.region.spot, key=lambda each: each.at, reverse=True):
        current = record.at >= start or record.at == last_before.get(record.series)
        if not current or record.at > end or not _asked_for(call, record.instance_type, record.product):
            continue
        zone = {"availability-zone": names[record.zone_id], "availability-zone-id": record.zone_id}
        wanted = (call.text("AvailabilityZone"), call.text("AvailabilityZoneId"))
        if not all(value in ("", place) for value, place in zip(wanted, zone.values(), strict=True)):
            continue
        fields = {"instance-type": record.instance_type, "product-description": record.product,
                  "spot-price": record.price, "timestamp": record.at.isoformat()}  # fmt: skip
        if _matches(call.filters(), {**zone, **fields}):
            item = {
                "AvailabilityZone": names[record.zone_id], "AvailabilityZoneId": record.zone_id,
                "InstanceType": record.instance_type, "ProductDescription": record.product,
                "SpotPrice": record.price, "Timestamp": record.at,
            }  # fmt: skip
            found.append({name: value for name, value in item.items() if cloud.zone_ids_in_spot or name != NEW_FIELD})
    page, token = _paged(call, found, most=1000)
    return {"NextToken": token, "SpotPriceHistory": page}


def _asked_for(call: Call, instance_type: str, product: str) -> bool:
    types, products = call.texts("InstanceType"), call.texts("ProductDescription")
    return (not types or instance_type in types) and (not products or product in products)


# --- Capacity Blocks


def describe_capacity_block_offerings(call: Call) -> Page:
    """Return a page of the blocks that fit the query; an empty one where there is none."""
    if not call.cloud.may_ask_for_blocks(call.region.name):
        raise QueryFailureError(*LIMIT_EXCEEDED)
    hours = call.number("CapacityDurationHours", 0)
    if hours not in DAY_STEPS and hours not in WEEK_STEPS:
        raise QueryFailureError("InvalidParameterValue", f"CapacityDurationHours {hours} is not a valid duration")
    ultraserver, instance_type = call.text("UltraserverType"), call.text("InstanceType")
    if ultraserver and not call.cloud.ultraservers_authorized:
        message = (
            "This AWS Account is not authorized to call DescribeCapacityBlockOfferings API "
            "when requesting an EC2 UltraServer"
        )
        raise QueryFailureError("UnauthorizedOperation", message, 403)
    if not ultraserver and instance_type not in call.region.block_types:
        message = f"The instance type {instance_type} is not supported for Capacity Blocks."
        raise QueryFailureError("InvalidParameterValue", message)
    count = call.number("UltraserverCount" if ultraserver else "InstanceCount", 1)
    found = [
        _block(call.region, block)
        for block in call.region.blocks
        if (block.ultraserver_type or block.instance_type) == (ultraserver or instance_type)
        and (block.asked_hours, block.count) == (hours, count)
        and block.start >= (call.moment("StartDateRange") or block.start)
        and block.end <= (call.moment("EndDateRange") or block.end)
    ]
    page, token = _paged(call, found, most=1000)
    return {"CapacityBlockOfferings": page, **({"NextToken": token} if token else {})}


def _block(region: Region, block: Block) -> Page:
    names = {zone.zone_id: zone.name for zone in region.zones}
    ultraserver = {"UltraserverType": block.ultraserver_type, "UltraserverCount": block.count}
    minutes = {"CapacityBlockDurationMinutes": block.minutes % 60} if block.states_minutes else {}
    return {
        "CapacityBlockOfferingId": block.offering_id,
        "InstanceType": block.instance_type,
        "AvailabilityZone": names[block.zone_id],
        "InstanceCount": block.count,
        "StartDate": block.start,
        "EndDate": block.end,
        "CapacityBlockDurationHours": block.minutes // 60,
        "UpfrontFee": block.fee,
        "CurrencyCode": block.currency,
        "Tenancy": "default",
        **(ultraserver if block.ultraserver_type else {}),
        **minutes,
    }


OPERATIONS: Mapping[str, Callable[[Call], Page]] = {
    "DescribeRegions": describe_regions,
    "DescribeInstanceTypes": describe_instance_types,
    "DescribeInstanceTypeOfferings": describe_instance_type_offerings,
    "DescribeSpotPriceHistory": describe_spot_price_history,
    "DescribeCapacityBlockOfferings": describe_capacity_block_offerings,
}
