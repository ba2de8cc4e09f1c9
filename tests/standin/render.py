"""One set of facts, two forms: the documents of GetProducts, and the bulk files with their indexes."""

import functools
import json
from collections.abc import Iterable, Mapping

from standin.catalogue import OFFER, Catalogue, Edition, Product, Rate, Term

DISCLAIMER = (
    "This pricing list is for informational purposes only. All prices are subject to the additional terms included in "
    "the pricing pages on http://aws.amazon.com. All Free Tier prices are also subject to the terms included at "
    "https://aws.amazon.com/free/"
)
_COLUMNS = (
    """
    SKU|OfferTermCode|RateCode|TermType|PriceDescription|EffectiveDate|StartingRange|EndingRange|Unit|PricePerUnit
    Currency|RelatedTo|LeaseContractLength|PurchaseOption|OfferingClass
    Product Family|serviceCode|Location|Location Type|Instance Type|Current Generation|Instance Family|vCPU
    Physical Processor|Clock Speed|Memory|Storage|Network Performance|Processor Architecture|Storage Media|Volume Type
    Max Volume Size|Max IOPS/volume|Max IOPS Burst Performance|Max throughput/volume|Provisioned|Tenancy|EBS Optimized
    Operating System|License Model|Group|Group Description|Transfer Type|From Location|From Location Type|To Location
    To Location Type|usageType|operation|AvailabilityZone|CapacityStatus|ClassicNetworkingSupport
    Dedicated EBS Throughput|ECU|Elastic Graphics Type|Enhanced Networking Supported|From Region Code|GPU|GPU Memory
    Instance|Instance Capacity - 10xlarge|Instance Capacity - 12xlarge|Instance Capacity - 16xlarge
    Instance Capacity - 18xlarge|Instance Capacity - 24xlarge|Instance Capacity - 2xlarge
    Instance Capacity - 32xlarge|Instance Capacity - 4xlarge|Instance Capacity - 8xlarge|Instance Capacity - 9xlarge
    Instance Capacity - large|Instance Capacity - medium|Instance Capacity - metal|Instance Capacity - xlarge
    instanceSKU|Intel AVX2 Available|Intel AVX Available|Intel Turbo Available|MarketOption
    Normalization Size Factor|Physical Cores|Pre Installed S/W|Processor Features|Product Type|Region Code
    Resource Type|serviceName|SnapshotArchiveFeeType|To Region Code|Volume API Name|VPCNetworkingSupport
    """.strip()
    .replace("\n", "|")
    .split("|")
)
HEADER = tuple(column.strip() for column in _COLUMNS)
"""The columns of AmazonEC2's bulk CSV, in AWS's order."""

ATTRIBUTE_COLUMNS = HEADER[HEADER.index("Product Family") :]
"""Those that say what the product is; the ones before say what it costs."""

SAVINGS_PLANS = {OFFER: "AWSComputeSavingsPlan", "AmazonSageMaker": "AWSMachineLearningSavingsPlans"}
"""Where the Savings Plans of an offer lie."""

LOCAL_ZONE_LACKS = ("PurchaseOption", "OfferingClass")
"""Columns that files of Local Zones do not have at all."""

ALL_LOWER = {
    *("servicecode", "servicename", "usagetype", "gpu", "vcpu", "ecu", "capacitystatus", "marketoption"),
    *("availabilityzone", "instancesku", "vpcnetworkingsupport", "classicnetworkingsupport"),
}
"""Attributes that the API writes without capitals; the others are in camel case."""


@functools.cache
def attribute_of(column: str) -> str:
    """Return the API's name of the attribute that a CSV column holds."""
    words = column.replace("S/W", "Sw").replace("IOPS", "Iops").replace("/", "").replace("-", " ").split()
    name = "".join(word.capitalize() if word.isupper() else word[0].upper() + word[1:] for word in words)
    return name.lower() if name.lower() in ALL_LOWER else name[0].lower() + name[1:]


def pretty(value: object) -> bytes:
    """Return JSON as the bulk files hold it."""
    return json.dumps(value, indent=2, separators=(",", " : ")).encode()


# --- the terms of a product, as both JSON forms write them


def _dimension(rate: Rate, *, code: str, currency: str) -> dict[str, object]:
    dimension: dict[str, object] = {"unit": rate.unit, "description": rate.description, "rateCode": code}
    if rate.end:  # an upfront fee has no range
        dimension |= {"beginRange": rate.begin, "endRange": rate.end}
    return dimension | {"appliesTo": list(rate.applies_to), "pricePerUnit": {currency: rate.amount}}


def _term(product: Product, term: Term, effective: str) -> dict[str, object]:
    attributes = {
        "LeaseContractLength": term.lease,
        "OfferingClass": term.offering_class,
        "PurchaseOption": term.payment,
        "Restriction": term.restriction,
    }
    return {
        "priceDimensions": {
            code: _dimension(rate, code=code, currency=product.currency)
            for rate in term.rates
            for code in [f"{product.sku}.{term.code}.{rate.code}"]
        },
        "sku": product.sku,
        "effectiveDate": f"{effective}T00:00:00Z",
        "offerTermCode": term.code,
        "termAttributes": {name: value for name, value in attributes.items() if value},
    }


def terms(product: Product, effective: str) -> dict[str, dict[str, object]]:
    """Return the terms by kind and by SKU and term code; a kind without terms is absent."""
    by_kind: dict[str, dict[str, object]] = {}
    for term in product.terms:
        by_kind.setdefault(term.kind, {})[f"{product.sku}.{term.code}"] = _term(product, term, effective)
    return by_kind


