"""What EC2's API says of machines with accelerators: chips, memory, how they are sold, in which zones.

ec2.DescribeInstanceTypes and ec2.DescribeInstanceTypeOfferings of each region; no prices. Needs credentials, which may
call ec2:DescribeRegions, ec2:DescribeInstanceTypes and ec2:DescribeInstanceTypeOfferings. https://docs.aws.amazon.com/
AWSEC2/latest/APIReference/ ; terms https://aws.amazon.com/service-terms/ . The reference table
`warehouse.reference.instance_types`, which prices are divided by, is compared with each answer
(`warehouse.reference.instance_types`).

Settings: `regions` ("all" that the account has opted in to, or a list; China's are named).

Quirks:

1. A region lists a thousand types, ten in a hundred with an accelerator. All are asked for, so that a new family is
   seen; of each page the types with an accelerator are kept as received, and the size and hash of the whole.
2. Neuron devices stand in NeuronInfo, those of inf1 and inf2 in InferenceAcceleratorInfo too: counted once.
3. trn2u has no NeuronInfo at all, and is known by its name. What the API does not say is NULL.
4. Of fractions (g6f, gr6f) Count is 0 and GpuPartitionSize says how much of a GPU it is: then that is the count.
5. Memory is the API's, MiB / 1024, right or wrong (Trainium2: 512 GiB a chip); the dated table has the overrides.
6. SupportedUsageClasses is of the region: `capacity-block` there does not mean that there is an offer.
7. Zone names differ between accounts: zones are asked for by id. A saved answer by name gives names and no ids.
8. Local and Wavelength Zones are zones of their parent region here, and regions of their own in the price list; no
   rule leads from one name to the other, so `region_id` is the parent's.
9. Documents are the XML as received, or the JSON that aws cli and boto3 make of it.
"""

from datetime import timedelta

from extract.base import Context, Parsed, Source
from warehouse.documents import Document, ScopeFetch

# What these functions import costs a third of a second, which `chipledger --help` must not pay: hence inside them.


def scopes(ctx: Context) -> tuple[str, ...]:
    """Return the regions of the settings, or all that the account has."""
    from extract.aws.instance_types import api

    return api.scopes(ctx)


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a complete look at the types with an accelerator in one region; raise SourceError."""
    from extract.aws.instance_types import api

    return api.fetch(ctx, scope)


def parse(document: Document) -> Parsed:
    """Return what an answer says as facts, and no prices; raise LayoutChanged."""
    from extract.aws.instance_types import reading

    return reading.parse(document)


SOURCE = Source(
    name="aws_instance_types",
    provider="AWS",
    title="EC2 instance types with accelerators, as the API describes them",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html",
    terms_url="https://aws.amazon.com/service-terms/",
    max_age=timedelta(days=30),
    scopes=scopes,
    fetch=fetch,
    parse=parse,
    settings=("regions",),
    credentials="`ec2:DescribeInstanceTypes`, `ec2:DescribeInstanceTypeOfferings`",
)
