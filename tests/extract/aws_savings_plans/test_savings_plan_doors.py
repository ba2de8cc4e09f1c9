"""The two doors against the stand-in: the same prices through both, and each failure by its right name."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest
from standin import aws, faults, savings_plans
from standin.facts import CURRENT, PRICES

from extract.aws import places
from extract.aws.savings_plans import SOURCE, families
from extract.base import Context, Landed
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

Ask = Callable[..., Context]
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
DOORS = ("api", "bulk")


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("extract.web.http.STREAM_RETRIES", Retries(attempts=3, pause_s=0.001))
    web = HttpWeb(retries=Retries(attempts=3, pause_s=0.001))

    def context(door: str, landed: Landed = lambda version_key: None, **settings: object) -> Context:
        set_ = {"access": door, "bulk_url": standin.url, **settings}
        return Context(web=web, settings=set_, now=lambda: NOW, landed=landed)

    return context


def rows(look: ScopeFetch) -> pl.DataFrame:
    found = [SOURCE.parse(document).rows for document in look.documents]
    return pl.concat(found).sort([*IDENTITY, "unit_price"], nulls_last=True)


# --- both doors


@pytest.mark.parametrize("region", ["us-east-1", "us-west-2", "eu-west-1", "us-gov-west-1", "us-east-1-atl-1"])
def test_both_doors_give_the_same_prices(ask: Ask, region: str) -> None:
    """Equal to the last digit, in a Local Zone too; the API tells no codes. No offer comes twice, none is refused."""
    through_api, through_bulk = (rows(SOURCE.fetch(ask(door), region)) for door in DOORS)
    accepted, refused = row_gate(through_bulk)

    assert through_bulk.height > 0
    assert through_api.drop("sku_id", "sku_price_id").equals(through_bulk.drop("sku_id", "sku_price_id"))
    assert through_bulk["sku_price_id"].null_count() == 0
    assert set(through_bulk["region_id"]) == {region}
    assert refused == []
    assert accepted.select(IDENTITY).is_duplicated().sum() == 0


def test_three_kinds_of_plan(ask: Ask) -> None:
    """Compute, EC2 Instance and SageMaker, each in six combinations of term and payment."""
    said = rows(SOURCE.fetch(ask("bulk"), "us-east-1")).filter(pl.col("instance_type").str.contains("p5.48xlarge"))

    counts = said.group_by("commitment_discount_type", "instance_type").len().sort("commitment_discount_type").rows()
    assert counts == [
        ("Compute", "p5.48xlarge", 6),
        ("EC2Instance", "p5.48xlarge", 6),
        ("SageMaker", "ml.p5.48xlarge", 18),
    ]


@pytest.mark.parametrize("door", DOORS)
def test_regions_are_those_of_the_index(ask: Ask, door: str) -> None:
    """Every region with a file; a Local Zone without one is not among them."""
    assert SOURCE.scopes(ask(door, regions="all")) == ("eu-west-1", "us-east-1", "us-gov-west-1", "us-west-2")


@pytest.mark.parametrize("door", DOORS)
def test_a_look_is_complete_and_of_now(ask: Ask, door: str) -> None:
    """A live look covers its whole scope, so that an absent offer is a gone one."""
    look = SOURCE.fetch(ask(door), "us-west-2")

    assert (look.source, look.scope, look.observed_at, look.complete) == ("aws_savings_plans", "us-west-2", NOW, True)
    assert {document.scope for document in look.documents} == {"us-west-2"}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("region", ["us-moon-1", "cn-north-1-pkx-1"])
def test_no_region_no_look(ask: Ask, door: str, region: str) -> None:
    """A name that is no region is an error that names it."""
    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask(door), region)

    assert (caught.value.field, caught.value.value) == ("region", region)


@pytest.mark.parametrize("door", DOORS)
def test_one_region_fails_alone(standin: aws.StandIn, ask: Ask, door: str) -> None:
    """A region that answers with errors raises for itself; the next one is read."""
    standin.fault("*us-west-2", faults.Status(500))

    with pytest.raises(Unavailable):
        SOURCE.fetch(ask(door), "us-west-2")

    assert rows(SOURCE.fetch(ask(door), "us-east-1")).height > 0


@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_fact_is_wrong_through_both_doors(standin: aws.StandIn, ask: Ask, door: str) -> None:
    """What AWS lists by mistake reaches the gates as it is."""
    standin.savings.change(lambda rate: replace(rate, amount="0.0000000000") if rate.payment == "No Upfront" else rate)

    said = rows(SOURCE.fetch(ask(door), "us-west-2")).filter(purchase_payment_model="No Upfront")

    assert set(said["unit_price"]) == {"0"}
    assert len(row_gate(said)[1]) == said.height


# --- the API


def test_pages_are_kept_as_received(standin: aws.StandIn, ask: Ask) -> None:
    """Each page is a document with its parameters; short and empty pages are pages; an empty token is the end."""
    whole = rows(SOURCE.fetch(ask("api"), "us-east-1"))
    standin.savings.page_sizes = (7, 0, 11)
    standin.savings.empty_last_token = True

    look = SOURCE.fetch(ask("api"), "us-east-1")

    assert len(look.documents) > 10
    assert rows(look).equals(whole)
    first = look.documents[0]
    assert first.url == "savingsplans.DescribeSavingsPlansOfferingRates"
    assert first.parameters == {"region": "us-east-1", "savingsPlanType": "Compute", "page": "1"}
    assert len(json.loads(first.body)["searchResults"]) == 7


def test_one_query_for_each_kind_of_plan(standin: aws.StandIn, ask: Ask) -> None:
    """A region costs three queries, cut down to one system and tenancy by the service."""
    SOURCE.fetch(ask("api"), "us-east-1")

    plans = [request.parameters["savingsPlanTypes"] for request in standin.seen("savings:us-east-1")]
    assert plans == [["Compute"], ["EC2Instance"], ["SageMaker"]]
    assert standin.seen("savings")[0].parameters["operations"] == ["RunInstances"]


def test_families_of_the_dated_table_are_asked_for() -> None:
    """Those that the table knows, UltraServers among them."""
    assert {"p5", "p6-b200", "trn2", "inf2", "g6f", "u-p6e-gb200x72"} <= set(families())


@pytest.mark.parametrize("same", [True, False])
def test_pages_without_an_end_are_an_error(
    standin: aws.StandIn, ask: Ask, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that comes again, or tokens without an end, end with an error."""
    monkeypatch.setattr("extract.aws.savings_plans.MAX_PAGES", 20)
    standin.fault("savings", savings_plans.RepeatToken(same=same))

    with pytest.raises(SourceError) as caught:
        SOURCE.fetch(ask("api"), "us-east-1")

    assert caught.value.field == "nextToken"
    assert standin.count("savings") <= 21


