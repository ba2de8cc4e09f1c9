"""A section of a page is asked for its elements, and gives those alone."""

from neoclouds.case import MOMENT

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
