"""What goes wrong, as values: each changes the products on their way out, or the answer, or how it is sent.

Faults of content act before rendering, so that the API and the bulk files show the same wrong fact.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from standin.api import CONTENT_TYPE, ApiFailureError, page_token
from standin.catalogue import Product, sku_of, ten_places
from standin.exchange import Answer


class Effect:
    """One thing that goes wrong; by itself it changes nothing."""

    def products(self, products: tuple[Product, ...]) -> tuple[Product, ...]:
        return products

    def answer(self, answer: Answer) -> Answer:
        return answer


# --- sending


@dataclass(frozen=True)
class Delay(Effect):
    """The answer starts late."""

    seconds: float

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, delay=answer.delay + self.seconds)


@dataclass(frozen=True, kw_only=True)
class Truncate(Effect):
    """The connection is closed after a share of the body, whose whole length was announced."""

    at: float = 0.5

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, stop_at=self.at)


@dataclass(frozen=True, kw_only=True)
class Reset(Effect):
    """The connection is reset after a share of the body; at 0 before anything is sent."""

    at: float = 0.0

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, stop_at=self.at, reset=True)


@dataclass(frozen=True, kw_only=True)
class CutGzip(Effect):
    """The compressed body ends early and Content-Length agrees; only the gzip trailer is missing."""

    keep: float = 0.5

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, gzip="always", keep_of_gzip=self.keep)


# --- other answers


@dataclass(frozen=True)
class Status(Effect):
    """Another status in place of the answer; `retry_after` in seconds."""

    status: int
    retry_after: int | None = None

    def answer(self, answer: Answer) -> Answer:
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        body = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%d</Code></Error>' % self.status
        return Answer(
            status=self.status, body=body, content_type="application/xml", headers=headers, delay=answer.delay
        )


@dataclass(frozen=True)
class ApiError(Effect):
    """An error of the API in place of the answer, such as AccessDeniedException or ExpiredNextTokenException."""

    kind: str
    message: str = "stand-in"
    status: int = 400

    def answer(self, answer: Answer) -> Answer:
        return replace(ApiFailureError(self.kind, self.message, self.status).answer(), delay=answer.delay)


THROTTLED = ApiError("ThrottlingException", "Rate exceeded")
INTERNAL_ERROR = ApiError("InternalErrorException", "An error on the server occurred", 500)
ACCESS_DENIED = ApiError("AccessDeniedException", "User is not authorized to perform: pricing:GetProducts")


@dataclass(frozen=True)
class Html(Effect):
    """A page for people, with status 200, in place of the answer."""

    text: str = "We are doing some maintenance"

    def answer(self, answer: Answer) -> Answer:
        body = f"<!DOCTYPE html>\n<html><body><h1>{self.text}</h1></body></html>\n".encode()
        return replace(answer, status=200, body=body, content_type="text/html")


@dataclass(frozen=True)
class Edit(Effect):
    """The body after any change, for what has no name here."""

    change: Callable[[bytes], bytes]

    def answer(self, answer: Answer) -> Answer:
        return replace(answer, body=self.change(answer.body))


@dataclass(frozen=True, kw_only=True)
class EndlessToken(Effect):
    """The last page points back to the first; `same` gives every page one and the same token."""

    same: bool = False

    def answer(self, answer: Answer) -> Answer:
        page = json.loads(answer.body)
        if self.same or not page.get("NextToken"):
            page["NextToken"] = page_token(offset=0, page=0, serial="" if self.same else uuid.uuid4().hex)
        return replace(answer, body=json.dumps(page).encode(), content_type=CONTENT_TYPE)


# --- facts: the same through both doors


def is_linux_on_demand(product: Product) -> bool:
    """Return whether the product is the row that a reader should take as its type's on-demand price."""
    plain = {
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }
    return plain.items() <= product.attributes.items()


@dataclass(frozen=True, kw_only=True)
class OtherFacts(Effect):
    """Something else in place of the on-demand row of one instance type."""

    instance_type: str
    instead: Callable[[Product], tuple[Product, ...]]

    def products(self, products: tuple[Product, ...]) -> tuple[Product, ...]:
        listed: list[Product] = []
        for product in products:
            concerned = product.instance_type == self.instance_type and is_linux_on_demand(product)
            listed += self.instead(product) if concerned else (product,)
        return tuple(listed)


def amount(instance_type: str, text: str) -> OtherFacts:
    """The on-demand amount is this text, a number or not."""
    return OtherFacts(instance_type=instance_type, instead=lambda product: (product.with_amount(text),))


def currency(instance_type: str, code: str) -> OtherFacts:
    """The prices are in another currency, known or not."""
    return OtherFacts(instance_type=instance_type, instead=lambda product: (replace(product, currency=code),))


def twice(instance_type: str) -> OtherFacts:
    """The row is listed twice: the same SKU, the same price. The bulk JSON, keyed by SKU, still has one."""
    return OtherFacts(instance_type=instance_type, instead=lambda product: (product, product))


def rival(instance_type: str, text: str) -> OtherFacts:
    """A second row of the same meaning, under a SKU of its own, has another price."""

    def both(product: Product) -> tuple[Product, ...]:
        other = replace(product, sku=sku_of(product.sku, "rival"))
        return (product, other.with_amount(ten_places(text)))

    return OtherFacts(instance_type=instance_type, instead=both)


def gone(instance_type: str) -> OtherFacts:
    """The row is missing."""
    return OtherFacts(instance_type=instance_type, instead=lambda product: ())
