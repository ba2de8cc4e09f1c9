"""The two doors against the stand-in for AWS: the same prices through both, and each failure by its right name."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from price_list_files import NOW, Ask, rows, same
from standin import aws, faults
from standin.facts import CURRENT

from extract.aws import places
from extract.aws.price_list import SOURCE
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable

REGIONS = ("eu-west-1", "us-east-1", "us-east-1-atl-1", "us-gov-west-1", "us-west-2", "cn-north-1")


# --- both doors


@pytest.mark.parametrize("region", REGIONS)
def test_both_doors_give_the_same_prices(ask: Ask, region: str) -> None:
    """On-demand and Reserved, in every partition and in a Local Zone: equal to the last digit and code."""
    through_api, through_bulk = (rows(SOURCE.fetch(ask(door), region)) for door in ("api", "bulk"))

    assert through_api.height > 0
    assert same(through_api, through_bulk)
    assert set(through_api["region_id"]) == {region}
    assert set(through_api["pricing_currency"]) == {"CNY" if region.startswith("cn-") else "USD"}


@pytest.mark.parametrize(
    "fault",
    [
        faults.amount("p5.48xlarge", "0.0000000000"), faults.amount("p5.48xlarge", "NaN"),
        faults.amount("p5.48xlarge", "-1"),
        faults.currency("p5.48xlarge", "XXX"), faults.rival("p5.48xlarge", "1.00"), faults.gone("p5.48xlarge"),
    ],
)  # fmt: skip
def test_wrong_facts_are_wrong_through_both_doors(standin: aws.StandIn, ask: Ask, fault: faults.OtherFacts) -> None:
    """What AWS lists by mistake reaches the gates as it is, whichever door it came through."""
    standin.fault("*", fault)

    through_api, through_bulk = (rows(SOURCE.fetch(ask(door), "us-east-1")) for door in ("api", "bulk"))

    assert same(through_api, through_bulk)


@pytest.mark.parametrize("door", ["api", "bulk"])
def test_regions_are_listed_without_pseudo_regions(ask: Ask, door: str) -> None:
    """All regions of the global partition, Local Zones and GovCloud included; trap 8's pseudo region is not one."""
    listed = SOURCE.scopes(ask(door, regions="all"))
    assert listed == ("eu-west-1", "us-east-1", "us-east-1-atl-1", "us-gov-west-1", "us-west-2")


@pytest.mark.parametrize("door", ["api", "bulk"])
def test_the_users_own_regions_are_read(ask: Ask, door: str) -> None:
    """Those that the user decides for, else the four that sell most, and those fetched before."""
    context = ask(door)

    def before(scope: str) -> datetime | None:
        return NOW if scope == "us-gov-west-1" else None

    assert SOURCE.scopes(context) == ("us-east-1", "us-west-2")
    assert SOURCE.scopes(replace(context, regions=("eu-west-1", "nowhere"))) == ("eu-west-1",)
    assert SOURCE.scopes(replace(context, last_observed=before)) == ("us-east-1", "us-gov-west-1", "us-west-2")
    assert SOURCE.scopes(ask(door, regions=["us-gov-west-1"])) == ("us-gov-west-1",)


def test_an_index_is_read_once_in_a_run(standin: aws.StandIn, ask: Ask) -> None:
    """However many regions and threads; the next run reads it anew."""
    context = ask("bulk", regions="all")
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(partial(SOURCE.fetch, context), SOURCE.scopes(context)))

    assert (standin.count("bulk:index"), standin.count("bulk:regions")) == (1, 1)
    SOURCE.fetch(ask("bulk"), "us-east-1")
    assert standin.count("bulk:index") == 2


def test_large_files_are_those_not_landed(ask: Ask) -> None:
    """What a fetch would stream, by its address; nothing through the API."""
    (url,) = SOURCE.downloads(ask("bulk"), "us-east-1")
    assert url.endswith("/us-east-1/index.csv")
    landed = SOURCE.fetch(ask("bulk"), "us-east-1").documents[0]
    assert SOURCE.downloads(ask("bulk", landed={url: landed}.get), "us-east-1") == ()
    assert SOURCE.downloads(ask("api"), "us-east-1") == ()


