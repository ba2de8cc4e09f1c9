"""What a week means to the reader's own fleet: YOU, what its moves do to the bill, and DO, which commitments end soon.

Read from the private file, which lies beside the published one and never in it. So this is in the mail alone; pages and
feeds know nothing of it. Labels are the user's own words; they are shown on one line, without control characters.
"""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import duckdb

from reports import wording
from reports.queries import Row, rows
from reports.weekly import news
from reports.weekly.facts import FleetNews, WeekFacts
from warehouse.schema.vocabulary import HOURS_PER_MONTH

DUE_WITHIN_DAYS = 60
MOVES = ("list_change", "market_move", "spot_move")


def read(file: Path, found: WeekFacts, *, with_contracted: bool) -> FleetNews | None:
    """Return what the private file says of a week; None without one, and for weeks that it does not know.

    A fleet is known as it is now, so that only the newest week is shown. `with_contracted`: whether amounts by the
    user's own contracts are shown next to those at list.
    """
    if not file.exists() or not found.is_newest:
        return None
    with duckdb.connect(str(file), read_only=True) as con:
        of = con.execute("select prices_built_at from build").fetchall()[0][0]
        if of != found.built_at:
            late = f"not computed for this file; last for that of {wording.minute(of)}"
            return FleetNews(you=(late,), due=(late,))
        moves = rows(
            con.execute(
                "select m.*, l.purchase_option from fleet_move as m inner join fleet_line as l using (line_number) "
                "where m.move_of = 'line' and m.observed_at >= ? and m.observed_at < ? order by m.observed_at",
                [found.week.since, found.as_of],
            )
        )
        costs = rows(con.execute("select * from fleet_cost order by line_number"))
        ending = rows(
            con.execute(
                "select * from renewal where commitment_ends_on between ? and ?::date + ?::integer "
                "order by commitment_ends_on, line_number",
                [found.as_of.date(), found.as_of.date(), DUE_WITHIN_DAYS],
            )
        )
    return FleetNews(you=you(moves, costs, with_contracted=with_contracted), due=due(ending, found.as_of))


def you(moves: Sequence[Row], costs: Sequence[Row], *, with_contracted: bool) -> tuple[str, ...]:
    """Return what the moves do to the bill at list: at once, and later to what a commitment holds; then the bill."""
    moved = [move for move in moves if move["change_kind"] in MOVES]
    now = [move for move in moved if move["purchase_option"] in ("on_demand", "spot")]
    later = [move for move in moved if move["purchase_option"] not in ("on_demand", "spot")]
    parts = [
        *_change(now, "from now on"),
        *_change(later, "once commitments end"),
    ]
    if not parts:
        parts = [f"no move of this week touches your {wording.count(len(costs), 'line')}"]
    if gone := {move["line_number"] for move in moves if move["change_kind"] == "gone_offer"}:
        parts.append(f"{wording.count(len(gone), 'line')} no longer offered")
    listed = [cost["list_usd_per_month"] for cost in costs if cost["list_usd_per_month"] is not None]
    if listed:
        without = len(costs) - len(listed)
        left = f", {wording.count(without, 'line')} without a price left out" if without else ""
        parts.append(f"fleet {usd(sum(listed))} USD a month at list{left}")
    both = [cost for cost in costs if cost["contracted_usd_per_month"] is not None]
    if with_contracted and both:
        contracted = usd(sum(cost["contracted_usd_per_month"] for cost in both))
        known = [cost["list_usd_per_month"] for cost in both]
        at_list = "" if None in known else f", {usd(sum(known))} at list"
        parts.append(f"of it {wording.count(len(both), 'line')} under contract: {contracted} USD contracted{at_list}")
    return tuple(parts)


def _change(moves: Sequence[Row], when: str) -> list[str]:
    """Return what moves come to, on how many lines; moves whose dollars are unknown are counted."""
    if not moves:
        return []
    known = [move for move in moves if move["usd_per_month_change"] is not None]
    lines = wording.count(len({move["line_number"] for move in known}), "line")
    parts = []
    if known:
        change = sum(move["usd_per_month_change"] for move in known)
        sign = "+" if change > 0 else ""
        parts.append(f"{sign}{usd(change)} USD a month at list {when}, on {lines}")
    if len(known) < len(moves):
        parts.append(f"{wording.count(len(moves) - len(known), 'move')} without a dollar price {when}")
    return parts


def due(ending: Sequence[Row], as_of: datetime) -> tuple[str, ...]:
    """Return the commitments that end soon, each with its date and, where known, the rate that a new one must beat.

    That rate is what the same machines cost on demand at list for the hours that they are used, spread over all hours,
    which is what a commitment is paid for.
    """
    if not ending:
        return (f"nothing: no commitment known to us ends within {DUE_WITHIN_DAYS} days",)
    return tuple(_due(row, as_of.date()) for row in ending)


def _due(row: Row, today: date) -> str:
    left = (row["commitment_ends_on"] - today).days
    label = news.brief(row["label"] or f"line {row['line_number']}")
    ends = f"{label} ends {row['commitment_ends_on']:%Y-%m-%d}, in {wording.count(left, 'day')}"
    if row["on_demand_usd_per_month"] is None or not row["nodes"]:
        return f"{ends}; rate to beat unknown"
    rate = row["on_demand_usd_per_month"] / float(row["nodes"]) / HOURS_PER_MONTH
    return f"{ends}; beat {wording.price(rate)} USD a node-hour"


def usd(value: float) -> str:
    """Return dollars a month, whole ones from a hundred on."""
    return wording.amount(value, 0 if abs(value) >= 100 else wording.CENTS)
