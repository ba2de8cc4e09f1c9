"""What the front page is made of, read from the published file, and what it says in sentences.

Picking and ranking happen in transform/sql/front_*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from reports import wording
from reports.queries import Row, ask, build

PRICE = "price_per_accelerator_hour_usd"
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
        return any(cell[PRICE] is not None for cell in self.cells.get(chip, {}).values())

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
        built_at, version = build(con)
        cells: dict[str, dict[str, Row]] = {}
        for row in ask(con, "front_cell", chips=list(chips)):
            cells.setdefault(row["accelerator_name"], {})[row["cell"]] = row
        tokens: dict[str, dict[str, Row]] = {}
        for row in ask(con, "front_token", chips=list(chips)):
            tokens.setdefault(row["accelerator_name"], {})[row["option_kind"]] = row
        chip = _chief(chips, cells)
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


def _chief(chips: Sequence[str], cells: Mapping[str, Mapping[str, Row]]) -> str | None:
    """Return the first chip with a price at AWS and elsewhere, or else with any."""

    def has(chip: str, *names: str) -> bool:
        return all(cells.get(chip, {}).get(name, {}).get(PRICE) is not None for name in names)

    for names in (("aws_on_demand", "elsewhere"), ("aws_on_demand",), ("elsewhere",)):
        for chip in chips:
            if has(chip, *names):
                return chip
    return None


# --- sentences, texts without mark-up


def headline(front: Front) -> str:
    """Return the one line of news: what the first chip costs each way, and who moved list prices."""
    if front.chip is None:
        return "No price is known yet that is young enough to be ranked"
    cells = front.cells[front.chip]

    def price(cell: str) -> float | None:
        value = cells.get(cell, {}).get(PRICE)
        return None if value is None else float(value)

    parts = []
    if (aws := price("aws_on_demand")) is not None:
        parts.append(f"{aws:,.2f} USD an hour at AWS")
    if (plan := price("aws_1y")) is not None:
        parts.append(f"{plan:,.2f} on a one-year plan")
    if (other := price("elsewhere")) is not None:
        parts.append(f"{other:,.2f}{'' if parts else ' USD an hour'} at {cells['elsewhere']['service_provider_name']}")
    if not parts:
        return f"{front.chip}: a price is known under few purchase options only; {_moved(front)}"
    article = "An" if front.chip[0] in "AHLM" else "A"
    return f"{article} {front.chip} costs {wording.few(parts)}; {_moved(front)}"


def _moved(front: Front) -> str:
    """Return whose list prices moved in 90 days; of AWS always, where its price is known."""
    known = {row["service_provider_name"] for cells in front.cells.values() for row in cells.values()}
    others = [row for row in front.moves if row["service_provider_name"] != "AWS"]
    own = [row for row in front.moves if row["service_provider_name"] == "AWS"]
    parts = [f"{row['service_provider_name']} {_ways(row)}" for row in [*own, *others][:2]]
    if not parts:
        return "no list price moved in 90 days"
    if not own and "AWS" in known:
        return f"in 90 days {parts[0]}, AWS moved none"
    return f"in 90 days {', '.join(parts)}"


def _ways(row: Row) -> str:
    """Return how many list prices a provider raised and lowered."""
    rises, falls = row["n_rises"], row["n_falls"]
    if not rises:
        return f"lowered {wording.count(falls, 'list price')}"
    raised = f"raised {wording.count(rises, 'list price')}"
    return f"{raised} and lowered {falls:,}" if falls else raised


def trust(front: Front) -> str:
    """Return what the page rests on, in a line."""
    row = front.trust
    parts = [
        f"{row['n_provider_bytes']:,} from providers' own bytes",
        f"{row['n_transcribed']:,} transcribed",
        f"{row['n_live']:,} live" if row["n_live"] else "none live",
    ]
    if row["n_old"]:
        parts.append(f"{row['n_old']:,} older than {row['ranked_days']} days and never ranked")
    refused = wording.count(row["n_refused"], "row") if row["n_refused"] else "no row"
    return f"{wording.count(row['n_prices'], 'price')}: {', '.join(parts)}; {refused} refused."


def checked(front: Front) -> str:
    """Return how many truth checks differ."""
    row = front.trust
    if not row["n_checks"]:
        return "No truth check was made."
    if not row["n_differing"]:
        return f"None of {wording.count(row['n_checks'], 'truth check')} differs."
    return f"{row['n_differing']:,} of {wording.count(row['n_checks'], 'truth check')} differ."


def bill(front: Front) -> list[str]:
    """Return what would change a bill, each a sentence with its assumption; empty where no price is known."""
    row = front.bill
    if row is None or not row["on_demand_year_usd"]:
        return []
    money, share, nbsp = wording.dollars, wording.share, wording.NBSP
    machines = f"{row['bill_machines']}{nbsp}x{nbsp}{row['instance_type']}"
    use = f"{share(row['use_share'])} use"
    parts = []
    if row["plan_saving_usd"] is not None and row["plan_saving_usd"] > 0:
        parts.append(
            f"For {machines} at {use}, the best one-year plan saves {money(row['plan_saving_usd'])}{nbsp}USD of "
            f"{money(row['on_demand_year_usd'])} a year, and pays unless on demand falls "
            f"{share(row['plan_pays_until_fall'])} or use stays below {share(row['plan_pays_from_use'])}."
        )
    elif row["plan_saving_usd"] is not None:
        parts.append(
            f"For {machines} at {use}, the best one-year plan costs {money(-row['plan_saving_usd'])}{nbsp}USD more "
            f"than {money(row['on_demand_year_usd'])} a year on demand; it pays from "
            f"{share(row['plan_pays_from_use'])} use."
        )
    if row["elsewhere_saving"] is not None:
        way = "less" if row["elsewhere_saving"] >= 0 else "more"
        parts.append(
            f"The same {front.chip} at {row['elsewhere_provider_name']} costs {row['elsewhere_usd']:,.2f}{nbsp}USD an "
            f"hour, {share(row['elsewhere_saving'])} {way} than on demand at AWS, both without a term."
        )
    return parts
