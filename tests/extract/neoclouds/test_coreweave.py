"""What is particular to CoreWeave's page: two regions with the same rows, CPU rows alike, and each value twice."""

import pytest
from neoclouds.case import refused, rows
from neoclouds.cases.coreweave import CASE

from warehouse.errors import LayoutChanged

PAGE = CASE.body.decode()
EUROPE = '<h5><strong class="eyebrow">REGION: EUROPE</strong></h5>'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EUROPE, ""),
        (EUROPE, "<h5>Europe</h5>"),
        (EUROPE, EUROPE.replace("h5", "div")),
        ('<h5><strong class="eyebrow">REGION: NORTH AMERICA</strong></h5>', ""),
    ],
    ids=["no title", "another title", "a title that is no heading", "no first title"],
)
def test_no_row_stands_under_the_region_before_it(old: str, new: str):
    """Europe's rows are North America's by name: without their title they would change its prices."""
    assert old in PAGE
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace(old, new).encode())


def test_a_row_that_is_new_moves_no_other():
    """A machine that was never seen is kept, in its region; all other prices stay where they are."""
    (row,) = (part for part in PAGE.split('<div role="listitem"')[1:] if "GB200" in part)
    new = row.replace("GB200", "VR200").replace("$42.00", "$70.00").replace("$10.50", "$17.50")
    found = rows(CASE.parse(PAGE.replace(row, f'{new}<div role="listitem"{row}').encode()))
    assert [one for one in found if "VR200" not in one["accelerator_label"]] == CASE.expected
    assert [(one.get("instance_type"), one["unit_price"]) for one in found if one not in CASE.expected] == [
        ("NVIDIA VR200 NVL72", "70"), (None, "17.5"),
    ]  # fmt: skip


def test_rows_of_cpu_machines_are_counted_and_never_read():
    """They have the same markup; without the heading between them nothing is read."""
    assert CASE.parse(CASE.body).ignored["machine without GPU"] == 1
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace('<h2 class="heading-32-20">On-demand CPU instances</h2>', "").encode())


def test_a_page_has_headers_even_where_an_excerpt_has_none():
    """Without its headers a page says not which cell is which."""
    start, end = PAGE.index('<div class="table-v2-header">'), PAGE.index('<div class="table-v2-body')
    bare = PAGE[:start] + PAGE[end:]
    with pytest.raises(LayoutChanged, match="GPU Model"):
        CASE.parse(bare.encode())
    excerpt = bare[bare.index("<section") : bare.rindex("</main>")]
    assert rows(CASE.parse(excerpt.encode())) == CASE.expected


@pytest.mark.parametrize(
    "price", ["$42.00*", "$42.00<sup>3</sup>", "$42.00 / GPU", "from $42.00 or less", "42.00", "$0"]
)
def test_a_price_that_says_more_or_less_than_a_price_is_refused(price: str):
    """In the cell as well as at the label."""
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace("$42.00", price).encode())


@pytest.mark.parametrize("count", ["4 or 8", "4-8", "0", "four", "", "4^12"])
def test_a_number_of_gpus_that_is_none_is_refused(count: str):
    """A footnote is no digit, and a range no number."""
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace("4^1", count).encode())


@pytest.mark.parametrize(("cell", "other"), [("8", "4"), ("270", "288"), ("$35.84", "$36.70"), ("4^1", "8")])
def test_a_cell_that_says_something_else_than_its_copy_is_refused(cell: str, other: str):
    """One of the two is of another column or row, and nothing says which."""
    old = f'<div class="table-v2-cell"><div>{cell}</div></div>'
    assert old in PAGE
    assert "differ" in refused(lambda: CASE.parse(PAGE.replace(old, old.replace(cell, other), 1).encode()))
