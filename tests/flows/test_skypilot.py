"""Catalogues for SkyPilot: its columns and types, and what its reader asserts of them."""

import ast
import csv
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from looks import row
from purchase import P5, Put, block, plan, putting, said, seen, spot

from flows.export import skypilot
from warehouse.errors import ChipledgerError

NUMBERS = ("AcceleratorCount", "vCPUs", "MemoryGiB", "Price", "SpotPrice")
NORTH = "eu-north-1"


def zone(instance_type: str, zone_id: str) -> dict[str, object]:
    """Return the fact that a type is offered in a zone."""
    return {
        "region_id": "us-east-1", "availability_zone_id": zone_id, "availability_zone": None,
        "instance_type": instance_type,
    }  # fmt: skip


def market(put: Put) -> Path:
    """Publish prices of two regions, with three zones of one type."""
    return put(
        seen(
            0, "aws_price_list", row(P5, "55.04"), row("g6f.xlarge", "0.2417"), row("p3.2xlarge", "3.06"),
            row("p3dn.24xlarge", "31.212"), row("f2.6xlarge", "1.98"), row("p4d.24xlarge", "0.5", tier="odd"),
            row("trn1.32xlarge", "21.5"),
        ),
        seen(
            0, "aws_price_list", row(P5, "68.8", region_id=NORTH), row("dl1.24xlarge", "13", region_id=NORTH),
            scope=NORTH,
        ),
        seen(0, "aws_savings_plans", plan(P5, "36")), seen(0, "aws_capacity_blocks", block(P5, "31")),
        seen(0, "aws_spot", spot(P5, "use1-az1", "30.1234"), spot("p3.2xlarge", "use1-az1", "1"),
             spot("p3.2xlarge", "use1-az2", "1.1")),
        said(0, "aws_instance_types", "instance_zone", zone(P5, "use1-az1"), zone(P5, "use1-az6")),
        at=0.1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the published file; copy it, to change it."""
    with putting(tmp_path_factory.mktemp("skypilot"), asked=("accelerator_hour_price", "spot_region_price")) as put:
        return market(put)


@pytest.fixture(scope="module")
def exported(file: Path) -> Iterator[tuple[list[dict[str, str]], dict[str, int]]]:
    """The rows of the catalogue of AWS, and what was left out of it."""
    (written,) = skypilot.export(file, file.parent / "out")
    assert written.file == file.parent / "out" / "aws" / "vms.csv"
    with written.file.open(encoding="utf-8", newline="") as text:
        yield list(csv.DictReader(text)), written.left_out


def test_the_columns_are_those_of_its_schema(exported: tuple[list[dict[str, str]], dict[str, int]]) -> None:
    """Columns in SkyPilot's spelling; numbers are numbers or empty; GpuInfo is a literal with a chip's memory."""
    rows, _ = exported
    assert list(rows[0]) == [
        "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "GpuInfo", "Price", "SpotPrice",
        "Region", "AvailabilityZone",
    ]  # fmt: skip
    for line in rows:
        assert all(float(line[name]) > 0 for name in NUMBERS if line[name])
        assert line["Price"] or line["SpotPrice"]
        (chip,) = ast.literal_eval(line["GpuInfo"])["Gpus"]
        assert (chip["Name"], chip["Count"]) == (line["AcceleratorName"], float(line["AcceleratorCount"]))
        assert chip["MemoryInfo"]["SizeInMiB"] > 0


def test_prices_stand_where_they_belong(exported: tuple[list[dict[str, str]], dict[str, int]]) -> None:
    """One on-demand price in all zones of a region, a spot price in its own; no plan and no block."""
    rows, _ = exported
    machines = {
        (line["InstanceType"], line["Region"], line["AvailabilityZone"]): (line["Price"], line["SpotPrice"])
        for line in rows
    }
    assert machines == {
        (P5, "us-east-1", "use1-az1"): ("55.04", "30.1234"), (P5, "us-east-1", "use1-az6"): ("55.04", ""),
        (P5, NORTH, ""): ("68.8", ""), ("g6f.xlarge", "us-east-1", ""): ("0.2417", ""),
        ("p3dn.24xlarge", "us-east-1", ""): ("31.212", ""), ("trn1.32xlarge", "us-east-1", ""): ("21.5", ""),
        ("dl1.24xlarge", NORTH, ""): ("13", ""),
    }  # fmt: skip
    chips = {line["InstanceType"]: (line["AcceleratorName"], line["AcceleratorCount"], line["vCPUs"]) for line in rows}
    assert chips == {
        P5: ("H100", "8", "192.0"), "g6f.xlarge": ("L4", "0.125", "4.0"), "trn1.32xlarge": ("Trainium", "16", "128.0"),
        "p3dn.24xlarge": ("V100-32GB", "8", "96.0"), "dl1.24xlarge": ("Gaudi HL-205", "8", ""),
    }  # fmt: skip


def test_its_reader_can_take_every_type(exported: tuple[list[dict[str, str]], dict[str, int]]) -> None:
    """What it asserts: one price of a type in a region, one number of vCPUs and of memory, zones of one region only."""
    prices, hosts, regions = defaultdict(set), defaultdict(list), defaultdict(set)
    rows, left_out = exported
    for line in rows:
        prices[line["InstanceType"], line["Region"]].add(line["Price"])
        hosts[line["InstanceType"]].append((line["vCPUs"], line["MemoryGiB"]))
        if line["AvailabilityZone"]:
            regions[line["AvailabilityZone"]].add(line["Region"])
    assert {len(found) for found in (*prices.values(), *regions.values())} == {1}
    for told in hosts.values():
        assert len(set(told)) == 1
        assert "" not in told[0] or len(told) == 1
    assert left_out == {"aws, vCPUs or memory unknown": 1, "aws, chip without a name of SkyPilot's": 1}


def test_two_prices_of_one_machine_are_none() -> None:
    """A machine with a second price is left out: which of them is meant is not told."""
    price = {
        "instance_type": "8x", "region_id": "r", "availability_zone_id": None, "purchase_option": "on_demand",
        "accelerator_name": "H100", "accelerator_vendor": "NVIDIA", "accelerator_count": 8,
        "accelerator_memory_gib": 80, "unit_price": 1, "is_current": True,
    }  # fmt: skip
    machines, left_out = skypilot.catalogue([price, price | {"unit_price": 2}], {}, {})
    assert (machines, left_out) == ([], {"several prices of one machine": 1})
    assert [machine.Price for machine in skypilot.catalogue([price], {}, {})[0]] == [1]
    # A scheduler knows a Local Zone as a zone of its region, which the price list does not name.
    assert skypilot.catalogue([price | {"region_id": "us-west-2-lax-1"}], {}, {}) == ([], {"Local Zone, no region": 1})
    assert skypilot.catalogue([price | {"region_id": None}], {}, {}) == ([], {"region unknown": 1})


def test_old_prices_are_not_exported(file: Path, tmp_path: Path) -> None:
    """A file without a current price makes no catalogue: SkyPilot would take old ones for today's."""
    file = Path(shutil.copy(file, tmp_path))
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("update int.accelerator_hour_price set is_current = false")
    with pytest.raises(ChipledgerError, match="no price of a machine is current") as caught:
        skypilot.export(file, tmp_path / "out")
    assert "aws, not current: 11" in str(caught.value.value)
    assert not (tmp_path / "out").exists()
