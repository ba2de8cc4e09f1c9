"""What changed: before and after, percent, when, what kind, and the document that says so."""

from collections.abc import Mapping
from html import escape
from typing import Any

import polars as pl

from reports import wording
from reports.pages.facts import MOST_CHANGES
from reports.tables.sheet import Footnote, Form, Sheet, document_link, sheet, small

Row = Mapping[str, Any]

NO_RATIO = "nothing to compare with: the offer is new, gone, or was free"
QUERY = "select * from int.price_change order by observed_at desc"


def changes(frame: pl.DataFrame, sparks: Mapping[int, str], *, id: str, title: str, subtitle: str, total: int) -> Sheet:
    """Return a table of changes as they come; `total` is how many there are where the frame holds only the first.

    `sparks` are sparklines by offer; where none of the rows has one, there is no column of them.
    """
    rows = list(frame.head(MOST_CHANGES).iter_rows(named=True))
    places = wording.places_of_pairs((row["unit_price_before"], row["unit_price_after"]) for row in rows)
    made = pl.DataFrame(
        {
            "offer": [_offer(row) for row in rows],
            "change": [change(row["change_ratio"]) + small(_kind(row)) for row in rows],
            "before": [_price(row, "before", places) for row in rows],
            "after": [_price(row, "after", places) for row in rows],
            "region": [row["availability_zone_id"] or row["region_id"] or wording.UNKNOWN for row in rows],
            "option": [_option(row) for row in rows],
            "window": [wording.window(row["last_observed_before_at"], row["observed_at"]) for row in rows],
            "spark": [sparks.get(row["offer_id"]) or wording.UNKNOWN for row in rows],
            "document": [document_link(row["document_sha256"]) + small(row["source"]) for row in rows],
        }
    )
    form = Form(
        heads={
            "offer": "Offer",
            "change": "Change,<br>kind",
            "before": "Before<br>USD/h",
            "after": "After<br>USD/h",
            "region": "Region",
            "option": "Option",
            "window": "Happened<br>within",
            **({"spark": "Last 90<br>days"} if any(row["offer_id"] in sparks for row in rows) else {}),
            "document": "Document,<br>source",
        },
        stub="offer",
        right=("change", "before", "after"),
        marked=("offer", "change", "before", "after", "spark", "document"),
    )
    left = total - len(rows)
    note = (
        "Prices are of one machine or chip bundle, as sold. Happened within: the old price was last seen on the first "
        "day, the new one first on the last; providers do not say the moment."
    )
    if left > 0:
        note += f" {wording.count(left, 'more change')} left out: <code>{escape(QUERY)}</code>."
    return sheet(
        made,
        form,
        id=id,
        title=title,
        subtitle=subtitle,
        footnotes=[
            Footnote(
                text=NO_RATIO, column="change", rows=[i for i, row in enumerate(rows) if row["change_ratio"] is None]
            ),
            Footnote(
                text="the source states none",
                column="region",
                rows=[i for i, text in enumerate(made["region"]) if text == wording.UNKNOWN],
            ),
        ],
        note=note,
    )


def tally(frame: pl.DataFrame) -> str:
    """Return how many changes of which kind there are, and how many list prices went which way."""
    kinds = dict(frame["change_kind"].value_counts().iter_rows())
    parts = []
    for kind, words in wording.KINDS_COUNTED.items():
        if kind not in kinds:
            continue
        text = wording.count(kinds[kind], *words)
        if kind in ("list_change", "spot_move", "market_move"):
            ratios = frame.filter(pl.col("change_kind") == kind)["change_ratio"]
            text += f" ({(ratios < 0).sum():,} down, {(ratios > 0).sum():,} up)"
        parts.append(text)
    return ", ".join(parts)


def _kind(row: Row) -> str:
    return wording.KINDS.get(row["change_kind"]) or str(row["change_kind"])


def _offer(row: Row) -> str:
    """Return what is sold, and below it by whom and in which tier where that is not plain."""
    name = row["offered"] or wording.UNKNOWN
    if row["is_chip"] and row["accelerator_count"] is not None:
        name = f"{float(row['accelerator_count']):g} \N{MULTIPLICATION SIGN} {name}"
    by = None if row["service_provider_name"] == "AWS" else row["service_provider_name"]
    return escape(name) + small(", ".join(part for part in (by, row["tier"]) if part))


def change(ratio: float | None) -> str:
    """Return a change with sign and arrow; colour only repeats what they say."""
    if ratio is None:
        return wording.UNKNOWN
    kind = "fall" if ratio < 0 else "rise" if ratio > 0 else "same"
    sign = f'<span aria-hidden="true">{wording.arrow(ratio)}</span>'
    return f'<span class="{kind}">{sign} {escape(wording.percent(ratio))}</span>'


def _price(row: Row, side: str, places: int) -> str:
    """Return the price of one side: the hourly amount, what is paid once below it, or that it was not offered."""
    hourly, upfront = row[f"unit_price_{side}"], row[f"upfront_price_{side}"]
    if hourly is None:
        return "not seen" if side == "before" else "not offered"
    currency = "" if row["pricing_currency"] == "USD" else f" {row['pricing_currency']}"
    once = f"+ {wording.amount(upfront, 2)}{currency} once" if upfront else ""
    return f"{wording.amount(hourly, places)}{escape(currency)}{small(once)}"


def _option(row: Row) -> str:
    return wording.option(
        row["purchase_option"],
        term_hours=row["commitment_term_hours"],
        payment=row["purchase_payment_model"],
        offering_class=row["offering_class"] if row["offering_class"] != "standard" else None,
    )
