"""The Price List API: JSON 1.1 over POST, its operations over a catalogue, and its errors.

Written from the service model and captured answers. Assumed, for want of a capture: a filter on a field that no
product has matches nothing, and ANY_OF and NONE_OF take values separated by commas. Signatures are not verified,
only their key, scope and session token.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from standin import render
from standin.catalogue import OFFER, Catalogue, Product
from standin.exchange import Answer

ACCESS_KEY, SECRET_KEY = "AKIASTANDIN00000000X", "standin"
EXPIRED_SESSION = "expired"
"""The session token that is answered with ExpiredTokenException."""

ENDPOINT_PARTITIONS = {"us-east-1": "aws", "eu-central-1": "aws", "ap-south-1": "aws", "cn-northwest-1": "cn"}
"""The regions with an endpoint, and whose prices each serves."""

CONTENT_TYPE = "application/x-amz-json-1.1"
MAX_RESULTS = 100
_CREDENTIAL = re.compile(r"Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/pricing/aws4_request")

Item = TypeVar("Item")
Spoil = Callable[[tuple[Product, ...]], tuple[Product, ...]]
"""What faults do to the products on their way out."""


class ApiFailureError(Exception):
    """An error of the API: its type, what it says, and the HTTP status."""

    def __init__(self, kind: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.kind, self.message, self.status = kind, message, status

    def answer(self) -> Answer:
        body = json.dumps({"__type": self.kind, "Message": self.message, "message": self.message}).encode()
        headers = {"x-amzn-ErrorType": self.kind}
        return Answer(status=self.status, body=body, content_type=CONTENT_TYPE, headers=headers, gzip="never")


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call with what it needs: the catalogue, how pages are cut, where bulk files are."""

    parameters: Mapping[str, object]
    catalogue: Catalogue
    page_sizes: Sequence[int]
    empty_last_token: bool
    bulk_url: str
    spoil: Spoil

    def text(self, name: str) -> str:
        """Return a text parameter; empty where it is absent."""
        return str(self.parameters.get(name) or "")


def partition_of(headers: Mapping[str, str]) -> str:
    """Return the partition whose endpoint a signed request is for; raise where AWS would refuse the credentials."""
    signed = _CREDENTIAL.search(headers.get("authorization", ""))
    if signed is None:
        raise ApiFailureError("MissingAuthenticationTokenException", "Missing Authentication Token")
    if headers.get("x-amz-security-token") == EXPIRED_SESSION:
        raise ApiFailureError("ExpiredTokenException", "The security token included in the request is expired")
    if signed["key"] != ACCESS_KEY:
        raise ApiFailureError("UnrecognizedClientException", "The security token included in the request is invalid.")
    if signed["region"] not in ENDPOINT_PARTITIONS:
        message = f"Credential should be scoped to a valid region, not '{signed['region']}'."
        raise ApiFailureError("InvalidSignatureException", message)
    return ENDPOINT_PARTITIONS[signed["region"]]


def region_filter(parameters: Mapping[str, object]) -> str:
    """Return the value of the filter on regionCode; empty where there is none."""
    filters = parameters.get("Filters")
    if isinstance(filters, list):
        return next((str(each["Value"]) for each in filters if each.get("Field") == "regionCode"), "")
    return str(parameters.get("RegionCode") or "")


# --- filters


def _value(product: Product, name: str) -> str | None:
    special = {"servicecode": OFFER, "productfamily": product.family, "sku": product.sku}
    return special.get(name.lower(), product.attributes.get(name))


_MATCHES: Mapping[str, Callable[[str, str], bool]] = {
    "TERM_MATCH": lambda value, wanted: value == wanted,
    "EQUALS": lambda value, wanted: value == wanted,
    "CONTAINS": lambda value, wanted: wanted in value,
    "ANY_OF": lambda value, wanted: value in wanted.split(","),
    "NONE_OF": lambda value, wanted: value not in wanted.split(","),
}


def matching(products: Iterable[Product], filters: object) -> tuple[Product, ...]:
    """Return the products that match all filters; one without the field matches none."""
    kept = tuple(products)
    for each in filters if isinstance(filters, list) else []:
        if each["Type"] not in _MATCHES:
            raise ApiFailureError("InvalidParameterException", f"Input Parameters are invalid. Type: {each['Type']}")
        matches, name, wanted = _MATCHES[each["Type"]], each["Field"], each["Value"]
        kept = tuple(p for p in kept if (value := _value(p, name)) is not None and matches(value, wanted))
    return kept


# --- pages


def page_token(*, offset: int, page: int, serial: str = "") -> str:
    """Return the token of a page; `serial` makes two tokens of the same page differ."""
    return base64.urlsafe_b64encode(json.dumps([offset, page, serial]).encode()).decode()


