"""Where things stand at AWS: prices per chip-hour and per NeuronCore-hour, each purchase option in its own column."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from reports import wording
from reports.currency import Rate
from reports.tables.sheet import Footnote, Form, Sheet, document_link, sheet, small

CELLS = ("on_demand", "reserved_1", "reserved_3")
TERMS = "Reserved: the payment of the lowest effective price, an upfront fee spread over the term."
CHEAPEST = "Cheapest seen: a current price before an older one, then the lowest."

NO_TERM = "the price list was read and has no such term for this type"
NOT_ASKED = "the source of this row tells on-demand prices only"
NO_ON_DEMAND = "no on-demand price of this type is known"
NO_RATE = "priced in another currency, without a reference rate of the ten days before: {} per chip-hour on demand"

Row = Mapping[str, Any]
"""A row of a frame of facts, by column."""


def confirmed(rows: Sequence[Row]) -> str:
    """Return when the oldest of some prices was last confirmed, and what that makes of it, as our own HTML."""
    oldest = min(rows, key=lambda row: row["last_observed_at"])
    date = wording.day(oldest["last_observed_at"])
    if oldest["kind"] != "live":
        return f'<span class="past">{date} <small>archived</small></span>'
    if not oldest["is_current"]:
        return f'<span class="past">{date} <small>stale, {wording.days(oldest["age_days"])} days</small></span>'
    return date


def aws_rows(prices: pl.DataFrame) -> list[dict[str, Row]]:
    """Return the prices of each chip and region by cell, by name of chip and region."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for price in prices.iter_rows(named=True):
        rows.setdefault((price["accelerator_name"], price["region_id"] or ""), {})[price["cell"]] = price
    return [row for _, row in sorted(rows.items())]


def by_chip(prices: pl.DataFrame, rate: Rate | None = None) -> Sheet:
    """Return the summary of AWS: one row for each chip, in the region where it is the cheapest seen."""
    regions: dict[str, list[dict[str, Row]]] = {}
    for row in aws_rows(prices):
        regions.setdefault(_any(row)["accelerator_name"], []).append(row)
    best = [min(rows, key=_rank) for rows in regions.values()]
    frame, places = _amounts(best, "price_per_accelerator_hour_usd", rate)
    frame = frame.with_columns(
        chip=pl.Series(list(regions)),
        region=pl.Series([_any(row)["region_id"] or wording.UNKNOWN for row in best]),
        n_regions=pl.Series([f"{len(rows):,}" for rows in regions.values()]),
    )
    form = Form(
        heads={
            "chip": "Chip",
            **_price_heads("chip-hour"),
            "instance_type": "Instance type",
            "region": "Region",
            "n_regions": "Regions<br>priced",
            "confirmed": "Last<br>confirmed",
            "document": "Document",
        },
        stub="chip",
        right=(*CELLS, "n_regions"),
        marked=(*CELLS, "confirmed", "document"),
    )
    return sheet(
        frame,
        form,
        id="aws-chips",
        title=f"AWS: {_range(best, places)}",
        subtitle=f"List prices, Linux; the region and type where the chip is the cheapest seen on demand. "
        f"{wording.count(len(best), 'chip')}, dearest first; {_dates(best)}.",
        footnotes=_footnotes(best, "price_per_accelerator_hour_usd"),
        note=f"{CHEAPEST} {TERMS}",
    )


def by_region(prices: pl.DataFrame, rate: Rate | None = None) -> Sheet:
    """Return every chip in every region of AWS: the cheapest type seen on demand, and that type under Reserved."""
    rows = aws_rows(prices)
    frame, _ = _amounts(rows, "price_per_accelerator_hour_usd", rate)
    frame = frame.with_columns(
        chip=pl.Series([_any(row)["accelerator_name"] for row in rows], dtype=pl.String),
        region=pl.Series([_any(row)["region_id"] or wording.UNKNOWN for row in rows], dtype=pl.String),
    )
    form = Form(
        heads={
            "region": "Region",
            **_price_heads("chip-hour"),
            "instance_type": "Instance type",
            "confirmed": "Last<br>confirmed",
            "document": "Document",
        },
        stub="region",
        group="chip",
        right=CELLS,
        marked=(*CELLS, "confirmed", "document"),
    )
    return sheet(
        frame,
        form,
        id="aws-regions",
        title=f"AWS: {wording.count(len(rows), 'price')} of chips by region",
        subtitle=f"List prices, Linux; in each region the type with the cheapest chip seen on demand; {_dates(rows)}.",
        footnotes=_footnotes(rows, "price_per_accelerator_hour_usd"),
        note=f"{CHEAPEST} {TERMS}",
    )