@pytest.mark.parametrize("door", ["api", "bulk"])
def test_a_look_is_complete_and_of_now(ask: Ask, door: str) -> None:
    """A live look covers its whole scope, so that an absent offer is a gone one."""
    look = SOURCE.fetch(ask(door), "us-west-2")

    assert (look.source, look.scope, look.observed_at) == ("aws_price_list", "us-west-2", NOW)
    assert look.complete
    assert not look.archived
    assert {document.scope for document in look.documents} == {"us-west-2"}


@pytest.mark.parametrize("door", ["api", "bulk"])
@pytest.mark.parametrize("region", ["us-moon-1", "cn-north-1-pkx-1", "aws-cn-other"])
def test_no_region_no_look(ask: Ask, door: str, region: str) -> None:
    """A name that is no region is an error that names it, not an empty price list."""
    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask(door), region)

    assert (caught.value.field, caught.value.value) == ("region", region)


@pytest.mark.parametrize("door", ["api", "bulk"])
def test_one_region_fails_alone(standin: aws.StandIn, ask: Ask, door: str) -> None:
    """A region that answers with errors raises for itself; the next one is read."""
    standin.fault("*us-west-2*", faults.Status(500))

    with pytest.raises(Unavailable):
        SOURCE.fetch(ask(door), "us-west-2")

    assert rows(SOURCE.fetch(ask(door), "us-east-1")).height > 0


# --- the API


def test_trap_13_one_query_for_each_product_family(standin: aws.StandIn, ask: Ask) -> None:
    """A region costs two queries, not one for each type."""
    SOURCE.fetch(ask("api"), "us-east-1")

    assert standin.count("api:GetProducts:us-east-1") == 2


def test_pages_are_kept_as_received(standin: aws.StandIn, ask: Ask) -> None:
    """Each page is a document of its own, its parameters beside it; short and empty pages are pages."""
    whole = rows(SOURCE.fetch(ask("api"), "us-east-1"))
    standin.page_sizes = (3, 0, 5)
    standin.empty_last_token = True

    look = SOURCE.fetch(ask("api"), "us-east-1")

    assert len(look.documents) > 4
    assert same(rows(look), whole)
    first = look.documents[0]
    assert json.loads(first.body)["FormatVersion"] == "aws_v1"
    assert first.url == "pricing.GetProducts"
    assert first.parameters["regionCode"] == "us-east-1"
    assert first.parameters["productFamily"] == "Compute Instance"
    assert [document.parameters["page"] for document in look.documents[:3]] == ["1", "2", "3"]


