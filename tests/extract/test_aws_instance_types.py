"""What EC2's answers say of machines with accelerators, and where the dated table says otherwise."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from standin import ec2_cloud

from extract.aws.instance_types import SOURCE
from extract.base import Context, Parsed
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.reference import instance_types
from warehouse.schema.tables import OBSERVATION

Ask = Callable[..., Context]
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
SAID = [
    "api_accelerator_name",
    "api_accelerator_count",
    "api_accelerator_memory_gib",
    "api_neuron_cores_per_accelerator",
]


def document(answer: object, scope: str = "us-east-1", **parameters: str) -> Document:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return Document(
        source="aws_instance_types", scope=scope, url="aws cli", body=body, fetched_at=NOW, parameters=parameters
    )


def described(*machines: dict[str, object]) -> Parsed:
    return SOURCE.parse(document({"InstanceTypes": list(machines)}))


def capabilities(*machines: dict[str, object]) -> pl.DataFrame:
    return described(*machines).facts["instance_capability"]


def of(frame: pl.DataFrame, name: str) -> tuple[Any, ...]:
    """Return what the API says of one type: chip, count, memory, cores."""
    return frame.filter(instance_type=name).select(SAID).row(0)


@pytest.fixture(scope="module")
def dump(shared: Path) -> Parsed:
    """Return what a real capture of 86 accelerator types says, as aws cli saves it."""
    packed = shared / "data" / "aws_samples" / "describe_instance_types_accelerators_2026.json.gz"
    return SOURCE.parse(document(gzip.decompress(packed.read_bytes())))


# --- a real answer


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("p5.48xlarge", ("H100", Decimal(8), Decimal(80), None)),
        ("p6-b200.48xlarge", ("B200", Decimal(8), Decimal("179.0615"), None)),
        ("g6f.large", ("L4", Decimal("0.125"), Decimal("2.7939"), None)),
        ("gr6f.4xlarge", ("L4", Decimal("0.5"), Decimal("11.1758"), None)),
        ("inf1.24xlarge", ("Inferentia", Decimal(16), Decimal(8), 4)),
        ("inf2.48xlarge", ("Inferentia2", Decimal(12), Decimal(32), 2)),
        ("trn1.32xlarge", ("Trainium", Decimal(16), Decimal(32), 2)),
        ("trn2.48xlarge", ("Trainium2", Decimal(16), Decimal(512), 8)),
        ("trn2u.48xlarge", (None, None, None, None)),
        ("dl2q.24xlarge", ("Qualcomm AI100", Decimal(8), Decimal("15.6250"), None)),
        ("f2.48xlarge", ("Virtex UltraScale+ (VU47P)", Decimal(8), Decimal(80), None)),
        ("vt1.24xlarge", ("U30", Decimal(8), Decimal(24), None)),
    ],
)
def test_accelerators_of_every_kind(dump: Parsed, name: str, said: tuple[object, ...]) -> None:
    """Traps 29 and 30: devices where AWS lists them, Inferentia once, fractions, AWS's numbers, NULL for silence."""
    assert of(dump.facts["instance_capability"], name) == said


def test_a_real_answer_in_full(dump: Parsed) -> None:
    """All 86 types, nothing unknown, and no prices."""
    assert dump.facts["instance_capability"].height == 86
    assert (dump.rows.height, dump.rows.columns, dump.unknown, dump.ignored) == (0, list(OBSERVATION), (), {})


def test_how_it_is_sold(dump: Parsed) -> None:
    """On demand, spot, Capacity Block, as the region supports them: trn2u has no spot."""
    sold = dump.facts["instance_capability"].select("instance_type", pl.col("^supports_.*$"))

    assert sold.filter(instance_type="trn2u.48xlarge").row(0)[1:] == (True, False, True)
    assert sold.filter(instance_type="g4dn.xlarge").row(0)[1:] == (True, True, False)


def test_the_dated_table_agrees_with_the_real_answer(dump: Parsed) -> None:
    """Every difference has its override."""
    assert instance_types.disagreements(dump.facts["instance_capability"], instance_types.read_table()) == ()


# --- the rules


