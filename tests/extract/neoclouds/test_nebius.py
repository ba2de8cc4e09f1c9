"""What is Nebius's own: columns that come and go, and prices of a later day."""

import json
from datetime import UTC, datetime

import pytest
from neoclouds.case import rows
from neoclouds.cases.nebius import CASE

from extract.neoclouds import nebius
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

MACHINE = ["Item", "vCPUs", "RAM, GB"]
H100 = ["NVIDIA HGX H100", "16", "200"]


def excerpt(*tables: tuple[str, list[list[str]]]) -> bytes:
    """Return blocks as an excerpt of the page's data, escaped as they stand there."""
    blocks = [{"type": "highlight-table-block", "title": name, "table": {"content": rows}} for name, rows in tables]
    return json.dumps(json.dumps(blocks)[1:-1])[1:-1].encode()


def read(body: bytes, day: str = "2026-11-20") -> list[dict[str, object]]:
    fetched_at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return rows(nebius.SOURCE.parse(Document(source="nebius", scope="all", url="x", body=body, fetched_at=fetched_at)))


def prices(body: bytes, day: str = "2026-11-20") -> list[tuple[object, ...]]:
    found = read(body, day)
    return [(r["purchase_option"], r["unit_price"], r.get("restriction"), r.get("conditions")) for r in found]


def test_the_layout_until_april_2026_had_one_price():
    """Its fourth column was on-demand; the fourth of May was preemptible."""
    april = excerpt(("NVIDIA GPU Instances", [[*MACHINE, "Price per GPU-hour"], [*H100, "$2.95"]]))
    assert prices(april) == [("on_demand", "2.95", None, None)]
    may = excerpt(
        (
            "NVIDIA GPU Instances",
            [[*MACHINE, "Preemptible, GPU-hour", "On-demand, GPU-hour"], [*H100, "$1.25", "$2.95"]],
        )
    )
    assert prices(may) == [("spot", "1.25", None, None), ("on_demand", "2.95", None, None)]


@pytest.mark.parametrize(
    "headers",
    [
        ["Price"], ["Price per hour"], ["GPU-hour"], ["Preemptible, GPU-hour"], ["Preemptible, GPU-hour", "GPU-hour"],
        ["Price per GPU-hour", "On-demand, GPU-hour"], ["On-demand, GPU-hour", "Reserved, GPU-hour"],
        ["Preemptible, GPU-hour", "On-demand, GPU-hour", "GPU-hour (Effective October 1, 2026)"],
        ["GPU-hour (Effective October 1, 2026)"], ["On-demand, GPU-hour", "GPU-hour (Effective Octember 1, 2026)"],
        ["On-demand, GPU-hour", "On-demand, GPU-hour"],
    ],
)  # fmt: skip
def test_columns_never_seen_are_refused(headers: list[str]):
    """Also where one of them is known: what the others change about it is not."""
    table = [[*MACHINE, *headers], [*H100, *(f"${number + 1}.00" for number, _ in enumerate(headers))]]
    with pytest.raises(LayoutChanged):
        read(excerpt(("NVIDIA GPU Instances", table)))


def test_columns_are_found_by_header_in_any_order():
    table = [["On-demand, GPU-hour", *MACHINE, "Preemptible, GPU-hour"], ["$3.85", *H100, "$2.15"]]
    assert prices(excerpt(("NVIDIA GPU Instances", table))) == [
        ("on_demand", "3.85", None, None), ("spot", "2.15", None, None),
    ]  # fmt: skip


def test_a_dated_price_is_announced_until_its_day():
    """The new price stood beside the old one from September until after the first of October."""
    h100 = [row for row in read(CASE.body, "2026-09-15") if row["accelerator_label"] == "NVIDIA HGX H100"]
    assert [(r["unit_price"], r.get("restriction"), r.get("conditions")) for r in h100] == [
        ("3.85", None, None), ("4.5", "announced", "from 2026-10-01"), ("0.79", None, None),
    ]  # fmt: skip
    h100 = [row for row in read(CASE.body, "2026-10-01") if row["accelerator_label"] == "NVIDIA HGX H100"]
    assert [(r["unit_price"], r.get("restriction")) for r in h100] == [("4.5", None), ("0.79", None)]


