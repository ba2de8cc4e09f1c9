"""The drift of prices in plain Python: what int.drift_report says where no chain of the index has both days.

Only the intervals of prices and the facts of their offers are read; everything else is loops.
"""

from collections import defaultdict
from datetime import datetime, timedelta
from math import exp, log
from pathlib import Path
from statistics import fmean

import duckdb

Series = tuple[str, str | None, str | None, str]
"""Level, provider, chip, purchase option."""

READ = """
select
    h.offer_id, o.service_provider_name, u.accelerator_name, o.purchase_option,
    h.valid_from, h.valid_to, h.last_observed_at, h.effective_hourly_price / u.accelerator_count::double as price,
    o.service_provider_name in (select service_provider_name from core.offer where tier ilike 'marketplace%')
from int.price_history as h
join core.offer as o using (offer_id)
join core.offer_unit as u using (offer_id)
where h.offer_id in (select offer_id from int.price_index_item)
"""
DOUBTFUL = """
select offer_id, observed_at from int.price_change where change_kind in ('correction', 'suspected_error')
"""


def drift(file: Path, now: datetime, days: int) -> dict[Series, float]:
    """Return the drift of each series over so many days up to a moment."""
    with duckdb.connect(str(file), read_only=True) as con:
        rows, doubts = con.execute(READ).fetchall(), con.execute(DOUBTFUL).fetchall()
    begin = now - timedelta(days=days)
    left_out = {offer for offer, at in doubts if begin <= at <= now}
    spells = defaultdict(list)
    for row in rows:
        spells[row[0]].append(row)
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
