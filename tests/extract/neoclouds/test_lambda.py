"""What is Lambda's own: durations of clusters, sizes in tabs, and rows that stand where no tab points."""

import pytest
from neoclouds.case import refused, rows
from neoclouds.cases.lambda_ import CASE

from warehouse.errors import LayoutChanged


def edited(old: str, new: str, count: int = -1) -> bytes:
    text = CASE.body.decode()
    assert old in text
    return text.replace(old, new, count).encode()


def test_a_duration_never_seen_has_no_term():
    """The least length of "3 months" would be a guess."""
    assert "DURATION" in refused(lambda: CASE.parse(edited("2 weeks", "3 months", 1)))


def test_a_dash_is_no_price_and_is_counted():
    assert CASE.parse(CASE.body).ignored == {"no reserved price": 1}
    found = CASE.parse(edited("$2.29", "Contact sales", 1))
    assert found.ignored == {"no reserved price": 1, "no on_demand price": 1}
    assert "NVIDIA GH200 96 GB" not in {row["accelerator_label"] for row in rows(found)}


def test_a_row_that_no_tab_points_at_has_no_size():
    """A second table in the section is of some other product, or of a size that the page no longer names."""
    row = '<tr><td data-label="Plan">NVIDIA H100 SXM</td><td data-label="PRICE/GPU/HR*">$2.00</td></tr>'
    with pytest.raises(LayoutChanged) as raised:
        CASE.parse(edited("Instances pricing</h2></div>", f"Instances pricing</h2></div><table>{row}</table>"))
    assert raised.value.field == "row"


def test_a_section_behind_the_instances_is_not_theirs():
    """What a later heading brings, such as private clouds with tabs of their own, is not read at all."""
    tabs = '<button role="tab" aria-controls="p">16x</button><div role="tabpanel" id="p"><table></table></div>'
    assert rows(CASE.parse(edited("Frequently asked questions</h2>", f"Private cloud</h2>{tabs}"))) == CASE.expected


def test_one_size_has_one_tab():
    with pytest.raises(LayoutChanged) as raised:
        CASE.parse(edited(">1x</button>", ">8x</button>", 1))
    assert raised.value.field == "tab"


def test_a_row_said_twice_is_one_offer():
    row = edited("</tr>", "</tr>").decode().split('data-plan="NVIDIA GH200"')[1].split("</tr>")[0]
    found = CASE.parse(edited(row + "</tr>", row + '</tr><tr data-plan="NVIDIA GH200"' + row + "</tr>", 1))
    assert rows(found) == CASE.expected
    assert found.ignored == {"no reserved price": 1, "duplicate offer": 1}


def test_a_second_table_of_a_tab_is_of_another_plan():
    """Its rows look the same: a chip that is reserved alone would be on demand."""
    text = CASE.body.decode()
    end = text.rindex("</table>", 0, text.index("Frequently asked questions")) + len("</table>")
    row = text[text.rindex("<tr", 0, end) : end].replace("NVIDIA H100 PCIe", "NVIDIA B300")
    assert row.count("NVIDIA B300") == 2
    new = text[:end] + f"<h5>Reserved, 1 year</h5><table><tbody>{row}" + text[end:]
    with pytest.raises(LayoutChanged, match="one table of prices"):
        CASE.parse(new.encode())
