"""Asking EC2 for its types with accelerators: the stand-in's regions and failures, and moto's captures."""

import gzip
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from standin import aws, ec2, ec2_cloud, faults

from extract.aws.instance_types import SOURCE
from extract.base import Context, Parsed
from extract.web.http import HttpWeb
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.schema.tables import FACT_TABLES

Ask = Callable[..., Context]
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def document(answer: object, scope: str = "us-east-1", **parameters: str) -> Document:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return Document(
        source="aws_instance_types", scope=scope, url="aws cli", body=body, fetched_at=NOW, parameters=parameters
    )


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")

    def context(**settings: object) -> Context:
        return Context(web=HttpWeb(), settings=settings, now=lambda: NOW)

    return context


@pytest.fixture(scope="module")
def dump(shared: Path) -> Parsed:
    """Return what a real capture of 86 accelerator types says, as aws cli saves it."""
    packed = shared / "data" / "aws_samples" / "describe_instance_types_accelerators_2026.json.gz"
    return SOURCE.parse(document(gzip.decompress(packed.read_bytes())))


def facts(look: ScopeFetch, table: str) -> pl.DataFrame:
    found = [SOURCE.parse(each).facts for each in look.documents]
    return pl.concat([each[table] for each in found if table in each])


def test_regions_are_those_of_the_account(standin: aws.StandIn, ask: Ask) -> None:
    """All that are opted in, by default of the four that sell most; or those that are named, and nobody is asked."""
    assert SOURCE.scopes(ask(regions="all")) == ("ap-south-2", "ap-southeast-4", "us-east-1", "us-east-2")
    assert SOURCE.scopes(ask()) == ("us-east-1", "us-east-2")
    standin.forget()
    assert SOURCE.scopes(ask(regions=["us-east-2", "cn-north-1", "us-east-2"])) == ("us-east-2", "cn-north-1")
    assert standin.count() == 0


@pytest.mark.parametrize("value", ["us-east-1", [], [1]])
def test_a_wrong_setting_is_named(ask: Ask, value: object) -> None:
    """The error says which setting, and what it was."""
    with pytest.raises(SettingsError) as caught:
        SOURCE.scopes(ask(regions=value))

    assert (caught.value.field, caught.value.value) == ("regions", value)


def test_what_goes_over_the_wire_is_what_the_api_says(ask: Ask) -> None:
    """Read from XML: the types with an accelerator, and their zones by id."""
    look = SOURCE.fetch(ask(), "us-east-2")

    accelerators = [each for each in ec2_cloud.MACHINES if each["InstanceType"] != "m5.xlarge"]
    from_json = SOURCE.parse(document({"InstanceTypes": accelerators}, "us-east-2")).facts["instance_capability"]
    assert facts(look, "instance_capability").equals(from_json)
    assert facts(look, "instance_zone").select("availability_zone_id", "instance_type").rows() == [
        ("use2-az1", "inf2.48xlarge"),
        ("use2-az2", "inf2.48xlarge"),
        ("use2-az3", "trn1.2xlarge"),
        ("use2-az3", "trn2.48xlarge"),
    ]
    assert (look.complete, look.observed_at, look.scope) == (True, NOW, "us-east-2")


def test_types_without_accelerators_are_cut_out_as_bytes(standin: aws.StandIn, ask: Ask) -> None:
    """What is kept of a page are the received bytes of the other types; it knows the size of the whole."""
    (types, _) = SOURCE.fetch(ask(), "us-east-2").documents

    assert b"m5.xlarge" not in types.body
    assert b"<instanceType>p5.48xlarge</instanceType>" in types.body
    assert types.whole is not None
    assert types.whole.size > len(types.body)
    assert types.url == "ec2.DescribeInstanceTypes"
    assert types.parameters == {"region": "us-east-2", "page": "1"}


def test_a_family_that_only_its_accelerator_gives_away_is_kept(standin: aws.StandIn, ask: Ask) -> None:
    """A name of no known family, with a GpuInfo: its type and its zones are kept, and it is named."""
    new = ec2_cloud.machine("q1.large", GpuInfo=ec2_cloud.gpus("X900", 1, 1024))
    standin.cloud.change("us-east-2", machines=(new,), offered={"q1.large": ("use2-az1",)})
    look = SOURCE.fetch(ask(), "us-east-2")

    assert facts(look, "instance_capability")["instance_type"].to_list() == ["q1.large"]
    assert facts(look, "instance_zone")["instance_type"].to_list() == ["q1.large"]
    assert SOURCE.parse(look.documents[0]).unknown == ("instance type 'q1.large'",)


def test_short_and_empty_pages_are_pages(standin: aws.StandIn, ask: Ask) -> None:
    """However the pages are cut, the facts are the same; pages without any accelerator are not kept."""
    expected = SOURCE.fetch(ask(), "us-east-2")
    standin.cloud.page_sizes = (1, 0, 2)
    look = SOURCE.fetch(ask(), "us-east-2")

    for table in ("instance_capability", "instance_zone"):
        again, before = (facts(each, table) for each in (look, expected))
        assert again.sort(again.columns).equals(before.sort(before.columns))
    pages = {each.parameters["page"] for each in look.documents if each.url == "ec2.DescribeInstanceTypes"}
    assert "1" not in pages  # m5.xlarge alone
    assert "2" not in pages  # empty
    assert "3" in pages


