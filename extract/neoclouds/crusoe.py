"""Crusoe's list prices of GPUs: on demand, and spot where it names a price.

The page https://www.crusoe.ai/cloud/pricing is public, under https://legal.crusoe.ai/ ; it is rendered on the server.
Crusoe's API knows machines and capacity, but no prices.

Settings: `url`.

Quirks:

1. CPU, storage, Kubernetes, fine-tuning and inference have the same markup below their own headings ($0.04/vCPU-hr,
   $1.74 for a million tokens). Read is what stands between "GPU instances pricing" and the next heading of its rank,
   and only prices in /GPU-hr.
2. A row without a price says "Contact sales". Each price is read in its own cell: who goes on to the next dollar sign
   gives GB200 the price of H200.
3. Two rows are called NVIDIA A100 and differ in their second tag alone, SXM or PCIe. So each row must have two tags,
   the memory and the form, of which the second may be empty.
   Webflow marks the empty one.
4. Prices are of one GPU. The sizes that are sold stand nowhere on the page, nor do regions.
5. Headers and cells are bound by their order alone, so another order of the headers is refused. No spot price has been
   seen; one that is not below the on-demand price of its row is refused, as it may be in the wrong column.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from extract.base import Parsed
from extract.neoclouds import offers, pages, words
from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NAME = "crusoe"
URL = "https://www.crusoe.ai/cloud/pricing"
PROVIDER = "Crusoe"
OFF_BECAUSE = (
    "Crusoe's terms are reported to forbid copying or publishing without written permission (read on 2026-10-05); "
    "read https://legal.crusoe.ai/ and decide"
)
SECTION = "GPU instances pricing"
ROW = '[role="listitem"]'
MODEL, ON_DEMAND, SPOT = COLUMNS = ("GPU model", "On-demand", "Current spot")
EMPTY = "w-dyn-bind-empty"
"""Class by which Webflow marks an element that is empty on purpose."""
_MEMORY = re.compile(r"[1-9]\d{0,3} ?GB")


def parse(document: Document) -> Parsed:
    """Return the prices of the GPU section; raise LayoutChanged."""
    page = pages.Page(document)
    section = page.part(SECTION)
    _, columns = section.head(MODEL)
    if columns != [*COLUMNS]:
        message = f"expected the columns {' | '.join(COLUMNS)}, found {' | '.join(columns)}"
        raise refusal(page.source, message, "column", SECTION)
    ignored: Counter[str] = Counter()
    rows, ignored["duplicate on the page"] = offers.once(
        offer for row in section.css(ROW) for offer in _offers(page.source, row, ignored)
    )
    return offers.parsed(rows, source=page.source, ignored=+ignored)


def _offers(source: str, row: "LexborNode", ignored: Counter[str]) -> Iterator[offers.Row]:
    """Yield the offers of one row; count the columns that have no price."""
    cells = pages.cells(row)
    if len(cells) != len(COLUMNS):
        raise refusal(source, f"expected {len(COLUMNS)} cells, found {len(cells)}", "row", pages.text_of(row))
    label = _label(source, cells[0])
    prices = {
        column: words.price(
            pages.text_of(cell), source=source, field=f"{label}, {column}", units=("gpuhr",), noted=False
        )
        for column, cell in zip(COLUMNS[1:], cells[1:], strict=True)
    }
    on_demand, spot = prices[ON_DEMAND].amount, prices[SPOT].amount
    if spot is not None and (on_demand is None or spot >= on_demand):
        raise refusal(source, "a spot price that is not below the on-demand price", label, f"{spot}, {on_demand}")
    for column, price in prices.items():
        if price.amount is None:
            ignored[f"no price: {column}"] += 1
            continue
        yield offers.offer(
            PROVIDER,
            label=label,
            price=price.amount,
            option="spot" if column == SPOT else "on_demand",
            statistic="floor" if price.is_floor else "price",
            currency=price.currency,
        )


def _label(source: str, cell: "LexborNode") -> str:
    """Return the name with both tags, such as NVIDIA A100 80GB SXM."""
    headings = [node for node in pages.inside(cell) if _is_heading(node)]
    others = [block for block in pages.children(cell) if not any(map(_is_heading, (block, *pages.inside(block))))]
    tags = [tag for block in others for tag in pages.children(block)]
    if len(headings) != 1 or len(others) != 1 or len(tags) != 2:
        raise refusal(source, "expected a name and two tags", "row", pages.text_of(cell))
    if any(len(pages.pieces(node)) > 1 for node in (*headings, *tags)):
        raise refusal(source, "expected one text in each tag", "row", pages.text_of(cell))
    name, memory, form = map(pages.text_of, (*headings, *tags))
    if not name or not _MEMORY.fullmatch(memory):
        raise refusal(source, "expected a name and a memory in GB", "row", pages.text_of(cell))
    if not form and EMPTY not in (tags[1].attributes.get("class") or ""):
        raise refusal(source, "expected a second tag, or one that is marked as empty", "row", pages.text_of(cell))
    return f"{name} {memory} {form}".strip()


def _is_heading(node: "LexborNode") -> bool:
    return node.tag in pages.HEADINGS


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Crusoe list prices, on demand and spot",
    url=URL,
    terms_url="https://legal.crusoe.ai/",
    parse=parse,
    accept=HTML,
    max_age=timedelta(days=3),
    off_because=OFF_BECAUSE,
)
