"""The two doors against the stand-in: the same prices through both, and each failure by its right name."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest
from standin import aws, faults
from standin.facts import CURRENT, PRICES

from extract.aws.savings_plans import SOURCE, families
from extract.base import Context
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, SourceError
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

Ask = Callable[..., Context]
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
DOORS = ("api", "bulk")


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
    assert looks[0].notes[0] == "no accelerator under a Compute or EC2 Instance plan, and none in the price list"


@pytest.mark.parametrize("door", DOORS)
def test_an_answer_without_sagemaker_ends_no_offer(standin: aws.StandIn, ask: Ask, door: str) -> None:
    """A filter that finds nothing any more, or an index that lacks a region, must not look like offers that are gone.

    The rates of the other plans count.
    """
    before = SOURCE.fetch(ask(door), "us-west-2")
    standin.savings.change(lambda rate: None if rate.plan == "SageMaker" and rate.region == "us-west-2" else rate)

    look = SOURCE.fetch(replace(ask(door), known_prices=lambda: rows(before)), "us-west-2")

    assert (before.complete, before.notes) == (True, ())
    assert (look.complete, look.notes) == (False, ("no machine under a SageMaker plan, so this answer ends no offer",))
    assert 0 < rows(look).height < rows(before).height


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("payment", "complete"), [("All Upfront", False), (None, True)])
def test_an_answer_with_some_rates_of_a_machine_ends_no_offer(
    standin: aws.StandIn, ask: Ask, door: str, payment: str | None, complete: bool
) -> None:
    """A chain of pages that lost its end has a tenth of the rates less. AWS ends a machine with all of them."""
    before = SOURCE.fetch(ask(door), "us-east-1")
    standin.savings.change(
        lambda rate: None if "ml.p5.48xlarge" in rate.usage_type and payment in (None, rate.payment) else rate
    )

    look = SOURCE.fetch(replace(ask(door), known_prices=lambda: rows(before)), "us-east-1")

    assert rows(look).height < rows(before).height
    assert look.complete == complete
    assert look.notes == (
        () if complete else ("only some of the known rates of ml.p5.48xlarge, so this answer ends no offer",)
    )


def test_without_known_prices_only_the_first_answer_ends_offers(ask: Ask) -> None:
    """It has none to end. Later ones may be cut short, and nobody can tell."""
    first = SOURCE.fetch(ask("api"), "us-east-1")
    later = SOURCE.fetch(replace(ask("api"), last_observed=lambda scope: NOW), "us-east-1")

    assert (first.complete, later.complete) == (True, False)
    assert later.notes == ("the prices of earlier fetches cannot be read, so this answer ends no offer",)


@pytest.mark.parametrize("region", ["eu-west-1", "us-east-1-atl-1"])
def test_a_region_whose_index_has_no_sagemaker_is_complete(standin: aws.StandIn, ask: Ask, region: str) -> None:
    """AWS sells no SageMaker plans there, nor in Local Zones: offers of the other plans may end."""
    standin.savings.change(lambda rate: None if rate.plan == "SageMaker" and rate.region == region else rate)

    look = SOURCE.fetch(ask("api"), region)

    assert rows(look).height > 0
    assert (look.complete, look.notes) == (True, ())


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


def test_a_refused_request_is_no_outage(standin: aws.StandIn, ask: Ask) -> None:
    """ValidationException is neither credentials nor an outage."""
    standin.fault("savings", faults.ApiError("ValidationException", "no such filter"))

    with pytest.raises(SourceError, match="no such filter") as caught:
        SOURCE.fetch(ask("api"), "us-west-2")

    assert type(caught.value) is SourceError


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


def test_a_local_zone_is_read_from_its_regions_file(standin: aws.StandIn, ask: Ask) -> None:
    """Trap 16: its rates stand there, in no file of its own; what was landed for the region serves the zone."""
    region = SOURCE.fetch(ask("bulk"), "us-east-1").documents
    landed: dict[str, Document] = {each.version_key: each for each in region}
    standin.forget()

    look = SOURCE.fetch(ask("bulk", landed=landed.get), "us-east-1-atl-1")

    assert standin.count("plans:prices") == 0
    assert set(rows(look)["region_id"]) == {"us-east-1-atl-1"}
    assert SOURCE.parse(region[0]).ignored["other_region"] > 0


# --- the choice of door, and settings
