"""Rows of observations as every source here makes them: what is the same everywhere is said once."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from extract.base import Parsed
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import FACT_TABLES, OBSERVATION

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, object]
CENTS = Decimal(100)
TEN_DECIMALS = Decimal("1e-10")
"""What the warehouse keeps of an amount."""


def offer(
    provider: str,
    *,
    label: str,
    price: Decimal,
    count: int | Decimal = 1,
    instance_type: str | None = None,
    option: str = "on_demand",
    currency: str = "USD",
    **others: object,
) -> Row:
    """Return one observation of OBSERVATION's columns.

    `price` is of the whole machine where `instance_type` is given or `count` is above 1, else of one chip; `count` is
    the chips in it. `label` is the chip in the provider's own words. `others` are any further columns of OBSERVATION,
    such as region_id, tier, minimum_quantity, commitment_term_hours, fabric, host_provider_name, statistic.
    """
    unknown = set(others) - set(OBSERVATION)
    if unknown:
        raise TypeError(f"not columns of an observation: {', '.join(sorted(unknown))}")
    whole_machine = instance_type is not None or count != 1
    return {
        "service_provider_name": provider,
        "instance_type": instance_type,
        "accelerator_label": " ".join(label.split()),
        "accelerator_count": plain(Decimal(count)),
        "capacity_unit": "instance" if whole_machine else "GPU",
        "purchase_option": option,
        "statistic": "price",
        "pricing_currency": currency,
        "unit_price_type": "List",
        "unit_price": plain(price),
    } | others


def plain(number: Decimal) -> str:
    """Return a number as plain text, without exponent and without needless zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def once(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """Return the rows without those that say all the same as one before them, and how many those were.

    Rows of one offer with different prices all stay: which of them holds is for the batch gate to refuse.
    """
    every = list(rows)
    kept: dict[object, Row] = {}
    for row in every:
        kept.setdefault(tuple(sorted((name, str(value)) for name, value in row.items())), row)
    return list(kept.values()), len(every) - len(kept)


def quantile(prices: Sequence[Decimal], share: Decimal) -> Decimal:
    """Return the price below which that share of the prices lies, to ten decimals.

    Between two prices it lies on the straight line that joins them, as in DuckDB's quantile_cont.
    """
    ordered = sorted(prices)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return (ordered[low] + (ordered[high] - ordered[low]) * (place - low)).quantize(TEN_DECIMALS)


def parsed(
    rows: Iterable[Mapping[str, object]],
    *,
    source: str,
    ignored: Mapping[str, int] | None = None,
    unknown: Iterable[str] = (),
    availability: Iterable[Mapping[str, object]] = (),
    may_be_empty: bool = False,
) -> Parsed:
    """Return what a document says. Raises LayoutChanged where it has no price at all: every source here always had one.

    `availability` are rows of core.availability, without the columns from `source` on. `may_be_empty` is for a scope
    that was read whole and offers no accelerator, such as a zone without any.
    """
    import polars as pl

    found = [tuple(_text(row.get(name)) for name in OBSERVATION) for row in rows]
    if not found and not may_be_empty:
        raise LayoutChanged(
            "expected prices, found none", source=source, field="prices", value=0, hint="Check the landed document"
        )
    schema = {name: pl.Int64 if name == "commitment_term_hours" else pl.String for name in OBSERVATION}
    frame = pl.DataFrame(found, schema=schema, orient="row")
    facts = _availability(list(availability))
    return Parsed(rows=frame, ignored=ignored or {}, unknown=tuple(unknown), facts=facts)


def _text(value: object) -> object:
    return plain(value) if isinstance(value, Decimal) else value


def _availability(rows: list[Mapping[str, object]]) -> "dict[str, pl.DataFrame]":
    import polars as pl

    if not rows:
        return {}
    (table,) = (table for table in FACT_TABLES if table.name == "availability")
    names = table.columns[: table.columns.index("source")]
    numbers: dict[str, pl.DataType | type[pl.DataType]] = {
        "accelerator_count": pl.Decimal(10, 4),
        "n_machines": pl.Int64,
        "n_accelerators": pl.Int64,
    }
    facts_schema: dict[str, pl.DataType | type[pl.DataType]] = {name: numbers.get(name, pl.String) for name in names}
    return {"availability": pl.DataFrame([{n: row.get(n) for n in names} for row in rows], schema=facts_schema)}
