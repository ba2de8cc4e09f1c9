"""Offers of EC2 Capacity Blocks for ML: what a block of machines for some days costs now, by zone.

ec2.DescribeCapacityBlockOfferings,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html , needs credentials; data
under the AWS Service Terms, https://aws.amazon.com/service-terms/ .

Settings: `regions` ("all" that the account has, or a list), `instance_types` (UltraServers begin with u-),
`durations_hours` (days up to 14, then weeks up to 26; by default one day), `counts` (1, 2, 4 ... 64; by default 1).
Each combination is a query in each region, kept as a document with its parameters.

Quirks:

1. No price list has these prices: its Capacity Block rows cost 0, and the rates page (aws_capacity_block_rates) differs
   from the offers.
2. An offer has a fee for the whole block. The hourly rate is derived: fee / (count x paid hours), in exact decimals and
   rounded half to even at the tenth only where it does not end before. Only the fee stands in the answer.
3. Paid hours are CapacityBlockDurationHours and CapacityBlockDurationMinutes together: a block that starts at once ends
   at the next 11:30 UTC, as 8 h 37 min for 308.14. Where the minutes are missing the rate is unknown: a fact, no price.
4. Instances are ended from 30 minutes before the end of a block, so that fewer minutes can be used than are paid.
5. An UltraServer is asked for by its own name (u-p6e-gb200x72) and counted as one, whatever it is made of. A rate below
   0.5 an hour for each of its chips is that of one chip, which a public list once took for that of 72; it is refused.
6. Offers differ by start, so the price is that of the one that starts first; all of them are facts.
7. A split offer consists of segments with their own zones, dates and fees; its paid time is the sum of theirs, and it
   is another offer ("in 2 segments"). Where the fees do not add up the rate is unknown.
8. "No offer" is an answer, and so are the refusals of a type that a region does not sell in blocks, or of UltraServers,
   which need an agreement: facts with an empty id, the refusal in `answer_error`. Any other error fails the region.
9. Zones come by name only, which differs between accounts.
"""

from datetime import timedelta

from extract.aws import CAPACITY_BLOCKS as NAME
from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

# What these functions import costs a third of a second, which `chipledger --help` must not pay: hence inside them.


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the account has."""
    from extract.aws.spot import ec2

    return ec2.regions(ctx, NAME)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return the answers to all queries in one region; raise CredentialsMissing, Unavailable or SourceError."""
    from extract.aws.capacity_blocks import api

    return api.fetch(ctx, scope)


def parse(document: Document) -> Parsed:
    """Return the price of the offer that starts first, by zone, and all offers as facts; raise LayoutChanged."""
    from extract.aws.capacity_blocks import offerings

    return offerings.parse(document)


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="AWS EC2 Capacity Block offers, by zone",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html",
    terms_url="https://aws.amazon.com/service-terms/",
    max_age=timedelta(days=1),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    settings=("regions", "instance_types", "durations_hours", "counts"),
    credentials="`ec2:DescribeCapacityBlockOfferings`",
)
