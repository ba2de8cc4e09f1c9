"""CoreWeave's list prices: GPU machines on demand and as spot, and single GPUs of its inference platform.

The page https://www.coreweave.com/pricing refuses clients that do not say who they are.

1. The CPU section has the same markup and the same region titles. Read is what stands between the heading "On-demand
   GPU instances" and the next heading of its rank.
2. The tables of the regions have the same rows, one behind the other: each region starts at its own "REGION: ..."
   title, never at a number of rows. Europe has no inference column.
3. Prices are of the whole machine. "4^1" are 4 GPUs and footnote 1: a machine of GB200 or GB300 has 2 Superchips with
   2 GPUs each.
4. Each row stands there twice: as cells under the headers, and for small screens with a label at each value. The labels
   are read; the cells must say the same, so that neither a column inserted nor one exchanged can go unseen.
5. "Inference Single GPU Price" is of one GPU, and for customers of the inference platform only (footnote 2): it is
   another tier. Its label says "Single CPU", a slip of the page.
6. On-demand may be empty beside "Contact sales", spot may be N/A: no price. VRAM is of one GPU.
7. Spot prices stood still for months: they are administered, and no market.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, ShownPrice, each, offer, outside, shown_price
from extract.neoclouds.pages import HEADINGS, Node, Page, Section, cells, children, innermost, inside, text_of
from warehouse.documents import Document

ROW = '[role="listitem"]'

MODEL, COUNT, MEMORY = "GPU Model", "GPU Count", "VRAM (GB)"
ON_DEMAND, SPOT = "On-Demand Price (Per Hour)", "Spot Price (Per Hour)"
INFERENCE = "Inference Single GPU Price(Per Hour)\N{SUPERSCRIPT TWO}"
COLUMNS = (MODEL, COUNT, MEMORY, "vCPUs", "System RAM (GB)", "Local Storage (TB)", ON_DEMAND, SPOT)
PRICES = (ON_DEMAND, SPOT, INFERENCE)
LABELS = {
    "On-Demand Price": ON_DEMAND,
    "Spot Price": SPOT,
    "Inference Single CPU Price": INFERENCE,
    "Inference Single GPU Price": INFERENCE,
}
"""The label of each price, and the column that has the same price."""

_REGION = re.compile(r"REGION: ([A-Z][A-Z &-]*)")
_PRICE = re.compile(r"(?P<label>[^:$]+): ?(?P<price>[^:]*?) ?/ Hour")
_COUNT = re.compile(r"([1-9]\d?)(?:\^\d)?")
_MEMORY = re.compile(r"[1-9]\d{0,3}")


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the GPU section."""
    page = Page(document)
    section = page.part("On-demand GPU instances")
    listed = section.css(ROW)
    within = {node.mem_id for row in listed for node in inside(row)}
    titles = [node for node in section.nodes if node.tag in HEADINGS and node.mem_id not in within]
    regions = section.split(titles)
    if sum(len(region.css(ROW)) for region in regions) != len(listed):
        raise refusal("expected every row below the title of a region", "region", len(listed))
    of_cpus = page.part("On-demand CPU instances")
    yield from ["machine without GPU"] * len(of_cpus.css(ROW))
    yield from outside((row for row in page.whole().css(ROW) if COUNT in text_of(row)), section, of_cpus)
    for region in regions:
        title = _REGION.fullmatch(region.name)
        if title is None:
            raise refusal("expected a region, such as REGION: EUROPE", "region", region.name)
        yield from each(region.css(ROW), _machine, _columns(region, page.is_excerpt), title[1])


def _columns(region: Section, is_excerpt: bool) -> list[str]:
    """Return the columns of a region's table; of an excerpt without its headers none."""
    if is_excerpt and not any(text_of(node) == MODEL for node in region.nodes):
        return []
    _, columns = region.head(MODEL)
    if sorted(columns) not in (sorted(COLUMNS), sorted((*COLUMNS, INFERENCE))):
        raise refusal(f"expected the columns {' | '.join(COLUMNS)}, found {' | '.join(columns)}", "column", region.name)
    return columns


def _machine(row: Node, columns: Sequence[str], region: str) -> Iterator[Found]:
    """Yield the offers of one row, as labelled and as the cells have them."""
    names = {text_of(node) for node in row.css(", ".join(HEADINGS))}
    if len(names) != 1 or "" in names:
        raise refusal("expected one name in a row", "row", " | ".join(sorted(names)))
    (name,) = names
    texts = {MODEL: name, COUNT: _value_at(row, COUNT, name), MEMORY: _value_at(row, "VRAM", name)}
    count, memory = _COUNT.fullmatch(texts[COUNT]), _MEMORY.fullmatch(texts[MEMORY])
    if count is None or memory is None:
        raise refusal("expected a number of GPUs and of GB", name, str(texts))
    prices = _labelled(row, name)
    _compare(row, columns, texts, prices)
    label = f"{name} {memory[0]}GB"
    for column, price in prices.items():
        if column == INFERENCE:
            yield offer(label, price, tier="Inference Single GPU", region_id=region)
        else:
            option = "spot" if column == SPOT else "on_demand"
            yield offer(label, price, count=int(count[1]), instance_type=name, option=option, region_id=region)


def _value_at(row: Node, label: str, name: str) -> str:
    """Return the text before a label of the copy for small screens."""
    found = [pair for node in inside(row) for pair in pairwise(children(node)) if text_of(pair[1]) == label]
    if len(found) != 1:
        raise refusal(f"expected one value with the label {label!r}", name, len(found))
    return text_of(found[0][0])


def _labelled(row: Node, name: str) -> dict[str, ShownPrice]:
    """Return the prices of the copy for small screens, by the column that each label stands for."""
    prices: dict[str, ShownPrice] = {}
    for node in innermost(inside(row), "Price:"):
        found = _PRICE.fullmatch(text_of(node))
        column = LABELS.get(found["label"]) if found else None
        if found is None or column is None or column in prices:
            raise refusal("expected each known price once", name, text_of(node))
        prices[column] = shown_price(found["price"], f"{name}, {column}", noted=False)
    if set(prices) not in ({ON_DEMAND, SPOT}, {*PRICES}):
        raise refusal("expected an on-demand and a spot price", name, " | ".join(prices))
    return prices


def _compare(row: Node, columns: Sequence[str], known: dict[str, str], prices: dict[str, ShownPrice]) -> None:
    """Raise where the cells say something else than the labels; an excerpt without headers may lack the last."""
    name = known[MODEL]
    texts = [text for text in map(text_of, cells(row)) if "Price:" not in text and COUNT not in text]
    if columns and len(texts) != len(columns):
        raise refusal(f"expected {len(columns)} cells, found {len(texts)}", name, " | ".join(texts))
    if columns and set(prices) != set(PRICES) & set(columns):
        raise refusal("expected a label for each column of prices", name, " | ".join(prices))
    for column, text in zip(columns or (*COLUMNS, INFERENCE), texts, strict=False):
        field = f"{name}, {column}"
        is_same = known.get(column, text) == text
        if not is_same or (column in PRICES and shown_price(text, field, noted=False) != prices.get(column)):
            raise refusal("the cell and its copy for small screens differ", field, text)


SOURCE = web_source(
    read,
    name="coreweave",
    provider="CoreWeave",
    title="CoreWeave list prices, on demand and spot",
    url="https://www.coreweave.com/pricing",
    accept=HTML,
)
