"""The edits that fit a document, of whatever form it is."""

import random
from collections.abc import Callable, Iterator

from neoclouds.escaped_edits import EscapedEdits
from neoclouds.html_edits import HtmlEdits
from neoclouds.json_edits import JsonEdits
from neoclouds.json_tree import loads
from neoclouds.mutation import Edit, Parse, draw

Change = Callable[[random.Random], Edit | None]


def edits(body: bytes, parse: Parse, *, seed: int, number: int) -> Iterator[Edit]:
    """Return so many edits of a document, of each kind about equally many; the same ones for the same seed."""
    return draw(kinds(body, parse), random.Random(seed), number)  # noqa: S311 - edits are no secrets


def kinds(body: bytes, parse: Parse) -> dict[str, Change]:
    """Return the kinds of edits that fit a document: of JSON, of a page, and of JSON in a page or a text."""
    text = body.decode()
    if not text.lstrip().startswith("<"):
        try:
            loads(text)
        except ValueError:
            return EscapedEdits(text).kinds()
        return JsonEdits(text, str.encode, parse).kinds()
    page = HtmlEdits(text, parse)
    found = page.kinds() | EscapedEdits(text).kinds()
    for script in page.spans.scripts:
        inner = text[script.inner : script.outer]
        try:
            loads(inner)
        except ValueError:
            continue

        def put(new: str, start: int = script.inner, end: int = script.outer) -> bytes:
            return (text[:start] + new + text[end:]).encode()

        found |= JsonEdits(inner, put, parse).kinds()
    return found