@pytest.mark.parametrize("plan", ["Compute", "EC2Instance"])
def test_a_kind_of_plan_without_any_rate_is_an_error(standin: aws.StandIn, ask: Ask, plan: str) -> None:
    """Every region sells both: a filter that finds nothing any more must not look like offers that are gone."""
    standin.savings.change(lambda rate: None if rate.plan == plan else rate)

    with pytest.raises(SourceError, match=plan):
        SOURCE.fetch(ask("api"), "us-east-1")


@pytest.fixture
def barren(standin: aws.StandIn) -> str:
    """Return a region where AWS has accelerators neither in its price list nor in a plan."""
    for name in PRICES["eu-west-1"].keys() - {"m5.xlarge"}:
        standin.fault("api:GetProducts:eu-west-1", faults.gone(name))
    standin.savings.change(lambda rate: rate if rate.region != "eu-west-1" or "m5" in rate.instance_type else None)
    return "eu-west-1"


def test_a_region_without_accelerators_is_an_answer(ask: Ask, barren: str) -> None:
    """The price list has none there either; both ways agree."""
    looks = [SOURCE.fetch(ask(door), barren) for door in DOORS]

    assert [rows(look).height for look in looks] == [0, 0]
    assert all(look.complete for look in looks)
    assert looks[0].notes == ("no accelerator under a Compute or EC2 Instance plan, and none in the price list",)


