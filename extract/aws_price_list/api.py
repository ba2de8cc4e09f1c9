"""The API door: GetProducts, one query for each region and product family, every page kept as it came.

The filters leave what Linux costs on shared machines without software: about ten pages a region. They do not ask for
a market option, so that Capacity Blocks stay visible in the landed pages; `rules` keeps them out of the prices.
"""

import functools
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from extract.aws_price_list import places
from extract.aws_price_list.rules import SOURCE_NAME
from extract.base import Context
from warehouse.documents import Document, Look
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError, Unavailable

if TYPE_CHECKING:
    from botocore.config import _RetryDict
    from botocore.loaders import Loader
    from mypy_boto3_pricing import PricingClient

SERVICE = "AmazonEC2"
OPERATION = "pricing.GetProducts"
PRODUCT_FAMILIES = ("Compute Instance", "Compute Instance (bare metal)")
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
PAGE_SIZE = 100
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
RETRIES: "_RetryDict" = {"mode": "adaptive", "total_max_attempts": 5}
"""Where AWS_MAX_ATTEMPTS does not say otherwise."""
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10, 60
BODY = "chipledger:body"
"""Where our hook leaves a page's bytes; no member of the service model has a colon in its name."""

REFUSED = frozenset(
    {
        "AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature",
        "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
        "MissingAuthenticationTokenException", "NotAuthorized", "OptInRequired", "SignatureDoesNotMatch",
        "UnauthorizedException", "UnrecognizedClientException",
    }
)  # fmt: skip
PASSING = frozenset(
    {
        "ExpiredNextTokenException", "InternalErrorException", "InternalFailure", "RequestLimitExceeded",
        "ServiceUnavailable", "Throttling", "ThrottlingException", "TooManyRequestsException",
    }
)  # fmt: skip
CREDENTIALS_HINT = (
    'Give credentials that may call pricing:GetProducts and pricing:GetAttributeValues, or set door = "bulk", '
    "which needs none"
)


def regions(ctx: Context) -> tuple[str, ...]:
    """Return the Region Codes of the global partition that the price list knows."""
    with _errors("regions"):
        pages = _client(places.GLOBAL).get_paginator("get_attribute_values")
        listed = [
            value.get("Value", "")
            for page in _bounded(pages.paginate(ServiceCode=SERVICE, AttributeName="regionCode"), "regions")
            for value in page["AttributeValues"]
        ]
    return places.regions_among(listed, ctx)


def fetch(ctx: Context, scope: str) -> Look:
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
                documents.append(_document(ctx, scope, page, {**terms, "page": str(number)}))
    if not products and all(document.body.lstrip()[:1] == b"{" for document in documents):
        hint = "Check the Region Code; one without any machine is none"
        raise SourceError("no products in this region", source=SOURCE_NAME, field="region", value=scope, hint=hint)
    return Look(source=SOURCE_NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=tuple(documents))


def _document(ctx: Context, scope: str, page: dict[str, Any], parameters: dict[str, str]) -> Document:
    metadata = page.get("ResponseMetadata", {})
    return Document(
        source=SOURCE_NAME,
        scope=scope,
        url=OPERATION,
        parameters=parameters,
        body=page[BODY],
        fetched_at=ctx.now(),
        status=metadata.get("HTTPStatusCode", 200),
        content_type=metadata.get("HTTPHeaders", {}).get("content-type", ""),
    )


def _client(partition: places.Partition) -> "PricingClient":
    """Return a client whose pages carry their bytes as received."""
    # Imported here: the shell must not wait for boto3 where no price is fetched.
    import boto3.session
    import botocore.session
    from botocore.config import Config

    from extract.http import user_agent

    core = botocore.session.Session()
    core.register_component("data_loader", _loader())
    client: PricingClient = boto3.session.Session(botocore_session=core).client(
        "pricing",
        region_name=partition.api_region,
        config=Config(
            retries={"mode": "adaptive"} if "AWS_MAX_ATTEMPTS" in os.environ else RETRIES,
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            user_agent_extra=user_agent().split(" ")[0],
        ),
    )
    client.meta.events.register("before-parse.pricing.GetProducts", _keep_body)
    return client


@functools.cache
def _loader() -> "Loader":
    """Return the reader of botocore's service models: shared, it halves the price of a client for each region."""
    import botocore.session

    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader


def _keep_body(*, response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Add the bytes to the page; botocore updates its own reading of them with what a hook puts here."""
    customized_response_dict[BODY] = response_dict["body"]


def _bounded(pages: Iterable[Any], scope: str) -> Iterator[dict[str, Any]]:
    """Yield pages until the last; raise where their tokens go round in circles."""
    seen: set[str] = set()
    for page in pages:
        yield page
        token = page.get("NextToken") or ""
        if token in seen or len(seen) >= MAX_PAGES:
            message = f"{scope}: the answer has no end, after {len(seen) + 1} pages"
            hint = "Try again later"
            raise SourceError(message, source=SOURCE_NAME, field="NextToken", value=token, hint=hint)
        if token:
            seen.add(token)


@contextmanager
def _errors(scope: str) -> Iterator[None]:
    """Turn botocore's errors into ours."""
    from botocore import exceptions, parsers

    try:
        yield
    except exceptions.ClientError as error:
        raise _client_error(error.response, str(error), scope) from error
    except parsers.ResponseParserError as error:
        hint = f"The source {SOURCE_NAME} has to be taught the new layout"
        raise LayoutChanged(
            f"{scope}: {error}", source=SOURCE_NAME, field="body", value=str(error), hint=hint
        ) from error
    except exceptions.HTTPClientError as error:
        hint = "Check the network; only us-east-1, eu-central-1, ap-south-1 and cn-northwest-1 have this API"
        raise Unavailable(
            f"{scope}: {error}", source=SOURCE_NAME, field="endpoint", value=str(error), hint=hint
        ) from error
    except exceptions.PaginationError as error:
        message = f"{scope}: {error}"
        raise SourceError(
            message, source=SOURCE_NAME, field="NextToken", value=str(error), hint="Try again later"
        ) from error
    except exceptions.BotoCoreError as error:
        # What remains is configuration: no credentials, half of them, a profile or an SSO session that is not there.
        message = f"{scope}: {error}"
        raise CredentialsMissing(
            message, source=SOURCE_NAME, field="credentials", value=type(error).__name__, hint=CREDENTIALS_HINT
        ) from error


def _client_error(response: Any, message: str, scope: str) -> SourceError:
    code = response.get("Error", {}).get("Code", "")
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    message = f"{scope}: {message}"
    if code in REFUSED or status in (401, 403):
        return CredentialsMissing(message, source=SOURCE_NAME, field="credentials", value=code, hint=CREDENTIALS_HINT)
    if code in PASSING or status == 429 or status >= 500:
        return Unavailable(message, source=SOURCE_NAME, field="code", value=code, hint="Try again later")
    return SourceError(
        message, source=SOURCE_NAME, field="code", value=code, hint="Check the Region Code and the settings"
    )
