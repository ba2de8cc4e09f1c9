"""Attacks on the data: plausible wrong prices of each provider's fixture, and whether any is published.

    python bench/attacks.py

The right answer of a day is in the log; then the same wrong one comes on each of four days. Tried are providers with
enough prices for the attack; held is an attack of which no wrong price stands in the end, published one of which some
does. The first day counts apart: what is published then was neither held nor told.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import polars as pl  # noqa: E402
from looks import day, memory  # noqa: E402
from neoclouds.case import Case, cases  # noqa: E402

from warehouse.log.load import load  # noqa: E402
from warehouse.log.parsed import ParsedFetch  # noqa: E402
from warehouse.schema.vocabulary import MARKETPLACES  # noqa: E402

Line = dict[str, Any]
Attack = Callable[[list[Line], int], list[Line] | None]
RATE = Decimal("1.1587")
N_DAYS = 4
CENT = Decimal("0.01")


def moved(line: Line, factor: Decimal) -> Line:
    """Return a line with its price times a factor, to cents, but never zero."""
    price = (Decimal(line["unit_price"]) * factor).quantize(CENT, ROUND_HALF_UP)
    return line | {"unit_price": str(max(price, CENT))}


def all_by(factor: Decimal) -> Attack:
    """Return the attack that multiplies every price."""
    return lambda lines, _: [moved(line, factor) for line in lines]


def some_by(n: int, factor: Decimal) -> Attack:
    """Return the attack that multiplies the first so many prices."""
    return lambda lines, _: (
        [moved(line, factor) if place < n else line for place, line in enumerate(lines)] if len(lines) > n else None
    )


def a_node(lines: list[Line], _: int) -> list[Line] | None:
    """Divide each machine's price by its chips."""
    counts = [Decimal(line["accelerator_count"] or 1) for line in lines]
    if max(counts) <= 1:
        return None
    return [moved(line, 1 / n) if n > 1 else line for line, n in zip(lines, counts, strict=True)]


def another_count(lines: list[Line], _: int) -> list[Line] | None:
    """Say half of the chips of each machine."""
    several = [line for line in lines if Decimal(line["accelerator_count"] or 1) > 1]
    halved = [
        line | {"accelerator_count": str(Decimal(line["accelerator_count"]) / 2)} if line in several else line
        for line in lines
    ]
    return halved if several else None


def exchanged(lines: list[Line], _: int) -> list[Line] | None:
    """Exchange the prices of two chips of one place and terms."""
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        apart = ("unit_price", "accelerator_label", "instance_type", "sku_id", "sku_price_id", "document_sha256")
        alike[tuple(value for name, value in line.items() if name not in apart)].append(place)
    for places in alike.values():
        for other in places[1:]:
            if lines[other]["unit_price"] != lines[places[0]]["unit_price"]:
                prices = {places[0]: lines[other]["unit_price"], other: lines[places[0]]["unit_price"]}
                return [
                    line | {"unit_price": prices.get(place, line["unit_price"])} for place, line in enumerate(lines)
                ]
    return None


def drift(lines: list[Line], number: int) -> list[Line]:
    """Multiply every price by 0.55 once more each day."""
    return [moved(line, Decimal("0.55") ** number) for line in lines]


ATTACKS: dict[str, Attack] = {
    "euros for dollars, in cents": all_by(1 / RATE),
    "a tax of 19 %": all_by(Decimal("1.19")),
    "a node's unit: all by 8": all_by(1 / Decimal(8)),
    "cents for dollars": all_by(Decimal(100)),
    "a month's price": all_by(Decimal(730)),
    "a node's price in a chip's column": a_node,
    "another number of chips": another_count,
    "two prices times 8": some_by(2, Decimal(8)),
    "one price by 10": some_by(1, 1 / Decimal(10)),
    "two chips exchanged": exchanged,
    "all times 0.55, day after day": drift,
}


def answer(source: str, schema: pl.Schema, lines: list[Line], at: float) -> ParsedFetch:
    """Return lines as a complete answer of a source on a day."""
    rows = pl.DataFrame(lines, schema=schema).with_columns(document_sha256=pl.lit(f"day {at}"))
    return ParsedFetch(
        run_id=f"run {at}", source=source, scope="all", observed_at=day(at), complete=True, archived=False,
        document_sha256=f"day {at}", rows=rows,
    )  # fmt: skip


def standing(con: Any) -> Counter[tuple[object, ...]]:
    """Return the prices in force, with all that names their offers."""
    return Counter(
        con.execute(
            "select accelerator_label, instance_type, region_id, accelerator_count, minimum_quantity, tier, "
            "conditions, unit_price from core.price_known_at('9999-01-01'::timestamp) "
            "inner join core.offer using (offer_id) where valid_to is null and unit_price is not null"
        ).fetchall()
    )


def tried(case: Case, attack: Attack) -> tuple[int, int] | None:
    """Return how many wrong prices stand after the first and after the last day; None where it cannot be tried."""
    frame = case.parse(case.body).rows.filter(
        pl.col("purchase_option") == "on_demand", pl.col("statistic") == "price", pl.col("unit_price").is_not_null(),
        pl.col("pricing_currency") == "USD",
    )  # fmt: skip
    told = partial(answer, case.source.name, frame.schema)
    lines = frame.to_dicts()
    if len(lines) < 4 or lines[0]["service_provider_name"].lower() in MARKETPLACES:
        return None
    if attack(lines, 1) is None:
        return None
    with memory() as con:
        con.execute(
            "insert into core.fx_rate (pricing_currency, rate_date, units_per_eur, recorded_at) "
            f"values ('USD', '2026-01-01', {RATE}, '2026-01-02')"
        )
        load(con, [told(lines, 0)], recorded_at=day(0))
        right, wrong = standing(con), []
        for number in range(1, N_DAYS + 1):
            load(con, [told(attack(lines, number) or [], number)], recorded_at=day(number))
            wrong.append((standing(con) - right).total())
    return wrong[0], wrong[-1]


def measured() -> Iterator[tuple[str, int, int, int, int]]:
    """Yield each attack: tried, held, published on the first day, published in the end."""
    for name, attack in ATTACKS.items():
        found = [one for case in cases() if (one := tried(case, attack)) is not None]
        yield (
            name, len(found), sum(last == 0 for _, last in found), sum(first > 0 for first, _ in found),
            sum(last > 0 for _, last in found),
        )  # fmt: skip


def main() -> None:
    """Print the table."""
    print("| attack | tried | held | published on the first day | published in the end |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in measured():
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
