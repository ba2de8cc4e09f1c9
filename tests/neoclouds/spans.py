"""The elements of a page with the places at which they stand in its text, so that an edit leaves all else as it is."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from extract.neoclouds.pages import VOID

UNSEEN = ("script", "style", "head", "title", "noscript", "template")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(eq=False)
class Element:
    """One element: its start tag is text[start:inner], its end tag text[outer:end], empty where there is none."""

    tag: str
    start: int
    inner: int
    parent: "Element | None" = None
    outer: int = 0
    end: int = 0
    children: list["Element"] = field(default_factory=list)

    def walk(self) -> Iterator["Element"]:
        """Yield the elements below this one, in order."""
        for child in self.children:
            yield child
            yield from child.walk()


class Spans(HTMLParser):
    """The elements and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.root = Element("", 0, 0)
        self._open = [self.root]
        self.feed(text)
        self.close()
        for one in self._open:
            one.outer = one.end = len(text)

    @property
    def elements(self) -> list[Element]:
        """Return the elements that a reader sees, in order."""
        return [one for one in self.root.walk() if not any(up.tag in UNSEEN for up in above(one, itself=True))]

    @property
    def scripts(self) -> list[Element]:
        """Return the scripts."""
        return [one for one in self.root.walk() if one.tag == "script"]

    def texts(self) -> list[tuple[int, int]]:
        """Return where the texts stand that a reader sees."""
        found = []
        for one in self.elements:
            place = one.inner
            for child in [*one.children, None]:
                end = child.start if child else one.outer
                if self.text[place:end].strip() and "<" not in self.text[place:end]:
                    found.append((place, end))
                place = child.end if child else end
        return sorted(found)

    def seen(self, one: Element) -> str:
        """Return the text in an element."""
        text = re.sub(
            r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>", " ", self.text[one.start : one.end], flags=re.DOTALL
        )
        return " ".join(html.unescape(text).split())

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self._place()
        inner = start + len(self.get_starttag_text() or "")
        one = Element(tag, start, inner, self._open[-1], inner, inner)
        self._open[-1].children.append(one)
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(one)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {one.tag for one in self._open}:
            return
        place = self._place()
        while True:
            one = self._open.pop()
            one.outer = place
            one.end = self.text.index(">", place) + 1 if one.tag == tag else place
            if one.tag == tag:
                return


def above(one: Element, *, itself: bool = False) -> Iterator[Element]:
    """Yield the elements around one, the nearest first."""
    up = one if itself else one.parent
    while up is not None:
        yield up
        up = up.parent


def spliced(text: str, *changes: tuple[int, int, str]) -> str:
    """Return a text with what stands at these places replaced; the places must not overlap."""
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text
