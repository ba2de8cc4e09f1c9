"""Capacity Block offers: the query kept with the answer, hourly rates derived exactly, refusals taken as answers."""

import csv
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from block_waits import faster
from looks import memory
from standin import aws, ec2
from standin.ec2_cloud import NOW, Block, Zone, machine

from extract.aws.capacity_blocks import INSTANCE_TYPES, SOURCE, ULTRASERVERS
from extract.base import Context, Parsed
from extract.web.http import HttpWeb, Retries
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SettingsError, SourceError, Unavailable
from warehouse.log.gates import row_gate
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch

Ask = Callable[..., Context]
REGION = "ap-south-2"
QUERY = {"InstanceType": "trn2.48xlarge", "InstanceCount": "1", "CapacityDurationHours": "24"}
ULTRASERVER = {"UltraserverType": "u-p6e-gb200x72", "UltraserverCount": "1", "CapacityDurationHours": "24"}
START = datetime(2026, 10, 3, 11, 30, tzinfo=UTC)
SPLIT = """
<capacityBlockOfferingSegmentSet>
  <item><instanceType>trn2.48xlarge</instanceType><availabilityZone>ap-south-2b</availabilityZone>
    <availabilityZoneId>aps2-az1</availabilityZoneId><instanceCount>1</instanceCount><upfrontFee>400.00</upfrontFee>
    <capacityBlockDurationHours>11</capacityBlockDurationHours>
    <capacityBlockDurationMinutes>30</capacityBlockDurationMinutes></item>
  <item><instanceType>trn2.48xlarge</instanceType><availabilityZone>{zone}</availabilityZone>
    <availabilityZoneId>aps2-az1</availabilityZoneId><instanceCount>1</instanceCount><upfrontFee>{fee}</upfrontFee>
    <capacityBlockDurationHours>12</capacityBlockDurationHours>
    <capacityBlockDurationMinutes>0</capacityBlockDurationMinutes></item>
</capacityBlockOfferingSegmentSet>"""


