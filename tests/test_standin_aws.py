"""The stand-in for AWS serves what AWS does: unmodified clients read it, and both doors say the same."""

import gzip
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
import urllib3
from pytest_socket import SocketConnectBlockedError
from standin import aws, facts, faults, render, world
from standin.catalogue import Product, ten_places
from standin.reading import LINUX_ON_DEMAND, filters, price_facts, pricing_client, products, rows

US_WEST = f"/offers/v1.0/aws/AmazonEC2/{facts.CURRENT}/us-west-2/index.csv"
VERSIONS = "/offers/v1.0/aws/AmazonEC2/index.json"


def on_demand_amounts(product: dict) -> list[str]:
    return [
        amount
        for term in product["terms"]["OnDemand"].values()
        for dimension in term["priceDimensions"].values()
        for amount in dimension["pricePerUnit"].values()
    ]


# --- the API


def test_paginator_reads_every_product_however_pages_are_cut(standin: aws.StandIn, pricing) -> None:
    standin.page_sizes = (3, 0, 100)
    standin.empty_last_token = True
    expected = {each.sku for each in standin.catalogues["aws"].current.products}
    assert expected == {item["product"]["sku"] for item in products(pricing, [])}
    assert standin.count("api:GetProducts") > 2 * len(expected) // 103


def test_five_filters_leave_one_price_of_a_type(pricing) -> None:
    wanted = filters(instanceType="p5.48xlarge", regionCode="us-east-1", **LINUX_ON_DEMAND)
    (product,) = products(pricing, wanted)
    assert on_demand_amounts(product) == ["55.0400000000"]


def test_without_the_market_option_p5_seems_to_be_free(pricing) -> None:
    no_market = {name: value for name, value in LINUX_ON_DEMAND.items() if name != "marketoption"}
    found = products(pricing, filters(instanceType="p5.48xlarge", regionCode="us-east-1", **no_market))
    assert sorted(on_demand_amounts(each)[0] for each in found) == ["0.0000000000", "55.0400000000"]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("EQUALS", "p5.48xlarge", {"p5.48xlarge"}),
        ("ANY_OF", "p5.48xlarge,g6f.large", {"p5.48xlarge", "g6f.large"}),
        ("CONTAINS", "trn", {"trn1.2xlarge", "trn1.32xlarge"}),
        ("NONE_OF", ",".join(facts.MACHINES), set()),
    ],
)
def test_filter_types(pricing, kind: str, value: str, expected: set[str]) -> None:
    wanted = filters(regionCode="us-east-1") + filters(kind, instanceType=value)
    assert expected == {each["product"]["attributes"]["instanceType"] for each in products(pricing, wanted)}


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


def test_other_operations(standin: aws.StandIn, pricing, web: urllib3.PoolManager) -> None:
    values = pricing.get_paginator("get_attribute_values").paginate(ServiceCode="AmazonEC2", AttributeName="regionCode")
    assert sorted(facts.PRICES) == [each["Value"] for page in values for each in page["AttributeValues"]]
    (service,) = pricing.describe_services(ServiceCode="AmazonEC2")["Services"]
    assert {"instanceType", "marketoption", "productFamily"} <= set(service["AttributeNames"])

    (listed,) = pricing.list_price_lists(
        ServiceCode="AmazonEC2", EffectiveDate="2025-06-01T00:00:00Z", CurrencyCode="USD", RegionCode="us-west-2"
    )["PriceLists"]
    url = pricing.get_price_list_file_url(PriceListArn=listed["PriceListArn"], FileFormat="csv")["Url"]
    assert url == f"{standin.url}/offers/v1.0/aws/AmazonEC2/{facts.BEFORE_THE_CUT}/us-west-2/index.csv"
    assert web.request("GET", url).status == 200


def test_china_is_another_endpoint_and_currency(pricing) -> None:
    wanted = filters(regionCode="cn-north-1", instanceType="g4dn.xlarge", **LINUX_ON_DEMAND)
    assert products(pricing, wanted) == []
    (product,) = products(pricing_client("cn-northwest-1"), wanted)
    (term,) = product["terms"]["OnDemand"].values()
    assert [each["pricePerUnit"] for each in term["priceDimensions"].values()] == [{"CNY": "5.2230000000"}]


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


