"""Every way to buy, from published data at hand: the prices that the data states, each with its date and source."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import kept
import pytest
from few_marts import published_with
from scripts import script

BENCH = Path(__file__).parents[2] / "bench" / "real_options.py"
EAST_1, EAST_2 = "us-east-1", "us-east-2"
SPOT = "import:trainium_spot_observed_20261003"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Return the script that builds the warehouse and prints the table."""
    return script("bench/real_options.py")


@pytest.fixture(scope="module")
def file(bench: ModuleType, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the published file of all the data."""

    def make(folder: Path) -> None:
        with published_with("aws_purchase_options"):
            bench.build(shared, folder)

    folder = kept.once(tmp_path_factory, "real", make)
    return next(folder.rglob("prices.duckdb"))


@pytest.fixture(scope="module")
def rows(bench: ModuleType, file: Path) -> list[dict[str, Any]]:
    """Return the table."""
    table: list[dict[str, Any]] = bench.table(file)
    return table


def only(rows: list[dict[str, Any]], instance_type: str, region: str, option: str) -> dict[str, Any]:
    """Return the one row of a type, region and option."""
    (row,) = (row for row in rows if (row["type"], row["region"], row["option"]) == (instance_type, region, option))
    return row


def lines(file: Path) -> Iterator[dict[str, str]]:
    """Yield the lines of a CSV, read by the csv module alone."""
    with file.open(newline="", encoding="utf-8") as text:
        yield from csv.DictReader(text)


@pytest.mark.parametrize(
    ("instance_type", "region", "option", "hourly", "chip"),
    [
        ("p5.48xlarge", EAST_1, "on_demand", 55.04, 6.88),
        ("p5en.48xlarge", EAST_1, "on_demand", 63.296, 7.912),
        ("p4d.24xlarge", EAST_1, "on_demand", 21.957642, 2.74470525),
        ("p4d.24xlarge", EAST_2, "on_demand", 21.95764, 2.744705),
        ("trn1.32xlarge", EAST_1, "on_demand", 21.50, 1.34375),
        ("inf2.48xlarge", EAST_1, "on_demand", 12.98127, 1.0817725),
        ("p6-b200.48xlarge", EAST_1, "on_demand", 113.9328, 14.2416),
        ("p4d.24xlarge", EAST_1, "reserved", 13.921094, 1.74013675),
        ("p5.48xlarge", EAST_1, "capacity_block", 41.528, 5.191),
        ("p5en.48xlarge", EAST_1, "capacity_block", 54.92, 6.865),
        ("p6-b200.48xlarge", EAST_1, "capacity_block", 98.84, 12.355),
        ("trn1.32xlarge", EAST_1, "capacity_block", 9.532, 0.59575),
        ("trn2.48xlarge", EAST_2, "capacity_block", 35.7608, 2.23505),
        ("trn2.48xlarge", EAST_2, "spot", 14.5593, 0.90995625),
        ("trn1.32xlarge", EAST_2, "spot", 2.15, 0.134375),
        ("inf2.48xlarge", EAST_2, "spot", 1.2981, 0.108175),
    ],
)
def test_price_is_what_the_data_states(
    rows: list[dict[str, Any]], instance_type: str, region: str, option: str, hourly: float, chip: float
) -> None:
    """The price of the machine and of one chip."""
    row = only(rows, instance_type, region, option)
    assert float(row["effective_hourly_price"]) == pytest.approx(hourly, rel=1e-12)
    assert float(row["price_per_accelerator_hour"]) == pytest.approx(chip, rel=1e-12)


def test_every_priced_row_has_a_date_and_a_source_and_none_is_current(rows: list[dict[str, Any]]) -> None:
    """All of it is of the past, and says of when and of whom."""
    priced = [row for row in rows if row["effective_hourly_price"] is not None]
    assert len(priced) >= 30
    for row in priced:
        assert isinstance(row["last_observed_at"], datetime)
        assert row["source"]
        assert row["is_current"] is False
        assert row["unknown_reason"] is None


def test_dates_are_those_of_the_sources(rows: list[dict[str, Any]]) -> None:
    """Spot is of 3 October 2026, published rates of 22 July 2026, whenever they were imported."""
    days = {row["source"]: row["last_observed_at"].date().isoformat() for row in rows if row["effective_hourly_price"]}
    assert days == {
        SPOT: "2026-10-03",
        "aws_capacity_block_rates": "2026-07-22",
        "import:tsaol/aws-gpu": "2025-11-30",
    }


def test_every_blank_has_a_reason(bench: ModuleType, rows: list[dict[str, Any]]) -> None:
    """A row without a price says why; each type and region has a row."""
    blank = [row for row in rows if row["effective_hourly_price"] is None]
    assert blank
    assert all(row["unknown_reason"] for row in blank)
    assert {(row["type"], row["region"]) for row in rows} == {(t, r) for t in bench.TYPES for r in bench.REGIONS}


def test_trn2_has_no_on_demand_price_but_a_reason(rows: list[dict[str, Any]]) -> None:
    """No file states one; the Capacity Block rate does not take its place."""
    row = only(rows, "trn2.48xlarge", EAST_2, "on_demand")
    assert row["effective_hourly_price"] is None
    assert row["unknown_reason"].startswith("not collected: no good fetch of aws_price_list")
    (nowhere,) = (row for row in rows if (row["type"], row["region"]) == ("trn2.48xlarge", EAST_1))
    assert nowhere["option"] is None
    assert nowhere["unknown_reason"]


def test_options_are_never_mixed(rows: list[dict[str, Any]], shared: Path) -> None:
    """Each price is one that a file states for that very option; the files are read here by other code."""
    data, samples = shared / "data", shared / "data" / "aws_samples"
    stated: dict[tuple[str, str, str], set[Decimal]] = defaultdict(set)
    for line in lines(data / "aws_on_demand_observations.csv"):
        if line["usd_per_hour"]:
            stated[line["instance_type"], line["region"], "on_demand"].add(Decimal(line["usd_per_hour"]))
    for line in lines(data / "aws_multi_region_2025_2026.csv"):
        if line["usd_per_hour"]:
            option = "on_demand" if line["term"] == "onDemand" else "reserved"
            stated[line["instance_type"], line["region"], option].add(Decimal(line["usd_per_hour"]))
    for line in lines(samples / "trainium_spot_observed_20261003.csv"):
        if line["spot_usd_per_hour"]:
            stated[line["instance_type"], line["region"], "spot"].add(Decimal(line["spot_usd_per_hour"]))
    published = json.loads((samples / "capacity_block_published_rates_20260722.json").read_text(), parse_float=Decimal)
    for name, machine in published["instance_types"].items():
        for place in machine["pricing"]:
            stated[name, place["region_code"], "capacity_block"].add(Decimal(place["hourly_rate_usd"]))

    priced = {
        (row["type"], row["region"], row["option"]): round(Decimal(row["effective_hourly_price"]), 10)
        for row in rows
        if row["effective_hourly_price"] is not None
    }
    assert len(priced) == sum(row["effective_hourly_price"] is not None for row in rows)
    for key, price in priced.items():
        assert price in stated[key], key
    assert {key for key in stated if key[0] in {row["type"] for row in rows} and key[1] in (EAST_1, EAST_2)} == set(
        priced
    )


def test_reserved_class_is_unknown_as_the_import_format_has_none(rows: list[dict[str, Any]]) -> None:
    """The term and the payment are known, the class is not."""
    row = only(rows, "p4d.24xlarge", EAST_1, "reserved")
    assert (row["term_hours"], row["payment"], row["offering_class"]) == (8760, "No Upfront", None)


def test_capacity_block_rate_is_derived_only_where_the_minutes_are_known(file: Path) -> None:
    """858.26 for the 24 hours of 3 October is a rate; 308.14 for "8 hours" is none."""
    with duckdb.connect(str(file), read_only=True) as con:
        found = con.execute(
            "select region_id, instance_type, effective_hourly_price from int.aws_purchase_options "
            "where source like 'import:capacity_block%' and effective_hourly_price is not null"
        ).fetchall()
    assert found == [("ap-south-2", "trn2.48xlarge", pytest.approx(858.26 / 24, abs=1e-9))]


def test_nothing_is_refused(bench: ModuleType, file: Path) -> None:
    """Every row that the script makes or hands on is one that the import and the source take."""
    assert bench.refused(file) == []


def test_zones_that_differ_give_no_regional_price(bench: ModuleType, tmp_path: Path) -> None:
    """A price that is not that of every zone seen does not stand for the region."""
    (tmp_path / "spot.csv").write_text(
        "observed_at_utc,region,availability_zone,instance_type,spot_usd_per_hour\n"
        "2026-10-03T02:19:00Z,us-east-2,us-east-2a,inf2.48xlarge,1.2981\n"
        "2026-10-03T02:19:00Z,us-east-2,us-east-2b,inf2.48xlarge,1.5\n"
        "2026-10-03T02:19:00Z,us-east-2,us-east-2c,trn1.32xlarge,2.1500\n"
        "2026-10-03T02:19:00Z,us-east-2,us-east-2a,trn1.32xlarge,2.15\n"
    )
    assert [(row["instance_type"], row["usd_per_hour"]) for row in bench.spot(tmp_path / "spot.csv")] == [
        ("trn1.32xlarge", Decimal("2.15"))
    ]