@pytest.fixture
def ask(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a maker of contexts for the stand-in."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    faster(standin, monkeypatch, 100)

    def context(**settings: object) -> Context:
        return Context(web=HttpWeb(retries=Retries(attempts=1)), settings=settings, now=lambda: NOW)

    return context


def read(look: ScopeFetch) -> list[Parsed]:
    return [SOURCE.parse(document) for document in look.documents]


def rows(look: ScopeFetch) -> pl.DataFrame:
    return pl.concat([each.rows for each in read(look)])


def facts(look: ScopeFetch) -> pl.DataFrame:
    return pl.concat([each.facts["capacity_block_answer"] for each in read(look) if each.facts])


def answer(*offers: str, query: Mapping[str, str] = QUERY, **parameters: str) -> Document:
    """Return a page in EC2's XML."""
    items = "".join(f"<item>{offer}</item>" for offer in offers)
    body = (
        '<DescribeCapacityBlockOfferingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
        f"<requestId>r</requestId><capacityBlockOfferingSet>{items}</capacityBlockOfferingSet>"
        "</DescribeCapacityBlockOfferingsResponse>"
    )
    return Document(
        source="aws_capacity_blocks", scope=REGION, url="ec2.DescribeCapacityBlockOfferings", body=body.encode(),
        fetched_at=NOW, parameters={**query, **parameters},
    )  # fmt: skip


def offer(
    fee: str, hours: int = 24, minutes: int | None = 0, *, number: str = "cb-1", count: int = 1, more: str = "",
    kind: str = "trn2.48xlarge", start: str = "2026-10-03T11:30:00.000Z", longer: float = 0,
) -> str:  # fmt: skip
    """Return one offer; without `minutes` the answer does not state them. It ends so many minutes `longer` after it."""
    end = datetime.fromisoformat(start) + timedelta(hours=hours, minutes=(minutes or 0) + longer)
    stated = "" if minutes is None else f"<capacityBlockDurationMinutes>{minutes}</capacityBlockDurationMinutes>"
    return (
        f"<capacityBlockOfferingId>{number}</capacityBlockOfferingId><instanceType>{kind}</instanceType>"
        f"<availabilityZone>ap-south-2b</availabilityZone><instanceCount>{count}</instanceCount>"
        f"<startDate>{start}</startDate><endDate>{end.isoformat()}</endDate>"
        f"<capacityBlockDurationHours>{hours}</capacityBlockDurationHours>{stated}"
        f"<upfrontFee>{fee}</upfrontFee><currencyCode>USD</currencyCode><tenancy>default</tenancy>{more}"
    )


def server(fee: str, count: int = 1) -> str:
    """Return an offer of UltraServers, each made of two machines."""
    names = f"<ultraserverType>u-p6e-gb200x72</ultraserverType><ultraserverCount>{count}</ultraserverCount>"
    return offer(fee, kind="p6e-gb200.36xlarge", count=2 * count, more=names)


def price(document: Document) -> str | None:
    """Return the one price of a page; None where there is none."""
    found = SOURCE.parse(document).rows["unit_price"].to_list()
    return found[0] if found else None


# --- the rate


@pytest.mark.parametrize(
    ("fee", "hours", "minutes", "count", "hourly"),
    [
        ("308.14", 8, 37, 1, "35.7609284333"),  # observed on 2026-10-03; without the minutes it would be 38.52
        ("858.26", 24, 0, 1, "35.7608333333"),
        ("1144.3456", 32, 0, 1, "35.7608"),
        ("1716.5184", 24, 0, 2, "35.7608"),
        ("0.00000000005", 1, 0, 1, "0"),  # half to even
        ("0.00000000015", 1, 0, 1, "0.0000000002"),
    ],
)  # fmt: skip
def test_the_rate_is_fee_by_count_and_paid_hours(fee: str, hours: int, minutes: int, count: int, hourly: str) -> None:
    """Exact; rounded half to even at the tenth decimal only where it does not end before."""
    assert price(answer(offer(fee, hours, minutes, count=count))) == hourly


def test_every_observed_fee_is_near_the_published_rate(shared: Path) -> None:
    """The offers of 2026-10-03, whose minutes were noted in one case: 35.7608 an hour within a cent."""
    path = shared / "data" / "aws_samples" / "capacity_block_offers_observed_20261003.csv"
    with path.open() as file:
        fees = {
            row["duration_hours"]: row["upfront_fee_usd_low"]
            for row in csv.DictReader(file)
            if row["upfront_fee_usd_low"]
        }

    assert fees == {"8": "308.14", "24": "858.26", "32": "1166.40"}
    lengths = {"8": (8, 37), "24": (24, 0), "32": (32, 37)}
    for name, (hours, minutes) in lengths.items():
        assert abs(Decimal(price(answer(offer(fees[name], hours, minutes))) or "0") - Decimal("35.7608")) < Decimal(
            "0.01"
        )


def test_without_minutes_the_rate_is_unknown() -> None:
    """No price, but the offer is a fact: 308.14 for eight hours would be 38.52 an hour."""
    parsed = SOURCE.parse(answer(offer("308.14", 8, None)))

    assert parsed.rows.is_empty()
    assert parsed.ignored == {"unknown rate: no minutes": 1}
    fact = parsed.facts["capacity_block_answer"].row(0, named=True)
    assert (fact["duration_minutes"], fact["usable_minutes"], fact["block_fee"]) == (None, None, Decimal("308.14"))


@pytest.mark.parametrize(("longer", "hourly"), [(-30.1, None), (-30, "30"), (0.99, "30"), (24 * 60, None)])
def test_without_one_length_the_rate_is_unknown(longer: float, hourly: str | None) -> None:
    """Start and end say it, too: hours of a day, or all minutes beside them, are no length of two days."""
    assert price(answer(offer("720", longer=longer))) == hourly


def test_fewer_minutes_can_be_used_than_are_paid() -> None:
    """Instances are ended from 30 minutes before the end; those of a P6e-GB200 UltraServer have to be from 60."""
    blocks = offer("308.14", 8, 37), server("18285.696")
    facts = [SOURCE.parse(answer(block)).facts["capacity_block_answer"].row(0, named=True) for block in blocks]

    assert [(fact["duration_minutes"], fact["usable_minutes"]) for fact in facts] == [(517, 487), (1440, 1380)]


@pytest.mark.parametrize("fee", ["", "free", "NaN", "-1"])
def test_a_fee_that_is_none_gives_no_price(fee: str) -> None:
    assert row_gate(SOURCE.parse(answer(offer(fee))).rows)[0].is_empty()


def test_trap_27_an_ultraserver_is_one_unit() -> None:
    """Counted as one by its own name, although it is made of two machines."""
    row = SOURCE.parse(answer(server("18285.696"), query=ULTRASERVER)).rows.row(0, named=True)

    assert (row["instance_type"], row["capacity_unit"], row["unit_price"]) == (
        "u-p6e-gb200x72",
        "UltraServer",
        "761.904",
    )


def test_trap_27_the_rate_of_one_chip_is_refused() -> None:
    """10.582 an hour for 72 chips is the rate of one of them."""
    refused = row_gate(SOURCE.parse(answer(server("253.968"), query=ULTRASERVER)).rows)[1]

    assert [(each.field, each.value) for each in refused] == [("unit_price", "10.582 for 72 chips")]


def test_an_answer_about_another_type_is_refused() -> None:
    """A price stands under what was asked for, or nowhere."""
    refused = row_gate(SOURCE.parse(answer(offer("858.24", kind="p5.48xlarge"))).rows)[1]

    assert [each.value for each in refused] == ["35.76 for p5.48xlarge"]


# --- which offer


def test_the_price_is_of_the_offer_that_starts_first() -> None:
    """All offers are facts; one is the price of its zone."""
    late, early = offer("900", number="cb-2", start="2026-10-05T11:30:00Z"), offer("858.24", number="cb-3")
    dear = offer("860.00", number="cb-4")

    parsed = SOURCE.parse(answer(late, dear, early))

    assert parsed.rows["unit_price"].to_list() == ["35.76"]
    assert parsed.ignored == {"later_start": 2}
    assert sorted(parsed.facts["capacity_block_answer"]["capacity_block_offering_id"]) == ["cb-2", "cb-3", "cb-4"]


def test_a_price_says_what_it_depends_on() -> None:
    """Asked duration and count are part of the offer; the zone has a name only."""
    row = SOURCE.parse(answer(offer("858.24"))).rows.row(0, named=True)

    assert (row["purchase_option"], row["commitment_term_hours"], row["minimum_quantity"]) == (
        "capacity_block",
        24,
        "1",
    )
    assert (row["availability_zone"], row["availability_zone_id"]) == ("ap-south-2b", None)
    assert row["conditions"] == "offer that starts first"


@pytest.mark.parametrize(
    ("zone", "fee", "hourly", "where"),
    [("ap-south-2b", "439.876", "35.7394042553", "ap-south-2b"), ("ap-south-2a", "439.876", "35.7394042553", None),
     ("ap-south-2b", "440", None, None)],
)  # fmt: skip
def test_a_split_offer_is_paid_by_its_segments(zone: str, fee: str, hourly: str | None, where: str | None) -> None:
    """Paid time is the sum of theirs; where the fees do not add up the rate is unknown."""
    parsed = SOURCE.parse(answer(offer("839.876", more=SPLIT.format(zone=zone, fee=fee))))

    assert parsed.rows["unit_price"].to_list() == ([hourly] if hourly else [])
    fact = parsed.facts["capacity_block_answer"].row(0, named=True)
    assert (fact["duration_minutes"], fact["usable_minutes"]) == (23 * 60 + 30, 22 * 60 + 30)
    if hourly:
        row = parsed.rows.row(0, named=True)
        assert (row["availability_zone"], row["conditions"]) == (where, "offer that starts first, in 2 segments")


def cli(*offers: Mapping[str, object]) -> bytes:
    """Return an answer as the AWS CLI prints it."""
    return json.dumps({"CapacityBlockOfferings": offers}).encode()


P4D = {
    "CapacityBlockOfferingId": "cb-0bfad2f7fb1b4478a", "InstanceType": "p4d.24xlarge",
    "AvailabilityZone": "us-east-2a", "InstanceCount": 1, "StartDate": "2025-02-15T11:30:00+00:00",
    "EndDate": "2025-02-16T11:30:00+00:00", "CapacityBlockDurationHours": 24, "CapacityBlockDurationMinutes": 0,
    "UpfrontFee": "283", "CurrencyCode": "USD", "Tenancy": "default", "ZoneType": None,
}  # fmt: skip
"""An offer of 2025-02-14 (github.com/aws-samples/sample-aws-batch-capacity-block-reservations, HOW-TO.md)."""


def test_an_answer_that_the_aws_cli_printed() -> None:
    """It does not say what was queried: the offers say type and count, and the hours are unknown. 283 / 24."""
    saved = replace(answer(query={}), scope="us-east-2", body=cli(P4D))
    row = SOURCE.parse(saved).rows.row(0, named=True)
    names = ("instance_type", "minimum_quantity", "availability_zone", "commitment_term_hours", "unit_price")

    assert tuple(row[name] for name in names) == ("p4d.24xlarge", "1", "us-east-2a", None, "11.7916666667")
    alone = json.dumps([P4D]).encode()  # `--query CapacityBlockOfferings` leaves the list
    assert SOURCE.parse(replace(saved, body=alone)).rows.row(0, named=True) == row
    with pytest.raises(LayoutChanged, match="the query is not known"):  # for which of them, the answer does not say
        SOURCE.parse(replace(saved, body=cli(P4D, P4D | {"InstanceCount": 2})))


def test_the_zones_of_offers_say_the_region() -> None:
    """As of a saved answer without a scope, which had an empty region; under another scope it was of that region."""
    saved = replace(answer(query={}), scope="", body=cli(P4D | {"AvailabilityZone": "us-east-1-dfw-2a"}))
    parsed = SOURCE.parse(saved)

    assert parsed.rows["region_id"].to_list() == ["us-east-1"]
    assert parsed.facts["capacity_block_answer"]["region_id"].to_list() == ["us-east-1"]
    for scope, body in (("us-west-2", cli(P4D)), ("", cli(P4D, P4D | {"AvailabilityZone": "us-west-2b"}))):
        with pytest.raises(LayoutChanged, match="an offer of another region than us-"):
            SOURCE.parse(replace(saved, scope=scope, body=body))


def test_segments_that_the_aws_cli_printed() -> None:
    """Two half days in two zones, whose fees add up, are one offer, as in XML."""
    half = P4D | {"CapacityBlockDurationHours": 12, "EndDate": "2025-02-15T23:30:00+00:00", "UpfrontFee": "141.5"}
    split = P4D | {"CapacityBlockOfferingSegments": [half, half | {"AvailabilityZone": "us-east-2b"}]}
    (row,) = SOURCE.parse(replace(answer(query={}), scope="us-east-2", body=cli(split))).rows.to_dicts()

    assert (row["availability_zone"], row["conditions"], row["unit_price"]) == (
        None, "offer that starts first, in 2 segments", "11.7916666667",
    )  # fmt: skip


@pytest.mark.parametrize("body", [b"", b"{}", b"<html/>", b"<Response/>", b"<DescribeCapacityBlockOfferingsResponse/>"])
def test_another_layout_is_an_error(body: bytes) -> None:
    """Nothing is published from what is no answer, nor from an answer without its query."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(replace(answer(), body=body))
    with pytest.raises(LayoutChanged, match="the query is not known"):
        SOURCE.parse(answer(query={}))


@pytest.mark.parametrize(
    "broken",
    [
        offer("1").replace("cb-1", ""),
        offer("1", number="").replace(">24<", ">many<"),
        offer("1").replace("2026-10-03", "soon"),
    ],
)
def test_an_offer_that_cannot_be_read_is_an_error(broken: str) -> None:
    """Without an id, with another kind of number, or of time."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(answer(broken))


# --- the API


def test_a_region_answers_every_query(standin: aws.StandIn, ask: Ask) -> None:
    """The offers of 2026-10-03 in ap-south-2: the price is of the block that starts at once, and both are facts."""
    look = SOURCE.fetch(ask(), REGION)

    found = rows(look)
    assert found.select("instance_type", "availability_zone", "unit_price").rows() == [
        ("trn2.48xlarge", "ap-south-2b", "35.7609284333")
    ]
    assert (look.complete, look.archived, look.notes) == (True, False, ())
    asked = [document.parameters.get("InstanceType") for document in look.documents]
    assert asked == [None, "p5.48xlarge", "p6-b200.48xlarge", "trn1.32xlarge", "trn2.3xlarge", "trn2.48xlarge", None]
    assert look.documents[0].parameters == {"supported-usage-class": "capacity-block", "page": "1"}
    assert look.documents[-1].parameters["UltraserverType"] == "u-trn2x64"  # of trn2u.48xlarge, which is not asked for
    offered = facts(look).filter(instance_type="trn2.48xlarge").sort("starts_at")
    assert offered.select("block_fee", "duration_minutes").rows() == [
        (Decimal("308.14"), 517),
        (Decimal("858.26"), 1440),
    ]
    assert look.documents[5].parameters == {**QUERY, "page": "1"}


def all_sold(standin: aws.StandIn, region: str) -> None:
    """Let EC2 list every type that was sold in blocks in 2026."""
    names = {*INSTANCE_TYPES, *ULTRASERVERS.values()} - {*ULTRASERVERS}
    standin.cloud.change(region, machines=tuple(machine(name, "capacity-block") for name in sorted(names)))


@pytest.mark.prove
def test_the_bucket_of_an_account_is_enough_for_every_query(standin: aws.StandIn) -> None:
    """Two at once, then one in two seconds, as EC2 has it: 14 queries, none refused, none twice, in half a minute."""
    all_sold(standin, REGION)
    begun = time.monotonic()
    look = SOURCE.fetch(Context(web=HttpWeb(), settings={}, now=lambda: NOW), REGION)
    took_s = time.monotonic() - begun

    print(f"{standin.count('ec2:DescribeCapacityBlockOfferings')} queries in {took_s:.1f} s")
    assert standin.count("ec2:DescribeCapacityBlockOfferings") == 14
    assert (look.complete, look.notes, len(look.documents)) == (True, (), 15)
    assert 20 < took_s < 35


def test_what_was_spent_elsewhere_is_waited_for(standin: aws.StandIn, ask: Ask) -> None:
    """Another program of the account asked a moment ago: refused twice, asked again, and no more: nothing is lost."""
    all_sold(standin, REGION)
    standin.fault("ec2:DescribeCapacityBlockOfferings", ec2.QueryError(*ec2.LIMIT_EXCEEDED), after=3, times=2)

    look = SOURCE.fetch(ask(), REGION)

    assert (look.complete, look.notes, len(look.documents)) == (True, (), 15)
    assert standin.count("ec2:DescribeCapacityBlockOfferings") == 14 + 2


def test_what_was_answered_is_kept_where_no_more_is(standin: aws.StandIn, ask: Ask) -> None:
    """The look says so, and is not complete: what it does not show is not gone."""
    standin.fault("ec2:DescribeCapacityBlockOfferings", ec2.QueryError(*ec2.LIMIT_EXCEEDED), after=5)

    look = SOURCE.fetch(ask(), REGION)

    assert rows(look)["unit_price"].to_list() == ["35.7609284333"]
    assert (look.complete, len(look.documents)) == (False, 6)
    assert look.notes == (
        "5 of 6 queries were answered, then CapacityBlockDescribeLimitExceeded: the others next time",
    )
    assert standin.count("ec2:DescribeCapacityBlockOfferings") == 5 + 3


def test_an_account_without_quota_is_told_so(standin: aws.StandIn, ask: Ask) -> None:
    """Asked three times, and nothing is kept of it."""
    standin.cloud.block_burst = 0

    with pytest.raises(Unavailable, match="reached the limit for this account") as caught:
        SOURCE.fetch(ask(), REGION)

    assert "quota" in str(caught.value.hint)
    assert standin.count("ec2:DescribeCapacityBlockOfferings") == 3


@pytest.mark.parametrize("effect", [ec2.NO_SUCH_ACTION, ec2.UNSUPPORTED])
def test_a_region_without_capacity_blocks_is_an_answer(standin: aws.StandIn, ask: Ask, effect: ec2.QueryError) -> None:
    """A fact of each type that was asked for, with EC2's own words."""
    standin.fault("ec2:DescribeCapacityBlockOfferings", effect)

    look = SOURCE.fetch(ask(), REGION)

    assert rows(look).is_empty()
    assert look.complete
    assert set(facts(look)["answer_error"]) == {f"{effect.code}: {effect.message}"}
    assert len(facts(look)) == 6


def test_a_region_that_sells_no_type_in_blocks_is_not_asked(standin: aws.StandIn, ask: Ask) -> None:
    """What EC2 says of its types is the evidence."""
    standin.cloud.change(REGION, machines=(machine("p5.48xlarge"),))

    look = SOURCE.fetch(ask(), REGION)

    assert (look.complete, len(look.documents)) == (True, 1)
    assert standin.count("ec2:DescribeCapacityBlockOfferings") == 0
    assert all(parsed.rows.is_empty() for parsed in read(look))


def test_without_the_right_to_list_types_all_known_are_asked_for(standin: aws.StandIn, ask: Ask) -> None:
    """And the look says why it took longer."""
    standin.fault("ec2:DescribeInstanceTypes", ec2.UNAUTHORIZED)

    look = SOURCE.fetch(ask(), REGION)

    assert (look.complete, len(look.documents)) == (True, 14)
    assert look.notes[0].startswith("queried: all types known to be sold in blocks")
    assert "ec2:DescribeInstanceTypes" in look.notes[0]


def test_trap_25_no_offer_is_an_answer(ask: Ask) -> None:
    """us-east-2 had none for trn2.48xlarge: a fact with an empty id, no price, no error."""
    look = SOURCE.fetch(ask(instance_types=["trn2.48xlarge"], durations_hours=[24, 48, 168]), "us-east-2")

    assert rows(look).is_empty()
    assert facts(look).select("queried_hours", "capacity_block_offering_id", "answer_error").rows() == [
        (24, "", None), (48, "", None), (168, "", None),
    ]  # fmt: skip
    assert not look.complete


def test_trap_26_refusals_are_answers(ask: Ask) -> None:
    """A type that is not sold in blocks here, and UltraServers that the account may not ask for."""
    look = SOURCE.fetch(ask(instance_types=["trn2.3xlarge", "u-trn2x64"]), "us-east-2")

    assert [document.status for document in look.documents] == [400, 403]
    errors = dict(facts(look).select("instance_type", "answer_error").iter_rows())
    assert "not supported for Capacity Blocks" in errors["trn2.3xlarge"]
    assert "when requesting an EC2 UltraServer" in errors["u-trn2x64"]
    assert facts(look)["capacity_unit"].to_list() == ["instance", "UltraServer"]


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [(ec2.UNAUTHORIZED, CredentialsMissing, "ec2:DescribeCapacityBlockOfferings"),
     (ec2.THROTTLED, Unavailable, "later"), (ec2.PENDING, Unavailable, "AWS validates the account for this region"),
     (ec2.AUTH_FAILURE, SourceError, "Enable ap-south-2"), (ec2.EXPIRED, CredentialsMissing, "log in again"),
     (ec2.RepeatToken(), SourceError, "no end")],
)  # fmt: skip
def test_any_other_error_fails_the_region(
    standin: aws.StandIn, ask: Ask, fault: ec2.Effect, error: type[SourceError], said: str
) -> None:
    """Midway too: half of the answers would say that the others are gone."""
    standin.fault(f"ec2:{REGION}", fault, after=3)

    with pytest.raises(error, match=said):
        SOURCE.fetch(ask(), REGION)


