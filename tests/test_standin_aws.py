"""The stand-in for AWS: unmodified clients read it, both doors say the same, and each fault is what it claims."""

import csv
import gzip
import io
import json
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import boto3
import botocore.exceptions
import botocore.loaders
import botocore.session
import pytest
import urllib3
from botocore.config import Config
from standin import aws, facts, faults, render, world
from standin.catalogue import Product, ten_places

US_WEST = f"/offers/v1.0/aws/AmazonEC2/{facts.CURRENT}/us-west-2/index.csv"
VERSIONS = "/offers/v1.0/aws/AmazonEC2/index.json"
SERVICE_MODELS = botocore.loaders.create_loader()
"""Read once for all clients; nothing else of boto3 is shared or changed."""
LINUX_ON_DEMAND = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}


@pytest.fixture
def web(standin: aws.StandIn) -> Iterator[urllib3.PoolManager]:
    """Return a plain HTTP client, without retries, so that faults show."""
    with urllib3.PoolManager(retries=False, timeout=5) as pool:
        yield pool


@pytest.fixture
def pricing(standin: aws.StandIn):
    """Return boto3's own client, made from the environment alone; it does not retry."""
    return client()


def client(region: str = "us-east-1", **retries: object):
    config = Config(retries={"total_max_attempts": 1, **retries}, read_timeout=5)
    session = botocore.session.Session()
    session.register_component("data_loader", SERVICE_MODELS)
    return boto3.session.Session(botocore_session=session).client("pricing", region_name=region, config=config)


def filters(kind: str = "TERM_MATCH", **fields: str) -> list[dict[str, str]]:
    return [{"Type": kind, "Field": name, "Value": value} for name, value in fields.items()]


def products(pricing, wanted: list[dict[str, str]]) -> list[dict]:
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=wanted)
    return [json.loads(item) for page in pages for item in page["PriceList"]]


def on_demand_amounts(product: dict) -> list[str]:
    return [
        amount
        for term in product["terms"]["OnDemand"].values()
        for dimension in term["priceDimensions"].values()
        for amount in dimension["pricePerUnit"].values()
    ]


def rows(body: bytes) -> list[dict[str, str]]:
    lines = body.decode().splitlines(keepends=True)
    return list(csv.DictReader(io.StringIO("".join(lines[5:]), newline="")))


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
    (product,) = products(client("cn-northwest-1"), wanted)
    (term,) = product["terms"]["OnDemand"].values()
    assert [each["pricePerUnit"] for each in term["priceDimensions"].values()] == [{"CNY": "5.2230000000"}]


# --- errors of the API


def test_adaptive_mode_outlasts_throttling(standin: aws.StandIn) -> None:
    standin.fault("api:GetProducts:us-west-2", faults.THROTTLED, times=1)
    patient = client(mode="adaptive", total_max_attempts=3)
    assert products(patient, filters(regionCode="us-west-2", instanceType="g6f.large", **LINUX_ON_DEMAND))
    assert [request.status for request in standin.seen("api:us-west-2")] == [400, 200]


