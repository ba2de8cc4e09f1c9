"""Nebius's list prices: on demand and preemptible, with the changes that it announces.

Where: https://nebius.com/prices, as escaped JSON in the page's data. Prices are US dollars per GPU-hour, of no region.

1. The columns have changed three times in seven months. Until April 2026: Item, vCPUs, RAM, Price per GPU-hour. From
   May: Preemptible and On-demand. By October: On-demand and "GPU-hour (Effective October 1, 2026)", and preemptible
   prices in a table of their own. Collectors that took the fourth column kept working in May and recorded preemptible
   prices as on-demand ones for months. Columns are taken by their header, which must be among those known, in a set
   that was seen.
2. A column "GPU-hour (Effective <date>)" is a price announced until that day (restriction announced, conditions "from
   2026-10-01"), and from that day on the price; it stood beside the old one for days after. What counts is the day on
   which the page was fetched, in UTC; the old column is then counted as superseded. It belongs to the on-demand
   column: beside a preemptible one it could be of either and is refused.
3. No preemptible price was ever above the on-demand one of its row: if it is, the columns were exchanged.
4. "from $1.82" is the least of several machines and becomes a floor. In October every preemptible price was one.
5. GB200 and GB300 say "[Contact us](#ai-contact-form)" or a dash: no price, and counted.
6. Tables of CPUs, storage and services look alike. They are counted; one that speaks of GPUs under another title is
   refused.
7. The documentation (https://docs.nebius.com/compute/resources/pricing) has said other prices of the L40S than this
   page.
8. The page's data is JSON with the blocks of the page as JSON in a text. Read is also an excerpt of those blocks,
   escaped. The same tables stand in the page as a reader sees them: read where the data cannot be, and where both can,
   they must say the same prices.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from extract.neoclouds.answers import MAX_TEXT, Fields, content, refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, each, offer, parsed, readings_agree, refuse_exchanged, shown_price
from extract.neoclouds.pages import HEADINGS, Page, cells, children, text_of
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

BLOCK = "highlight-table-block"
ON_DEMAND_TABLE = "NVIDIA GPU Instances"
SPOT_TABLE = "Preemptible NVIDIA GPU Instances"
ITEM, MACHINE = "Item", ("Item", "vCPUs", "RAM, GB")
ONLY_PRICE, ON_DEMAND, PREEMPTIBLE = "Price per GPU-hour", "On-demand, GPU-hour", "Preemptible, GPU-hour"
SPOT = "Spot price, GPU-hour*"
LAYOUTS = {ON_DEMAND_TABLE: ({ONLY_PRICE}, {PREEMPTIBLE, ON_DEMAND}, {ON_DEMAND}), SPOT_TABLE: ({SPOT},)}
"""The sets of price columns that each table has had; the last of the first table may have dated ones beside it."""

_DATED = re.compile(r"GPU-hour \(Effective ([A-Z][a-z]+ \d{1,2}, \d{4})\)")
_SIZE = re.compile(r"[\d,.]+(?:[-\N{EN DASH}][\d,.]+)?")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_RAISED = re.compile(r"\^([^^]*)\^")
_ESCAPED = re.compile(r"\\([*_~])")


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of the page's tables of GPUs, from its data or else as a reader sees them; both must agree."""
    readings, errors = [], []
    for tables in (_tables, _seen_tables):
        try:
            found = _read(tables(document), document)
            parsed(found, SOURCE.provider)  # a fifth of the rows unread is no reading
            readings.append(found)
        except LayoutChanged as error:
            errors.append(error)
    if not readings:
        # Of the data where the page has any, else of what is seen.
        raise errors[0] if errors[0].field != "type" else errors[1]
    readings_agree(readings[0], readings[-1], "the page's data and its tables")
    yield from readings[0]


def _read(found: Iterable[tuple[str, list[list[str]]]], document: Document) -> list[Found]:
    """Return the prices of the tables of GPUs, and a reason for each row of the others."""
    tables: dict[str, list[list[str]]] = {}
    for title, table in found:
        if tables.setdefault(title, table) != table:
            raise refusal("two tables have one title", "title", title)
    if ON_DEMAND_TABLE not in tables:
        raise refusal(f"expected a table {ON_DEMAND_TABLE}, found {', '.join(tables)[:200]}", "title", "")
    rows: list[Found] = []
    for title, table in tables.items():
        if title in LAYOUTS:
            rows += _prices(title, table, document.fetched_at.date())
        elif "GPU" in title or any("GPU" in header for header in table[0]):
            raise refusal(f"a table of GPUs other than {' and '.join(LAYOUTS)}", "title", title)
        else:
            rows += [title or "a table without title"] * (len(table) - 1)
    refuse_exchanged(rows)
    return rows


