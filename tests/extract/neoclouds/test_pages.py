"""The kit for pages reads what a reader sees, and refuses a page that is cut short or has another shape."""

from datetime import UTC, datetime

import pytest

from extract.neoclouds import offers, pages
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

PAGE = "<!doctype html><html><body>{}</body></html>"
HEADED = PAGE.format(
    "<h2>GPUs</h2><h3>On-demand</h3><p>a</p><h4>Card</h4><p>b</p><h3>Spot</h3><p>c</p><h2>CPUs</h2><p>d</p>"
)


def page(text: str) -> pages.Page:
    moment = datetime(2026, 11, 20, tzinfo=UTC)
    return pages.Page(
        Document(source="toy", scope="all", url="https://toy.example", body=text.encode(), fetched_at=moment)
    )


def first(text: str, css: str) -> object:
    node = page(PAGE.format(text)).tree.css_first(css)
    assert node is not None
    return node


@pytest.mark.parametrize("text", ["<div><p>1</p></div>", "<p>1<br>2</p>\n", "<script>'</p>'</script><img src='a'/>"])
def test_a_whole_excerpt_is_read(text: str):
    """People keep pieces of a page: one that closes what it opens is whole."""
    assert page(text).is_excerpt
    assert not page(PAGE.format(text)).is_excerpt


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "no tag", "<div><p>1</p>", "<p>1</p></div>", "<div><p>1</div></p>", "<div></di",
        "<script>1", "<br>1</br><p>", "<!-- a",
    ],
)  # fmt: skip
def test_an_excerpt_that_is_not_whole_is_refused(text: str):
    """Cut short anywhere, or no HTML at all."""
    with pytest.raises(LayoutChanged):
        page(text)


@pytest.mark.parametrize("text", [HEADED[:-7], HEADED[:40], "x" * 2000 + HEADED])
def test_a_page_that_is_cut_short_is_refused(text: str):
    """A page is whole only with its end tag: that its tags happen to balance is not enough."""
    with pytest.raises(LayoutChanged):
        page(text)


def test_a_part_ends_at_the_next_heading_of_its_rank_or_above():
    """A section that is new behind it is no piece of it; headings below its rank are."""

    def texts(heading: str) -> list[str]:
        return [pages.text_of(node) for node in page(HEADED).part(heading).nodes]

    assert texts("GPUs") == ["On-demand", "a", "Card", "b", "Spot", "c"]
    assert texts("On-demand") == ["a", "Card", "b"]
    assert texts("Spot") == ["c"]
    assert texts("CPUs") == ["d"]


@pytest.mark.parametrize(
    "old",
    [
        "<p hidden>$2.10</p>", '<p style="color: red; Display:none">$2.10</p>', '<p style="display: none">$2.10</p>',
        "<p hidden><b>$2.10</b></p>", "<div hidden><p>$2.10</p></div>",
        '<div data-wf-variation-617164945="" data-wf-hidden-variation="" class="w-optimization"><p>$2.10</p></div>',
    ],
)  # fmt: skip
def test_a_price_that_is_not_shown_is_none(old: str):
    """A page keeps prices of before, and Webflow those that it tries on some readers; behind a tab is a click away."""
    shown = page(PAGE.format(f'{old}<p>$3.10</p><p hidden role="tabpanel">$4.10</p>')).whole()
    assert [pages.text_of(node) for node in shown.css("p")] == ["$3.10", "$4.10"]


@pytest.mark.parametrize("heading", ["Absent", "on-demand", "On-demand GPU"])
def test_a_part_begins_at_the_whole_text_of_one_heading(heading: str):
    """A heading that is near is another one; so is one that stands there twice."""
    with pytest.raises(LayoutChanged, match="once"):
        page(HEADED).part(heading)
    with pytest.raises(LayoutChanged, match="2 times"):
        page(HEADED.replace("Spot", "On-demand")).part("On-demand")


def test_a_section_is_split_at_its_titles():
    """What stands before the first title belongs to none."""
    section = page(HEADED).part("GPUs")
    found = section.split([node for node in section.nodes if node.tag == "h3"])
    assert [(one.name, [pages.text_of(node) for node in one.nodes]) for one in found] == [
        ("On-demand", ["a", "Card", "b"]), ("Spot", ["c"]),
    ]  # fmt: skip
    assert section.split([]) == []


