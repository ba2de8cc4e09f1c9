"""What the big clouds' machines have: each chip is one that is known, and a second table says the same."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from warehouse.reference import accelerators
from warehouse.reference.cloud_machines import MODEL, CloudMachine, machines

PROVIDERS = ("Azure", "Google Cloud", "Oracle Cloud")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_label_is_a_chip(provider: str) -> None:
    """A machine whose label nobody reads would have no price per chip-hour."""
    unread = {
        one.accelerator_label
        for one in machines(provider).values()
        if accelerators.resolve(one.accelerator_label, provider) is None
    }
    assert unread == set()


def test_every_row_is_of_one_of_them() -> None:
    """A provider written otherwise would be found by no source."""
    assert {row["service_provider_name"] for row in MODEL.read()} == set(PROVIDERS)


def test_sizes_of_azure_are_those_of_its_pages(shared: Path) -> None:
    """Counts as Microsoft's pages state them; a size that they do not state is in no row. A card M60 is two chips."""
    with (shared / "data" / "clouds" / "azure_gpu_sizes.csv").open() as file:
        stated = {
            row["size_name"]: row["accelerator_count"]
            and Decimal(row["accelerator_count"]) * (1 + ("(card)" in row["accelerator"]))
            for row in csv.DictReader(file)
        }
    ours = machines("Azure")
    assert {name: count for name, count in stated.items() if not count and name in ours} == {}
    assert {
        name: one.accelerator_count
        for name, one in ours.items()
        if name in stated and abs(one.accelerator_count - stated[name]) > Decimal("0.0001")
    } == {}


def test_shapes_of_oracle_are_those_of_another_catalogue(shared: Path) -> None:
    """Chips by shape, and the price of a shape as a product of both."""
    prices = {"H100": 10, "MI300X": 6, "A10": 2, "B200": 14}
    with (shared / "data" / "clouds" / "samples" / "oci_gpu_shapes_skypilot_v8.csv").open() as file:
        rows = list(csv.DictReader(file))
    found: dict[str, CloudMachine] = machines("Oracle Cloud")
    assert {row["shape"]: Decimal(row["count"]) for row in rows} == {
        name: one.accelerator_count for name, one in found.items()
    }
    for row in rows:
        if row["accelerator"] in prices:
            assert float(row["usd_per_hour"]) == prices[row["accelerator"]] * int(row["count"])


def test_machines_of_google_are_as_their_source_states(shared: Path) -> None:
    """Cores, memory, chips and local SSD by machine, where both state them."""
    text = (shared / "data" / "clouds" / "samples" / "gcp_machine_types_cyclenerd_gpu.txt").read_text(encoding="utf-8")
    stated: dict[str, dict[str, Decimal]] = {}
    for line in text.splitlines():
        name, _, value = line.split("#")[0].strip().partition(":")
        if name and not value:
            stated[name] = {}
        elif name:
            stated[list(stated)[-1]][name] = Decimal(value.strip())
    compared = 0
    for name, one in machines("Google Cloud").items():
        if found := stated.get(name):
            chips = [value for part, value in found.items() if part not in ("cpu", "ram", "local-ssd")]
            assert (found["cpu"], found["ram"], *chips) == (one.vcpus, one.host_memory_gib, one.accelerator_count), name
            assert found.get("local-ssd", Decimal(0)) == (one.local_ssd_gb or 0), name
            compared += 1
    assert compared >= 20
