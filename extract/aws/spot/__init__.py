"""Spot prices of every accelerator type in every zone: EC2's own history of 90 days, and a public archive of the past.

ec2.DescribeSpotPriceHistory, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html ,
needs credentials; data under the AWS Service Terms, https://aws.amazon.com/service-terms/ . Past months, by `backfill`,
from the AWS Spot Price History of Eric Pauley (CC-BY-4.0), https://doi.org/10.5281/zenodo.14198917 .

Settings: `regions` ("all" that the account has, or a list), `instance_types` (names, with * and ? if need be; all
accelerators by default), `since` (date from which the history is asked for), `archive_url` (folder of the archive).

A look at a region is two queries. "current" has StartTime = the moment of the look, for which EC2 documents that it
returns "the last price change before the start time, which is the effective price as of the start time": each offer in
force, once. "history" has the changes since the look before, or of 90 days.

Quirks:

1. The token after the last page is empty, not absent; pages may be short or empty although more follow.
2. EC2 repeats unchanged prices about daily: a record is an observation. Repeats within a document are counted and left
   out; the first record of a page may repeat the last of another page, which changes nothing.
3. Of Linux there are two product descriptions, the plain one and "(Amazon VPC)": the plain one is asked for, the other
   only where there is none. Red Hat, SUSE and Windows cost a surcharge and are never asked for.
4. Names of zones differ between accounts: the id is kept, and the name only where a capture has no id.
5. Filters take * and ?, InstanceTypes does not (https://docs.aws.amazon.com/AWSEC2/latest/CommandLineReference/
   ApiReference-cmd-DescribeSpotPriceHistory.html : "You can use wildcards with the filter values"). So accelerators
   are asked for by the beginnings of their names, and a type that is new tomorrow comes by itself.
6. A name that does not exist gives an empty list, as does a region without spot accelerators (seven of 33 in the spot
   advisor of 2025-06-28): "If there's no match, no special message is returned; the response is simply empty". So an
   empty region is noted and is no error here; the batch gate refuses it where the region had prices. Names in
   `instance_types` are checked for their form, and make a look incomplete: of other types it says nothing.
7. A zone without a record has no spot, which is not a price of zero: a complete look says that such an offer is gone.
8. Prices of Local Zones come with those of their parent region, and stay under it: their names do not give the Region
   Code of the price list (zone us-east-1-atl-2a, region us-east-1-atl-1).
9. The archive moves the price in force to the first moment of each month. A month is one file for all regions.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from extract.aws import SPOT as NAME
from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

# What these functions import costs a third of a second, which `chipledger --help` must not pay: hence inside them.


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the account has."""
    from extract.aws.spot import ec2

    return ec2.regions(ctx, NAME)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a look at one region; raise CredentialsMissing, Unavailable or SourceError."""
    from extract.aws.spot import api

    return api.fetch(ctx, scope)


def parse(document: Document) -> Parsed:
    """Return the prices in a page of the API, a saved answer of the AWS CLI, or an excerpt of the archive."""
    from extract.aws.spot import records

    return records.parse(document)


def backfill(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
    """Yield the months of the archive, for one region, oldest first."""
    from extract.aws.spot import archive

    yield from archive.backfill(ctx, scope, since, until)


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS EC2 spot price history, by zone",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html",
    terms_url="https://aws.amazon.com/service-terms/",
    max_age=timedelta(days=1),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    backfill=backfill,
    settings=("regions", "instance_types", "since", "archive_url"),
    credentials="`ec2:DescribeSpotPriceHistory`",
)