def test_headers_of_plain_elements_are_found_by_the_first():
    """Wrappers of one element count for nothing; a header that is not there, or twice, is refused."""
    table = "<h2>A</h2><div><div><div><b>Model</b></div><div>Price</div></div><p>H100</p></div>"
    row, names = page(PAGE.format(table)).part("A").head("Model")
    assert names == ["Model", "Price"]
    assert [pages.text_of(cell) for cell in pages.cells(row)] == names
    for other in (table.replace("Model", "Type"), table.replace("H100", "Model"), "<h2>A</h2><p>Model</p>"):
        with pytest.raises(LayoutChanged):
            page(PAGE.format(other)).part("A").head("Model")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>4<sup>1</sup></p>", "4^1"),
        ("<p>$2.10<sup>2</sup></p>", "$2.10^2"),
        ("<p>&nbsp;$1.40 <script>9</script></p>", "$1.40"),
        ("<p>RAM<br/>(GB)</p>", "RAM (GB)"),
    ],
)
def test_text_is_what_a_reader_sees(html: str, text: str):
    """A raised footnote is never a digit of the number that it stands at."""
    assert pages.text_of(first(html, "p")) == text  # type: ignore[arg-type]


def test_two_cells_in_one_place_are_refused():
    """As a wide cell below one that reaches down."""
    html = "<table><tr><td>a</td><td rowspan='2'>b</td></tr><tr><td>c</td></tr></table>"
    assert len(pages.grid(first(html, "table"))) == 2  # type: ignore[arg-type]
    with pytest.raises(LayoutChanged, match="one place"):
        pages.grid(first(html.replace("<td>c", "<td colspan='2'>c"), "table"))  # type: ignore[arg-type]


def test_pieces_of_text_are_each_by_itself():
    """A name that stands twice in its cell would read as a new name."""
    found = first("<p><b>H100\n SXM</b><b>H100 SXM</b> &nbsp;<i></i><!-- a --><script>b</script>80</p>", "p")
    assert pages.pieces(found) == ["H100 SXM", "H100 SXM", "80"]  # type: ignore[arg-type]


SPANS = (
    "<table><tr><th rowspan='2'>GPU</th><th colspan='2'>Reserved</th></tr><tr><th>7 days</th><th>30 days</th></tr>"
    "<tr><td>H100</td><td>$3</td><td>$2</td></tr><tr><td>B300</td><td colspan='2'>Contact us</td></tr></table>"
)


def test_a_cell_that_spans_stands_in_each_place():
    """So that a column is the same in each row, whatever is merged."""
    found = pages.grid(first(SPANS, "table"))  # type: ignore[arg-type]
    assert [[pages.text_of(cell) for cell in row] for row in found] == [
        ["GPU", "Reserved", "Reserved"], ["GPU", "7 days", "30 days"],
        ["H100", "$3", "$2"], ["B300", "Contact us", "Contact us"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<td>$3</td>", ""),
        ("<td>$3</td>", "<td>$3</td><td>$3</td>"),
        (" colspan='2'>Contact", ">Contact"),
        ("rowspan='2'", "rowspan='two'"),
        ("colspan='2'>Reserved", "colspan='0'>Reserved"),
        ("<td>H100</td><td>$3</td>", "<td>H100</td><td rowspan='2'>$3</td>"),
    ],
)
def test_a_table_with_a_cell_too_many_or_too_few_is_refused(old: str, new: str):
    """A price one column to the side is another term's price."""
    assert old in SPANS
    with pytest.raises(LayoutChanged):
        pages.grid(first(SPANS.replace(old, new), "table"))  # type: ignore[arg-type]


def test_a_title_within_a_table_is_refused():
    """Rows below it may be of another plan, as reserved below on demand; below the last row it is a note."""
    rows = "<tr><th>GPU<th>Price<tr><td>H100<td>$4{}<tr><td>B200<td>$3{}"
    title = "<tr><td colspan=2>Reserved"
    assert len(pages.grid(first(f"<table>{rows.format('', title)}</table>", "table"))) == 4  # type: ignore[arg-type]
    assert len(pages.grid(first("<table><tr><td>H100<tr><td>B200</table>", "table"))) == 2  # type: ignore[arg-type]
    with pytest.raises(LayoutChanged, match="a title within the table"):
        pages.grid(first(f"<table>{rows.format(title, '')}</table>", "table"))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["$0.79**", "from $0.79*", "Contact sales*"])
def test_a_footnote_is_refused_where_nobody_read_it(text: str):
    """What a mark stands at holds for some only."""
    offers.shown_price(text, "price")
    with pytest.raises(LayoutChanged, match="footnote"):
        offers.shown_price(text, "price", noted=False)


@pytest.mark.parametrize("text", ["$2.10^2", "$2.10 2", "2.10", "$0", "$2.10/GPU-hr", "$2.10 $3", "ask", "$-2"])
def test_what_is_no_price_is_refused(text: str):
    """Never searched for its first dollar sign."""
    with pytest.raises(LayoutChanged):
        offers.shown_price(text, "price")
