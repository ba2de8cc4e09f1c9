"""The two doors against the stand-in for AWS: the same prices through both, and each failure by its right name."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from price_list_files import NOW, Ask, rows, same
from standin import aws, faults
from standin.facts import CURRENT

from extract.aws.price_list import SOURCE

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
    assert SOURCE.downloads(ask("bulk", landed={url: landed}.get), "us-east-1") == []
    assert SOURCE.downloads(ask("api"), "us-east-1") == []


# --- the API


def test_trap_13_one_query_for_each_region(standin: aws.StandIn, ask: Ask) -> None:
    """Not one for each type, nor one for bare metal: an empty answer to that alone would say that it is gone."""
    SOURCE.fetch(ask("api"), "us-east-1")

    assert standin.count("api:GetProducts:us-east-1") == 1


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
    assert [document.parameters["page"] for document in look.documents[:3]] == ["1", "2", "3"]


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


# --- the choice of door, and settings


# --- many regions, and the shell


def test_thirty_regions_do_not_wait_for_clients(standin: aws.StandIn, ask: Ask) -> None:
    """Making a client for each region is quick, as they share botocore's models."""
    SOURCE.fetch(ask("api"), "us-west-2")
    started = time.monotonic()

    for _ in range(10):
        SOURCE.fetch(ask("api"), "us-west-2")

    assert time.monotonic() - started < 5
