"""Edits of data that stands escaped in a text, as in the streams that some sites bring along: strings and groups."""

import random
import re
from collections.abc import Callable
from itertools import pairwise

from neoclouds.chips import NO_PRICE
from neoclouds.mutation import BLIND, HARM, Edit
from neoclouds.spans import spliced

STRING = re.compile(r'\\"(?:[^"\\]|\\[^"]|\\\\\\")*\\"')
PRICE = re.compile(r'\\"(?:from |\$)?\$?[\d.,]+\\"')
FEWEST = 20

Change = Callable[[random.Random], Edit | None]


class EscapedEdits:
    """The edits of escaped JSON, wherever it stands in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.strings = [found.span() for found in STRING.finditer(text)]
        self.prices = [found.span() for found in PRICE.finditer(text)]
        self.groups = _groups(text) if self.is_worth_it else []

    @property
    def is_worth_it(self) -> bool:
        """Return whether there is such data at all."""
        return len(self.strings) >= FEWEST

    def kinds(self) -> dict[str, Change]:
        """Return the edits by name."""
        if not self.is_worth_it:
            return {}
        return {
            "drop escaped text": lambda rng: self._at("drop escaped text", rng.choice(self.strings), ""),
            "escaped text twice": lambda rng: self._twice("escaped text twice", rng.choice(self.strings)),
            "drop group": lambda rng: self._at("drop group", rng.choice(self.groups), ""),
            "drop item of a group": self._item,
            "group twice": lambda rng: self._twice("group twice", rng.choice(self.groups)),
            "exchange groups": self._exchange, "words for an escaped price": self._words,
            "second escaped price": self._second,
        }  # fmt: skip

    def _at(self, kind: str, place: tuple[int, int], new: str, judged: str = HARM) -> Edit:
        return Edit(kind=kind, body=spliced(self.text, (*place, new)).encode(), judged=judged)

    def _twice(self, kind: str, place: tuple[int, int]) -> Edit:
        return self._at(kind, place, ",".join([self.text[slice(*place)]] * 2))

    def _item(self, rng: random.Random) -> Edit | None:
        """Drop a text or a group with the comma behind or before it, so that what is left is JSON."""
        start, end = rng.choice(self.strings + self.groups)
        if self.text[end : end + 1] == ",":
            end += 1
        elif self.text[start - 1] == ",":
            start -= 1
        return self._at("drop item of a group", (start, end), "")

    def _exchange(self, rng: random.Random) -> Edit | None:
        pairs = [(one, other) for one, other in pairwise(self.groups) if one[1] <= other[0]]
        if not pairs:
            return None
        one, other = rng.choice(pairs)
        changes = (*one, self.text[slice(*other)]), (*other, self.text[slice(*one)])
        return Edit(kind="exchange groups", body=spliced(self.text, *changes).encode(), judged=BLIND)

    def _words(self, rng: random.Random) -> Edit | None:
        if not self.prices:
            return None
        return self._at("words for an escaped price", rng.choice(self.prices), f'\\"{rng.choice(NO_PRICE)}\\"')

    def _second(self, rng: random.Random) -> Edit | None:
        if not self.prices:
            return None
        start, end = rng.choice(self.prices)
        other = re.sub(r"[\d.,]+", "1.11", self.text[start:end])
        return self._at("second escaped price", *rng.choice([((start, start), f"{other},"), ((end, end), f",{other}")]))


def _groups(text: str) -> list[tuple[int, int]]:
    """Return where the lists and objects of escaped JSON stand, those that end."""
    found, opened = [], []
    for mark in re.finditer(rf"{STRING.pattern}|[\[\]{{}}]", text):
        if mark[0] in "[{":
            opened.append(mark.start())
        elif mark[0] in "]}" and opened:
            start = opened.pop()
            if '\\"' in text[start : mark.end()]:
                found.append((start, mark.end()))
    return sorted(found)
