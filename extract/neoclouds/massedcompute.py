"""Massed Compute's list prices of virtual machines, by the whole machine.

Where: https://vm.massedcompute.com/pricing, in the data that React brings along in scripts; no API without a key.
https://massedcompute.com/pricing/ leads there. Format read in August 2026; prices are US dollars per machine-hour.

1. The data is a stream of lines "<id>:<JSON>", cut into pieces at any place, each a text in a call of
   `self.__next_f.push`. An element is ["$", type, key, properties]; "$L7d" and "$7d" stand for line 7d, and a text
   that begins with a dollar has two: "$$52.80" is $52.80.
2. A row of the price tables is an element with a key such as "B300 SXM6-x 8-0": the name of its chips, their count and
   its place in the table. No text of the row says which chips it has.
3. Each row comes twice, in a table and, with "-mobile" in its key, in a card. They must say the same; one of them is
   enough, and cells of either may stand in another line, which a page must have. Of an excerpt without it, the other
   row is enough.
4. Prices are of the machine, and it must say so: one amount and "/hr" behind it. A second amount in a row is a second
   price, of which nothing is known. "Request" is no price.
5. "H100 (80GB)" does not say whether it is PCIe or SXM; the page has "H100 SXM5 (80GB)" and "H100 NVL" beside it.
6. Names may end in words of the offer in brackets, such as [Premium] or [ALT Config]: they become the tier. [NVLink]
   is about the chips and stays.
7. If a table has two machines of one name and count, their CPUs and memory tell them apart, in conditions. Where these
   are the same, a second table was added, of another plan: nobody knows which of them is on demand.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from extract.neoclouds.answers import form_changed, refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, ShownPrice, each, offer, shown_price
from extract.neoclouds.pages import Page
from warehouse.documents import Document

_PUSH = re.compile(r"\s*self\.__next_f\.push\((\[.*\])\)\s*;?\s*", re.DOTALL)
_LINE = re.compile(r"(?:([0-9a-f]+):)?(.*)")
_TEXT = re.compile(rb"[0-9a-f]+:T([0-9a-f]+),")
_KEY = re.compile(r"(?P<name>.+?)(?P<mobile>-mobile)?-x (?P<count>\d{1,2})-(?P<place>\d{1,3})")
_REFERENCE = re.compile(r"\$L?([0-9a-f]+)")
_IN_BRACKETS = re.compile(r"\s*\[(?!NVLink\])([^\]]+)\]\s*$", re.IGNORECASE)
TIMES = "\N{MULTIPLICATION SIGN}"
NOT_THERE = object()
"""Stands for a line of the stream that an excerpt does not have."""
NO_PRICE = "Request"

Machine = tuple[str, int, int]
"""The name of a machine, its number of chips, and its place in the table."""


class Seen(NamedTuple):
    """What one of the two rows of a machine says: its price, and its CPUs and memory where they are named."""

    price: ShownPrice
    size: str | None


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the page."""
    page = Page(document)
    lines, loose = _stream(page)
    copies: dict[Machine, list[tuple[str, list[object]]]] = {}
    for key, properties in _elements([*lines.values(), *loose]):
        if (match := _KEY.fullmatch(key)) is not None:
            machine = (match["name"].strip(), int(match["count"]), int(match["place"]))
            copies.setdefault(machine, []).append((key, list(_texts(properties, lines))))
    names = [machine[:2] for machine in copies]
    prices: dict[tuple[object, ...], ShownPrice] = {}

    def read_machine(row: tuple[list[tuple[str, list[object]]], Machine]) -> Iterator[Found]:
        texts, (name, count, _) = row
        read = [_seen(key, count, shown) for key, shown in texts]
        seen = [one for one in read if one is not None]
        if not seen or (len(seen) < len(read) and not page.is_excerpt):
            raise refusal("a row whose cells are not in the page", "row", f"{name} x {count}")
        sizes = {copy.size for copy in seen if copy.size}
        if len({copy.price for copy in seen}) != 1 or len(sizes) > 1:
            raise refusal("the rows of one machine contradict each other", f"{name} x {count}", str(seen))
        same = (name, count, *sizes)
        if sizes and prices.get(same, seen[0].price) != seen[0].price:
            raise form_changed("a machine has two prices, as in tables of two plans", name, str(seen[0].price.amount))
        prices[same] = seen[0].price
        is_named_by_size = names.count((name, count)) > 1
        if seen[0].price.amount and is_named_by_size and not sizes:
            raise refusal("two machines of one name, without their sizes", "row", f"{name} x {count}")
        tier = _IN_BRACKETS.search(name)
        yield offer(
            _IN_BRACKETS.sub("", name),
            seen[0].price,
            count=count,
            instance_type=f"{name} x {count}",
            tier=tier[1].strip() if tier else None,
            conditions=min(sizes) if is_named_by_size and sizes else None,
        )

    yield from each(((texts, machine) for machine, texts in copies.items()), read_machine)


