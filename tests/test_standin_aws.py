"""The stand-in for AWS serves what AWS does: unmodified clients read it, and both doors say the same."""

import json
import socket
from pathlib import Path

import pytest
import urllib3
from pytest_socket import SocketConnectBlockedError
from standin import aws, facts, render
from standin.reading import LINUX_ON_DEMAND, filters, price_facts, products, rows

# --- the API


def test_paginator_reads_every_product_however_pages_are_cut(standin: aws.StandIn, pricing) -> None:
    standin.page_sizes = (3, 0, 100)
    standin.empty_last_token = True
    expected = {each.sku for each in standin.catalogues["aws"].current.products}
    assert expected == {item["product"]["sku"] for item in products(pricing, [])}
    assert standin.count("api:GetProducts") > 2 * len(expected) // 103


def test_shape_is_that_of_a_captured_answer(pricing, shared: Path) -> None:
    capture = json.loads((shared / "data/aws_samples/pricing_get_products_us_east_1.json").read_text())
    real = next(
        item for item in map(json.loads, capture["PriceList"]) if item["product"]["attributes"].get("gpu") == "8"
    )
    (ours,) = products(pricing, filters(instanceType="p5.48xlarge", regionCode="us-east-1", **LINUX_ON_DEMAND))
    assert real.keys() == ours.keys()
    assert real["product"].keys() == ours["product"].keys()
    assert ours["product"]["attributes"].keys() <= real["product"]["attributes"].keys()
    (real_term,), (our_term,) = (each["terms"]["OnDemand"].values() for each in (real, ours))
    assert real_term.keys() == our_term.keys()
    (real_rate,), (our_rate,) = (each["priceDimensions"].values() for each in (real_term, our_term))
    assert real_rate.keys() == our_rate.keys()


# --- bulk files


def test_indexes_lead_to_every_region_file(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    offers = web.request("GET", standin.url + "/offers/v1.0/aws/index.json").json()["offers"]
    index = web.request("GET", standin.url + offers["AmazonEC2"]["currentRegionIndexUrl"]).json()
    assert sorted(facts.PRICES) == sorted(index["regions"])
    for entry in index["regions"].values():
        for url in (entry["currentVersionUrl"], entry["currentVersionUrl"].replace(".json", ".csv")):
            assert web.request("GET", standin.url + url).status == 200
    china = web.request("GET", standin.url + "/offers/v1.0/cn/AmazonEC2/current/region_index.json").json()
    assert sorted(china["regions"]) == ["aws-cn-other", "cn-north-1"]


def test_a_local_zones_file_lacks_two_columns(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    path = "/offers/v1.0/aws/AmazonEC2/current/us-east-1-atl-1/index.csv"
    first, *_ = rows(web.request("GET", standin.url + path).data)
    assert {"PurchaseOption", "OfferingClass"} == set(render.HEADER) - set(first)


def test_both_doors_say_the_same(standin: aws.StandIn, pricing, web: urllib3.PoolManager) -> None:
    for region in facts.PRICES:
        path = f"/offers/v1.0/aws/AmazonEC2/current/{region}/index"
        table = {
            (row["SKU"], row["Instance Type"], row["RateCode"], row["Unit"], row["PricePerUnit"], row["Currency"])
            for row in rows(web.request("GET", f"{standin.url}{path}.csv").data)
            if row["Region Code"]  # the free tier has none, so that no filter on the region finds it
        }
        file = web.request("GET", f"{standin.url}{path}.json").json()
        in_file = [
            {"product": each, "terms": {kind: terms.get(sku, {}) for kind, terms in file["terms"].items()}}
            for sku, each in file["products"].items()
            if each["attributes"]["regionCode"]
        ]
        assert table == price_facts(products(pricing, filters(regionCode=region))) == price_facts(in_file)


# --- the stand-in itself


@pytest.mark.filterwarnings("ignore:A test tried")
def test_only_loopback_can_be_reached() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
