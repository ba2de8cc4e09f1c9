"""A section of a page is asked for its elements, and gives those alone."""

import pytest
from neoclouds.case import MOMENT, Case, rows
from neoclouds.cases import coreweave, crusoe, lambda_, together

from extract.neoclouds.pages import Page
from warehouse.documents import Document

PAGE = b"""<html><body><h2>Prices</h2><div><table><tr><td>one</td></tr><tr><td>two</td></tr></table></div>
<h2>Others</h2><table><tr><td>three</td></tr></table></body></html>"""


def test_a_selector_gives_what_matches_itself():
    """And not the table and the div that a row lies in, which would count every row once more."""
    page = Page(Document(source="any", scope="all", url="https://example.com/", body=PAGE, fetched_at=MOMENT))
    prices = page.part("Prices")
    assert [node.tag for node in prices.css("tr")] == ["tr", "tr"]
    assert [node.tag for node in prices.css("div, td")] == ["div", "td", "td"]
    assert prices.css("h2") == []


@pytest.mark.parametrize(
    ("case", "section"),
    [
        (crusoe.CASE, '<h3>AMD prices</h3><div role="listitem">AMD MI355X $3.50/GPU-hr</div>'),
        (coreweave.CASE, '<h2>AMD prices</h2><div role="listitem">AMD MI355X <p>GPU Count</p> $3.50</div>'),
        (lambda_.CASE, '<h2>AMD prices</h2><table><tr data-plan="x"><td>AMD MI355X $3.50</td></tr></table>'),
        (together.CASE, "<h2>AMD prices</h2><table><tr><th>Hardware</th><td>AMD MI355X $3.50</td></tr></table>"),
    ],
)
def test_rows_of_a_new_section_are_named(case: Case, section: str):
    """The sections that are known keep their prices; what a new one has is not passed over in silence."""
    found = case.parse(case.body.replace(b"</body>", section.encode() + b"</body>"))
    assert rows(found) == case.expected
    assert [("AMD MI355X" in name, "$3.50" in name) for name in found.unknown] == [(True, True)]
