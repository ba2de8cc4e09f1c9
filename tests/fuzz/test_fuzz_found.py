"""What mutated documents once did to a reader: each is refused now, by a documented error, and soon."""

import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from fuzz.aws_subjects import DAILY, RATES, blocks, machines, spot_records, zipped
from fuzz.other_subjects import GPUHUNT, OBSERVED
from fuzz.rows import of_frames, of_source
from fuzz.text_subjects import CLAIMS
from looks import memory
from neoclouds.case import cases
from price_list_files import P5, offer_csv
from savings_plan_files import csv_file
from standin.ec2 import xml

from extract import ecb_rates, observations
from extract.aws import (
    capacity_block_rates,
    capacity_blocks,
    instance_types,
    price_list,
    savings_plans,
    spot,
    spot_feed,
)
from extract.catalogues import gpuhunt_
from extract.web import strict_json, strict_xml  # fmt: skip
from flows.collect import ingest
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import ChipledgerError, LayoutChanged
from warehouse.landing.folder import Landing
from warehouse.reference import claims

Reader = Callable[[bytes], Collection[object]]
DEEP = b"[" * 100_000
QUERY = {"InstanceType": "trn2.48xlarge", "InstanceCount": "1", "CapacityDurationHours": "24"}
SPOT = of_source(spot.SOURCE, scope="us-east-1")
FEED = of_source(spot_feed.SOURCE, scope="prices")
BLOCKS = of_source(capacity_blocks.SOURCE, scope="ap-south-2", parameters=QUERY)
TYPES = of_source(instance_types.SOURCE, scope="us-east-1")
EURO = of_source(ecb_rates.SOURCE, scope="euro")
HUNT = of_source(gpuhunt_.SOURCE, scope="seeweb")
RECORD = (
    b'{"AvailabilityZoneId": "use1-az1", "InstanceType": "p5.48xlarge", "ProductDescription": "Linux/UNIX", '
    b'"SpotPrice": "31.4", "Timestamp": "2026-11-20T01:00:00+00:00"}'
)
OTHER = RECORD.replace(b'"AvailabilityZoneId": "use1-az1"', b'"AvailabilityZone": "us-east-1b"')
SPOT_XML = xml("DescribeSpotPriceHistory", {"SpotPriceHistory": spot_records()})
TYPES_XML = xml("DescribeInstanceTypes", {"InstanceTypes": machines()})


def imported(body: bytes) -> Collection[object]:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return of_frames(
        observations.parse(Document(source="import", scope="seen.csv", url="seen.csv", body=body, fetched_at=at)).prices
    )


def declared(body: bytes, encoding: bytes) -> bytes:
    return b'<?xml version="1.0" encoding="' + encoding + b'"?>' + body.partition(b"?>")[2]


def advice(band: bytes) -> bytes:
    said = b'{"us-east-1": {"Linux": {"p5.48xlarge": {"s": 10, "r": ' + band + b"}}}}"
    return b'{"ranges": [{"index": 1, "label": "5-10%"}], "spot_advisor": ' + said + b"}"


