"""Every captured answer of a provider is read: so many rows, none of them wrong, none refused."""

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest
from neoclouds.case import document, rows

from extract import source_named
from extract.base import Parsed
from warehouse.log.gates import row_gate


class Capture(NamedTuple):
    """A file, the source that reads it, its scope, and the rows and facts that it gives.

    `refused` are the rows that the row gate does not take: a collector's region "unknown".
    """

    path: str
    source: str
    scope: str
    n_rows: int
    facts: int = 0
    refused: int = 0


CAPTURES = (
    Capture("neoclouds/coreweave/pricing_na_2026-10_first6.html", "coreweave", "all", 10),
    Capture("neoclouds/coreweave/pricing_na_eu_2026-08.html", "coreweave", "all", 41),
    Capture("neoclouds/crusoe/pricing_2026-10.html", "crusoe", "all", 6),
    Capture("neoclouds/digitalocean/droplets_pricing_2026-08-18.html", "digitalocean", "page", 19),
    Capture("neoclouds/hotaisle/pricing_2026-08.html", "hotaisle", "all", 5),
    Capture("neoclouds/hyperstack/gpu-pricing_2026-10_cards.html", "hyperstack", "all", 30),
    Capture("neoclouds/lambda/pricing_2026-08_markup.html", "lambda", "all", 28),
    Capture("neoclouds/nebius/prices_layout3_2026-10.html", "nebius", "all", 14),
    Capture("neoclouds/scaleway/products_servers_fr-par-2_2026-08_page1.json", "scaleway", "fr-par-2", 12),
    Capture("neoclouds/voltagepark/locations_2026-08-22.json", "voltagepark", "all", 2, 2),
    Capture("aws/capacity_block_page_script_2026-04_layout.html", "aws_capacity_block_rates", "published", 2),
    Capture("aws/capacity_block_published_rates_20260301.json", "aws_capacity_block_rates", "all", 62, refused=4),
    Capture("aws/capacity_block_rates_collector_2026-07-22.json", "aws_capacity_block_rates", "all", 69),
    Capture("aws/describe_instance_types_2021.json", "aws_instance_types", "us-east-1", 0, 7),
    Capture("aws/describe_instance_types_accelerators_20250314.json.gz", "aws_instance_types", "us-east-1", 0, 74),
    Capture("aws/pricing_get_products_eu_west_1.json", "aws_price_list", "eu-west-1", 4),
    Capture("aws/pricing_get_products_unused_reservation_af_south_1.json", "aws_price_list", "af-south-1", 0),
    Capture("aws/web_metered_unit_map_us_east_1_2026-10_trimmed.json", "aws_price_pages", "us-east-1", 10),
    Capture("aws/spot_advisor_data_20210210.json.gz", "aws_spot_feed", "advisor", 0, 331),
)
"""As counted by hand in each file."""
NOT_READ = {
    "aws/capacity_block_refusals.json": "codes of refusals, which no source reads as an answer",
    "aws/cloudinfo_products_eu_west_1.json": "figures that another program derived",
    "aws/trainium_spot_observed_sa_east_1_20261003.csv": "typed rows: tests/extract/test_price_archive.py",
    "aws/vantage_instances_gpu_china_20260121.json.gz": "figures that another site collected",
}
CRUSOE = {
    "NVIDIA H200 141GB HGX": "4.29", "NVIDIA H100 80GB HGX": "3.90", "NVIDIA A100 80GB SXM": "2.30",
    "NVIDIA A100 80GB PCIe": "2.00", "NVIDIA L40S 48GB": "1.50", "AMD MI300X 192GB": "3.45",
}  # fmt: skip
DIGITALOCEAN = {
    ("AMD MI300X", "1"): "2.59", ("AMD MI300X", "8"): "20.72", ("AMD MI325X", "1"): "3.80",
    ("AMD MI325X", "8"): "30.40", ("NVIDIA H100", "1"): "4.41", ("NVIDIA H100", "8"): "35.28",
    ("NVIDIA L40s", "1"): "1.57", ("NVIDIA RTX 4000", "1"): "0.76", ("NVIDIA RTX 6000", "1"): "1.57",
    ("NVIDIA H200", "1"): "4.47", ("NVIDIA H200", "8"): "35.76", ("AMD MI350X", "1"): "4.00",
    ("AMD MI350X", "8"): "32.00", ("AMD MI355X", "1"): "4.50", ("AMD MI355X", "8"): "36.00",
    ("NVIDIA B300", "1"): "11.19", ("NVIDIA B300", "8"): "89.52",
}  # fmt: skip
ON_SPOT = {"AMD MI350X", "AMD MI355X", "NVIDIA B300"}