@pytest.mark.parametrize("same_token", [True, False])
def test_pages_without_an_end_are_an_error(
    standin: aws.StandIn, ask: Ask, same_token: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that comes again, or tokens without an end, end with an error."""
    monkeypatch.setattr("extract.aws.price_list.MAX_PAGES", 20)
    standin.fault("api:GetProducts", faults.EndlessToken(same=same_token))

    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask("api"), "us-east-1")

    assert caught.value.field == "NextToken"


@pytest.mark.parametrize("kind", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"])
def test_refused_credentials_are_named(standin: aws.StandIn, ask: Ask, kind: str) -> None:
    """Refused credentials are CredentialsMissing, with what to do."""
    standin.fault("api", faults.ApiError(kind))

    with pytest.raises(CredentialsMissing, match=kind) as caught:
        SOURCE.fetch(ask("api"), "us-east-1")

    assert ("log in again" if kind.startswith("Expired") else 'access = "bulk"') in caught.value.hint


@pytest.mark.parametrize("kind", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"])
def test_without_rights_the_public_files_serve(standin: aws.StandIn, ask: Ask, kind: str) -> None:
    """Credentials for something else take no price away: the same prices, one note, and the API is called once."""
    standin.fault("api", faults.ApiError(kind))
    expected = rows(SOURCE.fetch(ask("bulk"), "us-east-1"))

    assert SOURCE.scopes(ask("auto")) == ("us-east-1", "us-west-2")
    assert SOURCE.downloads
    assert len(SOURCE.downloads(ask("auto"), "us-east-1")) == 1
    looks = [SOURCE.fetch(ask("auto"), region) for region in ("us-east-1", "us-west-2")]

    assert same(rows(looks[0]), expected)
    assert [len(look.notes) for look in looks] == [1, 0]
    assert kind in looks[0].notes[0]
    assert "public files" in looks[0].notes[0]
    assert standin.count("api") == 1


def test_half_of_the_rights_is_none(standin: aws.StandIn, ask: Ask) -> None:
    """pricing:GetAttributeValues alone lists regions, which the files then price."""
    standin.fault("api:GetProducts", faults.ACCESS_DENIED)

    assert "us-west-2" in SOURCE.scopes(ask("auto"))
    look = SOURCE.fetch(ask("auto"), "us-west-2")

    assert look.complete
    assert rows(look).height > 0
    assert "pricing:GetProducts" in look.notes[0]


def test_absent_credentials_are_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API door without credentials says so, before anybody is asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsMissing):
        SOURCE.fetch(ask("api"), "us-east-1")


@pytest.mark.parametrize("fault", [faults.THROTTLED, faults.INTERNAL_ERROR, faults.Status(503), faults.Reset()])
def test_passing_errors_of_the_api(standin: aws.StandIn, ask: Ask, fault: faults.Effect, pauses: list[float]) -> None:
    """Throttling, server errors and lost connections are tried again, and Unavailable where they stay."""
    standin.fault("api:GetProducts", fault, times=1)
    assert rows(SOURCE.fetch(ask("api"), "us-west-2")).height > 0
    assert len(pauses) == 1

    standin.fault("api:GetProducts", fault)
    with pytest.raises(Unavailable):
        SOURCE.fetch(ask("api"), "us-west-2")


def test_html_from_the_api_is_another_layout(standin: aws.StandIn, ask: Ask) -> None:
    """A page for people with status 200 is kept, and refused when it is parsed."""
    standin.fault("api:GetProducts", faults.Html())

    with pytest.raises(LayoutChanged):
        rows(SOURCE.fetch(ask("api"), "us-east-1"))


def test_china_is_asked_at_its_own_endpoint(standin: aws.StandIn, ask: Ask) -> None:
    """Trap 8: cn-northwest-1 answers for China; us-east-1 knows nothing of it."""
    SOURCE.fetch(ask("api"), "cn-north-1")

    (first, *_) = standin.seen("api:GetProducts")
    assert "/cn-northwest-1/pricing/" in first.headers["authorization"]


# --- the bulk files


def test_the_excerpt_says_what_it_was_cut_from(standin: aws.StandIn, ask: Ask) -> None:
    """The document is named by its version, dated by AWS, and knows size and hash of the whole file."""
    (document,) = SOURCE.fetch(ask("bulk"), "us-east-1").documents

    assert document.url == f"{standin.url}/offers/v1.0/aws/AmazonEC2/{CURRENT}/us-east-1/index.csv"
    assert document.version_key == document.url
    assert document.published_at == datetime.strptime(CURRENT, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    assert document.whole is not None
    assert document.whole.size > len(document.body)


def test_a_landed_version_is_not_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """The same version at a later look is the landed document, seen again now."""
    (document,) = SOURCE.fetch(ask("bulk"), "us-east-1").documents
    older = replace(document, fetched_at=datetime(2026, 11, 1, tzinfo=UTC))
    standin.forget()

    look = SOURCE.fetch(ask("bulk", landed={document.version_key: older}.get), "us-east-1")

    assert look.documents == (document.seen_again(NOW),)
    assert look.complete
    assert standin.count("bulk:prices") == 0


@pytest.mark.parametrize(
    "fault",
    [faults.Truncate(at=0.5), faults.Reset(at=0.5), faults.CutGzip(), faults.Status(503), faults.Status(429, 0)],
)
def test_passing_errors_of_the_bulk_files(standin: aws.StandIn, ask: Ask, fault: faults.Effect) -> None:
    """A stream that breaks is begun again as a whole, and Unavailable where it stays broken."""
    expected = rows(SOURCE.fetch(ask("bulk"), "us-west-2"))
    standin.fault("bulk:us-west-2", fault, times=1)
    assert same(rows(SOURCE.fetch(ask("bulk"), "us-west-2")), expected)

    standin.fault("bulk:us-west-2", fault)
    with pytest.raises(Unavailable):
        SOURCE.fetch(ask("bulk"), "us-west-2")


@pytest.mark.parametrize("target", ["bulk:index", "bulk:regions", "bulk:us-west-2"])
@pytest.mark.parametrize("fault", [faults.Html(), faults.Edit(lambda body: b""), faults.Edit(lambda body: b"[1]")])
def test_other_content_is_another_layout(standin: aws.StandIn, ask: Ask, target: str, fault: faults.Effect) -> None:
    """HTML, nothing, or other JSON in place of an index or a file is LayoutChanged."""
    standin.fault(target, fault)

    with pytest.raises(LayoutChanged):
        rows(SOURCE.fetch(ask("bulk"), "us-west-2"))


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.replace(b'"regions" : {', b'"regions" : [], "x" : {'),
        lambda body: body.replace(b"currentVersionUrl", b"versionUrl"),
        lambda body: body.replace(b'"/offers', b'"https://evil.example/offers'),
        lambda body: body.replace(b"index.json", b"index.zip"),
    ],
    ids=["a list", "no url", "another host", "no json"],
)
def test_an_ill_formed_region_index_is_named(standin: aws.StandIn, ask: Ask, change: Callable[[bytes], bytes]) -> None:
    """Savings Plans' form of the index, missing addresses and foreign hosts are refused."""
    standin.fault("bulk:regions", faults.Edit(change))

    with pytest.raises(LayoutChanged):
        SOURCE.fetch(ask("bulk"), "us-west-2")


def test_a_file_of_another_version_is_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """A file that states another version than its address is read, noted, and not taken for that version later."""
    standin.fault("bulk:us-west-2", faults.Edit(lambda body: body.replace(CURRENT.encode(), b"20260101000000")))

    look = SOURCE.fetch(ask("bulk"), "us-west-2")

    assert look.documents[0].version_key == ""
    assert "20260101000000" in look.notes[0]


# --- the choice of door, and settings


def test_auto_takes_the_api_with_credentials(standin: aws.StandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials open the API; without any, the bulk files need none."""
    SOURCE.fetch(ask("auto"), "us-west-2")
    assert (standin.count("api"), standin.count("bulk")) == (2, 0)

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    SOURCE.fetch(ask("auto"), "us-west-2")
    assert (standin.count("api"), standin.count("bulk:us-west-2")) == (2, 1)


def test_named_regions_are_the_scopes(standin: aws.StandIn, ask: Ask) -> None:
    """A list is taken as it is, China's included, and nobody is asked for it."""
    assert SOURCE.scopes(ask("bulk", regions=["us-east-1", "cn-north-1", "us-east-1"])) == ("us-east-1", "cn-north-1")
    assert standin.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("access", "window"), ("regions", "us-east-1"), ("regions", []), ("regions", [1]), ("bulk_url", "ftp://x")],
)
def test_a_wrong_setting_is_named(ask: Ask, name: str, value: object) -> None:
    """The error says which setting, and what it was."""
    context = ask("bulk", **{name: value}) if name != "access" else ask(str(value))

    with pytest.raises(SettingsError) as caught:
        SOURCE.fetch(context, "us-east-1") if name != "regions" else SOURCE.scopes(context)

    assert (caught.value.field, caught.value.value) == (name, value)


