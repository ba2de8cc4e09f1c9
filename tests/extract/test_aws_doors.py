"""What the price list and Savings Plans have in common: both ways to read them, and each failure by its right name."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module

import polars as pl
import pytest
from price_list_files import NOW, Ask
from standin import aws, faults, savings_plans
from standin.facts import CURRENT

from extract.aws import places, price_list
from extract.aws import savings_plans as plans
from extract.base import Source
from warehouse.documents import ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.schema.tables import IDENTITY

DOORS = ("api", "bulk")
NO_JSON = (faults.Html(), faults.Edit(lambda body: b""), faults.Edit(lambda body: b"[1]"))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One source, and what the stand-in calls its API and its files.

    `calls` and `files`: how many of each one fetch of us-west-2 takes.
    """

    source: Source
    api: str
    bulk: str
    right: str
    token: str
    endless: type[faults.EndlessToken | savings_plans.RepeatToken]
    calls: int
    files: int
    ill_formed: tuple[tuple[str, bytes, bytes], ...]


CASES = [
    Case(
        source=price_list.SOURCE,
        api="api",
        bulk="bulk",
        right="pricing:GetProducts",
        token="NextToken",
        endless=faults.EndlessToken,
        calls=1,
        files=1,
        ill_formed=(
            ("bulk:regions", b'"regions" : {', b'"regions" : [], "x" : {'),
            ("bulk:regions", b"currentVersionUrl", b"versionUrl"),
            ("bulk:regions", b'"/offers', b'"https://evil.example/offers'),
            ("bulk:regions", b"index.json", b"index.zip"),
        ),
    ),
    Case(
        source=plans.SOURCE,
        api="savings",
        bulk="plans",
        right="savingsplans:DescribeSavingsPlansOfferingRates",
        token="nextToken",
        endless=savings_plans.RepeatToken,
        calls=3,
        files=2,
        ill_formed=(
            ("plans:regions", b'"regions" : [', b'"regions" : {}, "x" : ['),
            ("plans:regions", b"versionUrl", b"currentVersionUrl"),
            ("plans:regions", b'"/savingsPlan', b'"https://evil.example/savingsPlan'),
            ("plans:regions", b"index.json", b"index.zip"),
            ("bulk:index", b"currentSavingsPlanIndexUrl", b"savingsPlanIndexUrl"),
            ("bulk:index", b'"AmazonSageMaker"', b'"AmazonWiseMaker"'),
        ),
    ),
]
both = pytest.mark.parametrize("case", CASES, ids=lambda case: case.source.name)


def rows(case: Case, look: ScopeFetch) -> pl.DataFrame:
    found = [case.source.parse(document).rows for document in look.documents]
    return pl.concat(found).sort([*IDENTITY, "unit_price"], nulls_last=True)


@pytest.mark.parametrize("door", DOORS)
@both
def test_a_look_is_complete_and_of_now(ask: Ask, case: Case, door: str) -> None:
    """A live look covers its whole scope, so that an absent offer is a gone one."""
    look = case.source.fetch(ask(door), "us-west-2")

    assert (look.source, look.scope, look.observed_at) == (case.source.name, "us-west-2", NOW)
    assert (look.complete, look.archived) == (True, False)
    assert {document.scope for document in look.documents} == {"us-west-2"}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("region", ["us-moon-1", "cn-north-1-pkx-1", "aws-cn-other"])
@both
def test_no_region_no_look(ask: Ask, case: Case, door: str, region: str) -> None:
    """A name that is no region is an error that names it, not an empty price list."""
    with pytest.raises(SourceError) as caught:
        case.source.fetch(ask(door), region)

    assert (caught.value.field, caught.value.value) == ("region", region)


@pytest.mark.parametrize("door", DOORS)
@both
def test_one_region_fails_alone(standin: aws.StandIn, ask: Ask, case: Case, door: str) -> None:
    """A region that answers with errors raises for itself; the next one is read."""
    standin.fault("*us-west-2*", faults.Status(500))

    with pytest.raises(Unavailable):
        case.source.fetch(ask(door), "us-west-2")

    assert rows(case, case.source.fetch(ask(door), "us-east-1")).height > 0


# --- the API


