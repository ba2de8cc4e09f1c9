"""Lambda's list prices: instances by the GPUs in them, and 1-Click Clusters, reserved.

Where: https://lambda.ai/pricing . Format read in August 2026; prices are US dollars per GPU-hour, before tax.

1. The clusters stand first, under "1-Click Clusters pricing": sold for "2 weeks - 1 year" or "1 year+", mostly above
   the price of an instance. Whoever takes the first H100 of the page takes a reserved one, so that each heading is a
   fence.
2. Instances have a tab for each size (8x, 4x, 2x, 1x), and the price of one GPU falls with the size: an H100 SXM is
   3.99 of eight and 4.29 alone. The size is a tab's text and found nowhere in the row, so that a panel without its tab
   is refused.
3. Every row stands in the page a second time, escaped, in a script that brings the tabs to life: read is what is
   visible.
4. Class names are hashed (`_pricingRow_3954x_36`) and new with every build. Cells have their column's name in
   `data-label`: read are these, and the whole set of them must be the one known.
5. "NVIDIA A100 SXM" is the name of two rows, of 40 and of 80 GB: the label has VRAM/GPU too.
6. A cluster's GPU COUNT of 16 or 256+ is the least that is sold at its price. Prices of "1 year+" are not shown (a
   dash).
7. The page leads Lambda's API (which needs a key): in spring 2026 by twelve days.
"""

import re
from collections.abc import Iterator

from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Found, each, offer, outside, shown_price
from extract.neoclouds.pages import Node, Page, Section, text_of
from warehouse.documents import Document
from warehouse.schema.vocabulary import HOURS_PER_YEAR

CLUSTERS, INSTANCES = "1-Click Clusters pricing", "Instances pricing"
PRICE = "PRICE/GPU/HR*"
INSTANCE_COLUMNS = frozenset({"Plan", "VRAM/GPU", "vCPUs", "RAM", "STORAGE", PRICE})
CLUSTER_COLUMNS = frozenset({"Plan", "DURATION", "GPU COUNT", PRICE, "Action"})
TERM_HOURS = {"2 weeks \N{EN DASH} 1 year": 14 * 24, "1 year+": HOURS_PER_YEAR}
"""The least length of each duration."""


def read(document: Document) -> Iterator[Found]:
    """Yield the prices of clusters and of instances."""
    page = Page(document)
    clusters, section = page.part(CLUSTERS), page.part(INSTANCES)
    yield from each(_records(clusters.css("tr"), CLUSTER_COLUMNS, CLUSTERS), _cluster)
    yield from outside(page.whole().css("tr[data-plan]"), clusters, section)
    instances = list(_instances(section))
    if not any(isinstance(one, dict) for one in instances):
        raise refusal("expected prices of instances, found none", INSTANCES, "")
    yield from instances


def _cluster(cells: dict[str, str]) -> Iterator[Found]:
    if cells["DURATION"] not in TERM_HOURS:
        raise refusal(f"expected one of {', '.join(TERM_HOURS)}", "DURATION", cells["DURATION"])
    count = _matched(r"(\d{1,4})\+?", cells["GPU COUNT"], "GPU COUNT", "a number of GPUs")
    yield offer(
        cells["Plan"],
        shown_price(cells[PRICE], PRICE),
        option="reserved",
        commitment_term_hours=TERM_HOURS[cells["DURATION"]],
        tier="1-Click Clusters",
        minimum_quantity=count,
    )


def _instances(section: Section) -> Iterator[Found]:
    panels = {node.attributes.get("id"): node for node in section.css("[role=tabpanel]")}
    tabs = section.css("[role=tab]")
    named = [tab.attributes.get("aria-controls") for tab in tabs]
    sizes = [text_of(tab) for tab in tabs]
    if not tabs or sorted(map(str, named)) != sorted(map(str, panels)) or len(set(sizes)) != len(sizes):
        raise refusal("expected one tab for each panel", "tab", f"{sizes} for {len(panels)} panels")
    unread = len(section.css("td[data-label='Plan'], th[data-label='Plan']"))
    for tab, size, panel_id in zip(tabs, sizes, named, strict=True):
        count = _matched(r"(\d{1,2})x", size, "tab", "the tab of a size, such as 8x")
        panel = panels[panel_id]
        records = _records(panel.css("tr"), INSTANCE_COLUMNS, size)
        is_named = panel.attributes.get("aria-labelledby") in (None, tab.attributes.get("id"))
        if not is_named or not records or len(panel.css("table")) != 1:
            raise refusal("expected a panel with one table of prices, which names its tab", "tab", size)
        unread -= len(records)
        yield from each(records, _instance, count)
    if unread:
        raise refusal("rows of prices outside the panels of the sizes", "row", unread)


def _instance(cells: dict[str, str], count: str) -> Iterator[Found]:
    memory = _matched(r"(\d{1,4} GB)", cells["VRAM/GPU"], "VRAM/GPU", "the memory of one GPU")
    yield offer(f"{cells['Plan']} {memory}", shown_price(cells[PRICE], PRICE), minimum_quantity=count)


def _matched(form: str, text: str, field: str, expected: str) -> str:
    if (found := re.fullmatch(form, text)) is None:
        raise refusal(f"expected {expected}", field, text)
    return found[1]


def _records(rows: list[Node], columns: frozenset[str], place: str) -> list[dict[str, str]]:
    """Return the cells of each row by their `data-label`; the header row, where there is one, must have the same names.

    Raises LayoutChanged where a row has other cells than `columns`, or another plan than it is marked with.
    """
    records = []
    for row in rows:
        cells = row.css("th, td")
        if not any("data-label" in cell.attributes for cell in cells):
            found = [text_of(cell) for cell in cells]
        else:
            found = [cell.attributes.get("data-label") or "" for cell in cells]
            records.append(dict(zip(found, (text_of(cell) for cell in cells), strict=True)))
        if sorted(found) != sorted(columns):
            raise refusal(f"expected the columns {', '.join(sorted(columns))}", place, ", ".join(found))
        if records and "data-plan" in row.attributes and row.attributes["data-plan"] != records[-1]["Plan"]:
            raise refusal("a row is marked as another plan", "data-plan", row.attributes["data-plan"])
        if records and not records[-1]["Plan"]:
            raise refusal("expected the name of a plan", "Plan", "")
    return records


SOURCE = web_source(
    read, name="lambda", provider="Lambda", title="Lambda, price page", url="https://lambda.ai/pricing", accept=HTML
)
