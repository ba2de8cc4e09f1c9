"""Each fault of the stand-in for AWS is what it claims to be, as clients without retries see it."""

import gzip

import botocore.exceptions
import pytest
import urllib3
from standin import aws, facts, faults
from standin.reading import LINUX_ON_DEMAND, client, filters, price_facts, products, rows

US_WEST = f"/offers/v1.0/aws/AmazonEC2/{facts.CURRENT}/us-west-2/index.csv"


# --- errors of the API


@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        (faults.THROTTLED, "ThrottlingException", 400),
        (faults.ACCESS_DENIED, "AccessDeniedException", 400),
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
        products(client("pricing", region), [])


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


# --- faults of content


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