def test_versions_hold_the_price_cut(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    index = web.request("GET", standin.url + VERSIONS).json()
    found = {}
    for version, entry in index["versions"].items():
        url = entry["offerVersionUrl"].replace("index.json", "us-gov-west-1/index.csv")
        plain = [
            row["PricePerUnit"]
            for row in rows(web.request("GET", standin.url + url).data)
            if row["Instance Type"] == "p5.48xlarge" and row["PriceDescription"].count("per On Demand Linux p5")
        ]
        found[entry["versionEffectiveBeginDate"]] = plain
        assert entry["versionEffectiveEndDate"] or version == index["currentVersion"]
    assert found == {
        "2025-05-20T16:30:12Z": ["117.9840000000"],
        "2025-06-05T19:02:26Z": ["66.0480000000"],
        "2026-10-01T20:00:00Z": ["66.0480000000"],
    }


def test_a_local_zones_file_lacks_two_columns(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    path = "/offers/v1.0/aws/AmazonEC2/current/us-east-1-atl-1/index.csv"
    first, *_ = rows(web.request("GET", standin.url + path).data)
    assert {"PurchaseOption", "OfferingClass"} == set(render.HEADER) - set(first)


def test_gzip_only_when_asked(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    plain = web.request("GET", standin.url + US_WEST)
    packed = web.request(
        "GET", standin.url + US_WEST, headers={"Accept-Encoding": "gzip"}, decode_content=False, preload_content=False
    )
    raw = packed.read()
    assert (plain.headers.get("Content-Encoding"), packed.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.data == gzip.decompress(raw)
    assert len(raw) == int(packed.headers["Content-Length"]) < len(plain.data) / 5


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


def test_reserved_terms_are_the_twelve_with_upfront_fees(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    reserved = [
        row
        for row in rows(web.request("GET", standin.url + US_WEST).data)
        if row["TermType"] == "Reserved" and row["Instance Type"] == "trn1.32xlarge"
    ]
    assert len({row["OfferTermCode"] for row in reserved}) == 12
    assert sum(row["Unit"] == "Quantity" for row in reserved) == 8
    assert {"0.0000000000"} == {
        row["PricePerUnit"] for row in reserved if row["PurchaseOption"] == "All Upfront" and row["Unit"] == "Hrs"
    }
    year = {row["Unit"]: Decimal(row["PricePerUnit"]) for row in reserved if row["OfferTermCode"] == "HU7G6KETJZ"}
    assert abs(year["Hrs"] + year["Quantity"] / 8760 - Decimal("21.50") * Decimal("0.60")) < Decimal("0.0001")


def test_a_tree_of_files_takes_the_catalogues_place(
    standin: aws.StandIn, web: urllib3.PoolManager, tmp_path: Path
) -> None:
    folder = tmp_path / "offers/v1.0/aws/AmazonEC2/20240101000000/us-west-2"
    folder.mkdir(parents=True)
    (folder / "index.csv.gz").write_bytes(gzip.compress(b'"SKU"\n'))
    (folder / "index.json").write_text("{}")
    standin.serve_tree(tmp_path)
    base = standin.url + "/offers/v1.0/aws/AmazonEC2/20240101000000/us-west-2/index"
    packed = web.request("GET", base + ".csv")
    assert (packed.headers["Content-Encoding"], packed.data) == ("gzip", b'"SKU"\n')
    assert web.request("GET", base + ".json").json() == {}
    assert web.request("GET", standin.url + US_WEST).status == 404
    assert web.request("GET", standin.url + "/offers/../../../etc/hostname").status == 404


def test_a_new_edition_becomes_current(standin: aws.StandIn, pricing, web: urllib3.PoolManager) -> None:
    def cheaper(product: Product) -> Product | None:
        if product.instance_type == "g6f.large":
            return None
        dear = product.instance_type == "p5.48xlarge" and faults.is_linux_on_demand(product)
        return product.with_amount(ten_places("50")) if dear else product

    standin.publish(standin.catalogues["aws"].current.changed("20261002200000", cheaper))
    (product,) = products(pricing, filters(instanceType="p5.48xlarge", regionCode="us-west-2", **LINUX_ON_DEMAND))
    assert on_demand_amounts(product) == ["50.0000000000"]
    assert product["version"] == "20261002200000"
    path = "/offers/v1.0/aws/AmazonEC2/current/us-west-2/index.csv"
    assert not [row for row in rows(web.request("GET", standin.url + path).data) if "g6f" in row["Instance Type"]]


# --- the stand-in itself


def test_heal_and_forget(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.fault("*", faults.Status(500))
    web.request("GET", standin.url + VERSIONS)
    standin.heal()
    standin.forget()
    assert web.request("GET", standin.url + VERSIONS).status == 200
    assert [(each.method, each.path, each.status) for each in standin.seen()] == [("GET", VERSIONS, 200)]


def test_stopping_ends_open_connections() -> None:
    standin = aws.StandIn(world.china()).start()
    with urllib3.PoolManager(retries=False, timeout=5) as pool:
        try:
            assert pool.request("GET", standin.url + VERSIONS).status == 404
        finally:
            standin.stop()
        with pytest.raises(urllib3.exceptions.HTTPError):
            pool.request("GET", standin.url + VERSIONS)


def test_requests_of_many_clients_overlap(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.latency = 0.5
    paths = [f"/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv" for region in facts.PRICES]
    start = time.monotonic()
    with ThreadPoolExecutor(len(paths)) as pool:
        assert {200} == set(pool.map(lambda path: web.request("GET", standin.url + path).status, paths))
    assert time.monotonic() - start < 0.5 * len(paths)
    assert standin.count("bulk:prices") == len(paths)


@pytest.mark.filterwarnings("ignore:A test tried")
def test_only_loopback_can_be_reached() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
