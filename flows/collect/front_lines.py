"""The last lines of a run: what the chips cost under each purchase option, the biggest move, and what to do next.

They are the front page's own numbers, read from int.front_chip of the file that was published.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

CHIPS = ("H100", "H200", "B200", "MI300X", "L40S", "Trainium1")
"""The chips that are shown where the settings name none."""
MOST = 6
MAX_WIDTH = 100
HEADS = ("", "AWS", "1 year", "3 years", "spot", "elsewhere", "tokens")
WIDTHS = (11, 8, 8, 9, 13, 24, 0)
NOT_KNOWN = "-"

PRICES = """
select
    accelerator_name, aws_on_demand_usd, aws_1y_usd, aws_3y_usd, aws_spot_lowest_usd, aws_spot_highest_usd,
    elsewhere_usd, elsewhere_provider_name, token_on_demand_usd
from int.front_chip
where accelerator_name in (select unnest(?))
"""
MOVE = "select accelerator_name, service_provider_name, change_ratio from int.front_move where size_rank = 1"
POINT = "select model_name, scenario from int.headline_point"


def lines(file: Path, chips: Sequence[str] = ()) -> Iterator[str]:
    """Yield the prices of the first chips as lines of at most a hundred columns, and the biggest move of 90 days."""
    wanted = list(chips or CHIPS)[:MOST]
    with duckdb.connect(str(file), read_only=True) as con:
        (built_at,) = con.execute("select built_at from meta.build").fetchall()[0]
        rows = {row[0]: row for row in con.execute(PRICES, [wanted]).fetchall()}
        move = con.execute(MOVE).fetchone()
        point = con.execute(POINT).fetchone()
    yield f"As of {built_at.day} {built_at:%b %Y}, USD per chip-hour; tokens in USD per million output tokens:"
    model = f"tokens ({point[0]})" if point and point[0] else HEADS[-1]
    yield _line((*HEADS[:-1], model))
    for chip in wanted:
        if chip in rows:
            yield _line(_cells(rows[chip]))
    if move and move[2] is not None:
        way = "rose" if move[2] > 0 else "fell"
        yield f"Biggest list move in 90 days: {move[0]} {way} {abs(move[2]) * 100:.0f} % at {move[1]}."
    else:
        yield "No list price moved in 90 days."


def _cells(row: tuple[object, ...]) -> tuple[str, ...]:
    chip, on_demand, one_year, three_years, low, high, other, whose, tokens = row
    spot = _price(low)
    if isinstance(low, float) and isinstance(high, float) and f"{low:.2f}" != f"{high:.2f}":
        spot = f"{low:.2f}-{high:.2f}"
    elsewhere = f"{_price(other)} {whose}" if other is not None else NOT_KNOWN
    return (
        str(chip),
        _price(on_demand),
        _price(one_year),
        _price(three_years),
        spot,
        elsewhere,
        f"{tokens:.3g}" if isinstance(tokens, float) else NOT_KNOWN,
    )


def _price(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else NOT_KNOWN


def _line(cells: Sequence[str]) -> str:
    """Return a line of cells, each cut to its width."""
    made = "".join(
        f"{cell if len(cell) < width else cell[: width - 2] + '~':<{width}}" if width else cell
        for cell, width in zip(cells, WIDTHS, strict=True)
    )
    return f" {made}".rstrip()[:MAX_WIDTH]
