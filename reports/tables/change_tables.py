"""What changed: before and after, percent, when, what kind, and the document that says so."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from reports import wording
from reports.queries import Row
from reports.tables.table import Column, Number, Table, arrow, document, left_out, small

MAX_CHANGES = 25
"""Rows of a table of changes; the rest is counted and left to a query."""
NO_RATIO = "nothing to compare with: the offer is new, gone, or was free"
QUERY = "select * from int.price_change order by observed_at desc"
COUNTED_BY_DIRECTION = ("list_change", "spot_move", "market_move")


def changes(frame: pl.DataFrame, sparks: Mapping[int, str], *, id: str, title: str, subtitle: str, total: int) -> Table:
    """Return a table of changes as they come; `total` is how many there are where the frame holds only the first.

    `sparks` are sparklines by offer; where none of the rows has one, there is no column of them.
    """
    rows = frame.head(MAX_CHANGES).rows(named=True)
    places = wording.places_of(_hourly(row, side) for row in rows for side in ("before", "after"))
    place = Column("Region", lambda row: row["availability_zone_id"] or row["region_id"], why="the source states none")
    spark = Column("Last 90\ndays", lambda row: sparks.get(row["offer_id"]))
    return Table(
        id=id,
        title=title,
        subtitle=subtitle,
        rows=rows,
        columns=[
            Column("Offer", _offer),
            Number(
                "Change,\nkind",
                lambda row: (
                    change(row["change_ratio"]) + small(wording.KINDS.get(row["change_kind"], row["change_kind"]))
                ),
                why=lambda row: NO_RATIO if row["change_ratio"] is None else None,
            ),
            Number("Before\nUSD/h", lambda row: _price(row, "before", places)),
            Number("After\nUSD/h", lambda row: _price(row, "after", places)),
            *([place] if any(row["region_id"] for row in rows) else []),
            Column("Option", wording.option_of),
            Column("Happened\nwithin", lambda row: wording.window(row["last_observed_before_at"], row["observed_at"])),
            *([spark] if any(row["offer_id"] in sparks for row in rows) else []),
            Column("Document,\nsource", document),
        ],
        note="Prices are of one machine or chip bundle, as sold. Happened within: the old price was last seen on the "
        "first day, the new one first on the last; providers do not say the moment."
        + left_out(total - len(rows), "more change", QUERY),
    )


def tally(frame: pl.DataFrame) -> str:
    """Return how many changes of which kind there are, and how many list prices went which way."""
    kinds = dict(frame["change_kind"].value_counts().iter_rows())
    parts = []
    for kind, names in wording.KINDS_COUNTED.items():
        if kind not in kinds:
            continue
        text = wording.count(kinds[kind], *names)
        if kind in COUNTED_BY_DIRECTION:
            ratios = frame.filter(pl.col("change_kind") == kind)["change_ratio"]
            text += f" ({(ratios < 0).sum():,} down, {(ratios > 0).sum():,} up)"
        parts.append(text)
    return ", ".join(parts)


def change(ratio: float | None) -> str:
    """Return a change with sign and arrow; colour only repeats what they say."""
    if ratio is None:
        return wording.UNKNOWN
    kind = "fall" if ratio < 0 else "rise" if ratio > 0 else "same"
    return arrow(wording.arrow(ratio), wording.percent(ratio), kind)


def _offer(row: Row) -> str:
    """Return what is sold, and below it by whom and in which tier where that is not plain."""
    name = row["offered"] or wording.UNKNOWN
    if row["is_chip"] and row["accelerator_count"] is not None:
        name = f"{float(row['accelerator_count']):g} \N{MULTIPLICATION SIGN} {name}"
    by = None if row["service_provider_name"] == "AWS" else row["service_provider_name"]
    return name + small(wording.listed(by, row["tier"]))


def _price(row: Row, side: str, places: int) -> str:
    """Return the price of one side: the hourly amount, what is paid once below it, or that it was not offered.

    It has more than `places` decimals where else both sides would look the same.
    """
    hourly, upfront = _hourly(row, side), row[f"upfront_price_{side}"]
    if hourly is None:
        return "not seen" if side == "before" else "not offered"
    currency = "" if row["pricing_currency"] == "USD" else f" {row['pricing_currency']}"
    once = f"+ {wording.amount(upfront, 2)}{currency} once" if upfront else ""
    places = max(places, wording.places_of_pairs([(_hourly(row, "before"), _hourly(row, "after"))]))
    return wording.amount(hourly, places) + currency + small(once)


def _hourly(row: Row, side: str) -> Any:
    """Return what an hour cost on one side, of a minute or a month too, without a fee that is paid once."""
    return row[f"{'unit' if row[f'upfront_price_{side}'] else 'effective_hourly'}_price_{side}"]
