"""What the front page is made of, read from the published file; picking and ranking happen in transform/sql/front_*."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from reports.queries import Row, ask

CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2", "Trainium3")
"""The chips of the front page, in their order, where the settings name no others; one without a price says so."""


@dataclass(frozen=True, kw_only=True)
class Front:
    """The front page's facts: times are naive and UTC.

    `chips` are those shown, in order. `cells` are the prices by chip and cell, `drifts` the 90 days of each chip,
    `tokens` what tokens cost on it by kind of option, at the `point`.
    `chip` is the first with a price at AWS and elsewhere, or any: the one that the headline, chart and bill speak of.
    """

    built_at: datetime
    version: str
    chips: Sequence[str]
    chip: str | None
    cells: Mapping[str, Mapping[str, Row]]
    drifts: Mapping[str, Row]
    tokens: Mapping[str, Mapping[str, Row]]
    point: Row | None
    bill: Row | None
    moves: Sequence[Row]
    lines: Sequence[Row]
    trust: Row
    unseen: Row

    def priced(self, chip: str) -> bool:
        """Return whether any price of a chip is known and not too old."""
        return any(cell["price_per_accelerator_hour_usd"] is not None for cell in self.cells.get(chip, {}).values())

    @property
    def offers(self) -> list[int]:
        """Return the offers that the page shows."""
        found = {row["offer_id"] for rows in self.tokens.values() for row in rows.values()} | {
            cell[name]
            for cells in self.cells.values()
            for cell in cells.values()
            for name in ("offer_id", "highest_offer_id")
        }
        return sorted(found - {None})


def read(file: Path, chips: Sequence[str] = CHIPS) -> Front:
    """Return the facts of a published file, which is opened read-only and closed again."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        cells: dict[str, dict[str, Row]] = {}
        for row in ask(con, "front_cell", chips=list(chips)):
            cells.setdefault(row["accelerator_name"], {})[row["cell"]] = row
        tokens: dict[str, dict[str, Row]] = {}
        for row in ask(con, "front_token", chips=list(chips)):
            tokens.setdefault(row["accelerator_name"], {})[row["option_kind"]] = row
        chip = _told(chips, cells)
        return Front(
            built_at=built_at,
            version=version,
            chips=[name for name in chips if name in cells],
            chip=chip,
            cells=cells,
            drifts={row["accelerator_name"]: row for row in ask(con, "front_drift", chips=list(chips))},
            tokens=tokens,
            point=next(iter(ask(con, "front_point")), None),
            bill=next(iter(ask(con, "front_bill", chip=chip)), None),
            moves=ask(con, "front_move"),
            lines=ask(con, "front_line", chip=chip),
            trust=ask(con, "front_trust")[0],
            unseen=ask(con, "front_unseen")[0],
        )


def _told(chips: Sequence[str], cells: Mapping[str, Mapping[str, Row]]) -> str | None:
    """Return the first chip with a price at AWS and elsewhere, or else with any."""

    def has(chip: str, *names: str) -> bool:
        return all(
            cells.get(chip, {}).get(name, {}).get("price_per_accelerator_hour_usd") is not None for name in names
        )

    for names in (("aws_on_demand", "elsewhere"), ("aws_on_demand",), ("elsewhere",)):
        for chip in chips:
            if has(chip, *names):
                return chip
    return None
