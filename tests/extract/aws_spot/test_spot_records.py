"""Saved answers of EC2 as observations: every record counted, every change kept, nothing invented."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import polars as pl
import pytest

from extract.aws.spot import parse
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate

Saved = Callable[[str], Document]
Answer = Callable[[Iterable[Mapping[str, str]]], Document]

TYPES = ("g4dn.xlarge", "inf1.xlarge", "p2.xlarge", "p3.2xlarge")
RECORD = {
    "AvailabilityZone": "us-east-1a", "AvailabilityZoneId": "use1-az6", "InstanceType": "p5.48xlarge",
    "ProductDescription": "Linux/UNIX", "SpotPrice": "12.500000", "Timestamp": "2026-10-01T00:00:00+00:00",
}  # fmt: skip


def file_of(instance_type: str) -> str:
    return f"spot_history_us_east_1_{instance_type}_20210530.json.gz"


def linux_records(document: Document) -> list[dict[str, str]]:
    """Return the Linux records of a saved answer, oldest first."""
    found = [
        each for each in json.loads(document.body)["SpotPriceHistory"] if each["ProductDescription"] == "Linux/UNIX"
    ]
    return sorted(found, key=lambda each: each["Timestamp"])


def weighted_mean(points: list[tuple[datetime, Decimal]], end: datetime) -> Decimal:
    """Return the mean of a price over time, each amount holding until the next."""
    moments = [at for at, _ in points[1:]] + [end]
    pieces = [
        (Decimal((until - at).total_seconds()), price) for (at, price), until in zip(points, moments, strict=True)
    ]
    return sum((seconds * price for seconds, price in pieces), Decimal(0)) / sum(seconds for seconds, _ in pieces)


@pytest.mark.parametrize(
    ("instance_type", "records", "linux", "changes"),
    [("g4dn.xlarge", 1860, 465, 5), ("inf1.xlarge", 1656, 552, 107), ("p2.xlarge", 1900, 475, 5),
     ("p3.2xlarge", 1152, 288, 3)],
)  # fmt: skip
def test_trap_19_a_record_is_an_observation_not_a_change(
    saved: Saved, instance_type: str, records: int, linux: int, changes: int
) -> None:
    """Of 90 days of records only changes are kept, with the last sight of each zone; the rest is counted."""
    document = saved(file_of(instance_type))

    parsed = parse(document)

    last: dict[str, str] = {}
    changed, newest = 0, {}
    for each in linux_records(document):
        changed += last.get(each["AvailabilityZone"]) != each["SpotPrice"]
        newest[each["AvailabilityZone"]] = each["Timestamp"]
        last[each["AvailabilityZone"]] = each["SpotPrice"]
    assert changed == changes
    assert len(json.loads(document.body)["SpotPriceHistory"]) == records
    assert parsed.rows.height + sum(parsed.ignored.values()) == records
    assert parsed.ignored["other_product"] == records - linux
    kept = set(parsed.rows.select("availability_zone", "observed_at_utc").iter_rows())
    assert kept >= set(newest.items())
    assert changes <= parsed.rows.height <= changes + len(newest)


@pytest.mark.parametrize("instance_type", TYPES)
def test_the_kept_rows_give_the_same_mean_over_time(saved: Saved, instance_type: str) -> None:
    """The time-weighted mean of each zone over 90 days, from all records and from the kept ones: equal to the digit."""
    document = saved(file_of(instance_type))
    end = datetime(2021, 5, 31, tzinfo=UTC)

    rows = parse(document).rows

    zones = {each["AvailabilityZone"] for each in linux_records(document)}
    assert set(rows["availability_zone"]) == zones
    for zone in zones:
        every = [
            (datetime.fromisoformat(each["Timestamp"]), Decimal(each["SpotPrice"]))
            for each in linux_records(document)
            if each["AvailabilityZone"] == zone
        ]
        kept = [
            (at.replace(tzinfo=UTC), Decimal(price))
            for at, price in rows.filter(availability_zone=zone).select("observed_at", "unit_price").iter_rows()
        ]
        assert weighted_mean(every, end) == weighted_mean(kept, end)


@pytest.mark.parametrize("instance_type", TYPES)
def test_amounts_are_the_documents_own_digits(saved: Saved, instance_type: str) -> None:
    """Needless zeros go, nothing is rounded, and the row gate takes every row."""
    document = saved(file_of(instance_type))

    rows = parse(document).rows
    accepted, refused = row_gate(rows)

    written = {Decimal(each["SpotPrice"]) for each in linux_records(document)}
    assert {Decimal(price) for price in rows["unit_price"]} == written
    assert not any(price.endswith("0") for price in rows["unit_price"] if "." in price)
    assert (accepted.height, refused) == (rows.height, [])


def test_trap_20_products_are_not_mixed(answer: Answer) -> None:
    """Red Hat, SUSE and Windows are left out; the Amazon VPC twin counts only where there is no plain record."""
    others = ("Red Hat Enterprise Linux", "SUSE Linux", "Windows", "Windows (Amazon VPC)")
    twin = RECORD | {"ProductDescription": "Linux/UNIX (Amazon VPC)", "SpotPrice": "12.600000"}
    lonely = twin | {"AvailabilityZone": "us-east-1b", "AvailabilityZoneId": "use1-az1"}

    parsed = parse(answer([*(RECORD | {"ProductDescription": name} for name in others), RECORD, twin, lonely]))

    assert dict(parsed.rows.select("availability_zone_id", "unit_price").iter_rows()) == {
        "use1-az1": "12.6", "use1-az6": "12.5",
    }  # fmt: skip
    assert parsed.ignored == {"other_product": 4, "vpc_twin": 1}


def test_trap_21_the_zone_id_is_kept_and_never_replaced_by_a_name(answer: Answer) -> None:
    """With an id the name, which differs between accounts, is dropped; without one only the name is known."""
    nameless = {name: value for name, value in RECORD.items() if name != "AvailabilityZoneId"}

    with_id, without = (parse(answer([each])).rows.row(0, named=True) for each in (RECORD, nameless))

    assert (with_id["availability_zone_id"], with_id["availability_zone"]) == ("use1-az6", None)
    assert (without["availability_zone_id"], without["availability_zone"]) == (None, "us-east-1a")


def test_trap_23_an_empty_answer_has_no_prices_and_is_no_error(saved: Saved) -> None:
    """What a missing space between two names gives; nothing is made up for it."""
    parsed = parse(saved("spot_history_empty.json"))

    assert (parsed.rows.height, parsed.ignored, parsed.unknown) == (0, {}, ())


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [("SpotPrice", "N/A", "unit_price"), ("SpotPrice", "0.000000", "unit_price"), ("SpotPrice", "", "unit_price"),
     ("SpotPrice", None, "unit_price"), ("SpotPrice", "-1", "unit_price"), ("SpotPrice", "1e9", "unit_price"),
     ("Timestamp", "yesterday", "observed_at_utc"), ("Timestamp", None, "observed_at_utc")],
)  # fmt: skip
def test_a_damaged_record_is_refused_and_never_means_not_offered(
    answer: Answer, field: str, value: str | None, named: str
) -> None:
    """An amount that is missing must not become NULL, which the log reads as "gone"."""
    accepted, refused = row_gate(parse(answer([RECORD | {field: value}])).rows)  # type: ignore[dict-item]

    assert accepted.is_empty()
    assert [refusal.field for refusal in refused] == [named]


def test_two_prices_at_one_moment_both_reach_the_gate(answer: Answer) -> None:
    """A contradiction is not settled here by taking one of the two."""
    rows = parse(answer([RECORD, RECORD, RECORD | {"SpotPrice": "13"}])).rows

    assert sorted(rows["unit_price"]) == ["12.5", "13"]


def test_types_that_are_no_accelerators_are_counted_and_strange_ones_named(answer: Answer) -> None:
    """The names asked for by their beginning may one day match another family: it is reported, not priced."""
    parsed = parse(answer([RECORD | {"InstanceType": name} for name in ("m5.xlarge", "pico.large", "trn3.48xlarge")]))

    assert parsed.rows["instance_type"].to_list() == ["trn3.48xlarge"]
    assert parsed.ignored == {"not_accelerator": 2}
    assert parsed.unknown == ("instance type 'pico.large'",)


def test_china_and_europes_sovereign_cloud_have_currencies_of_their_own(answer: Answer) -> None:
    """Without a scope too, as in `chipledger parse` of a saved answer, where the zones alone say the region."""
    sovereign = RECORD | {"AvailabilityZone": "eusc-de-east-1a"}
    for scope in ("eusc-de-east-1", ""):
        (row,) = parse(replace(answer([sovereign]), scope=scope)).rows.to_dicts()
        assert (row["region_id"], row["pricing_currency"]) == ("eusc-de-east-1", "EUR")
    china = [RECORD | {"AvailabilityZone": zone} for zone in ("cn-north-1a", "cn-east-9a")]
    rows = parse(replace(answer([*china, RECORD]), scope="")).rows
    found = rows.select("region_id", "pricing_currency").rows()
    assert sorted(found) == [("cn-east-9", "CNY"), ("cn-north-1", "CNY"), ("us-east-1", "USD")]


def test_a_local_zone_stays_under_its_region(answer: Answer) -> None:
    """Trap 7: the name of the zone us-east-1-atl-2a does not give the Region Code us-east-1-atl-1."""
    zone = {"AvailabilityZone": "us-east-1-atl-2a", "AvailabilityZoneId": "use1-atl2-az1"}

    row = parse(answer([RECORD | zone])).rows.row(0, named=True)

    assert (row["region_id"], row["availability_zone_id"]) == ("us-east-1", "use1-atl2-az1")


def test_ids_of_zones_say_the_region_too(answer: Answer) -> None:
    """Lines of the archive have no names of zones: a file of all regions stood whole under the scope that was given."""
    lines = "".join(
        f"{zone}\tp5.48xlarge\tLinux/UNIX\t12.5\t2026-10-01T00:00:00+00:00\n"
        for zone in ("usw2-lax1-az1", "cnn1-az2", "usw2-az1")
    )
    archived = replace(answer([]), body=lines.encode())

    found = parse(replace(archived, scope="")).rows.select("region_id", "availability_zone_id", "pricing_currency")
    assert found.rows() == [
        ("cn-north-1", "cnn1-az2", "CNY"), ("us-west-2", "usw2-az1", "USD"), ("us-west-2", "usw2-lax1-az1", "USD"),
    ]  # fmt: skip
    with pytest.raises(LayoutChanged, match="another region than us-west-2"):
        parse(replace(archived, scope="us-west-2"))
    mine = replace(archived, scope="us-west-2", body=lines.replace("cnn1", "usw2").encode())
    assert parse(mine).rows["region_id"].to_list() == ["us-west-2"] * 3


def test_records_alone_are_an_answer(answer: Answer) -> None:
    """`--query SpotPriceHistory` of the AWS CLI, or boto3 and json.dump, save the list without its name."""
    whole = answer([RECORD, RECORD | {"AvailabilityZone": "us-east-1b"}])
    alone = replace(whole, body=json.dumps(json.loads(whole.body)["SpotPriceHistory"]).encode())

    assert parse(alone).rows.equals(parse(whole).rows)
    assert parse(alone).rows.height == 2
    dumped = replace(alone, body=alone.body.replace(b"01T00", b"01 00"))  # default=str, for times
    assert parse(dumped).rows["observed_at"].to_list() == [datetime(2026, 10, 1)] * 2  # noqa: DTZ001


@pytest.mark.parametrize(
    "body",
    [b"<html><body>Service Unavailable</body></html>", b"<DescribeSpotPriceHistoryResponse>", b"{}", b"[]", b"{", b"",
     b'{"SpotPriceHistory": {}}', b'{"SpotPriceHistory": ["p5.48xlarge"]}', b'{"SpotPriceHistory": [{}]}',
     b"use1-az1\tp5"],
)  # fmt: skip
def test_another_layout_is_an_error(answer: Answer, body: bytes) -> None:
    """Nothing is published from what is no answer."""
    other = answer([])
    with pytest.raises(LayoutChanged):
        parse(Document(source=other.source, scope=other.scope, url="saved", body=body, fetched_at=other.fetched_at))


def test_a_record_of_another_region_is_an_error(answer: Answer) -> None:
    """A document under the wrong scope would price the wrong region."""
    with pytest.raises(LayoutChanged, match="another region"):
        parse(answer([RECORD | {"AvailabilityZone": "us-west-2a"}]))


def test_trainium_of_2026_is_read_to_the_last_digit(answer: Answer) -> None:
    """The amounts that were observed on 2026-10-03, as the API writes them."""
    prices = {"trn2.48xlarge": "14.559300", "trn1.32xlarge": "2.150000", "trn1.2xlarge": "0.134400"}
    records = [RECORD | {"InstanceType": name, "SpotPrice": price} for name, price in prices.items()]

    rows = parse(answer(records)).rows

    assert dict(rows.select("instance_type", "unit_price").iter_rows()) == {
        "trn1.2xlarge": "0.1344", "trn1.32xlarge": "2.15", "trn2.48xlarge": "14.5593",
    }  # fmt: skip
    assert rows.select(pl.col("purchase_option", "capacity_unit", "statistic", "pricing_currency").unique()).row(0) == (
        "spot", "instance", "price", "USD",
    )  # fmt: skip
