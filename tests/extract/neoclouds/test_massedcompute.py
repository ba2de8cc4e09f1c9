"""What is Massed Compute's own: rows in a stream of lines that refer to each other."""

import json
from typing import Any

import pytest
from neoclouds.case import rows
from neoclouds.cases.massedcompute import CASE

from extract.neoclouds.massedcompute import TIMES
from warehouse.errors import LayoutChanged

PRICE = ["$$2.73", ["$", "small", None, {"children": "/hr"}]]


def row(
    name: str = "H100 (80GB)", count: int = 1, *, place: int = 0, cells: Any = None, shown: int | None = None
) -> Any:
    quantity = ["$", "span", None, {"children": [TIMES, str(shown or count)]}]
    return ["$", "tr", f"{name}-x {count}-{place}", {"children": [quantity, PRICE if cells is None else cells]}]


def excerpt(*lines: str) -> bytes:
    """Return lines of the stream as an excerpt of the page."""
    return f"<script>self.__next_f.push({json.dumps([1, chr(10).join(lines)])})</script>".encode()


def prices(*lines: Any) -> list[tuple[str, str]]:
    found = rows(CASE.parse(excerpt(*(line if isinstance(line, str) else json.dumps(line) for line in lines))))
    return [(r["instance_type"], r["unit_price"]) for r in found]


def test_two_dollars_are_one():
    assert prices(row()) == [("H100 (80GB) x 1", "2.73")]


def test_cells_may_stand_in_another_line():
    """Before or behind the row, and behind a line of plain text, which has no end but its length."""
    assert prices(row(cells=["$L7d"]), f"7d:{json.dumps(PRICE)}") == [("H100 (80GB) x 1", "2.73")]
    text = 'é\n9:["no line of its own"]'
    glued = f"1a:T{len(text.encode()):x},{text}7d:{json.dumps(PRICE)}"
    assert prices(glued, row(cells=["$7d"])) == [("H100 (80GB) x 1", "2.73")]


def test_a_row_without_its_price_takes_no_other():
    """A line that is missing is not the next one with a dollar in it."""
    with pytest.raises(LayoutChanged):
        prices(row(cells=["$L7d"]), f"7e:{json.dumps(PRICE)}")
    assert prices(row(cells=["$L7d"]), row(name="H100 (80GB)-mobile")) == [("H100 (80GB) x 1", "2.73")]


def test_a_page_must_have_every_line():
    """Where an excerpt may lack one, a page that does was cut, or is built otherwise."""
    page = b"<!doctype html><html><body>" + excerpt(json.dumps(row())) + b"</body></html>"
    assert len(CASE.parse(page).rows) == 1
    lines = excerpt(json.dumps(row(cells=["$L7d"])), json.dumps(row(name="H100 (80GB)-mobile")))
    with pytest.raises(LayoutChanged):
        CASE.parse(b"<!doctype html><html><body>" + lines + b"</body></html>")


@pytest.mark.parametrize(
    "cells",
    [
        ["$$2.73"], ["$$2.73", "/mo"], ["$$2.73", "/GPU"], ["$$2.73", "/hr", "$$2.00", "/hr"],
        ["$$9.99", "$$2.73", "/hr"],
        ["2.73", "/hr"], ["/hr", "$$2.73"], ["Request", "$$2.73", "/hr"], ["Sold out"], [], ["$$0.00", "/hr"],
    ],
)  # fmt: skip
def test_a_row_has_one_price_of_one_hour(cells: list[str]):
    with pytest.raises(LayoutChanged):
        prices(row(), row(name="A100 (80GB)", cells=cells))


@pytest.mark.parametrize(("kind", "style"), [("del", ""), ("s", ""), ("strike", ""), ("span", "text-sm line-through")])
def test_a_price_that_is_crossed_out_is_none(kind: str, style: str):
    """The old price of a machine beside the new one; of one that is sold out nothing is left."""
    old = ["$", kind, None, {"className": style, "children": ["$$9.99", "/hr"]}]
    assert prices(row(cells=[old, "$$2.73", "/hr"])) == prices(row())
    with pytest.raises(LayoutChanged):
        prices(row(), row(name="A100 (80GB)", cells=[old]))


def test_the_count_of_the_key_is_the_one_shown():
    """Else the price of one GPU would be wrong by a whole factor."""
    with pytest.raises(LayoutChanged):
        prices(row(count=8, shown=1))


def test_card_and_table_must_agree():
    with pytest.raises(LayoutChanged):
        prices(row(), row(name="H100 (80GB)-mobile", cells=["$$2.99", "/hr"]))
    with pytest.raises(LayoutChanged):
        prices(row(), row(name="H100 (80GB)-mobile", cells=["Request"]))


def test_two_lines_of_one_id_are_refused():
    with pytest.raises(LayoutChanged):
        prices(row(cells=["$L7d"]), f"7d:{json.dumps(PRICE)}", f"7d:{json.dumps(['$$9.99', '/hr'])}")


def test_words_in_brackets_are_a_tier_unless_they_are_about_the_chips():
    found = rows(
        CASE.parse(excerpt(json.dumps(row(name="H100 (80GB) [Premium]")), json.dumps(row(name="A5000 [NVLink]"))))
    )
    assert [(r["accelerator_label"], r.get("tier")) for r in found] == [
        ("H100 (80GB)", "Premium"), ("A5000 [NVLink]", None),
    ]  # fmt: skip
    with pytest.raises(LayoutChanged, match="spot"):
        prices(row(name="H100 (80GB) [Spot]"))


def test_two_machines_of_one_name_are_told_apart_by_their_size():
    small, large = (
        row(name="A100 (80GB)-mobile", place=place, cells=["vCPU", cpus, "RAM", "96 GB", price, "/hr"])
        for place, cpus, price in ((0, "16", "$$1.35"), (1, "30", "$$1.50"))
    )
    found = rows(CASE.parse(excerpt(json.dumps(small), json.dumps(large))))
    assert [r["conditions"] for r in found] == ["16 vCPU, 96 GB RAM", "30 vCPU, 96 GB RAM"]
    with pytest.raises(LayoutChanged):
        prices(row(), row(place=1, cells=["$$2.99", "/hr"]))


def test_a_second_table_of_another_plan_refuses_the_page():
    """Alike in all but the price: which of the two is on demand, nothing says. A copy of the same table is no harm."""
    first, other, again = (
        row(name="A100 (80GB)-mobile", place=place, cells=["vCPU", "16", "RAM", "96 GB", price, "/hr"])
        for place, price in ((0, "$$1.35"), (4, "$$0.85"), (4, "$$1.35"))
    )
    assert len(CASE.parse(excerpt(json.dumps(first), json.dumps(again))).rows) == 1
    with pytest.raises(LayoutChanged, match="two plans"):
        CASE.parse(excerpt(json.dumps(first), json.dumps(other), json.dumps(row())))
