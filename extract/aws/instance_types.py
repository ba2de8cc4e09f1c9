"""What EC2's API says of machines with accelerators: chips, memory, how they are sold, in which zones.

ec2.DescribeInstanceTypes and ec2.DescribeInstanceTypeOfferings of each region; no prices. Needs credentials, which may
call ec2:DescribeRegions, ec2:DescribeInstanceTypes and ec2:DescribeInstanceTypeOfferings. https://docs.aws.amazon.com/
AWSEC2/latest/APIReference/ ; terms https://aws.amazon.com/service-terms/ . The reference table
`warehouse.reference.instance_types`, which prices are divided by, is compared with each answer.

Settings: `regions` (as for aws_spot; China's are named).

Quirks:

1. A region lists a thousand types, ten in a hundred with an accelerator. All are queried, so that a new family is
   seen; of each page the types with an accelerator are kept as received, and the size and hash of the whole.
2. Neuron devices are in NeuronInfo, those of inf1 and inf2 in InferenceAcceleratorInfo too: counted once.
3. trn2u has no NeuronInfo at all, and is known by its name. What the API does not say is NULL.
4. Of fractions (g6f, gr6f) Count is 0 and GpuPartitionSize says how much of a GPU it is: then that is the count.
5. Memory is the API's, MiB / 1024, right or wrong (Trainium2: 512 GiB a chip); the dated table has the overrides.
6. SupportedUsageClasses is of the region: `capacity-block` there does not mean that there is an offer.
7. Zone names differ between accounts: zones are queried by id. A saved answer by name gives names and no ids.
8. Local and Wavelength Zones are zones of their parent region here, and regions of their own in the price list; no
   rule leads from one name to the other, so `region_id` is the parent's.
9. Documents are the XML as received, or the JSON that aws cli and boto3 make of it.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast
from xml.parsers import expat

from extract.aws import reading
from extract.aws.client import Call, regions
from extract.aws.reading import Layout
from extract.base import Context, Parsed, Source, fact_frame
from extract.web import strict_xml
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import SourceError
from warehouse.reference import instance_types
from warehouse.reference.instance_types import ACCELERATOR_TYPE

if TYPE_CHECKING:
    import botocore.model

NAME = "aws_instance_types"
LAYOUT = Layout(NAME)
ROOT = "DescribeInstanceTypesResponse"
TYPES_A_PAGE, OFFERINGS_A_PAGE = 100, 1000
NAMES_A_QUERY = 100
"""A filter takes 200 values."""
MAX_PAGES = 100
"""A region has about twelve; many times as many is a paging error."""
CREDENTIALS_HINT = (
    "Give credentials that may call ec2:DescribeRegions, ec2:DescribeInstanceTypes and "
    "ec2:DescribeInstanceTypeOfferings, and check that the account has opted in to the region"
)
QUERIED_TYPES = "instance-type"
"""The parameter of a document of offerings that names the queried types."""
DEVICES = {
    "GpuInfo": "Gpus",
    "NeuronInfo": "NeuronDevices",
    "InferenceAcceleratorInfo": "Accelerators",
    "FpgaInfo": "Fpgas",
    "MediaAcceleratorInfo": "Accelerators",
}
"""Where a type's accelerators are listed."""
MAX_MIB = 1 << 30
"""Beyond this is no memory of a chip, let alone a count."""
USAGE_CLASSES = ("on-demand", "spot", "capacity-block")

Machine = Mapping[str, Any]
"""One instance type, or one offering of it, as boto3 shows it."""


# --- queries: pages of types, cut down to those with an accelerator, and the zones of these


def fetch(ctx: Context, scope: str) -> ScopeFetch:
    """Return a complete fetch of the types with an accelerator in one region, and their zones; raise SourceError."""
    call = functools.partial(Call, source=NAME, scope=scope, max_pages=MAX_PAGES, hint=CREDENTIALS_HINT)
    of_both = ("InstanceTypes", "InstanceTypeOfferings")
    types, offerings = (call(operation=f"ec2.Describe{result}", result=result) for result in of_both)
    client, parameters = types.client(), {"region": scope}
    whole = [page for _, page in types.documents(ctx, client, {"MaxResults": TYPES_A_PAGE}, parameters)]
    cut = [_excerpt(page) for page in whole]
    kept = [(page, names) for page, names in cut if names] or cut[:1]
    names = sorted({name for _, found in kept for name in found})
    documents = [page for page, _ in kept]
    for start in range(0, len(names), NAMES_A_QUERY):
        some = names[start : start + NAMES_A_QUERY]
        request = {
            "LocationType": "availability-zone-id",
            "Filters": [{"Name": "instance-type", "Values": some}],
            "MaxResults": OFFERINGS_A_PAGE,
        }
        queried = parameters | {QUERIED_TYPES: ",".join(some)}
        documents += [page for _, page in offerings.documents(ctx, client, request, queried)]
    if not any(b"instanceType>" in page.body for page in whole):
        raise SourceError("no instance types", source=NAME, field="region", value=scope, hint="Try again later")
    return ScopeFetch(source=NAME, scope=scope, observed_at=ctx.now(), complete=True, documents=tuple(documents))


