"""Hot Aisle: AMD GPUs as virtual machines by the minute and as bare metal by the month, from its pricing page.

https://hotaisle.xyz/pricing , rendered by the server; its robots tag says index, follow. No terms of its use are known
here. Hot Aisle's API has prices in cents and needs a key; it is not read.

Settings: `url`.

Quirks:

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
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from extract.base import Parsed
from extract.neoclouds import answers, offers, pages, words
from extract.neoclouds.fetching import HTML, web_source
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NAME = "hotaisle"
PROVIDER = "Hot Aisle"
URL = "https://hotaisle.xyz/pricing"
UNIT = "/GPU/hr"
MONTH_HOURS = 730
VM, BARE_METAL = "VM", "Bare metal"
MONTHLY = "bare metal, one-month minimum"
"""What stands behind the price in a card of bare metal."""
SIZES = re.compile(r"[1-9]\d?x(?: & [1-9]\d?x)*")
CHIP = re.compile(r"\A[^A-Za-z]*[A-Za-z].*\d")  # anchored: tried from each letter it takes half a minute
SUMMED_CHIP = "mi300x"
"""The chip that the summary is of; cards of others stand for themselves."""
SUMMARY = {
    "Virtual machines": (VM, re.compile(r"New customer rate\. (?P<sizes>.+)x MI300X VMs, billed by the minute\.")),
    "8x bare metal": (BARE_METAL, re.compile(r"Dedicated full-node access\. One-month minimum\.")),
}
"""Titles of the summary, with the plans that they sum up and the text below the price."""
GRANDFATHERED = re.compile(
    r"Existing customers with running compute remain grandfathered at (?P<price>\S+)\. "
    r"Why we raised our (?P<chip>\S+) price\."
)
Summed = dict[str, tuple[Decimal, set[int]]]
"""Of each kind of plan, the price and the sizes in the summary."""


def parse(document: Document) -> Parsed:
    """Return the price of each size of each plan, and that of old customers; raise LayoutChanged."""
    page = pages.Page(document)
    visible = list(pages.inside(page.tree.body)) if page.tree.body is not None else []
    rows: list[offers.Row] = []
    summed: Summed = {}
    for node in pages.innermost(visible, UNIT):
        parent = node.parent
        around = [pages.text_of(child) for child in pages.children(parent)] if parent is not None else []
        if around and around[0] in SUMMARY:
            _sum_up(summed, around)
        elif parent is not None and "grandfathered" in pages.text_of(parent):
            rows.append(_grandfathered(pages.text_of(parent)))
        else:
            rows += _plan(node)
    _compare(summed, rows)
    rows, n_copies = offers.once(rows)
    return offers.parsed(rows, source=NAME, ignored={"duplicate on the page": n_copies} if n_copies else {})


def _sum_up(summed: Summed, around: list[str]) -> None:
    title = around[0]
    kind, note = SUMMARY[title]
    found = note.fullmatch(around[2]) if len(around) == 3 else None
    if found is None or kind in summed:
        raise answers.refusal(NAME, "expected once a title, a price and what it is of", title, " | ".join(around))
    sizes = found["sizes"] if "sizes" in note.groupindex else title
    summed[kind] = _price(around[1], title)[0], {int(number) for number in re.findall(r"\d+", sizes)}


def _grandfathered(sentence: str) -> offers.Row:
    found = GRANDFATHERED.fullmatch(sentence)
    if found is None:
        raise answers.refusal(NAME, "expected the price of existing customers", "grandfathered", sentence)
    price = _price(found["price"], "grandfathered")
    return _row(found["chip"], price, restriction="grandfathered")


def _plan(node: "LexborNode") -> Iterator[offers.Row]:
    """Yield a row for each size of the card in which a price stands."""
    card = node.parent
    while card is not None and not any(child.tag == "h2" for child in pages.children(card)):
        card = card.parent
    parts = pages.children(card) if card is not None else []
    texts = [pages.text_of(part) for part in parts]
    size_and_chip = [pages.text_of(part) for part in pages.children(parts[2])] if len(parts) > 3 else []
    if (
        len(size_and_chip) != 2
        or parts[1].tag != "h2"
        or texts[0] not in (VM, BARE_METAL)
        or not SIZES.fullmatch(size_and_chip[0])
        or not CHIP.search(size_and_chip[1])
        or UNIT not in texts[3]
        or sum(text.count(UNIT) for text in texts) != 1
    ):
        message = "expected a card: VM or Bare metal, its name, how many of which chip, one price"
        raise answers.refusal(NAME, message, "price", f"{pages.text_of(node)} in {' | '.join(texts)[:200]}")
    kind, name, terms = texts[0], texts[1], texts[3].partition(" ")[2]
    if terms != (MONTHLY if kind == BARE_METAL else ""):
        raise answers.refusal(NAME, f"expected the terms of {kind}", name, texts[3])
    price = _price(texts[3].partition(" ")[0], name)
    for size in re.findall(r"\d+", size_and_chip[0]):
        if kind == BARE_METAL:
            yield _row(
                size_and_chip[1],
                price,
                minimum_quantity=size,
                tier="bare metal",
                option="reserved",
                commitment_term_hours=MONTH_HOURS,
            )
        else:
            yield _row(size_and_chip[1], price, minimum_quantity=size, tier=VM)


def _row(chip: str, price: tuple[Decimal, str], option: str = "on_demand", **others: str | int) -> offers.Row:
    amount, currency = price
    return offers.offer(PROVIDER, label=chip, price=amount, option=option, currency=currency) | others


def _price(text: str, field: str) -> tuple[Decimal, str]:
    price = words.price(text, source=NAME, field=field, units=("gpuhr",))
    if price.amount is None or price.is_floor or price.is_noted:
        raise answers.refusal(NAME, "expected a price, without more words", field, text)
    return price.amount, price.currency


def _compare(summed: Summed, rows: list[offers.Row]) -> None:
    """Raise where the summary and the cards do not say the same of prices and sizes."""
    summarised: dict[str, set[tuple[str, str]]] = {kind: set() for kind, _ in SUMMARY.values()}
    for row in rows:
        if row.get("restriction") is None and str(row["accelerator_label"]).lower() == SUMMED_CHIP:
            kind = VM if row["tier"] == VM else BARE_METAL
            summarised[kind].add((str(row["unit_price"]), str(row["minimum_quantity"])))
    for kind, found in summarised.items():
        price, sizes = summed.get(kind, (Decimal(0), set()))
        expected = {(offers.plain(price), str(size)) for size in sizes}
        if found != expected or not found:
            message = f"expected the prices and sizes of the summary of {kind}, {sorted(expected)}"
            raise answers.refusal(NAME, message, kind, str(sorted(found)))


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Hot Aisle, AMD GPUs",
    url=URL,
    terms_url="https://hotaisle.xyz/",
    parse=parse,
    accept=HTML,
)
