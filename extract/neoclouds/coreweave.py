"""CoreWeave's list prices: GPU machines on demand and as spot, and single GPUs of its inference platform.

The page https://www.coreweave.com/pricing is public, under https://docs.coreweave.com/policies/terms-of-service ; it is
rendered on the server. It refuses clients that do not say who they are.

Settings: `url`.

Quirks:

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
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from extract.base import Parsed
from extract.neoclouds import offers, pages, words
from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NAME = "coreweave"
URL = "https://www.coreweave.com/pricing"
PROVIDER = "CoreWeave"
SECTION = "On-demand GPU instances"
CPU_SECTION = "On-demand CPU instances"
ROW = '[role="listitem"]'
INFERENCE_TIER = "Inference Single GPU"

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
MEMORY_LABEL = "VRAM"

_REGION = re.compile(r"REGION: ([A-Z][A-Z &-]*)")
_PRICE = re.compile(r"(?P<label>[^:$]+): ?(?P<price>[^:]*?) ?/ Hour")
_COUNT = re.compile(r"([1-9]\d?)(?:\^\d)?")
_MEMORY = re.compile(r"[1-9]\d{0,3}")


def parse(document: Document) -> Parsed:
    """Return the prices of the GPU section; raise LayoutChanged."""
    page = pages.Page(document)
    section = page.part(SECTION)
    listed = section.css(ROW)
    within = {node.mem_id for row in listed for node in pages.inside(row)}
    regions = section.split(
        [node for node in section.nodes if node.tag in pages.HEADINGS and node.mem_id not in within]
    )
    if sum(len(region.css(ROW)) for region in regions) != len(listed):
        raise refusal(page.source, "expected every row below the title of a region", "region", len(listed))
    ignored = Counter({"machine without GPU": len(page.part(CPU_SECTION).css(ROW))})
    rows, twice = offers.once(row for region in regions for row in _region(region, page.is_excerpt, ignored))
    ignored["duplicate on the page"] = twice
    return offers.parsed(rows, source=page.source, ignored=+ignored)


def _region(region: pages.Section, is_excerpt: bool, ignored: Counter[str]) -> Iterator[offers.Row]:
    """Yield the offers of one region; count the rows that have no price of a kind."""
    title = _REGION.fullmatch(region.name)
    if title is None:
        raise refusal(region.source, "expected a region, such as REGION: EUROPE", "region", region.name)
    columns = _columns(region, is_excerpt)
    for row in region.css(ROW):
        machine = _Machine(region.source, row, columns)
        for column, price in machine.prices.items():
            if price.amount is None:
                ignored[f"no {column}"] += 1
                continue
            single = column == INFERENCE
            yield offers.offer(
                PROVIDER,
                label=f"{machine.name} {machine.memory}GB",
                price=price.amount,
                count=1 if single else machine.count,
                instance_type=None if single else machine.name,
                option="spot" if column == SPOT else "on_demand",
                tier=INFERENCE_TIER if single else None,
                statistic="floor" if price.is_floor else "price",
                currency=price.currency,
                region_id=title[1],
            )


def _columns(region: pages.Section, is_excerpt: bool) -> list[str]:
    """Return the columns of a region's table; of an excerpt without its headers none."""
    if is_excerpt and not any(pages.text_of(node) == MODEL for node in region.nodes):
        return []
    _, columns = region.head(MODEL)
    if sorted(columns) not in (sorted(COLUMNS), sorted((*COLUMNS, INFERENCE))):
        message = f"expected the columns {' | '.join(COLUMNS)}, found {' | '.join(columns)}"
        raise refusal(region.source, message, "column", region.name)
    return columns


class _Machine:
    """One row: the name, chips, GB of memory of each and prices by column, as labelled and as the cells have them."""

    def __init__(self, source: str, row: "LexborNode", columns: Sequence[str]) -> None:
        self._source, self._row = source, row
        names = {pages.text_of(node) for node in row.css(", ".join(pages.HEADINGS))}
        if len(names) != 1 or "" in names:
            raise refusal(source, "expected one name in a row", "row", " | ".join(sorted(names)))
        (self.name,) = names
        self._texts = {MODEL: self.name, COUNT: self._value_at(COUNT), MEMORY: self._value_at(MEMORY_LABEL)}
        count, memory = _COUNT.fullmatch(self._texts[COUNT]), _MEMORY.fullmatch(self._texts[MEMORY])
        if count is None or memory is None:
            raise refusal(source, "expected a number of GPUs and of GB", self.name, str(self._texts))
        self.count, self.memory = int(count[1]), int(memory[0])
        self.prices = self._labelled()
        self._compare(columns)

    def _value_at(self, label: str) -> str:
        """Return the text before a label of the copy for small screens."""
        found = [node for node in pages.innermost(pages.inside(self._row), label) if pages.text_of(node) == label]
        before = found[0].prev if len(found) == 1 else None
        while before is not None and before.tag in pages.UNSEEN:
            before = before.prev
        if before is None:
            raise refusal(self._source, f"expected one value with the label {label!r}", self.name, len(found))
        return pages.text_of(before)

    def _labelled(self) -> dict[str, words.Worded]:
        """Return the prices of the copy for small screens, by the column that each label stands for."""
        prices: dict[str, words.Worded] = {}
        for node in pages.innermost(pages.inside(self._row), "Price:"):
            found = _PRICE.fullmatch(pages.text_of(node))
            column = LABELS.get(found["label"]) if found else None
            if found is None or column is None or column in prices:
                raise refusal(self._source, "expected each known price once", self.name, pages.text_of(node))
            prices[column] = self._price(found["price"], column)
        if set(prices) not in ({ON_DEMAND, SPOT}, {*PRICES}):
            raise refusal(self._source, "expected an on-demand and a spot price", self.name, " | ".join(prices))
        return prices

    def _compare(self, columns: Sequence[str]) -> None:
        """Raise where the cells say something else than the labels; an excerpt without headers may lack the last."""
        texts = [pages.text_of(cell) for cell in pages.cells(self._row)]
        texts = [text for text in texts if "Price:" not in text and COUNT not in text]
        if columns and len(texts) != len(columns):
            raise refusal(
                self._source, f"expected {len(columns)} cells, found {len(texts)}", self.name, " | ".join(texts)
            )
        if columns and set(self.prices) != set(PRICES) & set(columns):
            raise refusal(
                self._source, "expected a label for each column of prices", self.name, " | ".join(self.prices)
            )
        for column, text in zip(columns or (*COLUMNS, INFERENCE), texts, strict=False):
            same = self._texts.get(column, text) == text
            if not same or (column in PRICES and self._price(text, column) != self.prices.get(column)):
                raise refusal(
                    self._source, "the cell and its copy for small screens differ", f"{self.name}, {column}", text
                )

    def _price(self, text: str, column: str) -> words.Worded:
        return words.price(text, source=self._source, field=f"{self.name}, {column}", noted=False)


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="CoreWeave list prices, on demand and spot",
    url=URL,
    terms_url="https://docs.coreweave.com/policies/terms-of-service",
    parse=parse,
    accept=HTML,
    max_age=timedelta(days=3),
)
