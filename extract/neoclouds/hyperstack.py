"""Hyperstack's list prices of GPUs: on demand, reserved from a price, and spot.

The page is https://www.hyperstack.cloud/gpu-pricing .

1. Each table is a card with a title and its own columns; the price is the last column on demand and the second of a
   reservation, so columns are known by their headers. CPU, storage, tokens and fine-tuning are cards of the same
   markup: read are the three cards of GPUs, and a card that is new and of GPUs is refused.
2. Headers and cells are bound by their order alone, so another order of the headers is refused; and where the classes
   number the columns, as they do today, they must do so in order.
3. A reservation is "Starting from" a price, of a length that is not said: a floor, without a term.
4. Prices are of one GPU for one hour, though billed by the minute. Some have a space before them.
5. "H100 NVLink" and "A100 NVLink" are PCIe cards joined by a bridge, and neither SXM nor H100 NVL. The spot card says
   "NVIDIA H100 PCIe" where the others say "NVIDIA H100".
6. The memory is given on demand only. The labels of the other cards stay as they are, without it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, each, offer, shown_price
from extract.neoclouds.pages import Node, Page, Section, children, pieces, text_of
from warehouse.documents import Document

MODEL, MEMORY, PER_HOUR, FROM, SPOT = "GPU Model", "VRAM (GB)", "Pricing Per Hour", "Starting from", "Spot VM"
CARD_TITLE = "h3"


@dataclass(frozen=True, kw_only=True)
class _Card:
    """One card: its title, columns, the column of the price, and what is bought."""

    title: str
    columns: tuple[str, ...]
    price: str
    option: str
    statistic: str = "price"
    tier: str | None = None


NUMBERS = (MEMORY, "Max pCPUs per GPU", "Max RAM (GB) per GPU")
"""Columns that hold a whole number in each row."""
RESERVED = (MODEL, FROM, "Reserve")
CARDS = (
    _Card(title="On-Demand GPU Pricing", columns=(MODEL, *NUMBERS, PER_HOUR), price=PER_HOUR, option="on_demand"),
    _Card(
        title="Reservation Pricing",
        columns=RESERVED,
        price=FROM,
        option="reserved",
        statistic="floor",
        tier="Reservation",
    ),
    _Card(title="Spot VM Pricing", columns=(MODEL, SPOT), price=SPOT, option="spot"),
)
_NUMBER = re.compile(r"[1-9]\d{0,4}")
_PLACE = re.compile(r".*(?:item|col)(\d+)")


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the three cards of GPUs."""
    page = Page(document)
    shown = {text_of(node) for node in page.whole().css(CARD_TITLE)}
    # A page has all cards; an excerpt of one may leave the last out.
    cards = [card for card in CARDS if card.option != "spot" or card.title in shown or not page.is_excerpt]
    of_gpus = len(page.whole().named(MODEL))
    if of_gpus > len(cards):
        message = f"expected the column {MODEL!r} in {len(cards)} cards, found it in {of_gpus}"
        raise refusal(message, "card", " | ".join(sorted(shown)))
    for card in cards:
        yield from each(_rows(page.part(card.title, tags=(CARD_TITLE,)), card), _row, card)


def _rows(section: Section, card: _Card) -> list[Node]:
    """Return the rows of a card that have cells; raise LayoutChanged where its headers are others."""
    head, columns = section.head(MODEL)
    if columns != [*card.columns] or not _is_in_order(children(head)):
        message = f"expected the columns {' | '.join(card.columns)}, found {' | '.join(columns)}"
        raise refusal(message, "column", card.title)
    blocks = children(head.parent) if head.parent is not None else []
    if len(blocks) != 2 or blocks[0].mem_id != head.mem_id:
        raise refusal("expected the headers, and one block of rows below them", "card", card.title)
    # The card of token prices has an empty row at its end.
    return [row for row in children(blocks[1]) if children(row)]


def _row(node: Node, card: _Card) -> Iterator[Found]:
    """Yield the price of a row; raise LayoutChanged where its cells are not as the headers say."""
    columns, cells = card.columns, children(node)
    texts = [text_of(cell) for cell in cells]
    if len(cells) != len(columns) or not _is_in_order(cells):
        raise refusal(f"expected {len(columns)} cells in order", card.title, " | ".join(texts))
    row = dict(zip(columns, texts, strict=True))
    wrong = [name for name, cell in zip(columns, cells, strict=True) if len(pieces(cell)) > 1]
    wrong += [name for name in NUMBERS if name in row and not _NUMBER.fullmatch(row[name])]
    wrong += [name for name in columns if name != card.price and "$" in row[name]]
    wrong += [MODEL] if not row[MODEL] or _NUMBER.fullmatch(row[MODEL]) else []
    if wrong:
        raise refusal(f"not what {', '.join(wrong)} may be", card.title, " | ".join(texts))
    label = row[MODEL] + (f" {row[MEMORY]}GB" if MEMORY in row else "")
    price = shown_price(row[card.price], f"{label}, {card.title}", noted=False)
    yield offer(label, price, option=card.option, tier=card.tier, statistic=card.statistic)


def _is_in_order(cells: list[Node]) -> bool:
    """Return whether the classes number the cells from 1 on, or number none of them."""
    named = [name for cell in cells for name in (cell.attributes.get("class") or "").split()]
    numbers = [int(found[1]) for name in named if (found := _PLACE.fullmatch(name))]
    return numbers in ([], [*range(1, len(cells) + 1)])


SOURCE = web_source(
    read,
    name="hyperstack",
    provider="Hyperstack",
    title="Hyperstack list prices: on demand, reserved and spot",
    url="https://www.hyperstack.cloud/gpu-pricing",
    accept=HTML,
)