def test_china_has_its_own_address() -> None:
    """Without the setting, each partition's bulk files are where AWS has them."""
    scopes = ("us-gov-west-1", "cn-north-1")

    found = {scope: places.bulk_url({}, places.partition_of(scope), source=SOURCE.name) for scope in scopes}

    assert found == {
        "us-gov-west-1": "https://pricing.us-east-1.amazonaws.com",
        "cn-north-1": "https://pricing.cn-northwest-1.amazonaws.com.cn",
    }


# --- many regions, and the shell


def test_thirty_regions_do_not_wait_for_clients(standin: aws.StandIn, ask: Ask) -> None:
    """Making a client for each region is quick, as they share botocore's models."""
    SOURCE.fetch(ask("api"), "us-west-2")
    started = time.monotonic()

    for _ in range(10):
        SOURCE.fetch(ask("api"), "us-west-2")

    assert time.monotonic() - started < 5


def test_regions_are_fetched_side_by_side(ask: Ask) -> None:
    """Threads that share one context do not mix up their pages."""
    scopes = [scope for scope in REGIONS if not scope.startswith("cn-")] * 3
    with ThreadPoolExecutor(max_workers=8) as pool:
        looks = list(pool.map(lambda scope: SOURCE.fetch(ask("api"), scope), scopes))

    for scope, look in zip(scopes, looks, strict=True):
        assert set(rows(look)["region_id"]) == {scope}


def test_the_shell_does_not_wait_for_this_source() -> None:
    """Importing the source loads neither boto3 nor an HTTP client nor polars."""
    heavy = "{'boto3', 'botocore', 'urllib3', 'stamina', 'polars'}"
    code = f"import sys, extract.aws.price_list; print(sorted({heavy} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
