"""HTML pages, read by what a reader sees: headings fence a section, header cells and row names are asserted.

Class names change with every build of a site, and positions with every new column: neither says what a number is.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from extract.neoclouds.answers import refusal
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "title", "-comment", "-text"})
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Page:
    """One HTML page. Methods raise LayoutChanged, which names what was expected and what was found."""

    def __init__(self, document: Document) -> None:
        """Read the page; raise LayoutChanged where it is no HTML, or was cut short."""
        from selectolax.lexbor import LexborHTMLParser

        self.source = document.source
        try:
            text = document.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise refusal(self.source, f"expected UTF-8: {error.reason}", "body", document.body[:40]) from error
        lower = text.lower()
        if "<html" not in lower[:2000]:
            raise refusal(self.source, "expected an HTML page", "body", text[:80])
        if not lower.rstrip().endswith("</html>"):
            raise refusal(self.source, "the page was cut short: no </html> at its end", "body", text[-80:])
        self.text = text
        self.tree: LexborHTMLParser = LexborHTMLParser(text)
        self._nodes = list(self._visible(self.tree.root))

    def _visible(self, node: "LexborNode | None") -> Iterator["LexborNode"]:
        """Yield the elements that a reader sees, in order."""
        stack = [node] if node is not None else []
        while stack:
            one = stack.pop()
            if one.tag in UNSEEN:
                continue
            yield one
            stack += reversed(list(one.iter()))

    def section(self, starts: str, *, ends: str | None = None, tags: Sequence[str] = HEADINGS) -> "Section":
        """Return what stands between two headings, found by their whole text; `ends` None: to the end of the page.

        Each must stand there exactly once (the second: at least once, after the first).
        """
        heads = [
            (place, text_of(node)) for place, node in enumerate(self._nodes) if node.tag in tags
        ]  # fmt: skip
        found = [place for place, text in heads if text == starts]
        if len(found) != 1:
            names = "; ".join(text for _, text in heads)[:200]
            message = f"expected the heading {starts!r} once, found it {len(found)} times among: {names}"
            raise refusal(self.source, message, "heading", starts)
        last = len(self._nodes)
        if ends is not None:
            after = [place for place, text in heads if place > found[0] and text == ends]
            if not after:
                raise refusal(self.source, f"expected the heading {ends!r} after {starts!r}", "heading", ends)
            last = after[0]
        return Section(self.source, starts, self._nodes[found[0] + 1 : last])


class Section:
    """The elements between two headings, in order."""

    def __init__(self, source: str, name: str, nodes: list["LexborNode"]) -> None:
        self.source, self.name, self.nodes = source, name, nodes
        self._ids = {node.mem_id for node in nodes}

    def css(self, selector: str) -> list["LexborNode"]:
        """Return the elements of the section that a selector matches, in order."""
        return [node for node in self.nodes if node.css_matches(selector)]

    def holds(self, node: "LexborNode") -> bool:
        """Return whether an element stands in the section."""
        return node.mem_id in self._ids


def text_of(node: "LexborNode") -> str:
    """Return the text that a reader sees in an element, its spaces put right."""
    parts: list[str] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if one.tag == "-text":
            parts.append(one.text_content or "")
        elif one.tag not in UNSEEN:
            if one.tag in ("br", "p", "div", "li", "td", "th"):
                parts.append(" ")
            stack += reversed(list(one.iter(include_text=True)))
    return " ".join("".join(parts).replace("\N{NO-BREAK SPACE}", " ").split())


def table(source: str, node: "LexborNode", headers: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a table by its header texts, which must be exactly `headers`, in any order.

    Raises LayoutChanged where headers are missing or new, or a row has another number of cells.
    """
    rows = [[text_of(cell) for cell in row.css("th, td")] for row in node.css("tr")]
    rows = [row for row in rows if row]
    if not rows or sorted(rows[0]) != sorted(headers):
        found = " | ".join(rows[0]) if rows else "no row"
        raise refusal(source, f"expected the columns {' | '.join(headers)}, found {found}", "table", found)
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            raise refusal(source, f"expected {len(rows[0])} cells, found {len(row)}", "row", " | ".join(row))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