def test_of_two_dated_prices_the_last_that_has_come_holds():
    table = [
        [*MACHINE, "On-demand, GPU-hour", "GPU-hour (Effective October 1, 2026)", "GPU-hour (Effective May 1, 2027)"],
        [*H100, "$3.85", "$4.50", "$5.00"],
    ]
    body = excerpt(("NVIDIA GPU Instances", table))
    assert [price for _, price, restriction, _ in prices(body, "2026-09-01") if restriction is None] == ["3.85"]
    assert prices(body, "2026-12-01") == [
        ("on_demand", "4.5", None, None), ("on_demand", "5", "announced", "from 2027-05-01"),
    ]  # fmt: skip
    assert prices(body, "2027-05-01") == [("on_demand", "5", None, None)]


def test_no_price_now_is_not_the_price_before():
    """A dated column that says "Contact us" has taken the old price away."""
    table = [
        [*MACHINE, "On-demand, GPU-hour", "GPU-hour (Effective October 1, 2026)"],
        [*H100, "$3.85", "[Contact us](#ai-contact-form)"], ["NVIDIA HGX H200", "16", "200", "$4.50", "$5.40"],
    ]  # fmt: skip
    assert [row["accelerator_label"] for row in read(excerpt(("NVIDIA GPU Instances", table)))] == ["NVIDIA HGX H200"]


def test_preemptible_prices_alone_are_not_the_page():
    with pytest.raises(LayoutChanged):
        read(
            excerpt(("Preemptible NVIDIA GPU Instances", [[*MACHINE, "Spot price, GPU-hour*"], [*H100, "from $0.79"]]))
        )


def test_an_excerpt_cut_short_is_refused():
    body = excerpt(("NVIDIA GPU Instances", [[*MACHINE, "Price per GPU-hour"], [*H100, "$2.95"]]))
    for length in range(1, len(body), 7):
        with pytest.raises(LayoutChanged):
            read(body[:length])


def test_what_is_left_out_is_counted():
    assert CASE.parse(CASE.body).ignored == {
        "no on_demand price": 2, "superseded": 5, "CPU-only instances": 1, "Storage": 2,
    }  # fmt: skip


def rendered(*rows: list[str]) -> bytes:
    """Return the table of GPUs in the markup of the page of 2026-07-12: headers and rows in a block each.

    https://web.archive.org/web/20260712235400id_/https://nebius.com/prices
    """
    lines = ["".join(f"<div><div><p>{cell}</p></div></div>" for cell in row) for row in rows]
    head, *body = [f'<div class="row">{line}</div>' for line in lines]
    return (
        '<!DOCTYPE html><html><body><div><h2><span class="title">NVIDIA GPU Instances</span></h2>'
        f"<div><div><div>{head}</div><div>{''.join(body)}</div></div></div></div></body></html>"
    ).encode()


def test_the_table_that_a_reader_sees_is_read_as_the_page_has_it():
    """Headers lie in a block of their own, and the rows, be it one, in the block behind it."""
    head = [*MACHINE, "Preemptible, GPU-hour", "On-demand, GPU-hour"]
    h100 = [*H100, "$2.15", "$3.85"]
    gb300 = ["NVIDIA GB300 NVL72", "112", "800", "&ndash;&ndash;", '<a href="#ai-contact-form">Contact us</a>']
    expected = [("spot", "2.15", None, None), ("on_demand", "3.85", None, None)]
    assert prices(rendered(head, h100)) == expected
    assert prices(rendered(head, gb300, h100)) == expected


def test_the_data_and_the_table_that_a_reader_sees_must_agree():
    head = [*MACHINE, "Preemptible, GPU-hour", "On-demand, GPU-hour"]
    data = {"blocks": [{"type": nebius.BLOCK, "title": "NVIDIA GPU Instances", "table": {"content": [
        head, [*H100, "$2.15", "$3.85"],
    ]}}]}  # fmt: skip
    script = f"<script>{json.dumps(data)}</script></body>".encode()
    page = rendered(head, [*H100, "$2.15", "$3.85"]).replace(b"</body>", script)
    assert len(prices(page)) == 2
    with pytest.raises(LayoutChanged, match="two readings of one page differ"):
        prices(page.replace(b"<p>$3.85</p>", b"<p>$4.85</p>"))


def test_a_cell_of_brackets_without_end_is_refused_at_once():
    """Of a million the search for links took an hour."""
    cell = "[" * 1_000_000
    with pytest.raises(LayoutChanged, match="at most 1000 characters"):
        read(excerpt(("NVIDIA GPU Instances", [[*MACHINE, "Price per GPU-hour"], [*H100, cell]])))
