"""Verda's two documents: the API's answer in either form, and the price page that checks it."""

import json
from typing import Any

import pytest
from neoclouds.case import document, refused, rows
from neoclouds.cases.verda import CASE

from extract.neoclouds.verda import KINDS, SOURCE
from warehouse.errors import LayoutChanged

OFFERS = [
    ("1x GB300 SXM6 288GB on-demand", "Hourly on-demand instance price", "8.62"),
    ("1x GB300 SXM6 288GB spot", "Hourly spot instance price", "4.31"),
    ("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.25"),
    ("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.25"),
    (" on-demand", "Hourly on-demand instance price", "0.048"),
    ("CPU.4V.16G spot", "Hourly spot instance price", "0.0192"),
    ("8x GB300 SXM6 288GB instant cluster", "Hourly instant cluster price", "68.96"),
    ("2x H100 SXM5 80GB serverless continuous", "Hourly serverless container price", "7.15"),
    ("2x H100 SXM5 80GB serverless spot", "Hourly serverless spot container price", "3.58"),
    ("1x B300 CC SXM6 268GB on-demand", "Hourly on-demand instance price", "7.65"),
    ("NVMe storage", "Monthly storage price per GiB", "0.2"),
]
"""Figures of the page in August 2026, as in getcomputable/gpu-index, tests/fixtures/observatory/verda."""


def node(name: str, description: str, price: str) -> dict[str, Any]:
    unit, amount = KINDS[description].unit, float(price)
    specification = {"@type": "UnitPriceSpecification", "price": amount, "priceCurrency": "USD", "unitText": unit}
    return {"@type": "Offer", "name": name, "description": description, "price": amount, "priceCurrency": "USD",
            "priceSpecification": specification}  # fmt: skip


def page(nodes: list[dict[str, Any]], *, graphs: int = 1) -> bytes:
    graph = json.dumps({"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, *nodes]})
    script = f'<script type="application/ld+json">{graph}</script>'
    other = '<script type="application/ld+json">{"@type": "Organization", "name": "Verda"}</script>'
    return f"<!DOCTYPE html><html><head>{other}{script * graphs}</head><body><h1>Pricing</h1></body></html>".encode()


def nodes() -> list[dict[str, Any]]:
    return [node(*one) for one in OFFERS]


def test_the_page_gives_machines_clusters_and_containers_apart():
    """Each kind by its tier; CPU machines, storage and an offer duplicate on the page are counted."""
    found = SOURCE.parse(document(SOURCE, page(nodes())))
    told = [
        (row["accelerator_label"], row["accelerator_count"], row["purchase_option"], row.get("tier"), row["unit_price"])
        for row in rows(found)
    ]
    assert told == [
        ("GB300 SXM6 288GB", "1", "on_demand", None, "8.62"),
        ("GB300 SXM6 288GB", "1", "spot", None, "4.31"),
        ("H100 SXM5 80GB", "1", "on_demand", None, "3.25"),
        ("GB300 SXM6 288GB", "8", "on_demand", "instant cluster", "68.96"),
        ("H100 SXM5 80GB", "2", "on_demand", "serverless continuous", "7.15"),
        ("H100 SXM5 80GB", "2", "spot", "serverless spot", "3.58"),
        ("B300 CC SXM6 268GB", "1", "on_demand", "confidential computing", "7.65"),
    ]
    assert found.ignored == {"a machine without accelerators": 2, "storage": 1, "duplicate offer": 1}
    assert {row["capacity_unit"] for row in rows(found) if row["accelerator_count"] == "1"} == {"GPU"}
    assert {row["capacity_unit"] for row in rows(found) if row["accelerator_count"] != "1"} == {"instance"}


def test_two_prices_of_one_name_both_stay():
    """Which of them is the machine's is not said: the batch gate refuses them, and nobody picks one."""
    dearer = node("1x H100 SXM5 80GB on-demand", "Hourly on-demand instance price", "3.35")
    found = rows(SOURCE.parse(document(SOURCE, page([*nodes(), dearer]))))
    prices = [row["unit_price"] for row in found if row["accelerator_label"] == "H100 SXM5 80GB" and "tier" not in row]
    assert prices == ["3.25", "3.35"]


HARMS: dict[str, dict[str, Any]] = {
    "an unknown kind": {"description": "Monthly on-demand instance price"},
    "a name of another kind": {"name": "1x GB300 SXM6 288GB spot"},
    "no number of chips": {"name": "GB300 SXM6 288GB on-demand"},
    "another price inside": {"price": 8.63},
    "a price in a text": {"price": "8.62"},
    "two currencies": {"priceCurrency": "EUR"},
    "another currency": {
        "priceCurrency": "SEK", "priceSpecification": {"price": 8.62, "priceCurrency": "SEK", "unitText": "hour"},
    },
    "a month": {"priceSpecification": {"price": 8.62, "priceCurrency": "USD", "unitText": "month"}},
    "a second price": {"lowPrice": 1},
}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_harmed_offer_of_the_page_is_refused(harm: dict[str, Any]):
    """Its row; of all offers where it names another unit or currency."""
    first, *others = nodes()
    assert refused(lambda: SOURCE.parse(document(SOURCE, page([first | harm, *others]))))
    if {"priceSpecification"} & set(harm):
        with pytest.raises(LayoutChanged):
            SOURCE.parse(document(SOURCE, page([first | harm, *others])))


def test_a_page_with_two_graphs_or_none_is_refused():
    """Which of two lists holds is not said; a page without any is another page."""
    for body in (page(nodes(), graphs=2), page(nodes(), graphs=0), page([])):
        with pytest.raises(LayoutChanged):
            SOURCE.parse(document(SOURCE, body))


def test_the_list_may_stand_under_data():
    """Both forms of the API's answer say the same."""
    wrapped = b'{"data": %s}' % CASE.body
    assert rows(CASE.parse(wrapped)) == CASE.expected


def test_what_is_left_out_is_counted():
    """No spot price, other products, machines without a chip."""
    assert CASE.parse(CASE.body).ignored == {
        "a machine without accelerators": 1, "dynamic_price, another product": 1, "no spot price": 2,
    }  # fmt: skip
