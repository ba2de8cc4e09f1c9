"""The API door: GetProducts, one query for each region and product family, every page kept as it came.

The filters leave what Linux costs on shared machines without software: about ten pages a region. They do not ask for
a market option, so that Capacity Blocks stay visible in the landed pages; `rules` keeps them out of the prices.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from extract.aws import client as aws_client
from extract.aws import places as aws_places
from extract.aws.price_list import places
from extract.aws.price_list.rules import SOURCE_NAME
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError

if TYPE_CHECKING:
    from mypy_boto3_pricing import PricingClient

SERVICE = "AmazonEC2"
OPERATION = "pricing.GetProducts"
PRODUCT_FAMILIES = ("Compute Instance", "Compute Instance (bare metal)")
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
PAGE_SIZE = 100
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
CREDENTIALS_HINT = (
    'Give credentials that may call pricing:GetProducts and pricing:GetAttributeValues, or set access = "bulk", '
    "which needs none"
)
NETWORK_HINT = "Check the network; only us-east-1, eu-central-1, ap-south-1 and cn-northwest-1 have this API"
SETTINGS_HINT = "Check the Region Code and the settings"


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the Region Codes of the global partition that the price list knows."""
    with _errors("regions"):
        pages = _client(aws_places.GLOBAL).get_paginator("get_attribute_values")
        listed = [
            value.get("Value", "")
            for page in _bounded(pages.paginate(ServiceCode=SERVICE, AttributeName="regionCode"), "regions")
            for value in page["AttributeValues"]
        ]
    return places.regions_among(listed, ctx)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at all products of a region; raise CredentialsMissing, Unavailable or SourceError."""
    places.check_region(scope)
    partition = places.partition_of(scope)
    documents: list[Document] = []
    products = 0
    with _errors(scope):
        paginator = _client(partition).get_paginator("get_products")
        for family in PRODUCT_FAMILIES:
            terms = {"regionCode": scope, "productFamily": family, **FILTERS}
            pages = paginator.paginate(
                ServiceCode=SERVICE,
                Filters=[{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in terms.items()],
                PaginationConfig={"PageSize": PAGE_SIZE},
            )
            for number, page in enumerate(_bounded(pages, scope), start=1):
                products += len(page.get("PriceList", []))
                parameters = {**terms, "page": str(number)}
                document = aws_client.document(
                    ctx, page, source=SOURCE_NAME, scope=scope, operation=OPERATION, parameters=parameters
                )
                documents.append(document)
    if not products and all(document.body.lstrip()[:1] == b"{" for document in documents):
        hint = "Check the Region Code; one without any machine is none"
        raise SourceError("no products in this region", source=SOURCE_NAME, field="region", value=scope, hint=hint)
    return ScopeFetch(source=SOURCE_NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=tuple(documents))


def _client(partition: aws_places.Partition) -> "PricingClient":
    client: PricingClient = aws_client.client("pricing", region=partition.api_region)
    return client


def _bounded(pages: Iterable[Any], scope: str) -> Iterator[dict[str, Any]]:
    """Yield pages until the last; raise where their tokens go round in circles."""
    tokens = aws_client.Tokens(SOURCE_NAME, scope, most=MAX_PAGES)
    for page in pages:
        yield page
        tokens.next(page, "NextToken")


def _errors(scope: str) -> AbstractContextManager[None]:
    return aws_client.errors(SOURCE_NAME, scope, hint=CREDENTIALS_HINT, network=NETWORK_HINT, settings=SETTINGS_HINT)
