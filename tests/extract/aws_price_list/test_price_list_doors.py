"""The two doors against the stand-in for AWS: the same prices through both, and each failure by its right name."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest
from price_list_files import NOW, same
from standin import aws, faults
from standin.facts import CURRENT
from standin.world import edition

from extract.aws_price_list import SOURCE, places
from extract.base import Context, Landed
from extract.http import HttpWeb, Retries
from warehouse.documents import Document, Look
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable

Ask = Callable[..., Context]
REGIONS = ("eu-west-1", "us-east-1", "us-east-1-atl-1", "us-gov-west-1", "us-west-2", "cn-north-1")


def nothing(version_key: str) -> Document | None:
    return None


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("extract.http.STREAM_RETRIES", Retries(attempts=3, pause_s=0.001))
    web = HttpWeb(retries=Retries(attempts=3, pause_s=0.001))

    def context(door: str, landed: Landed = nothing, **settings: object) -> Context:
        set_ = {"door": door, "bulk_url": standin.url, **settings}
        return Context(web=web, settings=set_, now=lambda: NOW, landed=landed)

    return context


def rows(look: Look) -> pl.DataFrame:
    return pl.concat([SOURCE.parse(document).rows for document in look.documents])


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
    assert SOURCE.scopes(ask(door)) == ("eu-west-1", "us-east-1", "us-east-1-atl-1", "us-gov-west-1", "us-west-2")


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
    monkeypatch.setattr("extract.aws_price_list.api.MAX_PAGES", 20)
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

    assert 'door = "bulk"' in caught.value.hint


def test_absent_credentials_are_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API door without credentials says so, before anybody is asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsMissing):
        SOURCE.fetch(ask("api"), "us-east-1")


@pytest.mark.parametrize("fault", [faults.THROTTLED, faults.INTERNAL_ERROR, faults.Status(503), faults.Reset()])
def test_passing_errors_of_the_api(standin: aws.StandIn, ask: Ask, fault: faults.Effect) -> None:
    """Throttling, server errors and lost connections are tried again, and Unavailable where they stay."""
    standin.fault("api:GetProducts", fault, times=1)
    assert rows(SOURCE.fetch(ask("api"), "us-west-2")).height > 0

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
    [("door", "window"), ("regions", "us-east-1"), ("regions", []), ("regions", [1]), ("bulk_url", "ftp://x")],
)
def test_a_wrong_setting_is_named(ask: Ask, name: str, value: object) -> None:
    """The error says which setting, and what it was."""
    context = ask("bulk", **{name: value}) if name != "door" else ask(str(value))

    with pytest.raises(SettingsError) as caught:
        SOURCE.fetch(context, "us-east-1") if name != "regions" else SOURCE.scopes(context)

    assert (caught.value.field, caught.value.value) == (name, value)


def test_china_has_its_own_address() -> None:
    """Without the setting, each partition's bulk files are where AWS has them."""
    found = {scope: places.bulk_url({}, places.partition_of(scope)) for scope in ("us-gov-west-1", "cn-north-1")}

    assert found == {
        "us-gov-west-1": "https://pricing.us-east-1.amazonaws.com",
        "cn-north-1": "https://pricing.cn-northwest-1.amazonaws.com.cn",
    }


# --- past versions


