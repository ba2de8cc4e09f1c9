"""Hot Aisle: three prices of one chip on one page, of which one is a month's and one is nobody's."""

import pytest
from neoclouds.case import document, rows
from neoclouds.cases.hotaisle import CASE

from extract.base import Parsed
from extract.neoclouds.hotaisle import SOURCE
from warehouse.errors import LayoutChanged

CARD = """<div class="card"><div class="mb-6"><p>VM</p><h2>Next</h2><div><span>8x</span><span>MI355X</span></div>
<p>$4.49/GPU/hr</p></div></div>"""
"""A card of a chip that has none; its price is made up."""


def page(old: str, new: str, times: int = -1) -> Parsed:
    assert old in CASE.body.decode()
    return SOURCE.parse(document(SOURCE, CASE.body.decode().replace(old, new, times).encode()))


def test_a_month_and_a_grandfather_are_no_price_of_today():
    """2.99 can be had now, 3.39 for a month at least, 1.99 by nobody new."""
    found = {row["unit_price"]: row for row in rows(CASE.parse(CASE.body))}

    assert (found["2.99"]["purchase_option"], found["2.99"].get("restriction")) == ("on_demand", None)
    assert (found["3.39"]["purchase_option"], found["3.39"]["commitment_term_hours"]) == ("reserved", 730)
    assert found["1.99"]["restriction"] == "grandfathered"


def test_the_price_of_old_customers_may_go():
    """Without the sentence there is no such price; the others stay."""
    body = CASE.body.decode()
    start = body.index('<p class="mt-5">')
    sentence = body[start : body.index("</p>", start) + 4]

    assert rows(page(sentence, "")) == [row for row in CASE.expected if row["unit_price"] != "1.99"]


@pytest.mark.parametrize(("old", "new"), [
    ('<p class="mb-3">$2.99/GPU/hr</p>', '<p class="mb-3">$2.89/GPU/hr</p>'),
    ('<p class="text-3xl">$3.39/GPU/hr</p>', '<p class="text-3xl">$3.29/GPU/hr</p>'),
    ("1, 2, and 4x", "1, 2, 4, and 8x"), ("<span>1x</span>", "<span>3x</span>"),
    ("bare metal, one-month minimum", "bare metal"), ("bare metal, one-month minimum", "bare metal, one-year minimum"),
    ("remain grandfathered at", "can be grandfathered until March at"), ("remain grandfathered at", "pay"),
    ("$1.99/GPU/hr", "from $1.99/GPU/hr"), ("$3.39/GPU/hr<span>", "$3.39/GPU/hr**<span>"),
    ('<p class="mb-3">$2.99/GPU/hr</p>', '<p class="mb-3">$2.99/GPU/hr yearly</p>'),
    ("<h1>Pricing</h1>", "<h1>Pricing</h1><p>Now $2.49/GPU/hr</p>"), (">MI300x<", "><"),
    ("<span>8x</span>", "<span>8</span>"),
])  # fmt: skip
def test_a_page_that_contradicts_itself_is_refused(old: str, new: str):
    """The summary against the cards, a term that is another, a price that stands nowhere known."""
    with pytest.raises(LayoutChanged):
        page(old, new)


def test_a_card_of_a_new_chip_is_kept():
    """The summary is of the MI300X; another chip stands for itself."""
    found = rows(page('<div class="card">', CARD + '<div class="card">', 1))

    (row,) = [row for row in found if row["accelerator_label"] == "MI355X"]
    assert (row["unit_price"], row["minimum_quantity"], row["tier"]) == ("4.49", "8", "VM")
    assert [row for row in found if row["accelerator_label"] != "MI355X"] == CASE.expected


def test_a_card_that_stands_twice_is_one():
    """As pages have one for small screens and one for large: counted."""
    body = CASE.body.decode()
    start = body.index('<div class="card">')
    card = body[start : body.index('<div class="card">', start + 1)]

    found = page(card, card + card)

    assert rows(found) == CASE.expected
    assert found.ignored == {"duplicate offer": 1}