def test_no_rate_where_the_price_list_has_accelerators_is_an_error(standin: aws.StandIn, ask: Ask) -> None:
    """However many plain machines have rates: the filter on families no longer means what it did."""
    standin.savings.change(lambda rate: rate if rate.region != "us-west-2" or "m5" in rate.instance_type else None)

    with pytest.raises(SourceError, match="no Compute and no EC2Instance rate of any accelerator"):
        SOURCE.fetch(ask("api"), "us-west-2")


def test_who_may_not_read_the_price_list_gets_the_files(standin: aws.StandIn, ask: Ask, barren: str) -> None:
    """They say it by themselves; the note names the right."""
    standin.fault("api", faults.ApiError("AccessDeniedException"))

    look = SOURCE.fetch(ask("auto"), barren)

    assert (rows(look).height, look.complete) == (0, True)
    assert "pricing:GetProducts" in look.notes[0]
    with pytest.raises(CredentialsMissing, match="AccessDenied"):
        SOURCE.fetch(ask("api"), barren)


def test_without_rights_the_files_are_counted_before_they_are_read(standin: aws.StandIn, ask: Ask) -> None:
    """One small question tells: then the regions are those of the files, and their sizes are known beforehand."""
    standin.fault("savings", faults.ApiError("AccessDeniedException"))

    assert SOURCE.scopes(ask("auto")) == ("us-east-1", "us-west-2")
    assert SOURCE.downloads
    assert len(SOURCE.downloads(ask("auto"), "us-east-1")) == 2
    assert standin.count("savings") == 1
    standin.heal()
    assert SOURCE.downloads(ask("api"), "us-east-1") == []


def test_without_rights_the_public_files_serve(standin: aws.StandIn, ask: Ask) -> None:
    """Midway too; the note says which right is missing."""
    standin.fault("savings", faults.ApiError("AccessDeniedException"), after=1)

    look = SOURCE.fetch(ask("auto"), "us-east-1")

    assert rows(look).equals(rows(SOURCE.fetch(ask("bulk"), "us-east-1")))
    assert "savingsplans:DescribeSavingsPlansOfferingRates" in look.notes[0]


