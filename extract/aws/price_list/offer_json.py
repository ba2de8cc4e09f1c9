"""The price list as JSON: pages of GetProducts, and mappings of SKU to product and terms.

A page's PriceList holds each product as a JSON document in a string. Amounts stand in a map of currency to text;
a bare number there is another layout, not a price.
"""

from collections.abc import Iterable, Iterator, Mapping

from extract.aws.price_list.rules import SOURCE_NAME, Price, Product
from extract.web import strict_json
from warehouse.errors import LayoutChanged

HINT = f"The source {SOURCE_NAME} has to be updated for the new layout"


def prices(body: bytes) -> Iterator[Price]:
    """Yield every price of a document; raise LayoutChanged."""
    document = _mapping(_decoded(body, "body"), "body")
    if "PriceList" in document:
        listed = document["PriceList"]
        if not isinstance(listed, list):
            raise _refusal("expected a list", "PriceList", listed)
        offers: Iterable[object] = (_decoded(each, "PriceList") if isinstance(each, str) else each for each in listed)
    elif document and all(isinstance(each, dict) and "product" in each for each in document.values()):
        offers = document.values()
    else:
        raise _refusal("expected PriceList, found other keys", "PriceList", ", ".join(list(document)[:10]))
    for offer in offers:
        yield from _prices(_mapping(offer, "PriceList"))


def _prices(offer: Mapping[str, object]) -> Iterator[Price]:
    product = _product(_mapping(offer.get("product"), "product"))
    for term_type, terms in _mapping(offer.get("terms", {}), "terms").items():
        for term in _mapping(terms, f"terms.{term_type}").values():
            yield from _term(product, term_type, _mapping(term, f"terms.{term_type}"))


def _term(product: Product, term_type: str, term: Mapping[str, object]) -> Iterator[Price]:
    attributes = _mapping(term.get("termAttributes", {}), "termAttributes")
    for dimension in _mapping(term.get("priceDimensions"), "priceDimensions").values():
        rate = _mapping(dimension, "priceDimensions")
        amounts = _mapping(rate.get("pricePerUnit"), "pricePerUnit")
        if not amounts:
            raise _refusal("expected a currency with its amount", "pricePerUnit", amounts)
        for currency, amount in amounts.items():
            if not isinstance(amount, str):
                raise _refusal("expected the amount as text", f"pricePerUnit.{currency}", amount)
            yield Price(
                product=product,
                term_type=term_type,
                term_code=_text(term, "offerTermCode") or "",
                rate_code=_text(rate, "rateCode") or "",
                unit=_text(rate, "unit") or "",
                amount=amount,
                currency=currency,
                lease=_text(attributes, "LeaseContractLength") or None,
                payment=_text(attributes, "PurchaseOption") or None,
                offering_class=_text(attributes, "OfferingClass") or None,
            )


def _product(product: Mapping[str, object]) -> Product:
    attributes = _mapping(product.get("attributes"), "attributes")

    def attribute(name: str) -> str | None:
        return _text(attributes, name) or None

    sku = _text(product, "sku")
    if not sku:
        raise _refusal("expected a product with its SKU", "sku", sku)
    return Product(
        sku=sku,
        instance_type=attribute("instanceType"),
        family=attribute("instanceFamily"),
        gpu=attribute("gpu"),
        operating_system=attribute("operatingSystem"),
        tenancy=attribute("tenancy"),
        operation=attribute("operation"),
        capacity_status=attribute("capacitystatus"),
        market_option=attribute("marketoption"),
        software=attribute("preInstalledSw"),
        license=attribute("licenseModel"),
        region=_text(attributes, "regionCode"),
        location_type=attribute("locationType"),
    )


def _decoded(raw: bytes | str, field: str) -> object:
    try:
        decoded: object = strict_json.loads(raw)
    except ValueError as error:
        start = raw[:80] if isinstance(raw, str) else raw[:80].decode("utf-8", "replace")
        raise _refusal(f"not JSON: {error}", field, start) from error
    return decoded


def _mapping(value: object, field: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _refusal("expected an object", field, value)
    return value


def _text(mapping: Mapping[str, object], name: str) -> str | None:
    """Return a text; None where there is none; raise LayoutChanged where it is something else."""
    value = mapping.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _refusal("expected text", name, value)


def _refusal(message: str, field: str, value: object) -> LayoutChanged:
    return LayoutChanged(message, source=SOURCE_NAME, field=field, value=value, hint=HINT)