def _excerpt(page: Document) -> tuple[Document, list[str]]:
    """Return a page with the types that have an accelerator only, as received, and their names."""
    kept: list[bytes] = []
    names: list[str] = []
    position = 0
    for item in _Items(page.body).found:
        if item.has_accelerator:
            names.append(item.name)
        else:
            kept.append(page.body[position : item.start])
            position = item.end
    whole = Whole(size=len(page.body), digest=page.sha256, algorithm="sha256")
    return replace(page, body=b"".join((*kept, page.body[position:])), whole=whole), names


@dataclass(kw_only=True)
class _Item:
    """One type's place among the bytes of a page."""

    start: int
    end: int = 0
    name: str = ""
    has_accelerator: bool = False


class _Items:
    """Finds the items of instanceTypeSet, which is all that cutting takes; the content is read by `parse`."""

    def __init__(self, body: bytes) -> None:
        self.found: list[_Item] = []
        self._path: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._tags = {name[0].lower() + name[1:] for name in DEVICES}
        try:
            self._parser.Parse(body, True)
        except expat.ExpatError as error:
            raise LAYOUT.refusal(f"not XML: {error}", body) from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) == 1 and name != ROOT:
            raise LAYOUT.refusal(f"expected {ROOT}", name)
        if self._path[1:] == ["instanceTypeSet", "item"]:
            self.found.append(_Item(start=self._parser.CurrentByteIndex))
        elif len(self._path) == 4 and self._path[1] == "instanceTypeSet" and name in self._tags:
            self.found[-1].has_accelerator = True

    def _end(self, name: str) -> None:
        if self._path[1:] == ["instanceTypeSet", "item"]:
            item = self.found[-1]
            item.end = self._parser.CurrentByteIndex + len(b"</item>")
            item.has_accelerator = item.has_accelerator or ACCELERATOR_TYPE.match(item.name) is not None
        self._path.pop()

    def _text(self, text: str) -> None:
        if self._path[1:] == ["instanceTypeSet", "item", "instanceType"]:
            self.found[-1].name += text


# --- answers, as XML from the wire or as JSON from aws cli, as facts


def parse(document: Document) -> Parsed:
    """Return what an answer says as facts, and no prices; raise LayoutChanged."""
    answer = _decoded(document.body)
    if "InstanceTypes" in answer:
        return _capabilities(LAYOUT.listed(answer["InstanceTypes"], "InstanceTypes"), document.scope)
    if "InstanceTypeOfferings" in answer:
        listed = LAYOUT.listed(answer["InstanceTypeOfferings"], "InstanceTypeOfferings")
        return _zones(listed, document.scope, queried=QUERIED_TYPES in document.parameters)
    raise LAYOUT.refusal("expected instance types or their offerings", ", ".join(list(answer)[:10]))


