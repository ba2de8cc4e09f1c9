"""Lambda's list prices: instances by the GPUs in them, and 1-Click Clusters, reserved.

Where: https://lambda.ai/pricing, one page rendered on the server; no key. Terms:
https://lambda.ai/legal/terms-of-service. Setting: `url`. Format read in August 2026; prices are US dollars per
GPU-hour, before tax.

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
from datetime import timedelta
from typing import TYPE_CHECKING

from extract.base import Parsed
from extract.neoclouds.answers import refusal
from extract.neoclouds.fetching import HTML, web_source
from extract.neoclouds.offers import Row, offer, once, parsed
from extract.neoclouds.pages import Page, Section, text_of
from extract.neoclouds.words import price
from warehouse.documents import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

NAME = "lambda"
PROVIDER = "Lambda"
URL = "https://lambda.ai/pricing"
TERMS_URL = "https://lambda.ai/legal/terms-of-service"

CLUSTERS, INSTANCES = "1-Click Clusters pricing", "Instances pricing"
PRICE = "PRICE/GPU/HR*"
INSTANCE_COLUMNS = frozenset({"Plan", "VRAM/GPU", "vCPUs", "RAM", "STORAGE", PRICE})
CLUSTER_COLUMNS = frozenset({"Plan", "DURATION", "GPU COUNT", PRICE, "Action"})
CLUSTER_TIER = "1-Click Clusters"
TERM_HOURS = {"2 weeks \N{EN DASH} 1 year": 14 * 24, "1 year+": 8760}
"""The least length of each duration."""


def parse(document: Document) -> Parsed:
    """Return the prices of the page; raise LayoutChanged where it is not the page that it was."""
    page = Page(document)
    clusters, no_cluster = _clusters(page.section(CLUSTERS, ends=INSTANCES))
    instances, no_instance = _instances(page.part(INSTANCES))
    if not instances:
        raise refusal(NAME, "expected prices of instances, found none", INSTANCES, "")
    rows, repeated = once([*clusters, *instances])
    ignored = {"no price shown": no_cluster + no_instance, "repeated": repeated}
    return parsed(rows, source=NAME, ignored={reason: count for reason, count in ignored.items() if count})


def _clusters(section: Section) -> tuple[list[Row], int]:
    """Return the rows of clusters, and how many show no price."""
    rows: list[Row] = []
    records = _records(section.css("tr"), CLUSTER_COLUMNS, CLUSTERS)
    for cells in records:
        words = price(cells[PRICE], source=NAME, field=PRICE)
        if cells["DURATION"] not in TERM_HOURS:
            raise refusal(NAME, f"expected one of {', '.join(TERM_HOURS)}", "DURATION", cells["DURATION"])
        count = re.fullmatch(r"(\d{1,4})\+?", cells["GPU COUNT"])
        if count is None:
            raise refusal(NAME, "expected a number of GPUs", "GPU COUNT", cells["GPU COUNT"])
        if words.amount is not None:
            rows.append(
                offer(
                    PROVIDER,
                    label=cells["Plan"],
                    price=words.amount,
                    currency=words.currency,
                    option="reserved",
                    commitment_term_hours=TERM_HOURS[cells["DURATION"]],
                    tier=CLUSTER_TIER,
                    minimum_quantity=count[1],
                    statistic="floor" if words.is_floor else "price",
                )
            )
    return rows, len(records) - len(rows)


def _instances(section: Section) -> tuple[list[Row], int]:
    """Return the rows of instances, and how many show no price."""
    rows: list[Row] = []
    panels = {node.attributes.get("id"): node for node in section.css("[role=tabpanel]")}
    tabs = section.css("[role=tab]")
    named = [tab.attributes.get("aria-controls") for tab in tabs]
    sizes = [text_of(tab) for tab in tabs]
    if not tabs or sorted(map(str, named)) != sorted(map(str, panels)) or len(set(sizes)) != len(sizes):
        raise refusal(NAME, "expected one tab for each panel", "tab", f"{sizes} for {len(panels)} panels")
    read = seen = 0
    for size, panel_id in zip(sizes, named, strict=True):
        count = re.fullmatch(r"(\d{1,2})x", size)
        panel = panels[panel_id]
        tab_id = panel.attributes.get("aria-labelledby")
        if count is None or tab_id not in (None, *(tab.attributes.get("id") for tab in tabs if text_of(tab) == size)):
            raise refusal(NAME, "expected the tab of a size, such as 8x, which its panel names", "tab", size)
        records = _records(panel.css("tr"), INSTANCE_COLUMNS, size)
        if not records:
            raise refusal(NAME, "expected prices in the panel of every tab", "tab", size)
        read += len(records)
        for cells in records:
            words = price(cells[PRICE], source=NAME, field=PRICE)
            if not re.fullmatch(r"\d{1,4} GB", cells["VRAM/GPU"]):
                raise refusal(NAME, "expected the memory of one GPU", "VRAM/GPU", cells["VRAM/GPU"])
            if words.amount is not None:
                label = f"{cells['Plan']} {cells['VRAM/GPU']}"
                rows.append(
                    offer(
                        PROVIDER,
                        label=label,
                        price=words.amount,
                        currency=words.currency,
                        minimum_quantity=count[1],
                        statistic="floor" if words.is_floor else "price",
                    )
                )
    seen = len(section.css("td[data-label='Plan'], th[data-label='Plan']"))
    if seen != read:
        raise refusal(NAME, "rows of prices outside the panels of the sizes", "row", seen - read)
    return rows, read - len(rows)


def _records(rows: "list[LexborNode]", columns: frozenset[str], place: str) -> list[dict[str, str]]:
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
            raise refusal(NAME, f"expected the columns {', '.join(sorted(columns))}", place, ", ".join(found))
        if records and "data-plan" in row.attributes and row.attributes["data-plan"] != records[-1]["Plan"]:
            raise refusal(NAME, "a row is marked as another plan", "data-plan", row.attributes["data-plan"])
        if records and not records[-1]["Plan"]:
            raise refusal(NAME, "expected the name of a plan", "Plan", "")
    return records


SOURCE = web_source(
    name=NAME,
    provider=PROVIDER,
    title="Lambda, price page",
    url=URL,
    terms_url=TERMS_URL,
    parse=parse,
    accept=HTML,
    max_age=timedelta(days=3),
)
