"""The table of accelerators: its errors are named, AWS's own answer agrees with it, every type seen is in it."""

import csv
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import botocore.loaders
import pytest

from warehouse.errors import ChipledgerError
from warehouse.reference import instance_types
from warehouse.reference.instance_types import InstanceType
from warehouse.schema import tables

HEADER = (
    "instance_type,accelerator_name,accelerator_vendor,accelerator_kind,accelerator_count,capacity_unit,"
    "accelerator_memory_gib,neuron_cores_per_accelerator,form_factor,known_from,override_reason,source_url,accessed_on"
)
MADE_UP = "trn9.48xlarge,Trainium9,AWS,neuron,16,instance,144,8,,,,https://example.com/trn9,2026-11-21"
"""No such type exists; rows of this test are invented."""

SEEN_IN = (
    "aws_accelerator_instances.csv",
    "aws_on_demand_observations.csv",
    "aws_multi_region_2025_2026.csv",
    "aws_reserved_and_on_demand_2013_2017.csv",
    "aws_capacity_block_rates_history.csv",
    "aws_spot_p_family_2026_us.csv",
    "aws_accelerator_offerings_by_az.csv",
)
CAPTURE = "describe-instance-types-capture"

Told = tuple[Decimal | None, Decimal | None, Decimal | None]
"""Count, memory in GiB and NeuronCores."""


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: str, header: str = HEADER) -> Path:
        path = tmp_path / "types.csv"
        path.write_text("\n".join((header, *rows)) + "\n")
        return path

    return write


def by_type() -> dict[str, InstanceType]:
    return {fact.instance_type: fact for fact in instance_types.read_table()}


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def as_told(row: dict[str, str]) -> Told:
    """Return what AWS tells of a type, in the table's units."""
    memory = row["memory_mib_per_accelerator"]
    cores = row["neuron_cores_per_device"]
    return (
        Decimal(row["accelerator_count"]) if row["accelerator_count"] else None,
        (Decimal(memory) / 1024).quantize(Decimal("0.0001")) if memory else None,
        Decimal(cores) if cores else None,
    )


def as_kept(fact: InstanceType) -> Told:
    cores = fact.neuron_cores_per_accelerator
    return fact.accelerator_count, fact.accelerator_memory_gib, None if cores is None else Decimal(cores)


def told_by_aws(shared: Path) -> dict[str, tuple[Told, bool]]:
    """Return, for each type, what AWS tells and whether it is the API itself that does."""
    told: dict[str, tuple[Told, bool]] = {}
    for row in read_csv(shared / "data" / "aws_accelerator_instances.csv"):
        is_capture = row["source"] == CAPTURE
        if is_capture or row["instance_type"] not in told:
            told[row["instance_type"]] = as_told(row), is_capture
    return told


def test_columns_are_those_of_the_table() -> None:
    """A fact is inserted as it is read, so its fields are the columns of ref.instance_type, in order."""
    (table,) = (table for table in tables.TABLES if table.name == "instance_type")
    assert InstanceType._fields == table.columns


def test_rows_are_sorted() -> None:
    """Seeds are sorted, so that a change reads as one line."""
    keys = [(fact.instance_type, fact.known_from or date.min) for fact in instance_types.read_table()]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("name", "chip", "count", "unit", "memory", "cores"),
    [
        ("p5.48xlarge", "H100", "8", "instance", "80", None),
        ("p5.4xlarge", "H100", "1", "instance", "80", None),
        ("p4d.24xlarge", "A100-40GB", "8", "instance", "40", None),
        ("p4de.24xlarge", "A100-80GB", "8", "instance", "80", None),
        ("p5en.48xlarge", "H200", "8", "instance", "141", None),
        ("p6e-gb200.36xlarge", "GB200", "4", "instance", None, None),
        ("u-p6e-gb200x36", "GB200", "36", "UltraServer", None, None),
        ("u-p6e-gb200x72.metal", "GB200", "72", "UltraServer", None, None),
        ("u-trn2x64", "Trainium2", "64", "UltraServer", "96", 8),
        ("trn2.3xlarge", "Trainium2", "1", "instance", "96", 8),
        ("trn1n.32xlarge", "Trainium1", "16", "instance", "32", 2),
        ("inf1.24xlarge", "Inferentia1", "16", "instance", "8", 4),
        ("inf2.48xlarge", "Inferentia2", "12", "instance", "32", 2),
        ("g6.48xlarge", "L4", "8", "instance", "24", None),
        ("g6f.large", "L4", "0.125", "instance", "3", None),
        ("p2.xlarge", "K80", "1", "instance", "12", None),
    ],
)
def test_fact(name: str, chip: str, count: str, unit: str, memory: str | None, cores: int | None) -> None:
    """Counts are AWS's, fractions exact, memory that of one chip or of the fraction sold."""
    fact = by_type()[name]
    assert (chip, Decimal(count), unit) == (fact.accelerator_name, fact.accelerator_count, fact.capacity_unit)
    assert (None if memory is None else Decimal(memory)) == fact.accelerator_memory_gib
    assert cores == fact.neuron_cores_per_accelerator


def test_every_disagreement_with_aws_has_its_reason(shared: Path) -> None:
    """Where the table and DescribeInstanceTypes differ, it says why; where it says why, they differ."""
    told = told_by_aws(shared)
    differing = {name for name, fact in by_type().items() if name in told and differs(fact, *told[name])}
    with_reason = {name for name, fact in by_type().items() if fact.override_reason}
    assert sorted(with_reason) == sorted(differing)


