"""Hot Aisle: AMD GPUs as virtual machines by the minute and as bare metal by the month, from its pricing page.

https://hotaisle.xyz/pricing has a robots tag: index, follow. The API, in cents and with a key, is not read.

1. Prices are of one GPU and hour: "$2.99/GPU/hr". Every one that a reader sees must stand where it is known, in a card
   of a plan, in the summary above them, or in the sentence on old customers: any other might be of anything.
2. A card says how it is rented (VM, Bare metal), how many are taken (1x, "2x & 4x", 8x), the chip and the price. Each
   size is an offer of its own.
3. Bare metal has a "one-month minimum" in its card, in the words of which it is a commitment of 730 hours.
4. The summary repeats both prices of the MI300X, and the sizes. Where it differs from the cards, one of them is old or
   is about another thing, and nothing is read.
5. "Existing customers with running compute remain grandfathered at $1.99/GPU/hr": nobody else can have it. The sentence
   may go, and the price with it.
6. MI355X stands in the menu and has no price.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, Offer, ShownPrice, offer, plain, shown_price
from extract.neoclouds.pages import Node, Page, children, innermost, text_of
from warehouse.documents import Document
from warehouse.schema.vocabulary import HOURS_PER_MONTH

UNIT = "/GPU/hr"
VM, BARE_METAL = "VM", "Bare metal"
PLANS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    VM: ("", {"tier": VM}),
    BARE_METAL: (
        "bare metal, one-month minimum",
        {"tier": "bare metal", "option": "reserved", "commitment_term_hours": HOURS_PER_MONTH},
    ),
}
"""How a card says that a machine is rented, with what stands behind its price, and what an offer has of it."""
SIZES = re.compile(r"[1-9]\d?x(?: & [1-9]\d?x)*")
CHIP = re.compile(r"\A[^A-Za-z]*[A-Za-z].*\d")  # anchored: tried from each letter it takes half a minute
SUMMARY = {
    "Virtual machines": (VM, re.compile(r"New customer rate\. (?P<sizes>.+)x MI300X VMs, billed by the minute\.")),
    "8x bare metal": (BARE_METAL, re.compile(r"Dedicated full-node access\. One-month minimum\.")),
}
"""Titles of the summary, with the plans that they sum up and the text below the price."""
GRANDFATHERED = re.compile(
    r"Existing customers with running compute remain grandfathered at (?P<price>\S+)\. "
    r"Why we raised our (?P<chip>\S+) price\."
)
Summed = dict[str, set[tuple[str, str]]]
"""Of each kind of plan, the price with each size."""


def read(document: Document) -> Iterator[Found]:
    """Yield the price of each size of each plan, and that of old customers."""
    page = Page(document)
    rows: list[Offer | str] = []
    summed: Summed = {}
    for node in innermost(page.whole().nodes, UNIT):
        parent = node.parent
        around = [text_of(child) for child in children(parent)] if parent is not None else []
        if around and around[0] in SUMMARY:
            _sum_up(summed, around)
        elif parent is not None and "grandfathered" in (sentence := text_of(parent)):
            found = GRANDFATHERED.fullmatch(sentence)
            if found is None:
                raise refusal("expected the price of existing customers", "grandfathered", sentence)
            rows.append(offer(found["chip"], _price(found["price"], "grandfathered"), restriction="grandfathered"))
        else:
            rows += _plan(node)
    _compare(summed, rows)
    yield from rows


def _sum_up(summed: Summed, around: list[str]) -> None:
    title = around[0]
    kind, note = SUMMARY[title]
    found = note.fullmatch(around[2]) if len(around) == 3 else None
    if found is None or kind in summed:
        raise refusal("expected once a title, a price and what it is of", title, " | ".join(around))
    sizes = found["sizes"] if "sizes" in note.groupindex else title
    amount = _price(around[1], title).amount
    summed[kind] = {(plain(amount), size) for size in re.findall(r"\d+", sizes)} if amount else set()


def _plan(node: Node) -> Iterator[Offer | str]:
    """Yield a row for each size of the card in which a price stands."""
    card = node.parent
    while card is not None and not any(child.tag == "h2" for child in children(card)):
        card = card.parent
    parts = children(card) if card is not None else []
    texts = [text_of(part) for part in parts]
    size_and_chip = [text_of(part) for part in children(parts[2])] if len(parts) > 3 else []
    if (
        len(size_and_chip) != 2
        or parts[1].tag != "h2"
        or texts[0] not in PLANS
        or not SIZES.fullmatch(size_and_chip[0])
        or not CHIP.search(size_and_chip[1])
        or UNIT not in texts[3]
        or sum(text.count(UNIT) for text in texts) != 1
    ):
        message = "expected a card: VM or Bare metal, its name, how many of which chip, one price"
        raise refusal(message, "price", f"{text_of(node)} in {' | '.join(texts)[:200]}")
    kind, name = texts[:2]
    shown, _, terms = texts[3].partition(" ")
    known_terms, columns = PLANS[kind]
    if terms != known_terms:
        raise refusal(f"expected the terms of {kind}", name, texts[3])
    price, (sizes, chip) = _price(shown, name), size_and_chip
    for size in re.findall(r"\d+", sizes):
        yield offer(chip, price, minimum_quantity=size, **columns)


def _price(text: str, field: str) -> ShownPrice:
    price = shown_price(text, field, units=("gpuhr",), noted=False)
    if price.amount is None or price.is_floor:
        raise refusal("expected a price, without more words", field, text)
    return price


def _compare(summed: Summed, rows: list[Offer | str]) -> None:
    """Raise where the summary and the cards of the MI300X, its one chip, do not say the same of prices and sizes."""
    in_cards: Summed = {kind: set() for kind, _ in SUMMARY.values()}
    for row in rows:
        if isinstance(row, Offer) and "tier" in row and str(row["accelerator_label"]).lower() == "mi300x":
            kind = VM if row["tier"] == VM else BARE_METAL
            in_cards[kind].add((str(row["unit_price"]), str(row["minimum_quantity"])))
    for kind, found in in_cards.items():
        expected = summed.get(kind, set())
        if found != expected or not found:
            message = f"expected the prices and sizes of the summary of {kind}, {sorted(expected)}"
            raise refusal(message, kind, str(sorted(found)))


SOURCE = web_source(
    read,
    name="hotaisle",
    provider="Hot Aisle",
    title="Hot Aisle, AMD GPUs",
    url="https://hotaisle.xyz/pricing",
    accept=HTML,
)
