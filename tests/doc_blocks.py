"""The commands of a document, so that a test does what the document says and nothing else."""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", flags=re.DOTALL | re.MULTILINE)


def blocks(document: Path, heading: str, *, language: str = "sh") -> list[str]:
    """Return the code blocks of one language under a heading, up to the next heading of any level, in order."""
    text = document.read_text(encoding="utf-8")
    plain = FENCE.sub(lambda found: re.sub(r"\S", "x", found[0]), text)  # a comment in code is no heading
    (place,) = re.finditer(rf"^#+ {re.escape(heading)}$", plain, flags=re.MULTILINE)
    end = re.compile(r"^#+ |\Z", flags=re.MULTILINE).search(plain, place.end())
    assert end is not None
    found = [each for each in FENCE.finditer(text) if place.end() < each.start() < end.start()]
    return [textwrap.dedent(each[3]).strip() for each in found if each[2] == language]


def block(document: Path, heading: str, *, begins: str, language: str = "sh") -> str:
    """Return the one code block under a heading that begins with some words, or that is nothing but these."""
    found = [each for each in blocks(document, heading, language=language) if each.startswith(begins)]
    if begins in found:
        return begins
    (one,) = found
    return one


def here(text: str, instead: Mapping[str, str]) -> str:
    """Return a text with what is another on this machine put in place; each of these must stand in it."""
    for there, ours in instead.items():
        assert there in text, f"the document does not say {there}"
        text = text.replace(there, ours)
    return text
