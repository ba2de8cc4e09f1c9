"""What the big clouds' machines have: each chip is one that is known, and a second table says the same."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from warehouse.reference import accelerators
from warehouse.reference.cloud_machines import MODEL, CloudMachine, _server, _servers, known, machines

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


@pytest.mark.parametrize(
    ("name", "chips"),
    [
        ("Standard_ND96is_H100_v5", ("NVIDIA H100 SXM 80GB", 8, None)),
        ("Standard_ND96is_noIB_H100_v5", ("NVIDIA H100 SXM 80GB", 8, None)),
        ("Standard_ND96isrf_H200_v5", ("NVIDIA H200 SXM 141GB", 8, "InfiniBand")),
        ("Standard_ND96is_MI300X_v5", ("AMD MI300X", 8, None)),
        ("Standard_ND128isrf_NDR_GB200_v6", ("NVIDIA GB200", 4, "InfiniBand")),
        ("Standard_ND96ams_A100_v4", ("NVIDIA A100 SXM 80GB", 8, None)),
        ("Standard_ND96as_A100_v4", None),  # with less memory a server has other chips
        ("Standard_ND48is_H100_v5", None),
        ("Standard_ND40s_v2", None),  # says no chip, and had half the memory of ND40rs_v2
        ("Standard_NC32ads_A10_v4", None),
        ("Standard_NV28ads_V710_v5", None),
        ("Standard_NC264ds_xl_RTXPRO6000BSE_v6", None),
    ],
)
def test_a_size_without_a_page_has_the_chips_of_the_same_server(
    name: str, chips: tuple[str, int, str | None] | None
) -> None:
    """Its name differs in the network, or in what an isolated size, which is a whole server, may differ in."""
    found = known("Azure", name)
    assert (found and (found.accelerator_label, found.accelerator_count, found.fabric)) == chips
    assert found is None or found.instance_type == name
    for one in machines("Azure").values():  # no two sizes with pages say otherwise
        same = _servers("Azure").get(_server(one.instance_type), one)
        assert (one.accelerator_label, one.accelerator_count) == (same.accelerator_label, same.accelerator_count)


@pytest.mark.parametrize(
    ("preview", "successor"),
    [("128ds", "144ds"), ("256ds", "288ds"), ("320ds", "288ds"), ("128lds", "144lds"), ("256lds", "288lds")],
)
def test_a_size_that_replaces_another_has_its_chips(preview: str, successor: str) -> None:
    """As Microsoft's page on NC_RTXPRO6000BSE_v6 says which sizes can be had since the preview ended."""
    old, new = (known("Azure", f"Standard_NC{name}_xl_RTXPRO6000BSE_v6") for name in (preview, successor))
    assert old is not None
    assert new is not None
    assert (new.accelerator_label, new.accelerator_count) == (old.accelerator_label, old.accelerator_count)


def test_parts_of_a_chip_cost_about_their_share(shared: Path) -> None:
    """Azure's lists of sizes count a part of an RTX PRO 6000 as one; its prices of 2026-06-18 do not."""
    sizes = [f"Standard_NC{size}_xl_RTXPRO6000BSE_v6" for size in ("24lds", "36ds", "36lds", "72ds", "72lds")]
    prices: dict[tuple[str, str], float] = {}
    with (shared / "data" / "clouds" / "azure_on_demand_gpu_lists.csv").open() as file:
        for row in csv.DictReader(file):
            prices[row["arm_region_name"], row["arm_sku_name"]] = float(row["usd_per_vm_hour"])
    found = [(known("Azure", size), region, price) for (region, size), price in prices.items() if size in sizes]
    assert len(found) >= 5 * len(sizes)
    for one, region, price in found:
        assert one is not None
        whole = prices[region, "Standard_NC144ds_xl_RTXPRO6000BSE_v6"]
        assert 0.8 < price / float(one.accelerator_count) / whole < 1.1


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
