"""What is Lium's own: quantiles of a market over machines, and nodes of which nothing is promised but an id."""

import json
from typing import Any

import pytest
from neoclouds.case import rows
from neoclouds.cases.lium import CASE

from extract.base import Parsed
from warehouse.errors import LayoutChanged


def node(number: int, **changed: Any) -> dict[str, Any]:
    known = {
        "id": f"n{number}", "gpu_model": "H100 80GB HBM3", "gpu_count": 8, "available_gpu_count": 8,
        "price_per_gpu_hour": 1.5, "price_per_node_hour": None, "min_rentable_gpu_count": 1, "gpu_memory_gb": 80,
        "tier": "secure", "country_code": "US",
    }  # fmt: skip
    return known | changed


def read(*nodes: dict[str, Any]) -> Parsed:
    return CASE.parse(json.dumps({"count": len(nodes), "nodes": nodes}).encode())


def prices(*nodes: dict[str, Any]) -> dict[str, str]:
    return {row["statistic"]: row["unit_price"] for row in rows(read(*nodes))}


def test_quantiles_lie_between_two_nodes_and_are_rounded_to_ten_decimals():
    asks = [node(n, price_per_gpu_hour=price) for n, price in enumerate((2, 1, 1.0000000003, 9))]
    assert prices(*asks) == {"p25": "1.0000000002", "median": "1.5000000002"}


def test_a_node_counts_once_whatever_its_size():
    asks = [node(1, price_per_gpu_hour=1), node(2, price_per_gpu_hour=2, gpu_count=1, available_gpu_count=1)]
    assert prices(*asks) == {"p25": "1.25", "median": "1.5"}
    assert prices(node(1)) == {"p25": "1.5", "median": "1.5"}


def test_chips_tiers_and_countries_are_kept_apart():
    different = [
        node(1), node(2, tier="spot", price_per_gpu_hour=0.5), node(3, country_code="DE", price_per_gpu_hour=3),
        node(4, gpu_model="RTX 4090", gpu_memory_gb=24), node(5, gpu_model="RTX 4090", gpu_memory_gb=48),
    ]  # fmt: skip
    found = {(r["accelerator_label"], r["purchase_option"], r["region_id"]) for r in rows(read(*different))}
    assert found == {
        ("H100 80GB HBM3", "on_demand", "US"), ("H100 80GB HBM3", "spot", "US"), ("H100 80GB HBM3", "on_demand", "DE"),
        ("RTX 4090 24GB", "on_demand", "US"), ("RTX 4090 48GB", "on_demand", "US"),
    }  # fmt: skip


def test_the_count_of_machines_and_of_free_chips_is_said():
    facts = read(node(1), node(2, available_gpu_count=3)).facts["availability"]
    assert facts.select("accelerator_label", "region_id", "tier", "n_machines", "n_accelerators").row(0) == (
        "H100 80GB HBM3", "US", "secure", 2, 11,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"price_per_gpu_hour": 0}, "a price of zero"),
        ({"price_per_gpu_hour": None}, "without price_per_gpu_hour"),
        ({"gpu_model": None}, "without gpu_model"),
        ({"country_code": None}, "without country_code"),
        ({"gpu_model": "L40S", "gpu_memory_gb": None}, "without gpu_memory_gb"),
        ({"available_gpu_count": 0, "min_rentable_gpu_count": 0}, "less free than the smallest order"),
        ({"available_gpu_count": 3, "min_rentable_gpu_count": 4}, "less free than the smallest order"),
    ],
)
def test_a_node_that_nobody_can_rent_has_no_price(changed: dict[str, Any], reason: str):
    found = read(*(node(n) for n in range(4)), node(4, price_per_gpu_hour=9) | changed)
    assert {row["unit_price"] for row in rows(found)} == {"1.5"}
    assert found.ignored == {reason: 1}


def test_a_field_that_most_nodes_lack_is_another_layout():
    """A few of them may; of what the others ask is no word where hardly one says its price."""
    nodes = [node(n) for n in range(6)] + [node(n, price_per_gpu_hour=None) for n in range(6, 9)]
    with pytest.raises(LayoutChanged) as raised:
        read(*nodes)
    assert "price_per_gpu_hour" in raised.value.field
    assert len(read(*nodes[:8]).rows) == 2


def test_a_node_said_twice_counts_once():
    found = read(node(1), node(1), node(2, price_per_gpu_hour=9))
    assert [row["unit_price"] for row in rows(found)] == ["3.375", "5.25"]
    assert found.ignored == {"repeated": 1}
    with pytest.raises(LayoutChanged):
        read(node(1), node(1, price_per_gpu_hour=9))


@pytest.mark.parametrize(
    "changed",
    [
        {"tier": "community"}, {"price_per_node_hour": 1.5}, {"country_code": "us"}, {"available_gpu_count": 9},
        {"gpu_count": 8.5}, {"price_per_gpu_hour": True}, {"gpu_model": ""},
    ],
)  # fmt: skip
def test_what_means_something_else_is_refused(changed: dict[str, Any]):
    with pytest.raises(LayoutChanged):
        read(node(1), node(2) | changed)


def test_an_answer_without_all_its_nodes_is_refused():
    body = json.dumps({"count": 3, "nodes": [node(1), node(2)]}).encode()
    with pytest.raises(LayoutChanged) as raised:
        CASE.parse(body)
    assert raised.value.field == "answer.count"