def neuron(prices: pl.DataFrame, rate: Rate | None = None) -> Sheet | None:
    """Return Neuron chips per NeuronCore-hour, each in the region where it is the cheapest seen; None without any."""
    regions: dict[str, list[dict[str, Row]]] = {}
    for row in aws_rows(prices.filter(pl.col("price_per_neuron_core_hour").is_not_null())):
        regions.setdefault(_any(row)["accelerator_name"], []).append(row)
    best = [min(rows, key=_rank) for rows in regions.values()]
    if not best:
        return None
    frame, _ = _amounts(best, "price_per_neuron_core_hour", rate)
    frame = frame.with_columns(
        chip=pl.Series(list(regions)), region=pl.Series([_any(row)["region_id"] or wording.UNKNOWN for row in best])
    )
    form = Form(
        heads={
            "chip": "Chip",
            **_price_heads("core-hour"),
            "instance_type": "Instance type",
            "region": "Region",
            "confirmed": "Last<br>confirmed",
            "document": "Document",
        },
        stub="chip",
        right=CELLS,
        marked=(*CELLS, "confirmed", "document"),
    )
    return sheet(
        frame,
        form,
        id="aws-neuron",
        title="AWS: Neuron chips per NeuronCore-hour",
        subtitle="The same types as above; the price of a chip-hour divided by the NeuronCores of the chip.",
        footnotes=_footnotes(best, "price_per_neuron_core_hour"),
    )


def _price_heads(unit: str) -> dict[str, str]:
    return {
        "on_demand": f"On-demand<br>USD per<br>{unit}",
        "reserved_1": f"1-yr Reserved<br>USD per<br>{unit}",
        "reserved_3": f"3-yr Reserved<br>USD per<br>{unit}",
    }


def _amounts(rows: list[dict[str, Row]], column: str, rate: Rate | None) -> tuple[pl.DataFrame, int]:
    """Return what tables of AWS share as texts: prices by cell, type, confirmation, documents; and the places used."""
    places = wording.places_of(cell[column] for row in rows for cell in row.values())
    columns: dict[str, list[str]] = {name: [] for name in (*CELLS, "instance_type", "confirmed", "document")}
    for row in rows:
        for name in CELLS:
            cell = row.get(name)
            text = wording.amount(cell[column] if cell else None, places)
            terms = [cell["purchase_payment_model"], cell["offering_class"]] if cell else []
            plain = [term for term in terms if term and term != "standard"]
            other = small(rate.amount(cell[column], places)) if rate and cell else ""
            columns[name].append(text + other + (small(", ".join(plain)) if cell and text != wording.UNKNOWN else ""))
        documents = dict.fromkeys(row[name]["document_sha256"] for name in CELLS if name in row)
        columns["instance_type"].append(_any(row)["instance_type"])
        columns["confirmed"].append(confirmed(list(row.values())))
        links = " ".join(document_link(sha) for sha in documents)
        columns["document"].append(f'<span class="links">{links}</span>' if len(documents) > 1 else links)
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), places


def _footnotes(rows: list[dict[str, Row]], column: str) -> list[Footnote]:
    """Return why each dash is one."""
    why: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        for name in CELLS:
            if name not in row:
                known = NO_TERM if _any(row)["kind"] == "live" else NOT_ASKED
                reason = NO_ON_DEMAND if name == "on_demand" else known
            elif row[name][column] is None:
                first = _any(row)
                native = f"{wording.amount(first['price_per_accelerator_hour'], 2)} {first['pricing_currency']}"
                reason = NO_RATE.format(native)
            else:
                continue
            why.setdefault((reason, name), []).append(index)
    return [Footnote(text=reason, column=name, rows=indexes) for (reason, name), indexes in why.items()]


def _any(row: Mapping[str, Row]) -> Row:
    """Return the first price of a row, on demand where there is one."""
    return next(row[name] for name in CELLS if name in row)


def _rank(row: Mapping[str, Row]) -> int:
    """Return the rank of a row's region for its chip: 1 is where it is cheapest."""
    return int(_any(row)["region_rank"])


def _range(best: list[dict[str, Row]], places: int) -> str:
    """Return from where to where the cheapest prices seen reach."""
    prices = [row["on_demand"]["price_per_accelerator_hour_usd"] for row in best if "on_demand" in row]
    known = [price for price in prices if price is not None]
    if not known:
        return "no on-demand price in USD is known"
    low, high = (wording.amount(price, places) for price in (min(known), max(known)))
    return f"{low} to {high} USD per chip-hour on demand, last known"


def _dates(rows: list[dict[str, Row]]) -> str:
    """Return how many rows are current, and how old the others are."""
    first = [_any(row) for row in rows]
    past = [row["last_observed_at"] for row in first if not row["is_current"]]
    if not past:
        return "all current"
    oldest, newest = wording.day(min(past)), wording.day(max(past))
    dates = oldest if oldest == newest else f"{oldest} to {newest}"
    return f"{len(first) - len(past):,} current, {len(past):,} last confirmed {dates}"