@pytest.mark.parametrize("same", [True, False])
@both
def test_pages_without_an_end_are_an_error(
    standin: aws.StandIn, ask: Ask, case: Case, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that comes again, or tokens without an end, end with an error."""
    monkeypatch.setitem(import_module(case.source.parse.__module__)._call.keywords, "max_pages", 20)
    standin.fault(case.api, case.endless(same=same))

    with pytest.raises(SourceError) as caught:
        case.source.fetch(ask("api"), "us-east-1")

    assert caught.value.field == case.token
    assert standin.count(case.api) <= 21


@pytest.mark.parametrize("kind", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"])
@pytest.mark.parametrize("after", [0, 1])
@both
def test_refused_credentials_are_named(standin: aws.StandIn, ask: Ask, case: Case, kind: str, after: int) -> None:
    """Refused credentials are CredentialsMissing, midway too, with what to do."""
    standin.page_sizes = (5,)
    standin.fault(case.api, faults.ApiError(kind), after=after)

    with pytest.raises(CredentialsMissing, match=kind) as caught:
        case.source.fetch(ask("api"), "us-east-1")

    said = {"log in again"} if kind.startswith("Expired") else {case.right, 'access = "bulk"'}
    assert [each for each in said if each not in caught.value.hint] == []


@both
def test_absent_credentials_are_named(
    standin: aws.StandIn, ask: Ask, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API without credentials says so, before anybody is asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsMissing):
        case.source.fetch(ask("api"), "us-east-1")

    assert standin.count() == 0


@pytest.mark.parametrize("fault", [faults.THROTTLED, faults.INTERNAL_ERROR, faults.Status(503), faults.Reset()])
@both
def test_passing_errors_of_the_api(
    standin: aws.StandIn, ask: Ask, case: Case, fault: faults.Effect, pauses: list[float]
) -> None:
    """Throttling, server errors and lost connections are tried again, and Unavailable where they stay."""
    standin.fault(case.api, fault, times=1)
    assert rows(case, case.source.fetch(ask("api"), "us-west-2")).height > 0
    assert len(pauses) == 1

    standin.fault(case.api, fault)
    with pytest.raises(Unavailable):
        case.source.fetch(ask("api"), "us-west-2")


@both
def test_html_from_the_api_is_another_layout(standin: aws.StandIn, ask: Ask, case: Case) -> None:
    """A page for people with status 200 is kept, and refused when it is parsed."""
    standin.fault(case.api, faults.Html())

    with pytest.raises(LayoutChanged):
        rows(case, case.source.fetch(ask("api"), "us-east-1"))


@both
def test_regions_are_fetched_side_by_side(ask: Ask, case: Case) -> None:
    """Threads that share one context do not mix up their pages."""
    scopes = ["us-east-1", "us-west-2", "eu-west-1", "us-gov-west-1"] * 3
    with ThreadPoolExecutor(max_workers=8) as pool:
        looks = list(pool.map(lambda scope: case.source.fetch(ask("api"), scope), scopes))

    assert [set(rows(case, look)["region_id"]) for look in looks] == [{scope} for scope in scopes]


# --- the bulk files


@both
def test_a_landed_version_is_not_fetched_again(standin: aws.StandIn, ask: Ask, case: Case) -> None:
    """The same version at a later look is the landed document, seen again now."""
    documents = case.source.fetch(ask("bulk"), "us-east-1").documents
    older = {each.version_key: replace(each, fetched_at=datetime(2026, 11, 1, tzinfo=UTC)) for each in documents}
    standin.forget()

    look = case.source.fetch(ask("bulk", landed=older.get), "us-east-1")

    assert look.documents == tuple(document.seen_again(NOW) for document in documents)
    assert look.complete
    assert standin.count(f"{case.bulk}:prices") == 0


@pytest.mark.parametrize(
    "fault",
    [faults.Truncate(at=0.5), faults.Reset(at=0.5), faults.CutGzip(), faults.Status(503), faults.Status(429, 0)],
)
@both
def test_passing_errors_of_the_bulk_files(standin: aws.StandIn, ask: Ask, case: Case, fault: faults.Effect) -> None:
    """A stream that breaks is begun again as a whole, and Unavailable where it stays broken."""
    expected = rows(case, case.source.fetch(ask("bulk"), "us-west-2"))
    standin.fault(f"{case.bulk}:us-west-2", fault, times=1)
    assert rows(case, case.source.fetch(ask("bulk"), "us-west-2")).equals(expected)

    standin.fault(f"{case.bulk}:us-west-2", fault)
    with pytest.raises(Unavailable):
        case.source.fetch(ask("bulk"), "us-west-2")


@pytest.mark.parametrize("target", ["bulk:index", "{}:regions", "{}:us-west-2"])
@pytest.mark.parametrize("fault", NO_JSON)
@both
def test_other_content_is_another_layout(
    standin: aws.StandIn, ask: Ask, case: Case, target: str, fault: faults.Effect
) -> None:
    """HTML, nothing, or other JSON in place of an index or a file is LayoutChanged."""
    standin.fault(target.format(case.bulk), fault)

    with pytest.raises(LayoutChanged):
        rows(case, case.source.fetch(ask("bulk"), "us-west-2"))


@pytest.mark.parametrize(
    ("case", "target", "old", "new"), [(case, *each) for case in CASES for each in case.ill_formed]
)
def test_an_ill_formed_index_is_named(
    standin: aws.StandIn, ask: Ask, case: Case, target: str, old: bytes, new: bytes
) -> None:
    """The other source's form of the index, missing addresses and offers, and foreign hosts are refused."""
    standin.fault(target, faults.Edit(lambda body: body.replace(old, new)))

    with pytest.raises(LayoutChanged):
        case.source.fetch(ask("bulk"), "us-west-2")


@both
def test_a_file_of_another_version_is_fetched_again(standin: aws.StandIn, ask: Ask, case: Case) -> None:
    """A file that states another version than its address is read, noted, and not taken for that version later."""
    other = faults.Edit(lambda body: body.replace(CURRENT.encode(), b"20260101000000"))
    standin.fault(f"{case.bulk}:us-west-2", other)

    look = case.source.fetch(ask("bulk"), "us-west-2")

    assert look.documents[0].version_key == ""
    assert "20260101000000" in look.notes[0]


# --- the choice, and settings


@both
def test_auto_takes_the_api_with_credentials(
    standin: aws.StandIn, ask: Ask, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials open the API; without any, the bulk files need none."""
    case.source.fetch(ask("auto"), "us-west-2")
    assert (standin.count(case.api), standin.count(case.bulk)) == (case.calls, 0)

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    case.source.fetch(ask("auto"), "us-west-2")
    assert (standin.count(case.api), standin.count(f"{case.bulk}:us-west-2")) == (case.calls, case.files)


@pytest.mark.parametrize("other", ["cn-north-1", "us-west-2-den-1"])
@both
def test_named_regions_are_the_scopes(standin: aws.StandIn, ask: Ask, case: Case, other: str) -> None:
    """A list is taken as it is, China and Local Zones included, and nobody is asked for it."""
    assert case.source.scopes(ask("bulk", regions=["us-east-1", other, "us-east-1"])) == ("us-east-1", other)
    assert standin.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("regions", "us-east-1"), ("regions", []), ("regions", [1]), ("bulk_url", "ftp://x")],
)
@both
def test_a_wrong_setting_is_named(ask: Ask, case: Case, name: str, value: object) -> None:
    """The error says which setting of which source, and what it was."""
    context = ask("bulk", **{name: value})

    with pytest.raises(SettingsError) as caught:
        case.source.fetch(context, "us-east-1") if name != "regions" else case.source.scopes(context)

    assert (caught.value.source, caught.value.field, caught.value.value) == (case.source.name, name, value)


def test_china_has_its_own_address() -> None:
    """Without the setting, each partition's bulk files are where AWS has them."""
    scopes = ("us-gov-west-1", "cn-north-1")

    assert {scope: places.bulk_url({}, places.partition_of(scope), source="aws_price_list") for scope in scopes} == {
        "us-gov-west-1": "https://pricing.us-east-1.amazonaws.com",
        "cn-north-1": "https://pricing.cn-northwest-1.amazonaws.com.cn",
    }


@pytest.mark.parametrize("module", ["price_list", "savings_plans", "instance_types"])
def test_the_shell_does_not_wait_for_these_sources(module: str) -> None:
    """Importing a source loads neither boto3 nor an HTTP client nor polars."""
    heavy = "{'boto3', 'botocore', 'urllib3', 'stamina', 'polars'}"
    code = f"import sys, extract.aws.{module}; print(sorted({heavy} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
