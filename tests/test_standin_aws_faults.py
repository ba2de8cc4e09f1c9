"""Each fault of the stand-in for AWS is what it claims to be, as clients without retries see it."""

import gzip
import time

import botocore.exceptions
import pytest
import urllib3
from standin import aws, facts, faults
from standin.reading import LINUX_ON_DEMAND, filters, price_facts, pricing_client, products, rows

US_WEST = f"/offers/v1.0/aws/AmazonEC2/{facts.CURRENT}/us-west-2/index.csv"
VERSIONS = "/offers/v1.0/aws/AmazonEC2/index.json"


# --- errors of the API


@pytest.mark.prove
def test_adaptive_mode_outlasts_throttling(standin: aws.StandIn) -> None:
    standin.fault("api:GetProducts:us-west-2", faults.THROTTLED, times=1)
    patient = pricing_client(attempts=3, mode="adaptive")
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
        products(pricing_client(region), [])


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
        assert expected <= time.monotonic() - start < expected + 30
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
    api = [fact[-2:] for each in found for fact in price_facts([each])]
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
