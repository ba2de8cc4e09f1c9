"""Crusoe's list prices of GPUs: on demand, and spot where it names a price.

The page is https://www.crusoe.ai/cloud/pricing ; Crusoe's API knows machines and capacity, but no prices.

1. CPU, storage, Kubernetes, fine-tuning and inference have the same markup below their own headings ($0.04/vCPU-hr,
   $1.74 for a million tokens). Read is what stands between "GPU instances pricing" and the next heading of its rank,
   and only prices in /GPU-hr.
2. A row without a price says "Contact sales". Each price is read in its own cell: who goes on to the next dollar sign
   gives GB200 the price of H200.
3. Two rows are called NVIDIA A100 and differ in their second tag alone, SXM or PCIe. So each row must have two tags,
   the memory and the form, of which the second may be empty, with the class by which Webflow marks that.
4. Prices are of one GPU. The sizes that are sold stand nowhere on the page, nor do regions.
5. Headers and cells are bound by their order alone: another order of the headers is refused, as is a second list of
   rows or a title within, perhaps of another plan. No spot price was seen; one not below that on demand is refused.
"""

import re
from collections.abc import Iterator

from extract.neoclouds.answers import form_changed, refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, each, offer, outside, shown_price
from extract.neoclouds.pages import HEADINGS, Node, Page, cells, children, inside, pieces, text_of
from warehouse.documents import Document

SECTION = "GPU instances pricing"
ROW = '[role="listitem"]'
MODEL, ON_DEMAND, SPOT = COLUMNS = ("GPU model", "On-demand", "Current spot")
_MEMORY = re.compile(r"[1-9]\d{0,3} ?GB")


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the GPU section."""
    page = Page(document)
    section = page.part(SECTION)
    _, columns = section.head(MODEL)
    if columns != [*COLUMNS]:
        raise refusal(f"expected the columns {' | '.join(COLUMNS)}, found {' | '.join(columns)}", "column", SECTION)
    rows = section.css(ROW)
    lists = {tuple(one.mem_id for one in children(row.parent)) for row in rows if row.parent is not None}
    if lists != {tuple(row.mem_id for row in rows)}:
        raise refusal("expected one list, of rows alone", SECTION, len(lists))
    yield from each(rows, _row)
    yield from outside((row for row in page.whole().css(ROW) if "/GPU-hr" in text_of(row)), section)


def _row(row: Node) -> Iterator[Found]:
    found = cells(row)
    if len(found) != len(COLUMNS):
        raise refusal(f"expected {len(COLUMNS)} cells, found {len(found)}", "row", text_of(row))
    label = _label(found[0])
    on_demand, spot = (
        shown_price(text_of(cell), f"{label}, {column}", units=("gpuhr",), noted=False)
        for column, cell in zip(COLUMNS[1:], found[1:], strict=True)
    )
    if spot.amount is not None and (on_demand.amount is None or spot.amount >= on_demand.amount):
        values = f"{spot.amount}, {on_demand.amount}"
        raise form_changed("a spot price that is not below the on-demand price", label, values)
    yield offer(label, on_demand)
    yield offer(label, spot, option="spot")


def _label(cell: Node) -> str:
    """Return the name with both tags, such as NVIDIA A100 80GB SXM."""
    headings = [node for node in inside(cell) if node.tag in HEADINGS]
    others = [block for block in children(cell) if not {node.tag for node in (block, *inside(block))} & {*HEADINGS}]
    tags = [tag for block in others for tag in children(block)]
    in_pieces = any(len(pieces(node)) > 1 for node in (*headings, *tags))
    if len(headings) != 1 or len(others) != 1 or len(tags) != 2 or in_pieces:
        raise refusal("expected a name and two tags, each in one piece", "row", text_of(cell))
    name, memory, form = map(text_of, (*headings, *tags))
    if not name or not _MEMORY.fullmatch(memory):
        raise refusal("expected a name and a memory in GB", "row", text_of(cell))
    if not form and "w-dyn-bind-empty" not in (tags[1].attributes.get("class") or ""):
        raise refusal("expected a second tag, or one that is marked as empty", "row", text_of(cell))
    return f"{name} {memory} {form}".strip()


SOURCE = web_source(
    read,
    name="crusoe",
    provider="Crusoe",
    title="Crusoe list prices, on demand and spot",
    url="https://www.crusoe.ai/cloud/pricing",
    accept=HTML,
)