def _stream(page: Page) -> tuple[dict[str, Any], list[Any]]:
    """Return the lines of the stream by their ids, and those without one; lines that are no JSON hold no rows.

    Raises LayoutChanged where a call cannot be read, where an id comes twice, or a line with a row is no JSON.
    """
    pieces = []
    for text in (script.text() for script in page.tree.css("script")):
        if "__next_f.push" not in text:
            continue
        call = _PUSH.fullmatch(text)
        try:
            arguments = json.loads(call[1]) if call else None
        except ValueError as error:
            raise refusal(f"a call that cannot be read: {error}", "__next_f.push", text[:80]) from error
        match arguments:
            case [1, str(piece)]:
                pieces.append(piece)
            case [0, *_]:
                pass
            case _ if call or "push([1" in text:
                raise refusal("expected one text for each call", "__next_f.push", text[:80])
    if not pieces:
        raise refusal("expected data in calls of self.__next_f.push", "__next_f.push", page.text[:80])
    lines: dict[str, Any] = {}
    loose: list[Any] = []
    for line in _lines("".join(pieces).encode()):
        match = _LINE.fullmatch(line)
        try:
            value = json.loads(match[2]) if match else None
        except ValueError as error:
            if re.search(r'-x \d+-\d+"', line):
                raise refusal(f"a row that cannot be read: {error}", "row", line[:80]) from error
            continue
        if match is None or match[1] is None:
            loose.append(value)
        elif lines.setdefault(match[1], value) != value:
            raise refusal("two lines of one id", "id", match[1])
    return lines, loose


def _lines(stream: bytes) -> Iterator[str]:
    """Yield the lines of the stream, without those of plain text, such as 1a:T4d2: they end after so many bytes."""
    place = 0
    while place < len(stream):
        text = _TEXT.match(stream, place)
        end = text.end() + int(text[1], 16) if text else stream.find(b"\n", place)
        end = len(stream) if end < 0 else end
        if text is None:
            yield stream[place:end].decode("utf-8", "replace")
            end += 1
        place = end


def _elements(value: object) -> Iterator[tuple[str, object]]:
    """Yield key and properties of each element that has a key, the ones in others too."""
    match value:
        case ["$", str(), str(key), dict(properties), *_]:
            yield key, properties
            yield from _elements(properties)
        case list():
            for inner in value:
                yield from _elements(inner)
        case dict():
            for inner in value.values():
                yield from _elements(inner)


def _texts(value: object, lines: Mapping[str, Any], within: tuple[str, ...] = ()) -> Iterator[object]:
    """Yield what a reader sees of an element's properties, in order; NOT_THERE for a line that is missing."""
    match value:
        case {"children": children}:
            yield from _texts(children, lines, within)
        case ["$", str(kind), _, dict(properties), *_]:
            if kind not in ("del", "s", "strike") and "line-through" not in str(properties.get("className")):
                yield from _texts(properties, lines, within)
        case list():
            for inner in value:
                yield from _texts(inner, lines, within)
        case str() if value.startswith("$$"):
            yield value[1:]
        case str() if reference := _REFERENCE.fullmatch(value):
            if reference[1] in within or reference[1] not in lines:
                yield NOT_THERE
            else:
                yield from _texts(lines[reference[1]], lines, (*within, reference[1]))
        case str() if not value.startswith("$") and value.strip():
            yield value.strip()
        case bool() | None:
            pass
        case int() | float():
            yield str(value)


def _seen(key: str, count: int, texts: list[object]) -> Seen | None:
    """Return what a row says, None where a part of it is not there; raise LayoutChanged where it says it otherwise."""
    shown = [text for text in texts if isinstance(text, str)]
    amounts = [place for place, text in enumerate(shown) if "$" in text or re.fullmatch(r"/\s*\w+", text)]
    is_whole = len(shown) == len(texts)
    counts = [shown[place + 1 : place + 2] for place, text in enumerate(shown) if text == TIMES]
    if counts != [[str(count)]] and (is_whole or counts):
        raise refusal(f"expected {TIMES} {count} once", key, " ".join(shown))
    if not amounts:
        if is_whole and shown.count(NO_PRICE) != 1:
            raise refusal(f"expected a price, or {NO_PRICE}", key, " ".join(shown))
        return Seen(ShownPrice(amount=None), None) if is_whole else None
    if NO_PRICE in shown or amounts != [amounts[0], amounts[0] + 1]:
        raise refusal("expected one amount and the time that it buys", key, " ".join(shown))
    price = shown_price("".join(shown[amounts[0] :][:2]), key, units=("hr",), noted=False)
    named = {name: shown[shown.index(name) + 1] for name in ("vCPU", "RAM") if name in shown[:-1]}
    is_named = len(named) == 2 and not set(named.values()) & {"RAM", "Storage"}
    return Seen(price, f"{named['vCPU']} vCPU, {named['RAM']} RAM" if is_named else None)


SOURCE = web_source(
    read,
    name="massedcompute",
    provider="Massed Compute",
    title="Massed Compute, price page",
    url="https://vm.massedcompute.com/pricing",
    accept=HTML,
)