def read(shared: Path, capture: Capture) -> Parsed:
    body = (shared / "data/captures" / capture.path).read_bytes()
    source = source_named(capture.source)
    return source.parse(
        document(source, gzip.decompress(body) if capture.path.endswith(".gz") else body, capture.scope)
    )


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.path)
def test_a_capture_gives_its_rows(shared: Path, capture: Capture) -> None:
    """As many as were counted by hand; the row gate takes each."""
    found = read(shared, capture)

    assert (len(found.rows), sum(map(len, found.facts.values()))) == (capture.n_rows, capture.facts)
    assert found.refused == ()
    assert len(row_gate(found.rows)[1]) == capture.refused


def test_captured_spot_histories_give_each_change_of_a_price(shared: Path) -> None:
    """Of Linux, by zone: without records that repeat the price before, but with the last one."""
    for path in sorted((shared / "data/captures/aws").glob("spot_history_*.json*")):
        region = "-".join(path.name.split("_")[2:5])
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        records = [one for one in json.loads(body)["SpotPriceHistory"] if one["ProductDescription"] == "Linux/UNIX"]
        changes = []
        for zone in {one["AvailabilityZone"] for one in records if not one["InstanceType"].startswith("m5")}:
            of_zone = [one for one in records if one["AvailabilityZone"] == zone]
            prices = [Decimal(one["SpotPrice"]) for one in sorted(of_zone, key=lambda one: one["Timestamp"])]
            places = [place for place in range(len(prices)) if place == 0 or prices[place] != prices[place - 1]]
            changes += [(zone, prices[place]) for place in {*places, len(prices) - 1}]
        found = read(shared, Capture(f"aws/{path.name}", "aws_spot", region, 0)).rows

        read_prices = sorted(
            (zone, Decimal(price)) for zone, price in found.select("availability_zone", "unit_price").rows()
        )
        assert read_prices == sorted(changes), path.name


def test_every_capture_is_named(shared: Path) -> None:
    """A capture that nobody reads would prove nothing."""
    folder = shared / "data/captures"
    files = {str(path.relative_to(folder)) for path in folder.glob("*/**/*") if path.is_file()}

    files = {name for name in files if ".expected." not in name and not name.startswith("aws/spot_history_")}
    assert files == {one.path for one in CAPTURES} | {*NOT_READ}


def test_prices_of_captures_without_a_table_are_those_typed_from_them(shared: Path) -> None:
    """Crusoe, DigitalOcean and Voltage Park; tests/extract/test_price_archive.py has the others."""
    crusoe, digitalocean, voltagepark = (
        rows(read(shared, next(one for one in CAPTURES if one.source == name)))
        for name in ("crusoe", "digitalocean", "voltagepark")
    )

    assert {row["accelerator_label"]: Decimal(row["unit_price"]) for row in crusoe} == {
        label: Decimal(price) for label, price in CRUSOE.items()
    }
    assert {
        (row["accelerator_label"], row["accelerator_count"]): Decimal(row["unit_price"]) for row in digitalocean
    } == {key: Decimal(price) for key, price in DIGITALOCEAN.items()}
    assert {row["accelerator_label"] for row in digitalocean if row["purchase_option"] == "spot"} == ON_SPOT
    assert {row["fabric"]: row["unit_price"] for row in voltagepark} == {"Ethernet": "1.99", "InfiniBand": "2.49"}


def test_nebius_as_a_reader_sees_it(shared: Path) -> None:
    """The rendered tables of October 2026, as their expected file has them."""
    folder = shared / "data/captures/neoclouds/nebius"
    expected = json.loads((folder / "prices_layout3_2026-10.expected.json").read_text())
    found = rows(read(shared, next(one for one in CAPTURES if one.source == "nebius")))

    def words(label: str) -> str:
        return label.removeprefix("NVIDIA ").replace("with ", "").removesuffix(" CPU")

    for option, key in (("on_demand", "on_demand_from_2026-10-01"), ("spot", "spot_from_price_only")):
        prices = {
            words(row["accelerator_label"]): float(row["unit_price"])
            for row in found
            if row["purchase_option"] == option
        }
        assert prices == expected[key]
    assert {row["statistic"] for row in found if row["purchase_option"] == "spot"} == {"floor"}
