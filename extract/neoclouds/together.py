"""Together AI's list prices of GPUs: clusters on demand and reserved, and dedicated inference.

The page is https://www.together.ai/pricing ; its prices of tokens are not read.

1. Three tables name the same GPUs: dedicated inference (H100 5.49), clusters (H100 3.99), and a hidden one of hourly
   prices from before. Each is known by its heading and its headers; the hidden one is never read, nor a hidden column,
   which had a preemptible H100 at half the price in September 2026. What a table is of becomes the tier.
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

from extract.neoclouds.answers import form_changed, refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, each, offer, outside, shown_price
from extract.neoclouds.pages import Node, Page, Section, grid, pieces, text_of
from warehouse.documents import Document

_Grid = list[list[Node]]
_Columns = list[tuple[str, ...]]

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

_VENDOR_AND_MODEL = re.compile(r"[A-Za-z]+ \| [A-Z][^|]*\d[^|]*")


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of clusters and of dedicated inference, and what the hidden table has."""
    page = Page(document)
    clusters, inference = (page.part(heading, tags=("h2",)) for heading in (CLUSTERS, INFERENCE))
    _check_unit(clusters, UNIT)
    if not page.is_excerpt:  # which may leave the notes of the headers out
        _check_unit(inference, UNIT_NOTE)
    tables = (node for node in page.whole().css("table") if text_of(node).casefold().startswith(HARDWARE))
    yield from outside(tables, clusters, inference)
    grids = [grid(node) for node in clusters.css("table")]
    hidden = [one for one in grids if _columns(one[:1]) == HIDDEN_COLUMNS]
    yield from ["row of the hidden table"] * sum(len(one) - 1 for one in hidden)
    others = [one for one in grids if _columns(one[:1]) != HIDDEN_COLUMNS]
    ways = [("on_demand", CLUSTERS, None), *(("reserved", f"{CLUSTERS}, {term}", TERMS[term]) for term in TERMS)]
    yield from _offers(_rows(clusters, others, CLUSTER_COLUMNS), ways)
    grids = [grid(node) for node in inference.css("table")]
    ways = [("on_demand", INFERENCE, None), ("reserved", INFERENCE, None)]
    yield from _offers(_rows(inference, grids, INFERENCE_COLUMNS), ways)


def _check_unit(section: Section, sentence: str) -> None:
    if not any(text_of(node).casefold() == sentence for node in section.nodes):
        raise refusal(f"expected the sentence {sentence!r}", "unit", section.name)


def _columns(heads: _Grid) -> _Columns:
    """Return the headers of each column, in lower case and without the known notes below them."""
    return [tuple(map(_header, column)) for column in zip(*heads, strict=True)]


def _header(cell: Node) -> str:
    name, *notes = [text.casefold() for text in pieces(cell)] or [""]
    return name if {*notes} <= {NOTE, UNIT_NOTE} else " ".join((name, *notes))


def _rows(section: Section, grids: list[_Grid], columns: _Columns) -> _Grid:
    """Return the rows of the one table of a section, whose headers must be these, in this order."""
    found = [_columns(one[: len(columns[0])]) for one in grids]
    if found != [columns]:
        raise refusal(f"expected one table with the columns {columns}, found {found}", "table", section.name)
    return grids[0][len(columns[0]) :]


def _offers(rows: _Grid, ways: Sequence[tuple[str, str, int | None]]) -> Iterator[Found]:
    """Yield the offers of a table. Each of its columns of prices is one way to buy: option, tier, hours of the term."""
    places = Counter(cell.mem_id for row in rows for cell in row)

    def read_row(found: tuple[Node, list[Node]]) -> Iterator[Found]:
        row = found[1]
        chip = " | ".join(pieces(row[0]))
        if not _VENDOR_AND_MODEL.fullmatch(chip):
            raise refusal("expected a vendor and a model", "row", chip)
        label = chip.replace(" | ", " ")
        prices = []
        for place, (cell, (_, tier, _)) in enumerate(zip(row[1:], ways, strict=True), 1):
            field, text = f"{label}, {tier}", text_of(cell)
            price = shown_price(text, field, noted=False)
            if price.amount is not None and (places[cell.mem_id] > 1 or len(pieces(cell)) != 1):
                raise form_changed("a price that spans columns, or is in pieces", field, text)
            if len({one[place].attributes.get("class") for one in rows if places[one[place].mem_id] == 1}) > 1:
                raise form_changed("expected the cells of a column to be alike", field, text)
            prices.append(price)
        # A longer commitment that is dearer, or has a price beyond one without: columns may be exchanged.
        amounts = [price.amount for price in prices]
        present = [amount for amount in amounts if amount is not None]
        sold = [place for place, amount in enumerate(amounts) if amount is not None]
        if present != sorted(present, reverse=True) or (sold and sold[-1] - sold[0] >= len(sold)):
            raise form_changed("prices that do not fall with the length of the commitment", label, str(amounts))
        for price, (option, tier, hours) in zip(prices, ways, strict=True):
            yield offer(label, price, option=option, tier=tier, commitment_term_hours=hours)

    yield from each(((row[0], row) for row in rows), read_row)


SOURCE = web_source(
    read,
    name="together",
    provider="Together AI",
    title="Together AI list prices: GPU clusters and dedicated inference",
    url="https://www.together.ai/pricing",
    accept=HTML,
)
