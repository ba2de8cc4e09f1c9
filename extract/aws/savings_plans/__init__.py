"""AWS's Savings Plans: what an hour of an accelerator costs under a plan of one or three years.

Compute, EC2 Instance and SageMaker plans, No, Partial and All Upfront; Linux, shared tenancy, no software, per region.
https://aws.amazon.com/savingsplans/pricing/ ; data under the AWS Site Terms, https://aws.amazon.com/terms/ . Two doors
give the same prices: the API (savingsplans.DescribeSavingsPlansOfferingRates, needs credentials) and the public bulk
files (hundreds of MB a region, read as they stream by).

Settings: `access` (auto, api, bulk), `regions` ("all" or a list of Region Codes; Local Zones and China's are named),
`bulk_url`.

Quirks:

1. The rate is what an hour of usage costs under the plan, upfront part included; no fee comes on top, and it is not
   the commitment. So `upfront_price` is NULL, and the rates of the three payments are compared as they are.
2. Rates come once for each operating system, tenancy and operation; real ones differ in `operation` only, and in
   nothing but the rate. `rates` keeps every one; prices are those of Linux/UNIX, shared, operation RunInstances.
3. The discounted instance type may be a family ("M7i"), empty, or absent: then the usage type decides, which ends with
   the type (BoxUsage:p5.48xlarge, Studio:KernelGateway-ml.p3.2xlarge).
4. A region's file holds rates of other regions and of its Local Zones. Their Region Code stands in each rate; it
   is never read from the usage type, whose prefixes follow no rule. What is not of the scope is counted and left out.
5. A Local Zone is a scope of its own where it has a file of its own or is named in the settings; in the second case
   its rates are read from its region's file. With `regions` "all", zones without a file are not asked for.
6. An EC2 Instance plan is bought for one family in one region, a Compute plan for any: the offer of either is the rate
   of one type in one region.
7. SageMaker sells by component (Train, Host, Cluster), each with a rate of its own: the component is in `conditions`.
   Its machines are named ml.p5.48xlarge and are never taken for p5.48xlarge.
8. The API has one endpoint for all regions, no paginator, no list of regions, and says neither SKU nor rate code. Of
   EC2, the families of accelerators in `warehouse/data/instance_type.csv` are asked for; the bulk files show any.
9. The region index of the bulk files is a list, where that of the price list is an object; their CSV quotes nothing.
10. China has its own index and currency, as for the price list.
"""

from datetime import timedelta

from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

# What these functions import costs a third of a second, which `chipledger --help` must not pay: hence inside them.


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the public index lists, whatever the door."""
    from extract.aws.savings_plans import bulk, places

    wanted = places.wanted_regions(ctx.settings)
    return bulk.regions(ctx) if wanted is None else wanted


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a complete look at one region through the chosen door; raise SourceError."""
    from extract.aws.savings_plans import api, bulk, places

    return api.fetch(ctx, scope) if places.access(ctx.settings) == "api" else bulk.fetch(ctx, scope)


def parse(document: Document) -> Parsed:
    """Return the prices in a document of either door; raise LayoutChanged."""
    from extract.aws.savings_plans import reading

    return reading.parse(document)


SOURCE = Source(
    name="aws_savings_plans",
    provider="AWS",
    title="AWS Savings Plans: Compute, EC2 Instance and SageMaker",
    url="https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html",
    terms_url="https://aws.amazon.com/terms/",
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    settings=("access", "regions", "bulk_url"),
    credentials="none, or `savingsplans:DescribeSavingsPlansOfferingRates`",
)
