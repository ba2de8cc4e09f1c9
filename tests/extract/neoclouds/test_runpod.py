"""What is RunPod's own: prices where nothing is sold, two clouds, and a slice under the name of its chip."""

import json
from typing import Any

import pytest
from neoclouds.case import MOMENT, rows
from neoclouds.cases.runpod import CASE

from extract.base import Context, Parsed
from extract.neoclouds import runpod
from extract.web.interface import Response
from warehouse.errors import LayoutChanged
from warehouse.reference.accelerators import resolve


def chip(name: str = "NVIDIA H200", **changed: Any) -> dict[str, Any]:
    prices = {"securePrice": 4.59, "communityPrice": 3.59, "secureSpotPrice": 4.59, "communitySpotPrice": 3.59}
    flags = {"secureCloud": True, "communityCloud": True}
    return {"id": name, "memoryInGb": 141, "stockOfOne": None, "secureStockOfOne": None} | prices | flags | changed


def read(*chips: dict[str, Any]) -> Parsed:
    return CASE.parse(json.dumps({"data": {"gpuTypes": chips}}).encode())


def told(*chips: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row["tier"], row["purchase_option"], row["unit_price"]) for row in rows(read(*chips))]


@pytest.mark.parametrize("price", [0, 0.5, 0.50, None])
def test_a_placeholder_is_no_price(price: float | None):
    """Not even where the cloud is said to sell the chip: B300 stood at 0.5."""
    found = read(chip(communityPrice=price))
    assert [(row["tier"], row["unit_price"]) for row in rows(found)] == [("secure", "4.59")]
    assert found.ignored["a placeholder for a price"] == 1


def test_a_price_in_a_cloud_that_does_not_sell_the_chip_is_none():
    """An L4 stood at 0.44 in the community cloud, which had none."""
    assert told(chip(communityCloud=False, communityPrice=0.44)) == [("secure", "on_demand", "4.59")]


def test_a_spot_price_is_one_where_it_differs():
    """Equal ones are no discount; 0 and 0.5 are placeholders here too."""
    assert told(chip(communitySpotPrice=1.5, secureSpotPrice=0.5))[1:] == [
        ("community", "on_demand", "3.59"), ("community", "spot", "1.5"),
    ]  # fmt: skip
    assert "spot" not in {option for _, option, _ in told(chip(), chip("NVIDIA H100 NVL", memoryInGb=94))}
    with pytest.raises(LayoutChanged):
        read(chip(secureSpotPrice=4.6))


def test_the_price_of_a_pod_is_never_read():
    """11.12 is of eight A100; saved answers have it."""
    pod = {"minimumBidPrice": 11.12, "uninterruptablePrice": 11.12, "stockStatus": "Low"}
    found = read(chip(lowestPrice=pod))
    assert [row["unit_price"] for row in rows(found)] == ["4.59", "3.59"]
    assert found.facts == {}


def test_a_slice_under_the_name_of_its_chip_is_not_taken_for_it():
    """Its memory stands in the label, and no whole B300 has it."""
    (slice_, _) = rows(read(chip("NVIDIA B300 SXM6 AC", memoryInGb=34, securePrice=1.1, secureSpotPrice=1.1)))
    read_as = resolve(slice_["accelerator_label"], "runpod")
    assert read_as is not None
    assert read_as.accelerator_share is None


def test_a_chip_of_no_memory_is_left_out():
    """What it is, is not certain; the entry named unknown has 0."""
    found = read(chip(memoryInGb=0), chip("NVIDIA L40S", memoryInGb=48))
    assert {row["accelerator_label"] for row in rows(found)} == {"NVIDIA L40S 48GB"}
    assert found.ignored["a chip of no memory"] == 2


def test_every_chip_is_known_to_the_resolver():
    labels = {row["accelerator_label"] for row in rows(CASE.parse(CASE.body))}
    found = {label: resolve(label, "runpod") for label in labels}
    assert {label for label, chip in found.items() if chip is None} == set()
    h200 = resolve("NVIDIA H200 141GB", "runpod")
    assert h200 is not None
    assert h200.form_factor == "SXM"


def test_stock_is_of_pods_of_one_chip():
    """A null says that nothing is quoted; the secure cloud speaks for itself."""
    stock: dict[str, Any] = {"stockOfOne": {"stockStatus": "High"}, "secureStockOfOne": {"stockStatus": None}}
    (fact,) = read(chip(**stock)).facts["availability"].to_dicts()
    assert (fact["tier"], fact["stock_status"], int(fact["accelerator_count"])) == (None, "High", 1)


def test_one_question_is_asked():
    """By POST, and without the price of a pod."""
    asked: list[tuple[str, Any]] = []

    class Web:
        def post(self, url: str, *, json: Any, accept: str) -> Response:
            asked.append((url, json))
            return Response(url=url, body=CASE.body, status=200, content_type=accept)

    context = Context(web=Web(), settings={"url": "https://example.com/g"}, now=lambda: MOMENT)  # type: ignore[arg-type]
    (landed,) = runpod.SOURCE.fetch(context, "all").documents
    assert landed.body == CASE.body
    assert [(url, [*body]) for url, body in asked] == [("https://example.com/g", ["query"])]
    assert "uninterruptablePrice" not in asked[0][1]["query"]
    assert runpod.SOURCE.off_because
