"""AWS's public price list of EC2: on-demand and Reserved prices of every type with an accelerator.

Linux, shared tenancy, no software, per region. https://aws.amazon.com/pricing/ ; data under the AWS Site Terms,
https://aws.amazon.com/terms/ . Two doors give the same prices: the Price List API (pricing.GetProducts, needs
credentials, about ten pages a region) and the public bulk files (300 MB a region, read as they stream by).

Settings: `access` (auto, api, bulk), `regions` ("all" or a list of Region Codes; China's are named), `bulk_url`.

Quirks:

1. A Capacity Block product stands beside the on-demand one with every other attribute equal, at 0: told apart by
   MarketOption and operation. Any other 0 is passed on, for the row gate to refuse.
2. Unused reservations repeat the on-demand price, allocated ones cost 0: only CapacityStatus "Used" counts.
3. Columns and attributes come and go: found by name, absent where no product of the region has one, and absent from
   older files (`offer_csv.SINCE`).
4. GPU is filled for Inferentia and some Trainium, empty for others, and may be "0.125". Accelerators are known by
   GPU, by Instance Family or by name; an Instance Family never seen before is reported, never taken for a CPU.
5. A Reserved term has one or two amounts, hourly and upfront, in either order, each with a rate code of its own.
6. Local Zones and Wavelength Zones have Region Codes and files of their own; location names change, codes do not.
7. China has its own endpoint, index, term codes and currency. GovCloud is served by the global endpoint.
8. EffectiveDate moves every month without a change of price, so it is not read.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

# What these functions import costs a third of a second, which `chipledger --help` must not pay: hence inside them.


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the door lists."""
    from extract.aws.price_list import api, bulk, places

    wanted = places.wanted_regions(ctx.settings)
    if wanted is not None:
        return wanted
    return api.regions(ctx) if places.access(ctx.settings) == "api" else bulk.regions(ctx)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a complete look at one region through the chosen door; raise SourceError."""
    from extract.aws.price_list import api, bulk, places

    return api.fetch(ctx, scope) if places.access(ctx.settings) == "api" else bulk.fetch(ctx, scope)


def parse(document: Document) -> Parsed:
    """Return the prices in a document of either door; raise LayoutChanged."""
    from extract.aws.price_list import reading

    return reading.parse(document)


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the archived versions of a region, oldest first; they are public, whatever the door."""
    from extract.aws.price_list import versions

    yield from versions.backfill(ctx, scope, since, until)


SOURCE = Source(
    name="aws_price_list",
    provider="AWS",
    title="AWS Price List of EC2, on-demand and Reserved",
    url="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html",
    terms_url="https://aws.amazon.com/terms/",
    max_age=timedelta(days=3),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("access", "regions", "bulk_url"),
    credentials="none, or `pricing:GetProducts`",
)