def _position(token: str) -> tuple[int, int]:
    try:
        offset, page, _ = json.loads(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError) as error:
        raise ApiFailureError("InvalidNextTokenException", "The pagination token is invalid.") from error
    return int(offset), int(page)


def _page(call: Call, items: Sequence[Item]) -> tuple[Sequence[Item], dict[str, str]]:
    wanted = call.parameters.get("MaxResults", MAX_RESULTS)
    if not isinstance(wanted, int) or not 1 <= wanted <= MAX_RESULTS:
        raise ApiFailureError("InvalidParameterException", "Input Parameters are invalid. MaxResults must be 1 to 100")
    offset, page = _position(call.text("NextToken")) if call.parameters.get("NextToken") else (0, 0)
    end = offset + min(wanted, call.page_sizes[page % len(call.page_sizes)])
    if end < len(items):
        return items[offset:end], {"NextToken": page_token(offset=end, page=page + 1)}
    return items[offset:end], {"NextToken": ""} if call.empty_last_token else {}


# --- operations


def _check_service(call: Call) -> None:
    if call.text("ServiceCode") not in (OFFER, ""):
        raise ApiFailureError("NotFoundException", f"Invalid service code: {call.text('ServiceCode')}")


def _products(call: Call) -> tuple[Product, ...]:
    return call.spoil(matching(call.catalogue.current.products, call.parameters.get("Filters")))


def get_products(call: Call) -> dict[str, object]:
    """Return a page of products, each a JSON document in a string."""
    _check_service(call)
    page, token = _page(call, _products(call))
    items = [render.price_list_item(product, call.catalogue.current) for product in page]
    return {"FormatVersion": "aws_v1", "PriceList": items, **token}


def get_attribute_values(call: Call) -> dict[str, object]:
    """Return a page of the values that an attribute has."""
    _check_service(call)
    values = {_value(product, call.text("AttributeName")) for product in call.catalogue.current.products}
    page, token = _page(call, sorted(value for value in values if value))
    return {"AttributeValues": [{"Value": value} for value in page], **token}


def describe_services(call: Call) -> dict[str, object]:
    """Return the one service with its attribute names."""
    _check_service(call)
    names = {name for product in call.catalogue.current.products for name in product.attributes}
    services = [{"ServiceCode": OFFER, "AttributeNames": sorted({*names, "productFamily"})}]
    page, token = _page(call, services)
    return {"FormatVersion": "aws_v1", "Services": list(page), **token}


def list_price_lists(call: Call) -> dict[str, object]:
    """Return a page of references to the bulk files in force at EffectiveDate, which the wire has in seconds."""
    _check_service(call)
    if call.text("CurrencyCode") != call.catalogue.currency:
        raise ApiFailureError("ResourceNotFoundException", f"No price list in {call.text('CurrencyCode')}")
    asked = _utc_text(call.parameters.get("EffectiveDate"))
    in_force = [each for each in call.catalogue.editions if each.published <= asked]
    if not in_force:
        raise ApiFailureError("ResourceNotFoundException", "No price list is effective at that date")
    edition, currency = in_force[-1], call.catalogue.currency
    lists = [
        {
            "PriceListArn": f"arn:aws:pricing:::price-list/aws/{OFFER}/{currency}/{edition.version}/{region}",
            "RegionCode": region,
            "CurrencyCode": currency,
            "FileFormats": ["json", "csv"],
        }
        for region in edition.regions()
        if call.text("RegionCode") in ("", region)
    ]
    page, token = _page(call, lists)
    return {"PriceLists": list(page), **token}


def _utc_text(seconds: object) -> str:
    return datetime.fromtimestamp(float(str(seconds)), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def get_price_list_file_url(call: Call) -> dict[str, object]:
    """Return the address of a bulk file."""
    version, region = call.text("PriceListArn").split("/")[-2:]
    return {
        "Url": f"{call.bulk_url}{render.base_path(call.catalogue)}/{version}/{region}/index.{call.text('FileFormat')}"
    }


OPERATIONS: Mapping[str, Callable[[Call], dict[str, object]]] = {
    "GetProducts": get_products,
    "GetAttributeValues": get_attribute_values,
    "DescribeServices": describe_services,
    "ListPriceLists": list_price_lists,
    "GetPriceListFileUrl": get_price_list_file_url,
}


def answer(operation: str, call: Call) -> Answer:
    """Return the answer to a call."""
    if operation not in OPERATIONS:
        raise ApiFailureError("UnknownOperationException", "", 400)
    body = json.dumps(OPERATIONS[operation](call)).encode()
    return Answer(body=body, content_type=CONTENT_TYPE, gzip="never")