@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        (faults.THROTTLED, "ThrottlingException", 400),
        (faults.ACCESS_DENIED, "AccessDeniedException", 400),
        (faults.EXPIRED_PAGE, "ExpiredNextTokenException", 400),
        (faults.INTERNAL_ERROR, "InternalErrorException", 500),
        (faults.Status(429, retry_after=1), "429", 429),
        (faults.Status(503), "503", 503),
    ],
    ids=lambda value: str(value) if not isinstance(value, faults.Effect) else "",
)
def test_errors_are_boto3s(standin: aws.StandIn, pricing, fault: faults.Effect, code: str, status: int) -> None:
    standin.fault("api", fault)
    with pytest.raises(botocore.exceptions.ClientError) as raised:
        products(pricing, [])
    assert code == raised.value.response["Error"]["Code"]
    assert status == raised.value.response["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize(
    ("variable", "value", "region", "code"),
    [
        ("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN", "us-east-1", "UnrecognizedClientException"),
        ("AWS_SESSION_TOKEN", "expired", "us-east-1", "ExpiredTokenException"),
        ("AWS_SESSION_TOKEN", "valid", "eu-west-1", "InvalidSignatureException"),
    ],
)
def test_credentials_are_looked_at(
    standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, region: str, code: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(botocore.exceptions.ClientError, match=code):
        products(client(region), [])


def test_wrong_arguments_are_refused(pricing) -> None:
    with pytest.raises(pricing.exceptions.NotFoundException):
        pricing.get_products(ServiceCode="AmazonEC3")
    with pytest.raises(pricing.exceptions.InvalidNextTokenException):
        pricing.get_products(ServiceCode="AmazonEC2", NextToken="x")
    with pytest.raises(pricing.exceptions.InvalidParameterException):
        pricing.get_products(ServiceCode="AmazonEC2", MaxResults=101)


def test_a_token_without_end(standin: aws.StandIn, pricing) -> None:
    standin.page_sizes = (40,)
    fault = standin.fault("api", faults.EndlessToken())
    pages = iter(pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2"))
    many = 3 * len(standin.catalogues["aws"].current.products) // 40
    assert many == len([page for page, _ in zip(pages, range(many), strict=False)])
    assert fault.hits >= many

    standin.fault("api", faults.EndlessToken(same=True))
    with pytest.raises(botocore.exceptions.PaginationError):
        products(pricing, [])


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
        assert table == facts_of(products(pricing, filters(regionCode=region))) == facts_of(in_file)


def facts_of(items: list[dict]) -> set[tuple[str, ...]]:
    return {
        (
            item["product"]["sku"],
            item["product"]["attributes"].get("instanceType", ""),
            rate["rateCode"],
            rate["unit"],
            amount,
            currency,
        )
        for item in items
        for terms in item["terms"].values()
        for term in terms.values()
        for rate in term["priceDimensions"].values()
        for currency, amount in rate["pricePerUnit"].items()
    }


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


# --- faults of the connection, as a client without retries sees them


def test_cut_body_keeps_its_announced_length(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.fault("bulk:us-west-2", faults.Truncate(at=0.5), times=1)
    with pytest.raises(urllib3.exceptions.ProtocolError, match="IncompleteRead"):
        web.request("GET", standin.url + US_WEST)
    assert web.request("GET", standin.url + US_WEST).status == 200
    assert standin.count("bulk:us-west-2") == 2


@pytest.mark.parametrize("at", [0.0, 0.5])
def test_reset(standin: aws.StandIn, web: urllib3.PoolManager, at: float) -> None:
    standin.fault(US_WEST, faults.Reset(at=at))
    with pytest.raises(urllib3.exceptions.ProtocolError, match="Connection reset by peer"):
        web.request("GET", standin.url + US_WEST)


def test_cut_gzip_has_the_right_length_and_no_end(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.fault("bulk:prices", faults.CutGzip(keep=0.5))
    raw = web.request("GET", standin.url + US_WEST, decode_content=False).data
    with pytest.raises(EOFError):
        gzip.decompress(raw)


def test_html_with_status_200(standin: aws.StandIn, pricing, web: urllib3.PoolManager) -> None:
    standin.fault("*", faults.Html())
    answer = web.request("GET", standin.url + US_WEST)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html")
    # boto3 raises nothing: it gives a page without PriceList.
    assert "PriceList" not in pricing.get_products(ServiceCode="AmazonEC2")


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_status_of_one_region_leaves_the_others(standin: aws.StandIn, web: urllib3.PoolManager, status: int) -> None:
    standin.fault("bulk:us-west-2", faults.Status(status, retry_after=7))
    answer = web.request("GET", standin.url + US_WEST)
    assert (status, "7") == (answer.status, answer.headers["Retry-After"])
    assert web.request("GET", standin.url + US_WEST.replace("us-west-2", "us-east-1")).status == 200


def test_slow_answers_and_slow_bodies(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.latency = 0.05
    standin.fault("bulk:eu-west-1", faults.Delay(0.1), faults.Drip(0.1))
    quick, slow = US_WEST, US_WEST.replace("us-west-2", "eu-west-1")
    for path, expected in ((quick, 0.05), (slow, 0.25)):
        start = time.monotonic()
        web.request("GET", standin.url + path)
        assert expected <= time.monotonic() - start < expected + 1
        (request,) = standin.seen(path)
        assert request.until is not None
        assert expected <= request.until - request.at


def test_after_skips_the_first_requests(standin: aws.StandIn, pricing) -> None:
    standin.page_sizes = (30,)
    standin.fault("api:GetProducts", faults.EXPIRED_PAGE, after=2, times=1)
    with pytest.raises(pricing.exceptions.ExpiredNextTokenException):
        products(pricing, [])
    assert standin.count("api") == 3
    assert products(pricing, filters(instanceType="m5.xlarge"))


# --- faults of content


def test_header_without_or_with_another_column(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    whole = rows(web.request("GET", standin.url + US_WEST).data)
    standin.fault(US_WEST, faults.RenameColumn(old="MarketOption", new="Market Option"), times=1)
    renamed = rows(web.request("GET", standin.url + US_WEST).data)
    assert whole[0]["MarketOption"] == renamed[0]["Market Option"]
    standin.fault(US_WEST, faults.DropColumn("MarketOption"))
    dropped = rows(web.request("GET", standin.url + US_WEST).data)
    assert dropped == [{name: row[name] for name in row if name != "MarketOption"} for row in whole]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (faults.amount("p5.48xlarge", "N/A"), [("N/A", "USD")]),
        (faults.currency("p5.48xlarge", "XTS"), [("55.0400000000", "XTS")]),
        (faults.twice("p5.48xlarge"), [("55.0400000000", "USD")] * 2),
        (faults.rival("p5.48xlarge", "44"), [("44.0000000000", "USD"), ("55.0400000000", "USD")]),
        (faults.gone("p5.48xlarge"), []),
    ],
    ids=["amount", "currency", "twice", "rival", "gone"],
)
def test_wrong_facts_come_through_both_doors(
    standin: aws.StandIn, pricing, web: urllib3.PoolManager, fault: faults.Effect, expected: list[tuple[str, str]]
) -> None:
    standin.fault("*us-west-2*", fault)
    columns = ("Operating System", "Tenancy", "Pre Installed S/W", "CapacityStatus", "MarketOption")
    table = [
        (row["PricePerUnit"], row["Currency"])
        for row in rows(web.request("GET", standin.url + US_WEST).data)
        if row["Instance Type"] == "p5.48xlarge" and [row[name] for name in columns] == list(LINUX_ON_DEMAND.values())
    ]
    found = products(pricing, filters(instanceType="p5.48xlarge", regionCode="us-west-2", **LINUX_ON_DEMAND))
    api = [fact[-2:] for each in found for fact in facts_of([each])]
    assert expected == sorted(table) == sorted(api)


def test_version_index_with_holes(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.fault("bulk:versions", faults.DropVersions((facts.AFTER_THE_CUT,)))
    index = web.request("GET", standin.url + VERSIONS).json()
    assert list(index["versions"]) == [facts.BEFORE_THE_CUT, facts.CURRENT]


def test_any_other_change(standin: aws.StandIn, web: urllib3.PoolManager) -> None:
    standin.fault("bulk:regions", faults.Edit(lambda body: body.replace(b"regions", b"zones")), times=1)
    path = "/offers/v1.0/aws/AmazonEC2/current/region_index.json"
    assert "zones" in web.request("GET", standin.url + path).json()
    assert "regions" in web.request("GET", standin.url + path).json()


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
