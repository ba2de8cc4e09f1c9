"""What is particular to Crusoe's page: rows without a price, rows told apart by a tag, and a column of spot prices."""

import pytest
from neoclouds.case import rows
from neoclouds.cases.crusoe import CASE

from warehouse.errors import LayoutChanged

PAGE = CASE.body.decode()
CONTACT = '<p><a href="/contact-sales">Contact sales</a></p>'
PRICED = f'<p>$4.29/GPU-hr</p></div><div class="pricing-rich w-richtext">{CONTACT}</div>'


def test_a_row_without_price_takes_none_from_the_next():
    """GB200 stands right before H200, MI355X before MI300X."""
    labels = {row["accelerator_label"] for row in rows(CASE.parse(CASE.body))}
    assert not [label for label in labels if "GB200" in label or "MI355X" in label]
    assert CASE.parse(CASE.body).ignored == {"no on_demand price": 2, "no spot price": 6}


def test_a_spot_price_is_an_offer_of_its_own():
    """Once Crusoe names one; on-demand stays what it was."""
    found = rows(CASE.parse(PAGE.replace(PRICED, PRICED.replace(CONTACT, "<p>$1.99/GPU-hr</p>")).encode()))
    assert [row for row in found if row not in CASE.expected] == [
        CASE.expected[0] | {"purchase_option": "spot", "unit_price": "1.99"}
    ]
    assert len(found) == len(CASE.expected) + 1


@pytest.mark.parametrize(
    ("on_demand", "spot"),
    [
        ("<p>$4.29/GPU-hr</p>", "<p>$4.29/GPU-hr</p>"),
        ("<p>$4.29/GPU-hr</p>", "<p>$5/GPU-hr</p>"),
        (CONTACT, "<p>$3/GPU-hr</p>"),
    ],
)
def test_a_spot_price_that_may_be_another_column_is_refused(on_demand: str, spot: str):
    """Nothing but its place says which of the two a price is."""
    assert PRICED in PAGE
    new = PRICED.replace(CONTACT, spot).replace("<p>$4.29/GPU-hr</p>", on_demand, 1)
    with pytest.raises(LayoutChanged, match="not below"):
        CASE.parse(PAGE.replace(PRICED, new).encode())


@pytest.mark.parametrize("tag", ['<div class="pricing-tag">PCIe</div>', ">PCIe<"])
def test_a_row_without_its_second_tag_is_refused(tag: str):
    """Without it a PCIe card would be any A100."""
    assert tag in PAGE
    with pytest.raises(LayoutChanged, match="tag"):
        CASE.parse(PAGE.replace(tag, "><" if tag.startswith(">") else "").encode())


def test_a_chip_never_seen_before_is_kept():
    """In the page's own words."""
    found = rows(CASE.parse(PAGE.replace("NVIDIA H200", "NVIDIA R100").replace("141GB", "288 GB").encode()))
    assert found[0]["accelerator_label"] == "NVIDIA R100 288 GB HGX"
    assert found[1:] == CASE.expected[1:]


@pytest.mark.parametrize("price", ["$4.29/vCPU-hr", "$4.29/GPU-month", "$4.29", "$4.29/GPU-hr*", "4.29/GPU-hr"])
def test_a_price_in_another_unit_is_refused(price: str):
    """The unit stands at each price."""
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace("$4.29/GPU-hr", price).encode())


@pytest.mark.parametrize(
    "between",
    [
        '</div><h5>Reserved, 1 year</h5><div role="list">', '</div><p>Reserved, 1 year</p><div role="list">',
        '</div><div role="list">', "<h4>Reserved, 1 year</h4>", "<div>Reserved, 1 year</div>",
    ],
)  # fmt: skip
def test_a_second_plan_below_the_first_is_refused(between: str):
    """Its rows look the same: GB200, which has no price on demand, would have that of a year."""
    first = PAGE.index('<div role="listitem"')
    row = PAGE[first : PAGE.index('<div role="listitem"', first + 1)].replace(CONTACT, "<p>$3.49/GPU-hr</p>", 1)
    end = '</div></div></div></div><div id="gpu-instances"'
    assert end in PAGE
    with pytest.raises(LayoutChanged, match="one list"):
        CASE.parse(PAGE.replace(end, between + row + end).encode())
