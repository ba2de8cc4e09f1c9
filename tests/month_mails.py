"""What the text of a weekly mail tells of a change that a test knows, whatever the mail's layout."""

import re
from collections.abc import Iterator
from decimal import Decimal

from month_prices import Event

NUMBER = re.compile(r"(?<![\d.])\d[\d,]*(?:\.\d+)?")
CAME_OR_WENT = {
    "new_offer": re.compile(r"\bnew\b", re.IGNORECASE),
    "gone_offer": re.compile(r"\bgone\b", re.IGNORECASE),
}
NEAR = 3
"""Lines of a text in which what is told of one thing must stand together."""


def near(text: str, lines: int = NEAR) -> Iterator[str]:
    """Yield each few lines of a text that stand together."""
    told = text.splitlines()
    yield from ("\n".join(told[start : start + lines]) for start in range(len(told)))


def tells(text: str, event: Event) -> bool:
    """Return whether a text tells of a change: provider and chip, and both prices, or that it came or went."""
    for part in near(text):
        prices = {Decimal(number.replace(",", "")) for number in NUMBER.findall(part)}
        is_told = (
            {event.before, event.after} <= prices
            if event.kind == "list_change"
            else any(
                CAME_OR_WENT[event.kind].search(line) and event.offer.chip in line and event.offer.provider in line
                for line in part.splitlines()
            )
        )
        if is_told and event.offer.provider in part and event.offer.chip in part:
            return True
    return False