def test_a_region_without_accelerators_is_a_complete_look(standin: aws.StandIn, ask: Ask) -> None:
    """No accelerator is an answer; no type at all is none."""
    standin.cloud.change("us-east-2", machines=(ec2_cloud.machine("m5.xlarge"),))
    assert facts(SOURCE.fetch(ask(), "us-east-2"), "instance_capability").height == 0

    standin.cloud.change("us-east-2", machines=())
    with pytest.raises(SourceError, match="no instance types"):
        SOURCE.fetch(ask(), "us-east-2")


@pytest.mark.parametrize("same", [True, False])
def test_pages_without_an_end_are_an_error(
    standin: aws.StandIn, ask: Ask, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that comes again, or tokens without an end, end with an error."""
    monkeypatch.setattr("extract.aws.instance_types.MAX_PAGES", 10)
    standin.fault("ec2:DescribeInstanceTypes", ec2.RepeatToken(same=same))

    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask(), "us-east-1")

    assert caught.value.field == "NextToken"


@pytest.mark.parametrize(("fault", "after"), [(ec2.AUTH_FAILURE, 0), (ec2.UNAUTHORIZED, 0), (ec2.EXPIRED, 1)])
def test_refused_credentials_are_named(standin: aws.StandIn, ask: Ask, fault: ec2.QueryError, after: int) -> None:
    """CredentialsMissing, with the actions that they need, or that the session expired; other regions go on."""
    standin.fault("ec2:us-east-1", fault, after=after)

    with pytest.raises(CredentialsMissing, match=fault.code) as caught:
        SOURCE.fetch(ask(), "us-east-1")

    actions = ("ec2:DescribeRegions", "ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings")
    for words in ("log in again",) if fault is ec2.EXPIRED else actions:
        assert words in caught.value.hint
    assert SOURCE.fetch(ask(), "us-east-2").complete


def test_a_region_that_is_not_opted_in(ask: Ask) -> None:
    """Trap 24: it answers AuthFailure, and the hint says what that may mean."""
    with pytest.raises(CredentialsMissing) as caught:
        SOURCE.fetch(ask(), "me-south-1")

    assert "opted in" in caught.value.hint


@pytest.mark.parametrize("action", ["scopes", "fetch"])
def test_absent_credentials_are_named(ask: Ask, action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials nobody is asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsMissing):
        SOURCE.scopes(ask()) if action == "scopes" else SOURCE.fetch(ask(), "us-east-1")


def test_a_name_that_is_no_region(ask: Ask) -> None:
    """A name that no address can be made of is an error that names it."""
    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask(), "us east 1")

    assert (caught.value.field, caught.value.value) == ("region", "us east 1")


@pytest.mark.parametrize("fault", [ec2.THROTTLED, ec2.INTERNAL_ERROR, faults.Reset()])
def test_passing_errors(standin: aws.StandIn, ask: Ask, fault: faults.Effect, pauses: list[float]) -> None:
    """Throttling, server errors and lost connections are tried again, and Unavailable where they stay."""
    standin.fault("ec2", fault, times=1)
    assert SOURCE.fetch(ask(), "us-east-1").complete
    assert len(pauses) == 1

    standin.fault("ec2", fault)
    with pytest.raises(Unavailable):
        SOURCE.fetch(ask(), "us-east-1")


def test_html_is_another_layout(standin: aws.StandIn, ask: Ask) -> None:
    """A page for people with status 200 is refused."""
    standin.fault("ec2:DescribeInstanceTypes", faults.Html())

    with pytest.raises(LayoutChanged):
        SOURCE.fetch(ask(), "us-east-1")


def test_facts_have_the_columns_of_their_tables(ask: Ask) -> None:
    """What the warehouse adds is all that a frame lacks."""
    added = {"source", "observed_at", "document_sha256", "recorded_at"}
    tables = {table.name: set(table.columns) - added for table in FACT_TABLES}
    look = SOURCE.fetch(ask(), "us-east-2")

    for name in ("instance_capability", "instance_zone"):
        assert set(facts(look, name).columns) == tables[name]


# --- moto's server, whose answers are captures


@pytest.fixture(scope="module")
def moto_server() -> Iterator[str]:
    """Return the address of moto's own server; it takes seconds to start."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.mark.parametrize("every", [30, pytest.param(1, marks=pytest.mark.prove)])
def test_moto_says_what_the_real_answer_says(
    moto_server: str, ask: Ask, dump: Parsed, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Those of the dump come out of moto's XML with the same facts, among so manieth of the others; zones are ids."""
    from moto.ec2.models.instance_types import InstanceTypeBackend as Moto

    known = dump.facts["instance_capability"]
    names = set(known["instance_type"])
    others = [each for each in Moto.instance_types if each.name not in names][::every]
    monkeypatch.setattr(
        Moto, "instance_types", [*others, *(each for each in Moto.instance_types if each.name in names)]
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", moto_server)
    look = SOURCE.fetch(ask(), "us-east-1")
    regions = SOURCE.scopes(ask())

    assert len(others) > 30
    found = facts(look, "instance_capability").filter(pl.col("instance_type").is_in(known["instance_type"].to_list()))
    assert found.equals(known)
    zones = facts(look, "instance_zone")
    assert zones["availability_zone_id"].str.contains(r"^use1-az\d$").all()
    assert {"use1-az1", "use1-az6"} <= set(zones["availability_zone_id"])
    assert "us-east-1" in regions
    assert look.documents[0].whole is not None