def archive(
    context: Context, scope: str = "us-east-1", *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[Look]:
    assert SOURCE.backfill is not None
    return SOURCE.backfill(context, scope, since, until)


def p5(look: Look) -> list[str]:
    return rows(look).filter(instance_type="p5.48xlarge", purchase_option="on_demand")["unit_price"].to_list()


def test_past_versions_come_oldest_first(ask: Ask) -> None:
    """Each version is a look at its publication, archived, never complete; the price cut of June 2025 shows."""
    looks = list(archive(ask("api")))

    assert [look.observed_at for look in looks] == sorted(look.observed_at for look in looks)
    assert [p5(look) for look in looks] == [["98.32"], ["55.04"], ["55.04"]]
    assert {(look.complete, look.archived) for look in looks} == {(False, True)}
    assert all(look.documents[0].published_at == look.observed_at for look in looks)


def test_past_versions_between_two_dates(standin: aws.StandIn, ask: Ask) -> None:
    """Only versions published from `since` to `until` are fetched."""
    (look,) = archive(ask("bulk"), since=datetime(2025, 6, 1, tzinfo=UTC), until=datetime(2025, 7, 1, tzinfo=UTC))

    assert p5(look) == ["55.04"]
    assert standin.count("bulk:prices") == 1


def test_a_landed_past_version_is_not_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """A second backfill reads from the landing."""
    first = list(archive(ask("bulk")))
    landed = {document.version_key: document for look in first for document in look.documents}
    standin.forget()

    assert list(archive(ask("bulk", landed=landed.get))) == first
    assert standin.count("bulk:prices") == 0


def test_a_missing_file_is_a_hole(standin: aws.StandIn, ask: Ask) -> None:
    """A version without this region is a look without documents, named, and the walk goes on."""
    standin.publish(edition("20261101200000", {"us-west-2": {"p5.48xlarge": "50"}}))
    standin.publish(edition("20261102200000", {"us-east-1": {"p5.48xlarge": "49"}}))

    *_, hole, last = archive(ask("bulk"))

    assert hole.documents == ()
    assert "20261101200000/us-east-1" in hole.notes[0]
    assert p5(last) == ["49"]


def test_an_unreadable_past_version_is_a_hole(standin: aws.StandIn, ask: Ask) -> None:
    """HTML in place of an old file costs that version only; so does a file of another version."""
    versions = [look.observed_at.strftime("%Y%m%d%H%M%S") for look in archive(ask("bulk"))]
    standin.fault(f"bulk:us-east-1:{versions[0]}", faults.Html())
    standin.fault(f"bulk:us-east-1:{versions[1]}", faults.Edit(lambda body: body.replace(b"2025-", b"2024-")))

    first, second, third = archive(ask("bulk"))

    assert (first.documents, second.documents) == ((), ())
    assert versions[0] in first.notes[0]
    assert "2024-" in second.notes[0]
    assert p5(third) == ["55.04"]


def test_ill_formed_versions_are_named(standin: aws.StandIn, ask: Ask) -> None:
    """An entry that cannot be read is named in a note, and the others are walked."""

    def spoil(body: bytes) -> bytes:
        index = json.loads(body)
        index["versions"] |= {"tomorrow": {}, "20990101000000": {"offerVersionUrl": 5}, "20990231000000": None}
        return json.dumps(index).encode()

    standin.fault("bulk:versions", faults.Edit(spoil))

    looks = list(archive(ask("bulk")))

    assert len(looks) == 3
    assert "20990101000000, 20990231000000, tomorrow" in looks[0].notes[0]


@pytest.mark.parametrize(
    "index", [b"{}", b'{"versions": []}', b'{"versions": {}}', b'{"versions": {"x": {}}}', b"<html>"]
)
def test_no_version_at_all_is_another_layout(standin: aws.StandIn, ask: Ask, index: bytes) -> None:
    """An index that names no version is refused."""
    standin.fault("bulk:versions", faults.Edit(lambda body: index))

    with pytest.raises(LayoutChanged):
        list(archive(ask("bulk")))


def test_an_outage_ends_the_walk(standin: aws.StandIn, ask: Ask) -> None:
    """What cannot be reached is no hole: the walk stops, to be begun again."""
    standin.fault("bulk:prices", faults.Status(503), after=1)
    walk = archive(ask("bulk"))

    assert p5(next(walk)) == ["98.32"]
    with pytest.raises(Unavailable):
        next(walk)


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
    code = f"import sys, extract.aws_price_list; print(sorted({heavy} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