def _tables(document: Document) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield title and rows of each table in the page's data, headers first; raise LayoutChanged where there is none."""
    found = 0
    for block in _blocks(document):
        found += 1
        fields = Fields(BLOCK, block)
        title = _clean(fields.text("title")) if fields.any("title") else ""
        table = fields.inner("table").any("content")
        if not isinstance(table, list) or not table or not all(isinstance(row, list) for row in table):
            raise refusal("expected rows", title, str(table))
        if not all(isinstance(cell, str) and len(cell) <= MAX_TEXT for row in table for cell in row):
            raise refusal(f"expected cells of text, of at most {MAX_TEXT} characters", title, str(table)[:200])
        cells = [[_clean(cell) for cell in row] for row in table]
        for row in cells:
            if len(row) != len(cells[0]) or len(set(cells[0])) != len(row):
                raise refusal(f"expected one cell for each of {' | '.join(cells[0])}", title, " | ".join(row))
        yield title, cells
    if not found:
        raise refusal(f"expected JSON with blocks of type {BLOCK}", "type", "none")


def _seen_tables(document: Document) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield title and rows of each table that a reader sees, headers first; raise LayoutChanged where there is none."""
    whole = Page(document).whole()
    headings = [node for node in whole.nodes if node.tag in HEADINGS]
    found = 0
    for section in whole.split(headings):
        if not section.named(ITEM):
            continue
        found += 1
        head, columns = section.head(ITEM)
        # Headers and rows are in one block, or in a block each.
        block = head.parent
        while block is not None and len(children(block)) == 1:
            block = block.parent
        nodes = children(block) if block is not None else []
        if head.mem_id not in {node.mem_id for node in nodes}:
            nodes = [row for node in nodes for row in children(node)]
        rows = [[text_of(cell) for cell in cells(row)] for row in nodes if row.tag not in HEADINGS]
        if len(set(columns)) != len(columns):
            raise refusal("two columns have one header", section.name, " | ".join(columns))
        if rows[:1] != [columns] or any(len(row) != len(columns) for row in rows):
            raise refusal(f"expected one cell for each of {' | '.join(columns)}", section.name, str(rows)[:200])
        yield section.name, [[_clean(cell) for cell in row] for row in rows]
    if not found:
        raise refusal(f"expected tables with the column {ITEM}", "table", "none")


def _blocks(document: Document) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of tables: those in the scripts of a page, or those of an excerpt of its data."""
    body = document.body.strip(b"\xef\xbb\xbf \t\r\n")
    if body.startswith(b"{"):
        text = content(b'"' + body + b'"')
        yield from _within(content(f"[{text}]"))
        return
    for script in Page(document).tree.css("script"):
        if BLOCK in (text := script.text()):
            yield from _within(content(text))


def _within(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of tables in a value, also in texts that are JSON themselves."""
    if isinstance(value, Mapping):
        if value.get("type") == BLOCK:
            yield value
        else:
            for inner in value.values():
                yield from _within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _within(inner)
    elif isinstance(value, str) and f'"{BLOCK}"' in value:
        yield from _within(content(value))


def _prices(title: str, table: list[list[str]], today: date) -> Iterator[Found]:
    headers = table[0]
    dated = {header: _date(match[1]) for header in headers if (match := _DATED.fullmatch(header))}
    others = {header for header in headers if header not in MACHINE and header not in dated}
    if others not in LAYOUTS[title] or not set(MACHINE) <= set(headers) or (dated and others != {ON_DEMAND}):
        raise refusal(f"columns that {title} never had", "columns", " | ".join(headers))
    in_force = max((day for day in dated.values() if day <= today), default=None)

    def read_row(cells: list[str]) -> Iterator[Found]:
        row = dict(zip(headers, cells, strict=True))
        label = row[ITEM].rstrip("* ")
        if not label or not all(_SIZE.fullmatch(row[header]) for header in MACHINE if header != ITEM):
            raise refusal("expected the name of a machine, its CPUs and its memory", ITEM, " | ".join(cells))
        for header in [name for name in headers if name not in MACHINE]:
            price, day = shown_price(row[header], header), dated.get(header)
            option = "spot" if header in (PREEMPTIBLE, SPOT) else "on_demand"
            if price.amount and in_force is not None and (day or date.min) < in_force:
                yield "superseded"
            elif day is not None and day > today:
                yield offer(label, price, restriction="announced", conditions=f"from {day}")
            else:
                yield offer(label, price, option=option)

    yield from each(table[1:], read_row)


def _date(text: str) -> date:
    try:
        return datetime.strptime(text, "%B %d, %Y").date()  # noqa: DTZ007 - a day, without a time
    except ValueError as error:
        raise refusal("expected a date such as October 1, 2026", "columns", text) from error


def _clean(text: str) -> str:
    """Return a cell's text without its Markdown: links, raised footnotes, escapes."""
    plain = html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    return " ".join(_ESCAPED.sub(r"\1", _RAISED.sub(r"\1", _LINK.sub(r"\1", plain))).split())


SOURCE = web_source(
    read, name="nebius", provider="Nebius", title="Nebius, price page", url="https://nebius.com/prices", accept=HTML
)
