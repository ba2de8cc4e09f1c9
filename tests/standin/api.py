"""The Price List API: JSON 1.1 over POST, its operations over a catalogue, and its errors.

Written from the service model and captured answers. Assumed, for want of a capture: a filter on a field that no
product has matches nothing. Signatures are not verified, only their key, scope and session token.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    """One call with what it needs: the catalogue, and how pages are cut."""

    parameters: Mapping[str, object]
    catalogue: Catalogue
    page_sizes: Sequence[int]
    empty_last_token: bool
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


def matching(products: Iterable[Product], filters: object) -> tuple[Product, ...]:
    """Return the products that match all filters, which are TERM_MATCH; one without the field matches none."""
    kept = tuple(products)
    for each in filters if isinstance(filters, list) else []:
        if each["Type"] != "TERM_MATCH":
            raise ApiFailureError("InvalidParameterException", f"Input Parameters are invalid. Type: {each['Type']}")
        kept = tuple(product for product in kept if _value(product, each["Field"]) == each["Value"])
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


OPERATIONS: Mapping[str, Callable[[Call], dict[str, object]]] = {
    "GetProducts": get_products,
    "GetAttributeValues": get_attribute_values,
    "DescribeServices": describe_services,
}


def answer(operation: str, call: Call) -> Answer:
    """Return the answer to a call."""
    if operation not in OPERATIONS:
        raise ApiFailureError("UnknownOperationException", "", 400)
    body = json.dumps(OPERATIONS[operation](call)).encode()
    return Answer(body=body, content_type=CONTENT_TYPE, gzip="never")
