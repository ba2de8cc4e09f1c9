"""HTML pages, read by what a reader sees: headings fence a section, header cells and row names are asserted.

Class names change with every build of a site, and positions with every new column: neither says what a number is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from extract.neoclouds.answers import refusal
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    Node = LexborNode
else:
    Node = Any

UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "-comment", "-text"})
NOT_SHOWN = (
    'del, s, strike, .line-through, [style*="line-through" i], .w-condition-invisible, .hide, [hidden], '
    '[style*="display:none" i], [style*="display: none" i], [data-wf-hidden-variation]'
)
"""What is crossed out, and what a page keeps and does not show: neither is a price that anybody pays."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements without an end tag, by the HTML standard."""
MAX_DEPTH = 256
"""The pages that are read here have less than fifty."""
MAX_OPEN = 10_000
"""The parser walks through all open elements for each further one: of a hundred thousand it takes minutes."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)[^<>]*?(/?)>")
_RAW = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
"""Comments, scripts and styles: what looks like a tag there is none."""
_END = re.compile("</html>", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*+(?>(?:<!--.*?(?:-->|\Z)|<(script|style|noscript)\b.*?(?:</\1\s*>|\Z))\s*)*+", re.DOTALL | re.IGNORECASE
)
"""What sites and those between put behind the end of a page; cut short there, it is no damage."""


class Page:
    """One HTML page, or an excerpt of one. Methods raise LayoutChanged, which names what was expected and found.

    A page begins with `<html` and ends with its end tag, behind which comments or scripts may stand. An excerpt, as
    people keep one to ask about it, has neither (`is_excerpt`): it must close every element that it opens, so that one
    cut short is noticed as well.
    """

    def __init__(self, document: Document) -> None:
        """Read the page; raise LayoutChanged where it is no HTML, or was cut short."""
        from selectolax.lexbor import LexborHTMLParser

        try:
            text = document.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise refusal(f"expected UTF-8: {error.reason}", "body", document.body[:40]) from error
        lower = text.lower()
        self.is_excerpt = "<html" not in lower
        if not self.is_excerpt and "<html" not in lower[:2000]:
            raise refusal("expected an HTML page", "body", text[:80])
        ends = [end.end() for end in _END.finditer(text)]
        if not self.is_excerpt and not (ends and _BEHIND.fullmatch(text, ends[-1])):
            raise refusal("the page was cut short: no </html> at its end", "body", text[-80:])
        if _max_open(text) > MAX_OPEN:
            raise refusal(f"more than {MAX_OPEN} elements left open", "body", text[:80])
        self.text = text
        self.tree: LexborHTMLParser = LexborHTMLParser(text)
        if self.is_excerpt and (problem := _unbalanced(text)):
            raise refusal(f"expected an HTML page, or a whole excerpt: {problem}", "body", text[:80])
        for node in reversed(self.tree.css(NOT_SHOWN)):  # those within others first
            if node.attributes.get("role") != "tabpanel":  # which a click on its tab shows
                node.decompose()
        self._nodes = list(self._visible(self.tree.root))

    def _visible(self, node: Node | None) -> Iterator[Node]:
        """Yield the elements that a reader sees, in order; raise LayoutChanged where they are nested beyond reason."""
        stack = [(node, 0)] if node is not None else []
        while stack:
            one, depth = stack.pop()
            if one.tag in UNSEEN:
                continue
            if depth > MAX_DEPTH:
                # The text of each element is that of all below it: of a very deep page that would take forever.
                raise refusal(f"elements nested deeper than {MAX_DEPTH}", "body", one.tag)
            yield one
            stack += [(child, depth + 1) for child in reversed(list(one.iter()))]

    def whole(self) -> "Section":
        """Return all that a reader sees."""
        return Section("the whole page", self._nodes)

    def part(self, starts: str, *, tags: Sequence[str] = HEADINGS) -> "Section":
        """Return what stands from a heading, found by its whole text exactly once, to the next of its rank or above.

        So no section that is new behind it is ever taken for a piece of it.
        """
        heads = [(place, text_of(node)) for place, node in enumerate(self._nodes) if node.tag in tags]
        found = [place for place, head in heads if head == starts]
        if len(found) != 1:
            names = "; ".join(head for _, head in heads)[:200]
            message = f"expected the heading {starts!r} once, found it {len(found)} times among: {names}"
            raise refusal(message, "heading", starts)
        first = found[0]
        fences = HEADINGS[: HEADINGS.index(self._nodes[first].tag) + 1]
        after = [place for place, node in enumerate(self._nodes) if place > first and node.tag in fences]
        return Section(starts, self._nodes[first + 1 : after[0] if after else len(self._nodes)])


class Section:
    """The elements between two headings, in order."""

    def __init__(self, name: str, nodes: list[Node]) -> None:
        self.name, self.nodes = name, nodes

    def css(self, selector: str) -> list[Node]:
        """Return the elements of the section that a selector matches, in order."""
        if not self.nodes:
            return []
        root = self.nodes[0]
        while root.parent is not None:
            root = root.parent
        # Not css_matches, which is also true of every element that one matching lies in.
        found = {node.mem_id for node in root.css(selector)}
        return [node for node in self.nodes if node.mem_id in found]

    def named(self, text: str) -> list[Node]:
        """Return the elements whose whole text it is, without those that have it from an element below them."""
        return [node for node in innermost(self.nodes, text) if text_of(node) == text]

    def table(self, headers: Sequence[str]) -> list[dict[str, str]]:
        """Return the rows of the one table of the section by its header texts, exactly `headers`, in any order.

        Raises LayoutChanged where headers are missing or new, or a row has another number of cells.
        """
        tables = self.css("table")
        if len(tables) != 1:
            raise refusal(f"expected one table in {self.name!r}, found {len(tables)}", "table", len(tables))
        head, *rows = [[text_of(cell) for cell in row] for row in grid(tables[0])] or [[]]
        if sorted(head) != sorted(headers):
            found = " | ".join(head) or "no row"
            raise refusal(f"expected the columns {' | '.join(headers)}, found {found}", "table", found)
        return [dict(zip(head, row, strict=True)) for row in rows]

    def split(self, fences: Sequence[Node]) -> "list[Section]":
        """Return a section for each of these elements, by its text: what stands from it to the next of them."""
        places = [place for place, node in enumerate(self.nodes) if node.mem_id in {one.mem_id for one in fences}]
        return [
            Section(text_of(self.nodes[first]), self.nodes[first + 1 : last])
            for first, last in pairwise([*places, len(self.nodes)])
        ]

    def head(self, first: str) -> tuple[Node, list[str]]:
        """Return the row of headers that begins with a text, for tables of plain elements, and the headers.

        The text must stand in the section as the whole text of an element exactly once.
        """
        found = self.named(first)
        if len(found) != 1:
            message = f"expected the column {first!r} once in {self.name!r}, found it {len(found)} times"
            raise refusal(message, "column", first)
        row = found[0].parent
        while row is not None and len(children(row)) == 1:
            row = row.parent
        if row is None or row.mem_id not in {node.mem_id for node in self.nodes}:
            raise refusal(f"expected more columns than {first!r} in {self.name!r}", "column", first)
        return row, [text_of(cell) for cell in children(row)]


def _max_open(text: str) -> int:
    """Return how many more elements a page opens than it closes, where they are most; at least as many as are open."""
    depth = highest = 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            depth = max(0, depth - 1)
        elif not tag[3] and tag[2].lower() not in VOID:
            depth += 1
            highest = max(highest, depth)
    return highest


def _unbalanced(text: str) -> str:
    """Return what is wrong with the tags of an excerpt; empty where every element is closed, and there is one."""
    tags = list(_TAG.finditer(_RAW.sub(lambda raw: f"<{raw[1]}></{raw[1]}>" if raw[1] else "", text)))
    if not tags:
        return "it has no element"
    if not text.rstrip().endswith(">"):
        return "it ends within a tag"
    opened: list[str] = []
    for tag in tags:
        name = tag[2].lower()
        if name in VOID or tag[3]:
            continue
        if not tag[1]:
            opened.append(name)
        elif not opened or opened.pop() != name:
            return f"</{name}> closes no element"
    return f"<{opened[-1]}> is not closed" if opened else ""


def children(node: Node) -> list[Node]:
    """Return the elements right below one, without those that no reader sees."""
    return [child for child in node.iter() if child.tag not in UNSEEN]


def inside(node: Node) -> Iterator[Node]:
    """Yield the elements below one that a reader sees, in order."""
    for child in children(node):
        yield child
        yield from inside(child)


def cells(row: Node) -> list[Node]:
    """Return the cells of a row of plain elements: its children, below wrappers that hold one element only."""
    found = children(row)
    while len(found) == 1:
        found = children(found[0])
    return found


def innermost(nodes: Iterable[Node], part: str) -> list[Node]:
    """Return the elements whose text has a part, without those that have it from an element below them."""
    return [
        node for node in nodes if part in text_of(node) and not any(part in text_of(child) for child in children(node))
    ]


def pieces(node: Node) -> list[str]:
    """Return the texts in an element that a reader sees, each by itself: two of them where a name was written twice."""
    found: list[str] = []
    for one in node.iter(include_text=True):
        if one.tag == "-text":
            found.append(" ".join((one.text_content or "").split()))
        elif one.tag not in UNSEEN:
            found += pieces(one)
    return [text for text in found if text]


def text_of(node: Node) -> str:
    """Return the text that a reader sees in an element, its spaces put right.

    A raised note has ^ before it: 4 with the footnote 1 reads 4^1, and never 41.
    """
    parts: list[str] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if one.tag == "-text":
            parts.append(one.text_content or "")
        elif one.tag not in UNSEEN:
            if one.tag in ("br", "p", "div", "li", "td", "th"):
                parts.append(" ")
            elif one.tag == "sup":
                parts.append("^")
            stack += reversed(list(one.iter(include_text=True)))
    return " ".join("".join(parts).replace("\N{NO-BREAK SPACE}", " ").split())


def grid(node: Node) -> list[list[Node]]:
    """Return the cells of a table, row by row: one that spans rows or columns stands in each of them.

    Raises LayoutChanged where the rows do not come out equally long, and where one is a title of those below it.
    """
    spans: dict[tuple[int, int], Node] = {}
    rows = node.css("tr")
    for down, row in enumerate(rows):
        across = 0
        for cell in row.css("th, td"):
            while (down, across) in spans:
                across += 1
            for further in range(_span(cell, "rowspan")):
                for right in range(_span(cell, "colspan")):
                    place = (down + further, across + right)
                    if place in spans:
                        raise refusal("two cells stand in one place", "row", text_of(row))
                    spans[place] = cell
    width = 1 + max((across for _, across in spans), default=-1)
    for down, row in enumerate(rows):
        holes = sum((down, across) not in spans for across in range(width))
        if holes:
            raise refusal(f"expected {width} cells, found {width - holes}", "row", text_of(row))
        if width > 1 and row is not rows[-1] and spans[down, 0] is spans[down, width - 1]:
            raise refusal("a title within the table: rows below it may be of another plan", "row", text_of(row))
    return [[spans[down, across] for across in range(width)] for down in range(len(rows))]


def _span(cell: Node, name: str) -> int:
    written = cell.attributes.get(name) or "1"
    if not written.isdecimal() or not 1 <= int(written) <= 100:
        raise refusal(f"expected a number in {name}", "cell", written)
    return int(written)