def differs(fact: InstanceType, told: Told, is_capture: bool) -> bool:
    """Return whether the table departs from AWS; a silent page is no statement, a silent API is one."""
    pairs = zip(as_kept(fact), told, strict=True)
    return any(kept != said for kept, said in pairs if is_capture or said is not None)


def test_every_type_seen_is_covered(shared: Path) -> None:
    """A type with a published price has an entry."""
    seen = {row["instance_type"] for name in SEEN_IN for row in read_csv(shared / "data" / name)}
    assert len(seen) > 100
    assert sorted(seen - by_type().keys()) == []


def test_generated_price_list_is_covered(shared: Path) -> None:
    """So has each accelerator type of the generated bulk price list."""
    text = (shared / "tools" / "make_offer_csv.py").read_text()
    named = set(re.findall(r'^ {4}"([\w-]+\.\w+)": \(', text, flags=re.M))
    assert "u-p6e-gb200x72.metal" in named
    assert sorted(named - by_type().keys()) == []


def test_types_known_to_the_sdk_are_covered() -> None:
    """No accelerator type of botocore's list of instance types lacks an entry, and no CPU type is taken for one."""
    model = botocore.loaders.Loader().load_service_model("ec2", "service-2")
    known = set(model["shapes"]["InstanceType"]["enum"])
    accelerated = {name for name in known if instance_types.ACCELERATOR_TYPE.match(name)}
    assert sorted(accelerated - by_type().keys()) == []
    assert {"g6f", "gr6", "p6e-gb200", "trn2u", "vt1"} <= {name.split(".")[0] for name in accelerated}
    assert {"u7i-12tb", "u-6tb1", "i4i", "c7gn", "hpc7g", "mac2"}.isdisjoint(name.split(".")[0] for name in accelerated)


def test_missing_names_accelerators_only() -> None:
    """A new accelerator family is named, also as an UltraServer or in SageMaker's spelling; CPU types are not."""
    seen = [
        "trn3.48xlarge",
        "p5.48xlarge",
        "m5.xlarge",
        "u-trn3x144",
        "ml.p5.48xlarge",
        "u7i-12tb.224xlarge",
        "g9.large",
    ]
    accelerated = {name for name in seen if instance_types.ACCELERATOR_TYPE.match(name)}
    assert accelerated - by_type().keys() == {"g9.large", "ml.p5.48xlarge", "trn3.48xlarge", "u-trn3x144"}


def test_trainium3_has_no_row() -> None:
    """AWS has published no instance type of Trainium3, so the table has none."""
    assert [fact for fact in instance_types.read_table() if "trn3" in fact.instance_type] == []


def test_a_future_type_is_one_row(table: Callable[..., Path]) -> None:
    """A type that does not exist yet takes one row; a fact that changes takes a second with its date."""
    later = MADE_UP.replace(",144,8,,,", ",160,8,,2027-01-01,")
    first, second = instance_types.read_table(table(MADE_UP, later))
    assert first == InstanceType(
        instance_type="trn9.48xlarge",
        accelerator_name="Trainium9",
        accelerator_vendor="AWS",
        accelerator_kind="neuron",
        accelerator_count=Decimal(16),
        capacity_unit="instance",
        accelerator_memory_gib=Decimal(144),
        neuron_cores_per_accelerator=8,
        form_factor=None,
        known_from=None,
        override_reason=None,
        source_url="https://example.com/trn9",
        accessed_on=date(2026, 11, 21),
    )
    assert (Decimal(160), date(2027, 1, 1)) == (second.accelerator_memory_gib, second.known_from)


@pytest.mark.parametrize(
    ("found", "replaced", "field"),
    [
        (",16,", ",sixteen,", "accelerator_count"),
        (",16,", ",NaN,", "accelerator_count"),
        (",16,", ",0,", "accelerator_count"),
        (",16,", ",0.33333,", "accelerator_count"),
        (",16,", ",,", "accelerator_count"),
        (",144,", ",-1,", "accelerator_memory_gib"),
        (",8,", ",2.5,", "neuron_cores_per_accelerator"),
        (",instance,", ",rack,", "capacity_unit"),
        (",neuron,", ",abacus,", "accelerator_kind"),
        ("Trainium9", " ", "accelerator_name"),
        ("https://example.com/trn9", "", "source_url"),
        ("2026-11-21", "21/11/2026", "accessed_on"),
        (",2026-11-21", "", "instance_type"),
        ("2026-11-21", "2026-11-21,more", "instance_type"),
    ],
)
def test_unusable_fact_is_named(table: Callable[..., Path], found: str, replaced: str, field: str) -> None:
    """A fact that cannot be used is refused with line, field and value, never skipped or guessed."""
    row = MADE_UP.replace(found, replaced, 1)
    assert row != MADE_UP
    with pytest.raises(ChipledgerError, match="line 2") as caught:
        instance_types.read_table(table(row))
    assert (field, "types.csv") == (caught.value.field, caught.value.source)


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        (HEADER + ",colour", [MADE_UP + ",red"], "colour"),
        (HEADER.replace(",source_url", ""), [MADE_UP], "source_url"),
        (HEADER, [MADE_UP, MADE_UP], "a second row for the same type"),
        (HEADER, [], "the table is empty"),
        (HEADER, ['"trn9'], "not CSV"),
    ],
)
def test_unusable_table_is_named(table: Callable[..., Path], header: str, rows: list[str], words: str) -> None:
    """Unknown or absent columns, a fact told twice, an empty or broken table are refused by name."""
    with pytest.raises(ChipledgerError, match=words):
        instance_types.read_table(table(*rows, header=header))