def _identity(product: Product) -> dict[str, object]:
    family = {"productFamily": product.family} if product.family else {}
    return {**family, "attributes": dict(product.attributes), "sku": product.sku}


def price_list_item(product: Product, edition: Edition) -> str:
    """Return one element of GetProducts' PriceList: a JSON document in a string."""
    return json.dumps(
        {
            "product": _identity(product),
            "serviceCode": OFFER,
            "terms": terms(product, edition.effective),
            "version": edition.version,
            "publicationDate": edition.published,
        },
        separators=(",", ":"),
    )


# --- bulk files


def csv_line(values: Iterable[str]) -> str:
    """Return one line as AWS writes it: every value in quotes, empty ones bare."""
    return ",".join('"' + value.replace('"', '""') + '"' if value else "" for value in values) + "\n"


def _row(product: Product, term: Term, rate: Rate, effective: str) -> dict[str, str]:
    attributes = {**product.attributes, "productFamily": product.family}
    row = {column: attributes.get(attribute_of(column), "") for column in ATTRIBUTE_COLUMNS}
    return row | {
        "SKU": product.sku,
        "OfferTermCode": term.code,
        "RateCode": f"{product.sku}.{term.code}.{rate.code}",
        "TermType": term.kind,
        "PriceDescription": rate.description,
        "EffectiveDate": effective,
        "StartingRange": rate.begin if rate.end else "",
        "EndingRange": rate.end,
        "Unit": rate.unit,
        "PricePerUnit": rate.amount,
        "Currency": product.currency,
        "LeaseContractLength": term.lease,
        "PurchaseOption": term.payment,
        "OfferingClass": term.offering_class,
    }


def preamble(edition: Edition) -> tuple[tuple[str, str], ...]:
    """Return the five lines before the header."""
    return (
        ("FormatVersion", "v1.0"),
        ("Disclaimer", DISCLAIMER),
        ("Publication Date", edition.published),
        ("Version", edition.version),
        ("OfferCode", OFFER),
    )


def bulk_csv(products: Iterable[Product], edition: Edition) -> bytes:
    """Return a region's price list as CSV, ordered by SKU as AWS's is."""
    listed = sorted(products, key=lambda product: product.sku)
    local = any(product.attributes.get("locationType") == "AWS Local Zone" for product in listed)
    columns = [column for column in HEADER if not (local and column in LOCAL_ZONE_LACKS)]
    lines = [csv_line(pair) for pair in preamble(edition)]
    lines.append(csv_line(columns))
    for product in listed:
        for term, rate in product.rates():
            row = _row(product, term, rate, edition.effective)
            lines.append(csv_line(row.get(column, "") for column in columns))
    return "".join(lines).encode()


def bulk_json(products: Iterable[Product], edition: Edition) -> bytes:
    """Return a region's price list as JSON."""
    listed = tuple(products)
    by_kind: dict[str, dict[str, object]] = {"OnDemand": {}, "Reserved": {}}
    for product in listed:
        for kind, offers in terms(product, edition.effective).items():
            by_kind[kind][product.sku] = offers
    return pretty(
        {
            "formatVersion": "v1.0",
            "disclaimer": DISCLAIMER,
            "offerCode": OFFER,
            "version": edition.version,
            "publicationDate": edition.published,
            "products": {product.sku: _identity(product) for product in listed},
            "terms": by_kind,
            "attributesList": {},
        }
    )


# --- indexes


def _index(published: str, **content: object) -> bytes:
    return pretty({"formatVersion": "v1.0", "disclaimer": DISCLAIMER, "publicationDate": published, **content})


def base_path(catalogue: Catalogue) -> str:
    """Return where the files of a catalogue's offer lie."""
    return f"/offers/v1.0/{catalogue.partition}/{OFFER}"


def offer_index(catalogue: Catalogue) -> bytes:
    """Return the root index: the one offer that there is, and where Savings Plans are."""
    base = base_path(catalogue)
    offer: Mapping[str, str] = {
        "offerCode": OFFER,
        "versionIndexUrl": f"{base}/index.json",
        "currentVersionUrl": f"{base}/current/index.json",
        "currentRegionIndexUrl": f"{base}/current/region_index.json",
    }
    plans = {
        name: {
            "offerCode": name,
            "currentSavingsPlanIndexUrl": f"/savingsPlan/v1.0/{catalogue.partition}/{file}/current/region_index.json",
        }
        for name, file in SAVINGS_PLANS.items()
    }
    offers = {**plans, OFFER: {**offer, **plans[OFFER]}}
    return _index(catalogue.current.published, offers=offers)


def version_index(catalogue: Catalogue) -> bytes:
    """Return the index of editions; each ends where the next begins, the current one has no end."""
    editions = catalogue.editions
    ends = [edition.published for edition in editions[1:]] + [""]
    versions = {
        edition.version: {
            "versionEffectiveBeginDate": edition.published,
            "versionEffectiveEndDate": end,
            "offerVersionUrl": f"{base_path(catalogue)}/{edition.version}/index.json",
        }
        for edition, end in zip(editions, ends, strict=True)
    }
    current = catalogue.current
    return _index(current.published, offerCode=OFFER, currentVersion=current.version, versions=versions)


def region_index(catalogue: Catalogue, edition: Edition) -> bytes:
    """Return the index of an edition's region files."""
    base = f"{base_path(catalogue)}/{edition.version}"
    regions = {
        region: {"regionCode": region, "currentVersionUrl": f"{base}/{region}/index.json"}
        for region in edition.regions()
    }
    return _index(edition.published, regions=regions)