def test_other_machines_are_counted() -> None:
    """A type without accelerator is none of ours."""
    said = described(
        ec2_cloud.machine("m5.xlarge"), ec2_cloud.machine("p5.4xlarge", GpuInfo=ec2_cloud.gpus("H100", 1, 81920))
    )

    assert said.ignored == {"not_accelerator": 1}
    assert said.facts["instance_capability"]["instance_type"].to_list() == ["p5.4xlarge"]


def test_machines_alone_are_an_answer() -> None:
    """`--query InstanceTypes` of the AWS CLI leaves the list without its name."""
    assert SOURCE.parse(document([{"InstanceType": "m5.xlarge"}])).ignored == {"not_accelerator": 1}


def test_null_is_no_accelerator() -> None:
    """As programs write what the API leaves out; the AWS CLI leaves it out too."""
    nothing = dict.fromkeys(("FpgaInfo", "NeuronInfo", "InferenceAcceleratorInfo", "MediaAcceleratorInfo"))
    gpu = {"Gpus": [{"Name": "T4", "Count": 1, "MemoryInfo": {"SizeInMiB": 16384}}]}

    parsed = described(
        {"InstanceType": "m5.large", "GpuInfo": None, **nothing},
        {"InstanceType": "g4dn.xlarge", "GpuInfo": gpu, **nothing},
    )

    assert parsed.ignored == {"not_accelerator": 1}
    assert parsed.facts["instance_capability"]["api_accelerator_name"].to_list() == ["T4"]


def test_an_unknown_family_is_named() -> None:
    """A type with an accelerator, or the name of one, that the dated table does not have is kept and named."""
    said = described(
        ec2_cloud.machine("q1.large", GpuInfo=ec2_cloud.gpus("X900", 1, 1024)), ec2_cloud.machine("trn3.48xlarge")
    )

    assert said.facts["instance_capability"].height == 2
    assert said.unknown == ("instance type 'q1.large'", "instance type 'trn3.48xlarge'")


def test_two_kinds_in_one_machine_are_not_guessed() -> None:
    """No chip is chosen of two; the machine is named."""
    both = ec2_cloud.machine(
        "p5.48xlarge",
        GpuInfo=ec2_cloud.gpus("H100", 8, 81920),
        MediaAcceleratorInfo=ec2_cloud.inference("U30", 1, 1024),
    )
    said = described(both)

    assert of(said.facts["instance_capability"], "p5.48xlarge") == (None, None, None, None)
    assert said.unknown == ("several kinds of accelerators in 'p5.48xlarge'",)


@pytest.mark.parametrize(("share", "count"), [(0.25, Decimal("0.25")), (None, None), (0, None)])
def test_a_count_of_zero_is_never_a_count(share: float | None, count: Decimal | None) -> None:
    """Quirk 4: the share of a GPU, or unknown."""
    info = ec2_cloud.gpus("L4", 0, 5722)
    gpu = {name: value for name, value in info["Gpus"][0].items() if name != "GpuPartitionSize"}  # type: ignore[index]
    gpus = [gpu | ({} if share is None else {"GpuPartitionSize": share})]

    assert of(capabilities(ec2_cloud.machine("g6f.2xlarge", GpuInfo={"Gpus": gpus})), "g6f.2xlarge")[1] == count


def test_silence_about_sales_is_null_and_new_classes_are_named() -> None:
    """An answer without SupportedUsageClasses says nothing of them; a class never seen is reported."""
    silent = {"InstanceType": "p5.48xlarge"}
    new = ec2_cloud.machine("p5.4xlarge", "on-demand", "raffle", GpuInfo=ec2_cloud.gpus("H100", 1, 81920))
    said = described(silent, new)

    sold = said.facts["instance_capability"].select("instance_type", pl.col("^supports_.*$")).rows()
    assert sold == [("p5.48xlarge", None, None, None), ("p5.4xlarge", True, False, False)]
    assert said.unknown == ("usage class 'raffle'",)