@pytest.mark.parametrize("sizes", [(1,), (0, 1), (0, 0, 2)])
def test_pages_give_one_price_and_one_answer(standin: aws.StandIn, ask: Ask, sizes: tuple[int, ...]) -> None:
    """The first start is that of all pages, and an empty page is no empty answer."""
    standin.cloud.block_burst = 100
    whole = SOURCE.fetch(ask(instance_types=["trn2.48xlarge"]), REGION)
    standin.cloud.page_sizes = sizes

    cut = SOURCE.fetch(ask(instance_types=["trn2.48xlarge"]), REGION)

    assert len(cut.documents) > len(whole.documents) == 1
    assert rows(cut).equals(rows(whole))
    assert facts(cut).sort("starts_at").equals(facts(whole).sort("starts_at"))


def test_ultraservers_by_their_own_name(standin: aws.StandIn, ask: Ask) -> None:
    """Two for a day: 2 x 24 x 761.904."""
    block = Block(
        instance_type="p6e-gb200.36xlarge", ultraserver_type="u-p6e-gb200x72", zone_id="z", asked_hours=24,
        minutes=24 * 60, fee="36571.392", start=START, count=2,
    )  # fmt: skip
    standin.cloud.change("us-east-1", zones=(Zone(name="us-east-1-dfw-2a", zone_id="z"),), blocks=(block,))
    standin.cloud.ultraservers_authorized = True

    found = rows(SOURCE.fetch(ask(instance_types=["u-p6e-gb200x72"], counts=[2]), "us-east-1"))

    assert found.select("unit_price", "minimum_quantity", "availability_zone").rows() == [
        ("761.904", "2", "us-east-1-dfw-2a")
    ]


