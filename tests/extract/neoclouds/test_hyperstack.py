"""What is particular to Hyperstack's page: a card for each way to buy, and cells bound to headers by order alone."""

import pytest
from neoclouds.case import refused, rows
from neoclouds.cases.hyperstack import CASE

from warehouse.errors import LayoutChanged

PAGE = CASE.body.decode()
SPOT = PAGE.index('<div class="page-price_card df sb">', PAGE.index("Reserve here</a></div>\n"))
CPU = PAGE.index('<div class="page-price_card df sb">', PAGE.index("NVIDIA L40"))
OPTIONS = ("on_demand", "reserved", "spot")


def by_option(body: str) -> dict[str, list[object]]:
    found = rows(CASE.parse(body.encode()))
    return {name: [row["unit_price"] for row in found if row["purchase_option"] == name] for name in OPTIONS}


def test_a_price_stays_with_its_way_to_buy():
    """The cards name the same GPUs; the reservation is a floor of unknown length, in another column."""
    assert by_option(PAGE) == {
        "on_demand": ["3.2", "2.6", "2.5", "1.35", "7.4"],
        "reserved": ["2.72", "1.75", "0.95"],
        "spot": ["2", "1.08", "0.8"],
    }
    assert {row["statistic"] for row in CASE.expected if row["purchase_option"] == "reserved"} == {"floor"}
    assert not [row for row in CASE.expected if "commitment_term_hours" in row]


def test_a_page_without_one_of_its_cards_is_refused():
    """That spot is no longer sold is for somebody to look at; an excerpt may leave it out."""
    without = PAGE[:SPOT] + PAGE[CPU:]
    with pytest.raises(LayoutChanged, match="Spot VM Pricing"):
        CASE.parse(without.encode())
    excerpt = without[without.index('<div id="cloud-pricing"') : without.index("<h2>Frequently")]
    assert by_option(excerpt) == by_option(PAGE) | {"spot": []}


def test_a_new_card_of_gpus_is_refused():
    """A way to buy that nobody has read yet."""
    card = PAGE[SPOT:CPU].replace("<span>Spot VM</span> Pricing", "<span>Private Cloud</span> Pricing")
    with pytest.raises(LayoutChanged, match="4"):
        CASE.parse((PAGE[:CPU] + card + PAGE[CPU:]).encode())


def test_a_card_without_its_title_is_not_read_as_the_one_before():
    """Reservation prices below the on-demand title would be thirty percent too low."""
    with pytest.raises(LayoutChanged):
        CASE.parse(PAGE.replace("<h3><span>Reservation</span> Pricing</h3>", "").encode())


def test_an_empty_row_is_no_row_and_an_empty_price_no_price():
    """The first stands on the page today; the second is counted."""
    row = '<div class="page-price_card_row_item df">'
    assert by_option(PAGE.replace(row, f"{row}\n</div>{row}", 1)) == by_option(PAGE)
    parsed = CASE.parse(PAGE.replace("<span>$3.20</span>", "<span>Contact sales</span>").encode())
    assert parsed.ignored == {"no on_demand price": 1}
    assert rows(parsed) == CASE.expected[1:]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<span>$3.20</span>", "<span>$3.20</span><span>$2.72</span>"),
        ("<span>$3.20</span>", "<span>$3.20*</span>"),
        ("<span>$3.20</span>", "<span>3.20</span>"),
        ("<span>$3.20</span>", "<span>$0.00</span>"),
        ("<span>NVIDIA H100 SXM</span>", "<span>NVIDIA H100 SXM</span><span>NVIDIA H100 SXM</span>"),
        ("<span>NVIDIA H100 SXM</span>", "<span></span>"),
        ("<span>NVIDIA H100 SXM</span>", "<span>80</span>"),
        ("<span>288</span>", "<span>288 GB</span>"),
        ("<span>288</span>", "<span>288</span><span>288</span>"),
    ],
)
def test_a_cell_that_holds_something_else_is_refused(old: str, new: str):
    """Two prices, a footnote, no currency, a name twice, a number where a name should be."""
    assert old in PAGE
    assert refused(lambda: CASE.parse(PAGE.replace(old, new, 1).encode()))
