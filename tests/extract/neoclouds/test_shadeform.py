"""What is Shadeform's own: cents, regions, other people's machines, and prices of unknown unit."""

import json
from datetime import datetime
from typing import Any

import pytest
from neoclouds.case import MOMENT, rows
from neoclouds.cases.shadeform import CASE

from extract.base import Context, Parsed
from extract.neoclouds import shadeform
from extract.web.interface import Response
from warehouse.errors import LayoutChanged

UP = {"region": "paris", "available": True}


def machine(name: str = "H100_sxm5x8", **changed: Any) -> dict[str, Any]:
    chips = {"num_gpus": 8, "gpu_type": "H100", "interconnect": "sxm5", "vram_per_gpu_in_gb": 80}
    chips |= {field: changed.pop(field) for field in list(changed) if field in chips}
    known = {
        "cloud": "hyperstack", "shade_instance_type": name, "cloud_instance_type": "own", "configuration": chips,
        "hourly_price": 2560, "availability": [UP], "deployment_type": "vm",
    }  # fmt: skip
    return known | changed


def read(*machines: dict[str, Any]) -> Parsed:
    return CASE.parse(json.dumps({"instance_types": machines}).encode())


def test_cents_become_dollars_exactly():
    assert rows(read(machine(hourly_price=2561)))[0]["unit_price"] == "25.61"
    with pytest.raises(LayoutChanged):
        read(machine(hourly_price=25.61))


def test_a_spot_entry_has_no_price_but_is_available():
    """Its own price is a text beside cents, and nobody says in which unit."""
    spot = {"region": "paris", "available": True, "rental_type": "spot", "hourly_price": "36"}
    found = read(machine(availability=[{**UP, "available": False, "rental_type": "on_demand"}, spot]))
    assert [(r["purchase_option"], r["unit_price"]) for r in rows(found)] == [("on_demand", "25.6")]
    assert found.ignored == {"a region's own price, of unknown unit": 1}
    facts = found.facts["availability"].select("purchase_option", "stock_status", "accelerator_count")
    assert [(option, status, int(count)) for option, status, count in facts.rows()] == [
        ("on_demand", "unavailable", 8), ("spot", "available", 8),
    ]  # fmt: skip


def test_a_region_with_a_price_of_its_own_does_not_have_the_machines():
    found = read(machine(availability=[UP, {"region": "oslo", "available": True, "hourly_price": "9"}]))
    assert [row["region_id"] for row in rows(found)] == ["paris"]


@pytest.mark.parametrize(
    "changed",
    [{"deployment_type": "slurm"}, {"availability": [{**UP, "rental_type": "reserved"}]}, {"hourly_price": "2560"}],
)
def test_words_never_seen_are_refused(changed: dict[str, Any]):
    with pytest.raises(LayoutChanged):
        read(machine(**changed))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"num_gpus": 0}, "without GPUs"), ({"hourly_price": 0}, "without a price"),
        ({"hourly_price": None}, "without a price"), ({"availability": []}, "without a region"),
        ({"num_gpus": 1}, shadeform.CONTRADICTED), ({"name": "H100"}, shadeform.CONTRADICTED),
        ({"gpu_type": "H200"}, shadeform.CONTRADICTED),
    ],
)  # fmt: skip
def test_what_has_no_price_of_known_chips_is_counted(changed: dict[str, Any], reason: str):
    others = [machine(cloud=f"cloud {number}") for number in range(10)]
    found = read(*others, machine(**changed))
    assert len(found.rows) == 10
    assert found.ignored == {reason: 1}


def test_fields_that_contradict_many_names_have_changed():
    with pytest.raises(LayoutChanged):
        read(*(machine(cloud=f"cloud {number}") for number in range(8)), machine(num_gpus=1))


def test_chips_are_said_twice_and_must_agree():
    with pytest.raises(LayoutChanged):
        read(machine() | {"num_gpus": 4})


def test_a_name_that_says_sxm_makes_its_form_unknown():
    labels = {row["instance_type"]: row["accelerator_label"] for row in rows(CASE.parse(CASE.body))}
    assert labels["A100_80G_sxm4x8"] == "A100_80G 80GB"
    assert labels["H100x8_NVLINK"] == "H100 80GB pcie"


def test_two_machines_of_one_name_are_told_apart():
    found = rows(read(machine(), machine(cloud_instance_type="other", hourly_price=2600), machine(cloud="crusoe")))
    assert [(r["host_provider_name"], r.get("conditions")) for r in found] == [
        ("hyperstack", "own"), ("hyperstack", "other"), ("crusoe", None),
    ]  # fmt: skip


class Web:
    """Answers with the fixture, and keeps the headers that were sent."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}

    def get(self, url: str, *, accept: str, headers: dict[str, str]) -> Response:
        self.headers = headers
        return Response(url=url, body=CASE.body, status=200, content_type=accept)


@pytest.mark.parametrize(("key", "sent"), [("secret", {"X-API-KEY": "secret"}), ("", {})])
def test_a_key_is_sent_where_there_is_one_and_never_kept(
    key: str, sent: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(shadeform.KEY, key)
    web = Web()

    def now() -> datetime:
        return MOMENT

    look = shadeform.SOURCE.fetch(Context(web=web, settings={}, now=now), "all")  # type: ignore[arg-type]
    assert web.headers == sent
    assert look.documents[0].body == CASE.body
    assert "secret" not in repr(look)


def test_it_is_off_unless_a_deployment_wants_it():
    assert shadeform.SOURCE.off_because