@pytest.mark.parametrize("kind", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"])
def test_refused_credentials_are_named(standin: aws.StandIn, ask: Ask, kind: str) -> None:
    """Refused credentials are CredentialsMissing, midway too, with the action that they need, or a login that ended."""
    standin.fault("savings", faults.ApiError(kind), after=1)

    with pytest.raises(CredentialsMissing, match=kind) as caught:
        SOURCE.fetch(ask("api"), "us-east-1")

    action = "savingsplans:DescribeSavingsPlansOfferingRates"
    assert ("log in again" if kind.startswith("Expired") else action) in caught.value.hint


def test_absent_credentials_are_named(standin: aws.StandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API door without credentials says so, before anybody is asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(CredentialsMissing):
        SOURCE.fetch(ask("api"), "us-east-1")

    assert standin.count() == 0


@pytest.mark.parametrize(
    "fault",
    [faults.THROTTLED, faults.ApiError("InternalServerException", "x", 500), faults.Status(503), faults.Reset()],
)
def test_passing_errors_of_the_api(standin: aws.StandIn, ask: Ask, fault: faults.Effect, pauses: list[float]) -> None:
    """Throttling, server errors and lost connections are tried again, and Unavailable where they stay."""
    standin.fault("savings", fault, times=1)
    assert rows(SOURCE.fetch(ask("api"), "us-west-2")).height > 0
    assert len(pauses) == 1

    standin.fault("savings", fault)
    with pytest.raises(Unavailable):
        SOURCE.fetch(ask("api"), "us-west-2")


def test_a_refused_request_is_no_outage(standin: aws.StandIn, ask: Ask) -> None:
    """ValidationException is neither credentials nor an outage."""
    standin.fault("savings", faults.ApiError("ValidationException", "no such filter"))

    with pytest.raises(SourceError, match="no such filter") as caught:
        SOURCE.fetch(ask("api"), "us-west-2")

    assert type(caught.value) is SourceError


def test_html_from_the_api_is_another_layout(standin: aws.StandIn, ask: Ask) -> None:
    """A page for people with status 200 is kept, and refused when it is parsed."""
    standin.fault("savings", faults.Html())

    with pytest.raises(LayoutChanged):
        rows(SOURCE.fetch(ask("api"), "us-east-1"))


def test_regions_are_fetched_side_by_side(ask: Ask) -> None:
    """Threads that share one context do not mix up their pages."""
    scopes = ["us-east-1", "us-west-2", "eu-west-1"] * 2
    with ThreadPoolExecutor(max_workers=6) as pool:
        looks = list(pool.map(lambda scope: SOURCE.fetch(ask("api"), scope), scopes))

    assert [set(rows(look)["region_id"]) for look in looks] == [{scope} for scope in scopes]


# --- the bulk files


def test_the_excerpt_says_what_it_was_cut_from(standin: aws.StandIn, ask: Ask) -> None:
    """A document for each offer, named by its version, dated by AWS, with size and hash of the whole file."""
    ec2, ml = SOURCE.fetch(ask("bulk"), "us-east-1").documents

    assert ec2.url == f"{standin.url}/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/{CURRENT}/us-east-1/index.csv"
    assert ml.url == f"{standin.url}/savingsPlan/v1.0/aws/AWSMachineLearningSavingsPlans/{CURRENT}/us-east-1/index.csv"
    assert ec2.version_key == ec2.url
    assert ec2.published_at == datetime.strptime(CURRENT, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    assert ec2.whole is not None
    assert ec2.whole.size > len(ec2.body)


def test_a_region_without_sagemaker_has_one_document(ask: Ask) -> None:
    """SageMaker's index does not list every region that EC2's lists."""
    assert len(SOURCE.fetch(ask("bulk"), "eu-west-1").documents) == 1


def test_a_landed_version_is_not_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """The same version at a later look is the landed document, seen again now."""
    documents = SOURCE.fetch(ask("bulk"), "us-east-1").documents
    older = {each.version_key: replace(each, fetched_at=datetime(2026, 11, 1, tzinfo=UTC)) for each in documents}
    standin.forget()

    look = SOURCE.fetch(ask("bulk", landed=older.get), "us-east-1")

    assert look.documents == tuple(document.seen_again(NOW) for document in documents)
    assert standin.count("plans:prices") == 0


def test_a_local_zone_is_read_from_its_regions_file(standin: aws.StandIn, ask: Ask) -> None:
    """Trap 16: its rates stand there, in no file of its own; what was landed for the region serves the zone."""
    region = SOURCE.fetch(ask("bulk"), "us-east-1").documents
    landed: dict[str, Document] = {each.version_key: each for each in region}
    standin.forget()

    look = SOURCE.fetch(ask("bulk", landed=landed.get), "us-east-1-atl-1")

    assert standin.count("plans:prices") == 0
    assert set(rows(look)["region_id"]) == {"us-east-1-atl-1"}
    assert SOURCE.parse(region[0]).ignored["other_region"] > 0


@pytest.mark.parametrize(
    "fault",
    [faults.Truncate(at=0.5), faults.Reset(at=0.5), faults.CutGzip(), faults.Status(503), faults.Status(429, 0)],
)
def test_passing_errors_of_the_bulk_files(standin: aws.StandIn, ask: Ask, fault: faults.Effect) -> None:
    """A stream that breaks is begun again as a whole, and Unavailable where it stays broken."""
    expected = rows(SOURCE.fetch(ask("bulk"), "us-west-2"))
    standin.fault("plans:us-west-2", fault, times=1)
    assert rows(SOURCE.fetch(ask("bulk"), "us-west-2")).equals(expected)

    standin.fault("plans:us-west-2", fault)
    with pytest.raises(Unavailable):
        SOURCE.fetch(ask("bulk"), "us-west-2")


@pytest.mark.parametrize("target", ["bulk:index", "plans:regions", "plans:us-west-2"])
@pytest.mark.parametrize("fault", [faults.Html(), faults.Edit(lambda body: b""), faults.Edit(lambda body: b"[1]")])
def test_other_content_is_another_layout(standin: aws.StandIn, ask: Ask, target: str, fault: faults.Effect) -> None:
    """HTML, nothing, or other JSON in place of an index or a file is LayoutChanged."""
    standin.fault(target, fault)

    with pytest.raises(LayoutChanged):
        rows(SOURCE.fetch(ask("bulk"), "us-west-2"))


@pytest.mark.parametrize(
    ("target", "old", "new"),
    [
        ("plans:regions", b'"regions" : [', b'"regions" : {}, "x" : ['),
        ("plans:regions", b"versionUrl", b"currentVersionUrl"),
        ("plans:regions", b'"/savingsPlan', b'"https://evil.example/savingsPlan'),
        ("plans:regions", b"index.json", b"index.zip"),
        ("bulk:index", b"currentSavingsPlanIndexUrl", b"savingsPlanIndexUrl"),
        ("bulk:index", b'"AmazonSageMaker"', b'"AmazonWiseMaker"'),
    ],
)
def test_an_ill_formed_index_is_named(standin: aws.StandIn, ask: Ask, target: str, old: bytes, new: bytes) -> None:
    """The price list's form of the index, missing addresses and offers, and foreign hosts are refused."""
    standin.fault(target, faults.Edit(lambda body: body.replace(old, new)))

    with pytest.raises(LayoutChanged):
        SOURCE.fetch(ask("bulk"), "us-west-2")


def test_a_file_of_another_version_is_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """A file that states another version than its address is read, noted, and not taken for that version later."""
    standin.fault("plans:us-west-2", faults.Edit(lambda body: body.replace(CURRENT.encode(), b"20260101000000")))

    look = SOURCE.fetch(ask("bulk"), "us-west-2")

    assert look.documents[0].version_key == ""
    assert "20260101000000" in look.notes[0]


# --- the choice of door, and settings


def test_auto_takes_the_api_with_credentials(standin: aws.StandIn, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials open the API; without any, the bulk files need none."""
    SOURCE.fetch(ask("auto"), "us-west-2")
    assert (standin.count("savings"), standin.count("plans")) == (3, 0)

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    SOURCE.fetch(ask("auto"), "us-west-2")
    assert (standin.count("savings"), standin.count("plans:us-west-2")) == (3, 2)


def test_named_regions_are_the_scopes(standin: aws.StandIn, ask: Ask) -> None:
    """A list is taken as it is, Local Zones included, and nobody is asked for it."""
    named = ["us-east-1", "us-west-2-den-1", "us-east-1"]

    assert SOURCE.scopes(ask("bulk", regions=named)) == ("us-east-1", "us-west-2-den-1")
    assert standin.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("access", "window"), ("regions", "us-east-1"), ("regions", []), ("regions", [1]), ("bulk_url", "ftp://x")],
)
def test_a_wrong_setting_is_named(ask: Ask, name: str, value: object) -> None:
    """The error says which setting of which source, and what it was."""
    context = ask("bulk", **{name: value}) if name != "access" else ask(str(value))

    with pytest.raises(SettingsError) as caught:
        SOURCE.fetch(context, "us-east-1") if name != "regions" else SOURCE.scopes(context)

    assert (caught.value.source, caught.value.field, caught.value.value) == ("aws_savings_plans", name, value)


def test_china_has_its_own_address() -> None:
    """Without the setting, each partition's bulk files are where AWS has them."""
    scopes = ("us-gov-west-1", "cn-north-1")

    found = {scope: places.bulk_url({}, places.partition_of(scope), source=SOURCE.name) for scope in scopes}

    assert found == {
        "us-gov-west-1": "https://pricing.us-east-1.amazonaws.com",
        "cn-north-1": "https://pricing.cn-northwest-1.amazonaws.com.cn",
    }
