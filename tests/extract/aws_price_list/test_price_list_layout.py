"""The layout of price list documents: columns by name, what old files lack, and what is refused as a whole."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from price_list_files import COLUMNS, P5, document, offer_csv, page_of, prices, products_of, reserved, same

from extract.aws.price_list import parse
from warehouse.errors import LayoutChanged

P5_ON_DEMAND = ("p5.48xlarge", "on_demand", "55.04", None)
REQUIRED = (
    "SKU", "OfferTermCode", "RateCode", "TermType", "Unit", "PricePerUnit", "Currency", "Instance Type",
    "Instance Family", "Tenancy", "Operating System", "License Model", "operation", "CapacityStatus", "MarketOption",
    "Pre Installed S/W", "Region Code",
)  # fmt: skip


def without(*names: str) -> list[str]:
    return [column for column in COLUMNS if column not in names]


@pytest.mark.parametrize("columns", [COLUMNS[::-1], sorted(COLUMNS), (*COLUMNS[7:], *COLUMNS[:7])])
def test_columns_are_found_by_name(columns: tuple[str, ...]) -> None:
    """Their order is AWS's business."""
    moved = parse(document(offer_csv([P5], columns=columns)))

    assert same(moved.rows, parse(document(offer_csv([P5]))).rows)
    assert prices(moved) == [P5_ON_DEMAND]


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("renamed", [False, True])
def test_a_missing_column_is_named(name: str, renamed: bool) -> None:
    """A current file without a column, or with another name for it, is refused, expected and found being named."""
    columns = [f"{name} (new)" if column == name else column for column in COLUMNS] if renamed else without(name)

    with pytest.raises(LayoutChanged, match="found:") as caught:
        parse(document(offer_csv([P5], columns=columns)))

    assert caught.value.field == "header"
    assert caught.value.value == name


def test_a_column_that_stands_twice_is_refused() -> None:
    """Which of the two would be read is nobody's to guess."""
    with pytest.raises(LayoutChanged, match="twice"):
        parse(document(offer_csv([P5], columns=(*COLUMNS, "Unit"))))


def test_before_2023_no_market_option_means_none_existed() -> None:
    """A file from before Capacity Blocks has no MarketOption, and its rows are on-demand."""
    old = offer_csv([P5], columns=without("MarketOption"), published="2022-06-22T00:00:00Z", version="20220622000000")

    assert prices(parse(document(old))) == [P5_ON_DEMAND]


def test_before_region_codes_the_file_is_its_region() -> None:
    """A file without Region Code is of the region that it was fetched for, its Local Zones' rows excepted."""
    lines = [P5, P5 | {"SKU": "LOCAL", "Location Type": "AWS Local Zone"}]
    columns = without("Region Code", "MarketOption", "CapacityStatus")
    old = offer_csv(lines, columns=columns, published="2016-12-08T10:00:00Z", version="20161208100000")

    parsed = parse(document(old))

    assert parsed.rows["region_id"].to_list() == ["us-east-1"]
    assert parsed.ignored == {"other_region": 1}


@pytest.mark.parametrize(
    ("published", "expected"), [("2016-01-05T00:00:00Z", "standard"), ("2026-01-05T00:00:00Z", None)]
)
def test_without_offering_class_old_reservations_are_standard(published: str, expected: str | None) -> None:
    """Before convertible ones existed all were standard; later a missing class is NULL, for the gate to refuse."""
    lines = reserved(P5, lease="1yr", payment="No Upfront", hourly="0.1", upfront=None)
    body = offer_csv(lines, columns=without("OfferingClass"), published=published)

    assert parse(document(body)).rows["offering_class"].to_list() == [expected]


def test_local_zone_files_have_no_columns_for_reservations() -> None:
    """Where nothing is reserved the columns are absent, and on-demand prices are read."""
    body = offer_csv([P5], columns=without("LeaseContractLength", "PurchaseOption", "OfferingClass"))

    assert prices(parse(document(body))) == [P5_ON_DEMAND]


def test_a_reservation_without_its_columns_is_refused() -> None:
    """A Reserved row that cannot say its term or payment is another layout."""
    lines = reserved(P5, lease="1yr", payment="No Upfront", hourly="0.1", upfront=None)

    with pytest.raises(LayoutChanged, match="without its columns"):
        parse(document(offer_csv(lines, columns=without("PurchaseOption"))))


def test_a_region_without_gpus_has_no_gpu_column() -> None:
    """A column exists where some product of the region has the attribute; without one the other signs tell."""
    assert prices(parse(document(offer_csv([P5], columns=without("GPU", "GPU Memory"))))) == [P5_ON_DEMAND]


