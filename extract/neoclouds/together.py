"""Together AI's list prices of GPUs: clusters on demand and reserved, and dedicated inference.

The page https://www.together.ai/pricing is public, under https://www.together.ai/terms-of-service ; it is rendered on
the server. It has prices of tokens too, which are not read.

Settings: `url`.

Quirks:

1. Three tables name the same GPUs: dedicated inference (H100 5.49), clusters (H100 3.99), and a hidden one of hourly
   prices from before. Each is known by its heading and its headers; the hidden one is counted and never read. What a
   table is of becomes the tier.
2. Clusters have two rows of headers: on demand, and reserved by the days reserved. A reservation of 7-30 days has a
   term of its least length, 168 hours.
3. The rows lie in `div` elements within the body of the table, where HTML has no place for them: parsers move those out
   and leave the rows.
4. "Contact us" may span all columns of reservations, and rows may be merged; a price that spans cells is refused. A
   dash is no price. Some prices have a space before them.
5. Prices are of one GPU for one hour, as the page says at its tables; without that sentence they are refused. The least
   size of a cluster stands nowhere on the page.
6. Prices fall with the length of the commitment; where they rise, or one is missing in between, columns may have been
   exchanged and the page is refused. The cells of a column have the same classes for the same reason.
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

NAME = "together"
URL = "https://www.together.ai/pricing"
PROVIDER = "Together AI"
_Grid = list[list["LexborNode"]]
_Columns = list[tuple[str, ...]]

HEADING = "h2"
CLUSTERS, INFERENCE = "GPU Clusters", "Dedicated Inference"
TERMS = {"7-30 days": 168, "31-90 days": 744, "91-180 days": 2184, "181+ days": 4344}
"""Hours of the least length of each reservation."""
HARDWARE, ON_DEMAND, RESERVED, NOTE = "hardware", "on-demand", "reserved", "pay as you go"
CLUSTER_COLUMNS: _Columns = [(HARDWARE, HARDWARE), (ON_DEMAND, NOTE), *((RESERVED, term) for term in TERMS)]
INFERENCE_COLUMNS: _Columns = [(HARDWARE,), (ON_DEMAND,), (RESERVED,)]
HIDDEN_COLUMNS: _Columns = [(HARDWARE,), ("hourly",)]
"""The headers of each table, one text for each row of them, in lower case as the page writes them in any."""
UNIT, UNIT_NOTE = "all prices are per gpu per hour.", "all prices per gpu per hour"
"""What says that prices are per GPU and hour: a sentence at the clusters, a note in a header of inference."""

_VENDOR, _MODEL = re.compile(r"[A-Za-z]+"), re.compile(r"[A-Z].*\d.*")


def parse(document: Document) -> Parsed:
    """Return the prices of clusters and of dedicated inference; raise LayoutChanged."""
    page = pages.Page(document)
    ignored: Counter[str] = Counter()
    rows, ignored["duplicate on the page"] = offers.once([*_clusters(page, ignored), *_inference(page, ignored)])
    return offers.parsed(rows, source=page.source, ignored=+ignored)


def _clusters(page: pages.Page, ignored: Counter[str]) -> Iterator[offers.Row]:
    """Yield the offers of clusters; count what the hidden table has."""
    section = page.part(CLUSTERS, tags=(HEADING,))
    if not any(pages.text_of(node).casefold() == UNIT for node in section.nodes):
        raise refusal(page.source, f"expected the sentence {UNIT!r}", "unit", CLUSTERS)
    grids = [pages.grid(page.source, node) for node in section.css("table")]
    hidden = [grid for grid in grids if _columns(grid[:1]) == HIDDEN_COLUMNS]
    ignored["row of the hidden table"] = sum(len(grid) - 1 for grid in hidden)
    others = [grid for grid in grids if _columns(grid[:1]) != HIDDEN_COLUMNS]
    ways = [("on_demand", CLUSTERS, None), *(("reserved", f"{CLUSTERS}, {term}", TERMS[term]) for term in TERMS)]
    yield from _offers(page.source, _rows(section, others, CLUSTER_COLUMNS), ways, ignored)


def _inference(page: pages.Page, ignored: Counter[str]) -> Iterator[offers.Row]:
    """Yield the offers of dedicated inference."""
    section = page.part(INFERENCE, tags=(HEADING,))
    # An excerpt may leave the notes of the headers out; a page may not.
    if not page.is_excerpt and not any(pages.text_of(node).casefold() == UNIT_NOTE for node in section.nodes):
        raise refusal(page.source, f"expected the note {UNIT_NOTE!r}", "unit", INFERENCE)
    grids = [pages.grid(page.source, node) for node in section.css("table")]
    ways = [("on_demand", INFERENCE, None), ("reserved", INFERENCE, None)]
    yield from _offers(page.source, _rows(section, grids, INFERENCE_COLUMNS), ways, ignored)


def _columns(heads: _Grid) -> _Columns:
    """Return the headers of each column, in lower case and without the known notes below them."""
    return [tuple(map(_header, column)) for column in zip(*heads, strict=True)]


def _header(cell: "LexborNode") -> str:
    name, *notes = [text.casefold() for text in pages.pieces(cell)] or [""]
    return name if {*notes} <= {NOTE, UNIT_NOTE} else " ".join((name, *notes))


def _rows(section: pages.Section, grids: list[_Grid], columns: _Columns) -> _Grid:
    """Return the rows of the one table of a section, whose headers must be these, in this order."""
    found = [_columns(grid[: len(columns[0])]) for grid in grids]
    if found != [columns]:
        message = f"expected one table with the columns {columns}, found {found}"
        raise refusal(section.source, message, "table", section.name)
    return grids[0][len(columns[0]) :]


def _offers(
    source: str, rows: _Grid, ways: Sequence[tuple[str, str, int | None]], ignored: Counter[str]
) -> Iterator[offers.Row]:
    """Yield the offers of a table. Each of its columns of prices is one way to buy: option, tier, hours of the term."""
    places = Counter(cell.mem_id for row in rows for cell in row)
    for row in rows:
        label = _label(source, row[0])
        prices = []
        for place, (cell, (_, tier, _)) in enumerate(zip(row[1:], ways, strict=True), 1):
            field = f"{label}, {tier}"
            price = words.price(pages.text_of(cell), source=source, field=field, noted=False)
            if price.amount is not None and (places[cell.mem_id] > 1 or len(pages.pieces(cell)) != 1):
                raise refusal(source, "a price that spans columns, or is in pieces", field, pages.text_of(cell))
            if len({one[place].attributes.get("class") for one in rows if places[one[place].mem_id] == 1}) > 1:
                raise refusal(source, "expected the cells of a column to be alike", field, pages.text_of(cell))
            prices.append(price)
        _refuse_exchanged(source, label, prices)
        for price, (option, tier, hours) in zip(prices, ways, strict=True):
            if price.amount is None:
                ignored[f"no price: {tier}, {option}"] += 1
                continue
            yield offers.offer(
                PROVIDER,
                label=label,
                price=price.amount,
                option=option,
                tier=tier,
                commitment_term_hours=hours,
                statistic="floor" if price.is_floor else "price",
                currency=price.currency,
            )


def _refuse_exchanged(source: str, label: str, prices: list[words.Worded]) -> None:
    """Raise where a longer commitment is dearer, or has a price beyond one without: columns may be exchanged."""
    amounts = [price.amount for price in prices]
    present = [amount for amount in amounts if amount is not None]
    places = [place for place, amount in enumerate(amounts) if amount is not None]
    has_gap = bool(places) and places[-1] - places[0] >= len(places)
    if has_gap or present != sorted(present, reverse=True):
        raise refusal(source, "prices that do not fall with the length of the commitment", label, str(amounts))


def _label(source: str, cell: "LexborNode") -> str:
    """Return the chip, whose vendor and model stand there each by itself."""
    texts = pages.pieces(cell)
    if len(texts) != 2 or not _VENDOR.fullmatch(texts[0]) or not _MODEL.fullmatch(texts[1]):
        raise refusal(source, "expected a vendor and a model", "row", " | ".join(texts))
    return " ".join(texts)


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Together AI list prices: GPU clusters and dedicated inference",
    url=URL,
    terms_url="https://www.together.ai/terms-of-service",
    parse=parse,
    accept=HTML,
    max_age=timedelta(days=3),
)
