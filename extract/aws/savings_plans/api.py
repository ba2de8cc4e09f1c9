"""The API door: DescribeSavingsPlansOfferingRates, one query for each kind of plan, every page kept as it came.

There is no paginator: tokens are followed here, until one is absent or empty.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from extract.aws import client as aws_client
from extract.aws.savings_plans import places
from extract.aws.savings_plans.rates import SOURCE_NAME
from extract.aws.savings_plans.rules import LINUX, OPERATION, SHARED
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError
from warehouse.reference import instance_types

API_OPERATION = "savingsplans.DescribeSavingsPlansOfferingRates"
EC2_PLANS = ("Compute", "EC2Instance")
PAGE_SIZE = 1000
MAX_PAGES = 250
"""A query has about ten; many times as many is a paging error, and would fill the memory."""
CREDENTIALS_HINT = (
    "Give credentials that may call savingsplans:DescribeSavingsPlansOfferingRates, "
    'or set access = "bulk", which needs none'
)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at all rates of a region; raise CredentialsMissing, Unavailable or SourceError."""
    places.check_region(scope)
    documents: list[Document] = []
    with aws_client.errors(SOURCE_NAME, scope, hint=CREDENTIALS_HINT):
        client = aws_client.client("savingsplans", region=places.partition_of(scope).api_region)
        for plan in (*EC2_PLANS, "SageMaker"):
            pages = _pages(ctx, client, scope, plan)
            found = sum(number for _, number in pages)
            if plan in EC2_PLANS and not found:
                # Every region sells both; one without would mean that a filter no longer means what it did.
                hint = 'Check the Region Code, or set access = "bulk"'
                message = f"{scope}: no {plan} rate of any accelerator"
                raise SourceError(message, source=SOURCE_NAME, field="region", value=scope, hint=hint)
            documents += [document for document, _ in pages]
    return ScopeFetch(source=SOURCE_NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=tuple(documents))


def families() -> tuple[str, ...]:
    """Return the families of the accelerator types that the dated table knows."""
    return tuple(sorted({fact.instance_type.partition(".")[0] for fact in instance_types.read_table()}))


def _request(scope: str, plan: str) -> Mapping[str, Any]:
    if plan == "SageMaker":
        return {
            "savingsPlanTypes": [plan],
            "serviceCodes": ["AmazonSageMaker"],
            "filters": [{"name": "region", "values": [scope]}],
        }
    filters: Mapping[str, Sequence[str]] = {
        "region": [scope],
        "instanceFamily": families(),
        "productDescription": [LINUX],
        "tenancy": [SHARED],
    }
    return {
        "savingsPlanTypes": [plan],
        "serviceCodes": ["AmazonEC2"],
        "operations": [OPERATION],
        "filters": [{"name": name, "values": list(values)} for name, values in filters.items()],
    }


def _pages(ctx: Context, client: Any, scope: str, plan: str) -> list[tuple[Document, int]]:
    """Return the pages of one query, each with its number of rates; a page without any list counts, to be refused."""
    request = _request(scope, plan)
    tokens = aws_client.Tokens(SOURCE_NAME, scope, most=MAX_PAGES)
    pages: list[tuple[Document, int]] = []
    token = ""
    while token or not pages:
        more = {"nextToken": token} if token else {}
        page = client.describe_savings_plans_offering_rates(**request, **more, maxResults=PAGE_SIZE)
        parameters = {"region": scope, "savingsPlanType": plan, "page": str(len(pages) + 1)}
        document = aws_client.document(
            ctx, page, source=SOURCE_NAME, scope=scope, operation=API_OPERATION, parameters=parameters
        )
        pages.append((document, len(page.get("searchResults", [page]))))
        token = tokens.next(page, "nextToken")
    return pages