@pytest.mark.parametrize(
    ("read", "body"),
    [
        # RecursionError
        (SPOT, b'{"SpotPriceHistory": ' + DEEP), (FEED, b'{"config": ' + DEEP),
        (of_source(capacity_block_rates.SOURCE), b'{"metadata": ' + DEEP),
        # ValueError and LookupError of encodings
        (SPOT, declared(SPOT_XML, b"shift_jis")), (SPOT, declared(SPOT_XML, b"zzz")),
        (BLOCKS, b'<?xml version="1.0" encoding="big5"?>' + blocks()), (EURO, declared(DAILY, b"gb18030")),
        # UnicodeEncodeError of half a surrogate pair
        (SPOT, b'{"SpotPriceHistory": [' + RECORD.replace(b"31.4", b"\\ud800") + b"]}"),
        (HUNT, str(GPUHUNT).replace("'", '"').replace("False", "false").replace("it-fr2", "\\ud800").encode()),
        # csv.Error in a preamble
        (of_source(price_list.SOURCE, scope="us-east-1"), b"a" * 200_000 + offer_csv([P5])),
        (of_source(savings_plans.SOURCE, scope="us-east-1"),
         csv_file({}).replace(b"DiscountedRate,", b"9" * 200_000 + b",DiscountedRate,")),
        # ValueError of a patched archive, decimal's own errors
        (EURO, zipped(RATES)[:40] + zipped(RATES)[41:]),
        (BLOCKS, blocks().replace(b"2026-12-03T11:30:00.000Z", b"0001-01-01T00:00:00+14:00")),
        (BLOCKS, blocks().replace(b"Hours>24<", b"Hours>999999999<")),
        # AttributeError, TypeError and ValueError of botocore's reader and ours
        (TYPES, TYPES_XML.replace(b"<count>8</count>", b"<count>1e1</count>")),
        (TYPES, TYPES_XML.replace(b"<count>8</count>", b"<count>8</count><count>1</count>")),
        (TYPES, b'{"InstanceTypes": [{"InstanceType": "p5.48xlarge", "GpuInfo": "8"}]}'),
        (TYPES, b'{"InstanceTypes": [{"InstanceType": "p5.48xlarge", "GpuInfo": {"Gpus": [{"Count": "zz"}]}}]}'),
        # wrong rows: a name twice, a zone without its id beside others, a zone lost, a number with underscores
        (SPOT, b'{"SpotPriceHistory": [' + RECORD.replace(b'"31.4"', b'"31.4", "SpotPrice": "1.11"') + b"]}"),
        (SPOT, b'{"SpotPriceHistory": [' + RECORD + b", " + OTHER + b"]}"),
        (SPOT, SPOT_XML.replace(b"</spotPrice>", b"</spotPrice><spotPrice>1.11</spotPrice>", 1)),
        (BLOCKS, blocks().replace(b"<upfrontFee>", b"<upfrontFee>1.11</upfrontFee><upfrontFee>", 1)),
        (BLOCKS, blocks().replace(b"<availabilityZone>ap-south-2b</availabilityZone>", b"", 1)),
        (imported, OBSERVED.replace("currency,", "Currency,", 1).encode()),
        (imported, OBSERVED.replace("flags\n", "usd_per_hour\n", 1).encode()),
        # 208 MiB for a header of a megabyte
        (imported, b"," * 1_000_000 + OBSERVED.encode()),
    ],
)  # fmt: skip
def test_what_was_no_refusal_once(read: Reader, body: bytes) -> None:
    """By LayoutChanged, and nothing else."""
    with pytest.raises(LayoutChanged):
        read(body)


@pytest.mark.parametrize("fee", [b"1_000", b"1e400", b"NaN", b"-5", "\u0665".encode(), b""])
def test_a_fee_that_is_no_plain_number_is_no_price(fee: bytes) -> None:
    """Python reads 1_000 as a thousand, which no API writes, and fails at the division of 1e400."""
    rows = BLOCKS(blocks().replace(b">900.48<", b">" + fee + b"<"))
    prices = {dict(row).get("unit_price") for row in rows} - {None}  # type: ignore[call-overload]
    assert prices == {"35.7608333333"}


def test_a_mark_before_the_first_line_is_no_part_of_a_zone() -> None:
    """The byte order mark of a text that an editor saved."""
    line = b"use1-az1\tp5.48xlarge\tLinux/UNIX\t31.4\t2026-11-20T01:00:00+00:00\n"
    assert SPOT(b"\xef\xbb\xbf" + line) == SPOT(line) != set()


@pytest.mark.parametrize(("band", "expected"), [(b"1", "5-10%"), (b"true", None), (b"1.0", None), (b'""', None)])
def test_a_band_of_another_type_is_unknown(band: bytes, expected: str | None) -> None:
    """To Python true is 1, and the band of 1 is not what was said."""
    (row,) = FEED(advice(band))
    assert dict(row).get("interruption_band") == expected


