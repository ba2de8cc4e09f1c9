"""The drift of prices in plain Python: int.drift_report once more, in loops.

Only the intervals of prices and the facts of their offers are read; everything else is loops.
"""

from collections import defaultdict
from datetime import date, datetime, timedelta
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb

from warehouse.schema.vocabulary import MARKETPLACES

Series = tuple[str, str | None, str | None, str]
"""Level, provider, chip, purchase option."""

READ = """
select
    h.offer_id, o.service_provider_name, u.accelerator_name, o.purchase_option,
    h.valid_from, h.valid_to, h.last_observed_at, h.effective_hourly_price / u.accelerator_count::double as price,
    list_contains($markets, lower(o.service_provider_name))
from int.price_history as h
join core.offer as o using (offer_id)
join core.offer_unit as u using (offer_id)
where h.offer_id in (select offer_id from int.price_index_item)
"""
DOUBTFUL = """
select offer_id, observed_at from int.price_change where change_kind in ('correction', 'suspected_error')
"""


Spells = dict[Any, list[Any]]
Doubts = list[Any]


def known_prices(file: Path) -> tuple[Spells, Doubts]:
    """Return the intervals of each offer's prices, and which of its changes at which moment are doubtful."""
    with duckdb.connect(str(file), read_only=True) as con:
        rows, doubts = con.execute(READ, {"markets": list(MARKETPLACES)}).fetchall(), con.execute(DOUBTFUL).fetchall()
    spells = defaultdict(list)
    for row in rows:
        spells[row[0]].append(row)
    return spells, doubts


def drift(spells: Spells, doubts: Doubts, now: datetime, days: int) -> dict[Series, float]:
    """Return the drift of each series over so many days up to a moment."""
    begin = now - timedelta(days=days)
    left_out = {offer for offer, at in doubts if begin <= at <= now}
    moves: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    at_begin = set()
    for offer, own in spells.items():
        _, provider, chip, option, *_, is_market = own[0]
        limit = timedelta(days=30 if is_market else 90)
        before, after = _known(own, begin, limit), _known(own, now, limit)
        if before and after is None:
            at_begin.add((provider, chip, option))
        if before:
            at_begin.add((provider, chip, option))
        if after is None or offer in left_out:
            continue
        base = before
        if base is None:
            later = [row for row in own if begin < row[4] <= now and row[7]]
            base = min(later, key=lambda row: row[4], default=None)
            if base is None or after[6] <= base[4]:
                continue
        elif after[6] < begin:
            continue
        moves[provider, chip, option].append(log(after[7] / base[7]))
    return _series({key: fmean(values) for key, values in moves.items()}, at_begin)


def _known(own, moment, limit):  # type: ignore[no-untyped-def]
    """Return the spell of a price in force at a moment that was confirmed lately enough, or later."""
    for row in own:
        if row[7] and row[4] <= moment and (row[5] is None or row[5] > moment) and row[6] >= moment - limit:
            return row
    return None


def _series(means: dict[tuple[str, str, str], float], at_begin: set[tuple[str, str, str]]) -> dict[Series, float]:
    """Return the drifts of providers, and their means by chip and over all chips, of series known at the beginning."""
    found: dict[Series, float] = {}
    by_chip: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (provider, chip, option), value in means.items():
        by_chip[chip, option].append(value)
        if (provider, chip, option) in at_begin:
            found["provider", provider, chip, option] = exp(value) - 1
    by_option: dict[str, list[float]] = defaultdict(list)
    chips = {(chip, option) for _, chip, option in at_begin}
    for (chip, option), values in by_chip.items():
        by_option[option].append(fmean(values))
        if (chip, option) in chips:
            found["chip", None, chip, option] = exp(fmean(values)) - 1
    for option, values in by_option.items():
        if option in {option for _, option in chips}:
            found["all", None, None, option] = exp(fmean(values)) - 1
    return found


ITEMS = """
select service_provider_name, accelerator_name, purchase_option, index_date, held_to_date, log_relative, is_link_start,
    is_cut
from int.price_index_item where accelerator_name = any($chips)
"""


class Chains:
    """The chained index of some chips, from the days of their offers: mean log relatives, day by day."""

    def __init__(self, file: Path, chips: list[str]) -> None:
        with duckdb.connect(str(file), read_only=True) as con:
            rows = con.execute(ITEMS, {"chips": chips}).fetchall()
        self.days: dict[tuple[str, str, str], dict[date, list[float]]] = defaultdict(
            lambda: defaultdict(lambda: [0, 0.0])
        )
        for provider, chip, option, first, last, move, is_start, is_cut in rows:
            of_series = self.days[provider, chip, option]
            for ahead in range((last - first).days + 1):
                counted = of_series[first + timedelta(days=ahead)]
                if ahead or not (is_start or is_cut):
                    counted[0] += 1
            if move is not None:
                of_series[first][1] += move

    def drift(self, series: Series, begin: date, end: date) -> float | None:
        """Return the drift of a series of one chip; None where it lacks a day or its chain broke."""
        level, provider, chip, option = series
        own = {
            key: days
            for key, days in self.days.items()
            if key[1:] == (chip, option) and (level == "chip" or key[0] == provider)
        }
        if not any(begin in days for days in own.values()):
            return None
        total = 0.0
        for ahead in range(1, (end - begin).days + 1):
            day = begin + timedelta(days=ahead)
            moves = [days[day][1] / days[day][0] for days in own.values() if day in days and days[day][0]]
            if not moves:
                return None
            total += fmean(moves)
        return exp(total) - 1