def test_a_look_with_an_unknown_rate_is_not_complete(standin: aws.StandIn, ask: Ask) -> None:
    """The offer is there, only its rate is not known: it must not be called gone."""
    blocks = tuple(replace(each, states_minutes=False) for each in standin.cloud.regions[REGION].blocks)
    standin.cloud.change(REGION, blocks=blocks)

    look = SOURCE.fetch(ask(), REGION)

    assert not look.complete
    assert look.notes[0].startswith("2 offers of unknown rate, such as cb-0")


@pytest.mark.parametrize(
    ("name", "value"),
    [("durations_hours", [25]), ("durations_hours", [0]), ("durations_hours", 24), ("durations_hours", [360]),
     ("counts", [3]), ("counts", []), ("counts", [True]), ("instance_types", "p5.48xlarge"), ("instance_types", [])],
)  # fmt: skip
def test_a_wrong_setting_is_named(standin: aws.StandIn, ask: Ask, name: str, value: object) -> None:
    """EC2 sells days up to 14, then weeks up to 26, and powers of two of machines."""
    with pytest.raises(SettingsError) as caught:
        SOURCE.fetch(ask(**{name: value}), REGION)

    assert caught.value.field == name
    assert standin.count("ec2") == 0


def test_offers_pass_the_gates_and_are_gone_in_the_next_look(standin: aws.StandIn, ask: Ask) -> None:
    """One zone's offer ends where a complete look has another zone's only; facts are kept of both looks."""
    region = standin.cloud.regions[REGION]
    first = SOURCE.fetch(ask(), REGION)
    moved = tuple(replace(block, zone_id="aps2-az2") for block in region.blocks)
    standin.cloud.change(REGION, blocks=moved)
    second = replace(SOURCE.fetch(ask(), REGION), observed_at=NOW + timedelta(days=1))

    with memory() as con:
        results = [load(con, [parsed(look)], recorded_at=look.observed_at) for look in (first, second)]
        intervals = con.execute(
            "select o.availability_zone, p.valid_to from core.price_known_at('9999-01-01') as p "
            "join core.offer as o using (offer_id) order by all"
        ).fetchall()
        offers = con.execute(
            "select count(distinct capacity_block_offering_id) from core.capacity_block_answer "
            "where starts_at is not null"
        ).fetchone()

    assert [(each.status, each.n_rows, each.n_refused) for (each,) in results] == [("ok", 1, 0), ("ok", 1, 0)]
    assert intervals == [("ap-south-2a", None), ("ap-south-2b", (NOW + timedelta(days=1)).replace(tzinfo=None))]
    assert offers == (4,)


@pytest.mark.parametrize(
    ("settings", "complete"),
    [({"instance_types": "all", "durations_hours": [24], "counts": [1]}, True), ({"durations_hours": [24, 48]}, True),
     ({"counts": [2, 1]}, True), ({"instance_types": ["trn2.48xlarge"]}, False), ({"durations_hours": [48]}, False),
     ({"counts": [2]}, False)],
)  # fmt: skip
def test_settings_that_query_no_less_than_the_defaults_end_offers_too(
    ask: Ask, settings: dict[str, object], complete: bool
) -> None:
    """As the settings that the documents show do; one that queries less says nothing of the rest."""
    assert SOURCE.fetch(ask(**settings), REGION).complete == complete


def parsed(look: ScopeFetch) -> ParsedFetch:
    """Return a look as the flow parses it."""
    return ParsedFetch(
        run_id="run", source=look.source, scope=look.scope, observed_at=look.observed_at, complete=look.complete,
        archived=look.archived, document_sha256=look.documents[0].sha256,
        rows=rows(look).with_columns(document_sha256=pl.lit(look.documents[0].sha256)),
        facts={"capacity_block_answer": facts(look).with_columns(document_sha256=pl.lit(look.documents[0].sha256))},
    )  # fmt: skip