def test_every_cut_of_a_file_is_refused() -> None:
    """Wherever a file was cut short within a line or its head, no price is read from it."""
    body = offer_csv([P5, P5 | {"SKU": "OTHER"}])
    head = body.index(b'"3D4V8UAYEMB38GU2"')
    middle = body.index(b"\n", head) + 1

    for end in {*range(len(body))} - {head, middle}:
        with pytest.raises(LayoutChanged):
            parse(document(body[:end]))


@pytest.mark.parametrize(
    "body",
    [
        b"", b"   \n", b"<!DOCTYPE html><html></html>", b"\xef\xbb\xbf <html>", b"{", b"[]", b"{}", b'{"PriceList": 5}',
        b'{"PriceList": ["{"]}', b'{"PriceList": [5]}', b'{"PriceList": [{}]}', b'{"products": {}, "terms": {}}',
        b'{"offerCode": "AmazonECS", "products": {}, "terms": {}}', b'{"offerCode": "AmazonEC2", "products": {}}',
        b'{"offerCode": "AmazonEC2", "products": {}, "terms": {"OnDemand": {"A": {}}}}',
        b'{"__type": "AccessDeniedException"}', b"\xff\xfe", b"a,b,c\n", b'"FormatVersion","v1.0"\n' * 30,
        gzip.compress(b"x", mtime=0)[:-3], b"[" * 100_000, b'{"PriceList": ["' + b"[" * 100_000 + b'"]}',
        offer_csv([P5]) + b"one,two\n", offer_csv([P5]) + b'"a"b,\n', offer_csv([P5]) + b"\xff\n",
    ],
)  # fmt: skip
def test_other_documents_are_refused(body: bytes) -> None:
    """HTML, JSON that is none or another, damaged gzip, lines of another width: LayoutChanged, with a value."""
    with pytest.raises(LayoutChanged) as caught:
        parse(document(body))

    assert caught.value.source == "aws_price_list"
    assert caught.value.hint


@pytest.mark.parametrize("body", [offer_csv([P5]), page_of(products_of([P5]))], ids=["csv", "json"])
def test_gzip_is_read(body: bytes) -> None:
    """A compressed document says what the plain one says."""
    assert same(parse(document(gzip.compress(body))).rows, parse(document(body)).rows)


def test_elements_may_be_objects() -> None:
    """PriceList may hold the products themselves in place of texts; `--query PriceList` leaves the list alone."""
    for listed in (products_of([P5]), json.loads(page_of(products_of([P5])))["PriceList"]):
        for page in ({"PriceList": listed}, listed):
            assert prices(parse(document(json.dumps(page).encode()))) == [P5_ON_DEMAND]


def test_an_empty_list_is_no_error_here() -> None:
    """Whether a region may have no accelerator is for the batch gate to say."""
    assert parse(document(page_of([]))).rows.height == 0
    assert parse(document(offer_csv([]))).rows.height == 0


def test_order_of_lines_does_not_matter() -> None:
    """The same lines in another order give the same frame, row by row."""
    lines = [P5, *reserved(P5, lease="3yr", payment="Partial Upfront", hourly="1", upfront="2"), P5 | {"SKU": "A"}]

    forward, backward = parse(document(offer_csv(lines))), parse(document(offer_csv(lines[::-1])))

    assert forward.rows.equals(backward.rows)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["PriceList", "product", "sku", "attributes", "terms", "OnDemand", "x", "priceDimensions", "pricePerUnit",
             "USD", "instanceType", "unit", "termAttributes"]
        ), inner, max_size=4,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=40)
@given(value=JSON)
def test_parse_raises_nothing_but_layout_changed(value: object) -> None:
    """Whatever JSON comes, it is read or refused by name."""
    read_or_refused(value)


@pytest.mark.prove
@settings(max_examples=1000, deadline=None)
@given(value=JSON)
def test_parse_raises_nothing_but_layout_changed_at_length(value: object) -> None:
    """The same of many more."""
    read_or_refused(value)


def read_or_refused(value: object) -> None:
    """Parse a value in the places of both forms of a price list."""
    for body in (
        value,
        {"PriceList": value},
        {"PriceList": [value]},
        {"S": {"product": value, "terms": value}},
        {"offerCode": "AmazonEC2", "products": {"S": value}, "terms": {"OnDemand": {"S": value}}},
    ):
        try:
            parse(document(json.dumps(body).encode()))
        except LayoutChanged:
            continue