@pytest.mark.parametrize("name", ["crusoe", "together", "coreweave"])
@pytest.mark.parametrize(("depth", "tag"), [(100_000, "div"), (3_000, "b"), (300, "span")])
def test_a_page_nested_beyond_reason_is_refused_at_once(name: str, depth: int, tag: str) -> None:
    """A hundred thousand elements within each other took minutes, three thousand overran the stack."""
    case = next(case for case in cases() if case.source.name == name)
    before, end, after = case.body.rpartition(b"</")
    body = before + f"<{tag}>".encode() * depth + b"x" + f"</{tag}>".encode() * depth + end + after
    start = time.process_time()

    with pytest.raises(LayoutChanged):
        case.parse(body)

    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "body", [b"", b"[1", b'{"a": 1, "a": 2}', b'"\\ud800"', DEEP, b"NaN", b"\xff", b'{"\\uDC00": 1}', b"1" * 5000]
)
def test_json_that_is_none_is_a_value_error(body: bytes) -> None:
    """And no other error."""
    with pytest.raises(ValueError, match=r"."):
        strict_json.loads(body)


def test_json_that_is_some_is_read() -> None:
    """A whole pair is a character."""
    assert strict_json.loads(b'{"a": ["\\ud83d\\ude00", 1.50, 2, null]}', numbers=str) == {
        "a": ["\U0001f600", "1.50", "2", None]
    }


@pytest.mark.parametrize(
    "body",
    [b"", b"<a>", b"<!DOCTYPE a><a/>", b'<!DOCTYPE a [<!ENTITY x "1">]><a>&x;</a>',
     b'<?xml version="1.0" encoding="zzz"?><a/>', b'<?xml version="1.0" encoding="shift_jis"?><a/>'],
)  # fmt: skip
def test_xml_that_is_none_is_a_value_error(body: bytes) -> None:
    """And no other error; a document type is refused whatever is in it."""
    with pytest.raises(ValueError, match=r"."):
        strict_xml.root(body)


def test_a_parser_that_fails_fails_its_look_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is landed is read again at every repair: a fault of one parser must not stop all others for good."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    landing = Landing(tmp_path)
    document = Document(source="vast", scope="all", url="https://x", body=b"{}", fetched_at=at)
    look = ScopeFetch(source="vast", scope="all", observed_at=at, complete=True, documents=(document,))
    landing.record_fetch(look, run_id="r", recorded_at=at)

    def fails(name: str) -> object:
        return SimpleNamespace(parse=lambda document: {}["x"], other_urls=())

    monkeypatch.setattr(ingest, "source_named", fails)
    with memory() as con:
        (result,), _ = ingest.catch_up(con, landing)

    assert (result.status, result.error) == ("failed", "the parser failed: KeyError: 'x'")


def test_a_column_of_a_claim_spelt_otherwise_is_refused(tmp_path: Path) -> None:
    """Passed over, High would make one figure of a range."""
    (tmp_path / "claims.csv").write_text(CLAIMS.replace("high", "High", 1))

    with pytest.raises(ChipledgerError, match="spelt otherwise"):
        claims.read_table(tmp_path / "claims.csv")


def test_blank_lines_are_no_rows() -> None:
    """A million of them took fifteen seconds and half a gigabyte, each a refused row."""
    start = time.process_time()

    assert imported(OBSERVED.encode() + b"\n" * 1_000_000) == imported(OBSERVED.encode())
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("read", "body"),
    [
        # a line cut short lost the flag that doubts its price; a quote in the middle emptied a cell
        (imported, OBSERVED.encode()[: OBSERVED.rindex(",hand_curated")]),
        (imported, OBSERVED.replace("karpenter@cafda", '""karpenter@cafda', 1).encode()),
        # rates of one currency under the name of another that had none
        (EURO, RATES.replace(b"CNY,", b"CYP,", 1)),
        (FEED, advice(b"1").replace(b"}], ", b'}, {"index": 1, "label": "<5%"}], ', 1)),
    ],
)
def test_what_was_read_wrong_once(read: Reader, body: bytes) -> None:
    """Refused now."""
    with pytest.raises(LayoutChanged):
        read(body)


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_a_time_beyond_the_calendar_is_a_refused_row(moment: str) -> None:
    """A zone leads out of it, and Python knows no year 10000."""
    assert len(imported(OBSERVED.replace("2022-06-22T13:25:00Z", moment, 1).encode())) == 5
    line = b"use1-az1\tp5.48xlarge\tLinux/UNIX\t31.4\t" + moment.encode() + b"\n"
    assert SPOT(line) == set()
