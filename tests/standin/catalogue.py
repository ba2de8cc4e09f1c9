"""The facts behind the stand-in: products with their terms, kept in editions; both doors are rendered from these."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

ON_DEMAND = "JRTCKXETXF"
FREE_TIER = "A429C66SYZ"
HOURLY = "6YS6EN2CT7"
UPFRONT = "2TG2D8R56U"

OFFER = "AmazonEC2"


@dataclass(frozen=True, kw_only=True)
class Rate:
    """One price dimension of a term; `amount` is the text that is served, whatever it says."""

    code: str
    unit: str
    amount: str
    description: str
    begin: str = "0"
    end: str = "Inf"
    applies_to: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Term:
    """One way to buy a product, with the rates that it consists of; `kind` is OnDemand or Reserved."""

    kind: str
    code: str
    rates: tuple[Rate, ...]
    lease: str = ""
    payment: str = ""
    offering_class: str = ""
    restriction: str = ""


@dataclass(frozen=True, kw_only=True)
class Product:
    """One product of the price list. `attributes` are named as the API names them."""

    sku: str
    family: str
    attributes: Mapping[str, str]
    terms: tuple[Term, ...]
    currency: str = "USD"
    file_region: str = ""

    @property
    def instance_type(self) -> str:
        return self.attributes.get("instanceType", "")

    @property
    def region(self) -> str:
        """Return the region whose bulk file lists the product."""
        return self.file_region or self.attributes.get("regionCode", "")

    def rates(self) -> Iterator[tuple[Term, Rate]]:
        for term in self.terms:
            for rate in term.rates:
                yield term, rate

    def with_amount(self, amount: str, *, kind: str = "OnDemand") -> "Product":
        """Return the product with another amount in each rate of one kind of term."""
        terms = tuple(
            replace(term, rates=tuple(replace(rate, amount=amount) for rate in term.rates))
            if term.kind == kind
            else term
            for term in self.terms
        )
        return replace(self, terms=terms)


@dataclass(frozen=True, kw_only=True)
class Edition:
    """One published version of a catalogue."""

    version: str
    products: tuple[Product, ...] = field(repr=False)

    @property
    def published(self) -> str:
        """Return the date of publication, which AWS also writes into the version."""
        v = self.version
        return f"{v[:4]}-{v[4:6]}-{v[6:8]}T{v[8:10]}:{v[10:12]}:{v[12:]}Z"

    @property
    def effective(self) -> str:
        """Return the EffectiveDate of all terms: the first of the month, whether or not a price changed."""
        return f"{self.version[:4]}-{self.version[4:6]}-01"

    def regions(self) -> tuple[str, ...]:
        return tuple(sorted({product.region for product in self.products}))

    def of_region(self, region: str) -> tuple[Product, ...]:
        """Return the products of a region's bulk file; empty where the edition has no such region."""
        return tuple(product for product in self.products if product.region == region)

    def changed(self, version: str, change: Callable[[Product], Product | None]) -> "Edition":
        """Return a later edition of the same products after a change of each; None takes one off the list."""
        changed = (change(product) for product in self.products)
        return Edition(version=version, products=tuple(product for product in changed if product is not None))


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The price list of one partition (aws or cn), oldest edition first; the last one is current."""

    partition: str
    currency: str
    editions: tuple[Edition, ...]

    @property
    def current(self) -> Edition:
        return self.editions[-1]

    def edition(self, version: str) -> Edition | None:
        """Return an edition by its version or by the word "current"; None where there is none."""
        if version == "current":
            return self.current
        return next((edition for edition in self.editions if edition.version == version), None)

    def published(self, edition: Edition) -> "Catalogue":
        """Return the catalogue after another edition was published."""
        return replace(self, editions=(*self.editions, edition))


def sku_of(*parts: str) -> str:
    """Return a SKU in AWS's form, the same for the same facts: sixteen capitals and digits."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return "".join("ABCDEFGHJKMNPQRSTUVWXYZ23456789"[byte % 31] for byte in digest[:16])


def ten_places(amount: str | Decimal) -> str:
    """Return an amount as AWS writes recurring ones: ten decimal places."""
    return f"{Decimal(amount):.10f}"
