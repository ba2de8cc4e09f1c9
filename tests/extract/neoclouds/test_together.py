"""What is particular to Together's page: tables that look alike, cells that span, and columns by length of term."""

import re

import pytest
from neoclouds.case import rows
from neoclouds.cases.together import CASE

from warehouse.errors import LayoutChanged

PAGE = CASE.body.decode()
HIDDEN = PAGE[PAGE.index('<div class="hide"><p class="h4">') : PAGE.index('<p class="h4">On-demand hourly')]
CLUSTERS = PAGE.index(HIDDEN) + len(HIDDEN)
SPANNING = '<td colspan="4" class="text-align-center">'


def prices(body: str) -> dict[tuple[str, str], str]:
    return {(row["accelerator_label"], row["tier"]): row["unit_price"] for row in rows(CASE.parse(body.encode()))}


def test_one_gpu_has_the_price_of_each_product():
    """Dedicated inference is another product than a cluster, and a reservation of another length another offer."""
    found = prices(PAGE)
    assert {tier: price for (label, tier), price in found.items() if label == "NVIDIA HGX H100"} == {
        "GPU Clusters": "3.99",
        "GPU Clusters, 7-30 days": "3.69",
        "GPU Clusters, 31-90 days": "3.45",
        "GPU Clusters, 91-180 days": "3.19",
        "Dedicated Inference": "5.49",
    }
    assert not [label for label, _ in found if "GB200" in label]


def test_the_hidden_table_is_never_read():
    """Whatever stands in it, or if it is there at all; a second table that is seen is refused."""
    seen = HIDDEN.replace('class="hide"', 'class="c19"')
    assert CASE.parse(CASE.body).ignored["row of the hidden table"] == 0
    assert CASE.parse(PAGE.replace(HIDDEN, seen).encode()).ignored["row of the hidden table"] == 3
    for table in (HIDDEN, seen):
        assert prices(PAGE.replace(HIDDEN, table.replace("$3.99", "$1.23"))) == prices(PAGE)
    assert prices(PAGE.replace(HIDDEN, "")) == prices(PAGE)
    with pytest.raises(LayoutChanged, match="one table"):
        CASE.parse(PAGE.replace(HIDDEN, seen.replace("Hourly", "Per node")).encode())


def test_a_hidden_column_is_never_read():
    """Nor does it keep the others from being read; one that is seen does."""
    start = PAGE.index("</th>", CLUSTERS) + len("</th>")

    def page(hidden: str) -> str:
        rows_below = re.sub(r"(<tr fs-.*?</td>)", rf"\1<td{hidden}>$1.99</td>", PAGE[start:], flags=re.DOTALL)
        return f'{PAGE[:start]}<th rowspan="2"{hidden}>Preemptible Compute</th>{rows_below}'

    assert prices(page(' class="hide"')) == prices(PAGE)
    with pytest.raises(LayoutChanged, match="one table"):
        CASE.parse(page("").encode())


def test_rows_may_lie_in_the_table_itself():
    """Where HTML has a place for them."""
    plain = PAGE.replace('<div role="listitem" class="w-dyn-item"><tr', "<tr").replace("</tr></div>", "</tr>")
    plain = plain.replace('<div class="w-dyn-list"><div role="list" class="w-dyn-items">', "")
    plain = plain.replace("</div></div></tbody>", "</tbody>")
    assert "<div" not in plain[plain.index("<tbody fs") : plain.index("<tr fs")]
    assert prices(plain) == prices(PAGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("$3.69", "$4.09"),
        ("$3.45", "\N{EM DASH}"),
        ("$3.69", "$3.69*"),
        ("<span>HGX H100</span>", "<span>HGX H100</span><span>HGX H100</span>"),
        ("<span>NVIDIA</span>", ""),
        ('<td class="is-right-border">', "<td>"),
        ("All prices are per GPU per hour.", "All prices are per node per hour."),
        ("All prices per gpu per hour", "All prices per node per hour"),
        (" colspan=\"4\" class=\"text-align-center\"", ""),
    ],
    ids=[
        "dearer for longer", "none in between", "a footnote", "a name twice",
        "no vendor", "a cell unlike its column", "clusters by node", "inference by node", "cells too few",
    ],
)  # fmt: skip
def test_a_row_whose_cells_may_be_others_is_refused(old: str, new: str):
    """A price one column to the side is that of another term."""
    place = PAGE.index(old, CLUSTERS if old in PAGE[CLUSTERS:] else 0)
    with pytest.raises(LayoutChanged):
        CASE.parse((PAGE[:place] + new + PAGE[place + len(old) :]).encode())


def test_a_price_that_spans_all_terms_is_refused():
    """It is not said to be that of each."""
    place = PAGE.index(SPANNING)
    spanning = PAGE[place:].replace("Contact us", "$42.00", 1)
    with pytest.raises(LayoutChanged, match="spans"):
        CASE.parse((PAGE[:place] + spanning).encode())