def test_zones_are_ids() -> None:
    """Trap 21: zone ids from an answer by id; an answer by name gives names and no ids; by region no zone."""
    offered = [
        {"InstanceType": "p5.48xlarge", "LocationType": "availability-zone-id", "Location": "use1-az6"},
        {"InstanceType": "p5.48xlarge", "LocationType": "availability-zone", "Location": "us-east-1a"},
        {"InstanceType": "p5.48xlarge", "LocationType": "region", "Location": "us-east-1"},
        {"InstanceType": "p5.48xlarge", "LocationType": "outpost", "Location": "x"},
        {"InstanceType": "m5.xlarge", "LocationType": "availability-zone-id", "Location": "use1-az6"},
    ]
    said = SOURCE.parse(document({"InstanceTypeOfferings": offered}))

    assert said.facts["instance_zone"].rows() == [
        ("us-east-1", "use1-az6", None, "p5.48xlarge"),
        ("us-east-1", None, "us-east-1a", "p5.48xlarge"),
    ]
    assert said.ignored == {"no_zone": 2, "not_accelerator": 1}
    assert said.unknown == ("location type 'outpost'",)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b"[1]",
        b"{}",
        b'{"InstanceTypes": {}}',
        b'{"InstanceTypes": [5]}',
        b'{"InstanceTypes": [{}]}',
        b'{"InstanceTypeOfferings": [{"InstanceType": "p5.48xlarge"}]}',
        b"<DescribeInstanceTypesResponse ><instanceTypeSet>",
    ],
)
def test_another_layout_is_refused(body: bytes) -> None:
    """HTML, nothing, other JSON, cut XML."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(document(body))


# --- disagreements


def frame_of(**changes: object) -> pl.DataFrame:
    row: dict[str, object] = {
        "region_id": "us-east-1",
        "instance_type": "p4d.24xlarge",
        "api_accelerator_name": "A100",
        "api_accelerator_count": Decimal(8),
        "api_accelerator_memory_gib": Decimal(40),
        "api_neuron_cores_per_accelerator": None,
    }
    return pl.DataFrame([row | changes])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"api_accelerator_count": Decimal(4)}, "accelerator_count is 8 in the table, 4 in the API"),
        ({"api_accelerator_memory_gib": Decimal(80)}, "accelerator_memory_gib is 40 in the table, 80 in the API"),
        ({"api_accelerator_memory_gib": None}, "accelerator_memory_gib is 40 in the table, nothing in the API"),
        ({"api_accelerator_name": "H100"}, "accelerator_name is A100-40GB in the table, H100 in the API"),
        ({"api_neuron_cores_per_accelerator": 2}, "neuron_cores_per_accelerator is nothing in the table, 2 in the API"),
        ({"instance_type": "p9.large"}, "instance_type is nothing in the table, p9.large in the API"),
    ],
)
def test_a_disagreement_is_named(changes: dict[str, object], said: str) -> None:
    """Chip, count, memory, cores, and a type that is not in the table: each by itself, in words."""
    (found,) = instance_types.disagreements(frame_of(**changes), instance_types.read_table())

    assert str(found) == f"{changes.get('instance_type', 'p4d.24xlarge')} in us-east-1: {said}"


def test_an_override_explains() -> None:
    """Where the table says why it differs, nothing is left to say."""
    trn2 = {"instance_type": "trn2.48xlarge", "api_accelerator_name": "Trainium2", "api_accelerator_count": Decimal(16)}
    wrong = frame_of(**trn2, api_accelerator_memory_gib=Decimal(512), api_neuron_cores_per_accelerator=8)
    table = instance_types.read_table()
    without = [fact._replace(override_reason=None) for fact in table]

    assert instance_types.disagreements(wrong, table) == ()
    assert [each.field for each in instance_types.disagreements(wrong, without)] == ["accelerator_memory_gib"]


def test_the_latest_fact_counts() -> None:
    """Of two dated rows of one type the later one is compared."""
    (fact,) = (each for each in instance_types.read_table() if each.instance_type == "p4d.24xlarge")
    later = fact._replace(accelerator_count=Decimal(9), known_from=date(2026, 1, 1))

    (found,) = instance_types.disagreements(frame_of(), [later, fact])
    assert (found.table_value, found.api_value) == ("9", "8")