def _decoded(body: bytes) -> Mapping[str, Any]:
    """Return an answer as boto3 shows it, from its XML or from JSON."""
    if body.lstrip(reading.BLANK)[:1] != b"<":
        return LAYOUT.answer(body, "InstanceTypes")
    import botocore.parsers

    found = re.search(rb"<(DescribeInstanceTypes|DescribeInstanceTypeOfferings)Response[ >]", body[:1024])
    if found is None:
        raise LAYOUT.refusal("expected an answer of EC2", body)
    shape = cast("botocore.model.Shape", _service().operation_model(found[1].decode()).output_shape)
    try:
        strict_xml.check_names(strict_xml.root(body))
        read: dict[str, Any] = botocore.parsers.create_parser("ec2").parse(
            {"body": body, "headers": {}, "status_code": 200}, shape
        )
    # Its parser gives numbers to int() and lists to its own models, and lets through what these raise.
    except (botocore.parsers.ResponseParserError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise LAYOUT.refusal(f"not XML of this answer: {error}", body) from error
    return read


@functools.cache
def _service() -> "botocore.model.ServiceModel":
    """Return botocore's model of EC2, which takes longer to load than a page to read."""
    import botocore.session

    return botocore.session.Session().get_service_model("ec2")


def _capabilities(machines: Sequence[Machine], scope: str) -> Parsed:
    known = {fact.instance_type for fact in instance_types.read_table()}
    rows: list[dict[str, object]] = []
    unknown: set[str] = set()
    ignored: Counter[str] = Counter()
    for machine in machines:
        name = machine.get("InstanceType")
        if not isinstance(name, str) or not name:
            raise LAYOUT.refusal("an instance type without its name", name, "InstanceType")
        if not any(machine.get(info) for info in DEVICES) and not ACCELERATOR_TYPE.match(name):
            ignored["not_accelerator"] += 1
            continue
        if name not in known:
            unknown.add(f"instance type {name!r}")
        devices = _devices(machine)
        if len(devices) > 1:
            unknown.add(f"several kinds of accelerators in {name!r}")
        usage = machine.get("SupportedUsageClasses")
        if usage is not None and not (isinstance(usage, list) and all(isinstance(each, str) for each in usage)):
            raise LAYOUT.refusal("expected a list of texts", usage, "SupportedUsageClasses")
        unknown |= {f"usage class {each!r}" for each in usage or () if each not in USAGE_CLASSES}
        sold = {each: None if usage is None else each in usage for each in USAGE_CLASSES}
        rows.append(
            {
                "region_id": scope,
                "instance_type": name,
                "supports_on_demand": sold["on-demand"],
                "supports_spot": sold["spot"],
                "supports_capacity_block": sold["capacity-block"],
                **_device_values(devices[0] if len(devices) == 1 else {}),
            }
        )
    frame = fact_frame("instance_capability", rows).unique(maintain_order=True).sort("instance_type")
    return reading.parsed(ignored=ignored, unknown=unknown, facts={"instance_capability": frame})


def _devices(machine: Machine) -> list[Machine]:
    """Return a type's kinds of accelerators; Inferentia, which is in two places, once."""
    infos = [info for info in DEVICES if machine.get(info)]
    if "NeuronInfo" in infos and "InferenceAcceleratorInfo" in infos:
        infos.remove("InferenceAcceleratorInfo")
    return [
        device
        for info in infos
        for device in LAYOUT.listed(LAYOUT.mapping(machine[info], info).get(DEVICES[info]), info)
    ]


def _device_values(device: Machine) -> dict[str, object]:
    """Return what the API says of an accelerator, in the table's units; NULL where it is silent."""
    count, share = _number(device, "Count", whole=True), _number(device, "GpuPartitionSize", whole=False)
    if count == 0:  # a fraction; without its share the count is unknown
        count = share or None
    memory = _number(LAYOUT.mapping(device.get("MemoryInfo", {}), "MemoryInfo"), "SizeInMiB", whole=True)
    name = device.get("Name")
    if name is not None and (not isinstance(name, str) or not name):
        raise LAYOUT.refusal("expected the name of a chip", name, "Name")
    cores = _number(LAYOUT.mapping(device.get("CoreInfo", {}), "CoreInfo"), "Count", whole=True)
    return {
        "api_accelerator_name": name,
        "api_accelerator_count": count,
        "api_accelerator_memory_gib": None if memory is None else (memory / 1024).quantize(Decimal("0.0001")),
        "api_neuron_cores_per_accelerator": None if cores is None else int(cores),
    }


def _number(of: Machine, name: str, *, whole: bool) -> Decimal | None:
    """Return a number from 0 that fits its column, None where the answer has none."""
    found = of.get(name)
    if found is not None and (type(found) not in ((int,) if whole else (int, float)) or not 0 <= found < MAX_MIB):
        raise LAYOUT.refusal("expected a number", found, name)
    return None if found is None else Decimal(str(found))


def _zones(offerings: Sequence[Machine], scope: str, *, queried: bool) -> Parsed:
    """Return the zones of types with an accelerator: all that were queried, else those known by their names."""
    rows: list[dict[str, object]] = []
    unknown: set[str] = set()
    ignored: Counter[str] = Counter()
    for offering in offerings:
        name, place = offering.get("InstanceType"), offering.get("Location")
        if not isinstance(name, str) or not isinstance(place, str):
            raise LAYOUT.refusal("an offering without type or place", dict(offering), "InstanceTypeOfferings")
        kind = offering.get("LocationType")
        if not queried and not ACCELERATOR_TYPE.match(name):
            ignored["not_accelerator"] += 1
        elif kind not in ("availability-zone-id", "availability-zone"):
            ignored["no_zone"] += 1
            if kind != "region":
                unknown.add(f"location type {kind!r}")
        else:
            by_id = kind == "availability-zone-id"
            rows.append(
                {
                    "region_id": scope,
                    "availability_zone_id": place if by_id else None,
                    "availability_zone": None if by_id else place,
                    "instance_type": name,
                }
            )
    frame = fact_frame("instance_zone", rows).unique(maintain_order=True)
    facts = {"instance_zone": frame.sort(frame.columns, nulls_last=True)}
    return reading.parsed(ignored=ignored, unknown=unknown, facts=facts)


SOURCE = Source(
    name=NAME,
    provider="AWS",
    title="EC2 instance types with accelerators, as the API describes them",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html",
    max_age=timedelta(days=30),
    scopes=functools.partial(regions, source=NAME, hint=CREDENTIALS_HINT),
    fetch=fetch,
    parse=parse,
    settings=("regions",),
    credentials="`ec2:DescribeInstanceTypes`, `ec2:DescribeInstanceTypeOfferings`",
)
