"""What EC2's answers say, as XML from the wire or as JSON from aws cli, as facts."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from extract.base import Parsed
from extract.web import strict_json, strict_xml
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.reference import instance_types
from warehouse.reference.instance_types import ACCELERATOR_TYPE
from warehouse.schema.tables import OBSERVATION

if TYPE_CHECKING:
    import botocore.model

SOURCE_NAME = "aws_instance_types"
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


def parse(document: Document) -> Parsed:
    """Return what an answer says as facts, and no prices; raise LayoutChanged."""
    answer = _decoded(document.body)
    if "InstanceTypes" in answer:
        return _capabilities(_listed(answer, "InstanceTypes"), document.scope)
    if "InstanceTypeOfferings" in answer:
        return _zones(
            _listed(answer, "InstanceTypeOfferings"), document.scope, queried=QUERIED_TYPES in document.parameters
        )
    raise refusal("expected instance types or their offerings", "body", ", ".join(list(answer)[:10]))


def _decoded(body: bytes) -> Mapping[str, Any]:
    """Return an answer as boto3 shows it, from its XML or from JSON."""
    if body.lstrip()[:1] != b"<":
        try:
            answer: object = strict_json.loads(body)
        except ValueError as error:
            raise refusal(f"neither XML nor JSON: {error}", "body", body[:80].decode("utf-8", "replace")) from error
        if not isinstance(answer, dict):
            raise refusal("expected an object", "body", answer)
        return answer
    import botocore.parsers

    found = re.search(rb"<(DescribeInstanceTypes|DescribeInstanceTypeOfferings)Response[ >]", body[:1024])
    if found is None:
        raise refusal("expected an answer of EC2", "body", body[:80].decode("utf-8", "replace"))
    shape = cast("botocore.model.Shape", _service().operation_model(found[1].decode()).output_shape)
    try:
        strict_xml.check_names(strict_xml.root(body))
        read: dict[str, Any] = botocore.parsers.create_parser("ec2").parse(
            {"body": body, "headers": {}, "status_code": 200}, shape
        )
    # Its parser gives numbers to int() and lists to its own models, and lets through what these raise.
    except (botocore.parsers.ResponseParserError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise refusal(f"not XML of this answer: {error}", "body", body[:80].decode("utf-8", "replace")) from error
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
            raise refusal("an instance type without its name", "InstanceType", name)
        if not any(info in machine for info in DEVICES) and not ACCELERATOR_TYPE.match(name):
            ignored["not_accelerator"] += 1
            continue
        if name not in known:
            unknown.add(f"instance type {name!r}")
        devices = _devices(machine)
        if len(devices) > 1:
            unknown.add(f"several kinds of accelerators in {name!r}")
        usage = machine.get("SupportedUsageClasses")
        if usage is not None and not (isinstance(usage, list) and all(isinstance(each, str) for each in usage)):
            raise refusal("expected a list of texts", "SupportedUsageClasses", usage)
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
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "region_id": pl.String,
        "instance_type": pl.String,
        "supports_on_demand": pl.Boolean,
        "supports_spot": pl.Boolean,
        "supports_capacity_block": pl.Boolean,
        "api_accelerator_name": pl.String,
        "api_accelerator_count": pl.Decimal(10, 4),
        "api_accelerator_memory_gib": pl.Decimal(10, 4),
        "api_neuron_cores_per_accelerator": pl.Int32,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row").unique(maintain_order=True).sort("instance_type")
    return _parsed("instance_capability", frame, ignored, unknown)


def _devices(machine: Machine) -> list[Machine]:
    """Return a type's kinds of accelerators; Inferentia, which stands in two places, once."""
    infos = [info for info in DEVICES if info in machine]
    if "NeuronInfo" in infos and "InferenceAcceleratorInfo" in infos:
        infos.remove("InferenceAcceleratorInfo")
    return [device for info in infos for device in _listed(_object(machine, info), DEVICES[info])]


def _device_values(device: Machine) -> dict[str, object]:
    """Return what the API says of an accelerator, in the table's units; NULL where it is silent."""
    count, share = _number(device, "Count", whole=True), _number(device, "GpuPartitionSize", whole=False)
    if count == 0:  # a fraction; without its share the count is unknown
        count = share or None
    memory = _number(_object(device, "MemoryInfo"), "SizeInMiB", whole=True)
    name = device.get("Name")
    if name is not None and (not isinstance(name, str) or not name):
        raise refusal("expected the name of a chip", "Name", name)
    cores = _number(_object(device, "CoreInfo"), "Count", whole=True)
    return {
        "api_accelerator_name": name,
        "api_accelerator_count": count,
        "api_accelerator_memory_gib": None if memory is None else (memory / 1024).quantize(Decimal("0.0001")),
        "api_neuron_cores_per_accelerator": None if cores is None else int(cores),
    }


def _object(of: Machine, name: str) -> Machine:
    """Return an object in an answer, empty where there is none."""
    found = of.get(name, {})
    if not isinstance(found, dict):
        raise refusal("expected an object", name, found)
    return found


def _number(of: Machine, name: str, *, whole: bool) -> Decimal | None:
    """Return a number from 0 that fits its column, None where the answer has none."""
    found = of.get(name)
    if found is None:
        return None
    if type(found) not in ((int,) if whole else (int, float)) or not 0 <= found < MAX_MIB:
        raise refusal("expected a number", name, found)
    return Decimal(str(found))


def _zones(offerings: Sequence[Machine], scope: str, *, queried: bool) -> Parsed:
    """Return the zones of types with an accelerator: all that were queried, else those known by their names."""
    rows: list[dict[str, object]] = []
    unknown: set[str] = set()
    ignored: Counter[str] = Counter()
    for offering in offerings:
        name, place = offering.get("InstanceType"), offering.get("Location")
        if not isinstance(name, str) or not isinstance(place, str):
            raise refusal("an offering without type or place", "InstanceTypeOfferings", dict(offering))
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
    columns = ("region_id", "availability_zone_id", "availability_zone", "instance_type")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row").unique(maintain_order=True)
    return _parsed("instance_zone", frame.sort(columns, nulls_last=True), ignored, unknown)


def _parsed(table: str, frame: pl.DataFrame, ignored: Mapping[str, int], unknown: Iterable[str]) -> Parsed:
    none = pl.DataFrame(
        schema={name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    )
    return Parsed(
        rows=none, ignored=dict(sorted(ignored.items())), unknown=tuple(sorted(unknown)), facts={table: frame}
    )


def _listed(answer: Mapping[str, Any], name: str) -> Sequence[Machine]:
    found = answer.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise refusal("expected a list of objects", name, found)
    return found


def refusal(message: str, field: str, value: object) -> LayoutChanged:
    """Return the error for an answer that is not as it should be."""
    hint = f"The source {SOURCE_NAME} has to be updated for the new layout"
    return LayoutChanged(message, source=SOURCE_NAME, field=field, value=value, hint=hint)
