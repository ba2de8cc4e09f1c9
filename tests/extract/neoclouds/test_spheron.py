"""Spheron's pages, its two prices of one offer, and its market."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import document, rows
from neoclouds.cases.spheron import CASE, answers

from extract.base import Context
from extract.neoclouds.answers import PAGES
from extract.neoclouds.spheron import SOURCE
from extract.web.interface import Response
from warehouse.errors import LayoutChanged


class Pages:
    """A web that answers with the pages of the fixture, or with what `change` makes of them."""

    def __init__(self, change: Any = lambda page: page) -> None:
        self.change, self.asked = change, []

    def get(self, url: str, **_: Any) -> Response:
        self.asked.append(url)
        body = json.dumps(self.change(json.loads(answers(url)))).encode()
        return Response(url=url, body=body, status=200, content_type="application/json")


def look(web: Pages) -> bytes:
    context = Context(web=web, settings={}, now=lambda: datetime(2026, 11, 20, tzinfo=UTC))  # type: ignore[arg-type]
    (found,) = SOURCE.fetch(context, "all").documents
    return found.body


def changed(**fields: Any) -> bytes:
    """Return the fixture with fields of its first offer changed; None takes one away."""
    content = json.loads(CASE.body)
    offer = content[PAGES][0]["data"][0]["offers"][0]
    offer |= fields
    for name in [name for name, value in fields.items() if value is None]:
        del offer[name]
    return json.dumps(content).encode()


def of_first(body: bytes) -> list[tuple[str, str]]:
    """Return option and price of the first offer of a body."""
    found = rows(CASE.parse(body))
    return [
        (r["purchase_option"], r["unit_price"]) for r in found if r.get("instance_type") == "n3-H100x1__CANADA-1"
    ]  # fmt: skip


def test_all_pages_make_one_look():
    """Asked for one after the other, up to the last."""
    web = Pages()
    assert rows(CASE.parse(look(web))) == CASE.expected
    assert [url.split("?")[1] for url in web.asked] == ["limit=100&page=1", "limit=100&page=2"]


def test_a_page_that_is_missing_is_noticed():
    """Half a market has another median."""
    first = json.loads(CASE.body)[PAGES][0]
    for body in (first, {PAGES: [first]}, {PAGES: [first, first]}):
        with pytest.raises(LayoutChanged):
            CASE.parse(json.dumps(body).encode())


def test_a_page_without_the_number_of_pages_ends_the_look():
    """Whether it is the last is not known then."""
    with pytest.raises(LayoutChanged):
        look(Pages(lambda page: page | {"totalPages": None}))


@pytest.mark.parametrize(
    ("fields", "prices"),
    [
        ({}, [("on_demand", "2.0135")]),
        ({"spot_price": 1.5}, [("on_demand", "2.0135"), ("spot", "1.5")]),
        ({"spot_price": 0}, [("on_demand", "2.0135")]),
        ({"price": 0}, []),
        ({"instanceType": "SPOT"}, [("spot", "2.0135")]),
        ({"instanceType": "SPOT", "price": None, "spot_price": 1.5}, [("spot", "1.5")]),
        ({"instanceType": "SPOT", "spot_price": 2.0135}, [("spot", "2.0135")]),
        ({"instanceType": "SPOT", "spot_price": 1.5}, []),
        ({"available": False}, []),
        ({"maintenance": True}, []),
        ({"gpuCount": 0}, []),
        ({"clusters": []}, []),
    ],
)
def test_what_can_be_booked_decides_the_option(fields: dict[str, Any], prices: list[tuple[str, str]]):
    """instanceType says it; a price that is none, or one of two, is left out."""
    assert of_first(changed(**fields)) == prices


def test_prices_of_a_group_are_never_read():
    """They are of offers of one to eight chips."""
    told = {row["unit_price"] for row in rows(CASE.parse(CASE.body))}
    assert not told & {"0.96", "34.0032", "9.5"}


def test_a_market_needs_two_offers_and_counts_each_once():
    """Three sizes at CANADA-1: the larger root disk at the same price is no fourth. One offer alone has no median."""
    found = CASE.parse(CASE.body)
    market = [row for row in rows(found) if row["statistic"] != "price"]
    assert {(row["accelerator_label"], row["region_id"]) for row in market} == {
        ("H100 PCIe 80GB", "CANADA-1"), ("H100 SXM5 80GB", "Finland 3"),
    }  # fmt: skip
    # (2.0135, 4.0199 / 2 and 16.0583 / 8): half of the way from the lowest to the next, and the middle one.
    assert [row["unit_price"] for row in market[:2]] == ["2.00861875", "2.00995"]
    assert all("host_provider_name" not in row for row in market)
    sizes = found.facts["availability"].filter(found.facts["availability"]["instance_type"].is_null())
    assert dict(zip(sizes["region_id"] + sizes["purchase_option"], sizes["n_machines"], strict=True)) == {
        "CANADA-1on_demand": 3, "CANADA-1spot": 1, "calgary-canada-1on_demand": 1, "warsaw-poland-1on_demand": 1,
        "Finland 3on_demand": 2, "Finland 3spot": 1,
    }  # fmt: skip


@pytest.mark.parametrize("fields", [{"price": 0}, {"instanceType": "SPOT", "spot_price": 1.5}])
def test_a_market_with_a_price_unread_has_no_median(fields: dict[str, Any]):
    """The median of the others would be the median of something else."""
    found = [row for row in rows(CASE.parse(changed(**fields))) if row["statistic"] != "price"]
    places = {row["region_id"] for row in found if row["tier"] == fields.get("instanceType", "DEDICATED")}
    assert "CANADA-1" not in places
    assert "Finland 3" in {row["region_id"] for row in found}


def test_what_is_there_says_why_it_has_no_price():
    """An offer that nobody can rent is told as such, and not as sold."""
    facts = CASE.parse(CASE.body).facts["availability"]
    told = dict(zip(facts["instance_type"], facts["stock_status"], strict=True))
    assert told["H100_668d6762247d03149a4c946f_newyork-usa-1"] == "unavailable"
    assert told["gpu_1x_a100_SXM4_us-central-3"] == "maintenance"
    assert told["n3-H100x8__CANADA-1"] == "available"


def test_the_shape_of_the_reference_gives_its_prices(shared):
    """Written from the code of public clients, with prices of a catalogue: the machine of 8 stays whole."""
    shape = json.loads((shared / "data/neocloud_samples/spheron/request_and_shape.json").read_text())["reply_shape"]
    found = rows(CASE.source.parse(document(SOURCE, json.dumps(shape).encode())))
    assert [(r["instance_type"], r["purchase_option"], r["accelerator_count"], r["unit_price"]) for r in found] == [
        ("n3-H100x8__CANADA-1", "on_demand", "8", "16.0583"),
        ("n3-A100x1-spot__CANADA-1", "spot", "1", "1.1476"),
    ]
