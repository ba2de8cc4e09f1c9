"""How many machines to commit to: the cover that costs least in expectation, exactly, and what being wrong costs.

A cover of K machines is held from the first day of the horizon to its last: owned commitments first, then new ones,
each bought when the one before it ends, or sooner where prices are expected to rise. What runs beyond the cover is paid
on demand. With u(i) the share of hours in which more than i - 1 machines run (for a part of a machine, that part),
OD(t) the on-demand price on day t and C(K) the cheapest purchases that hold K from what is owned:

    cost(K) = C(K) + sum over days of 24 x OD(t) x sum of u(i) for i > max(K, owned on day t)

It is the newsvendor's sum over a horizon. C(K) is K chains of terms, each the shortest path from the day on which an
owned commitment ends to the end of the horizon, over every day on which a term may begin; K is found by trying every
size. A term that outlasts the horizon is charged whole, and two that overlap cover one machine. As C depends on K alone
and u(i) only grows with use, more use never lowers the best K (Topkis).

Sources: the newsvendor and its critical ratio: Arrow, Harris, Marschak, "Optimal Inventory Policy", Econometrica 19(3),
1951; weights of low, likely and high: Hurst, Brown, Swanson, "Swanson's 30-40-30 Rule", AAPG Bulletin 84(12), 2000.
"""

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HOURS_PER_DAY = 24
DAYS_PER_YEAR = 365
"""As AWS counts a year's term: 8760 hours."""
SWANSON = (0.3, 0.4, 0.3)
"""What low (10 % quantile), likely (median) and high (90 % quantile) weigh in the mean of a skewed quantity."""

Demand = tuple[tuple[float, float], ...]
"""How many machines run in an hour: pairs of (share of hours, machines); shares sum to 1."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One way to commit: days of its term, and USD per machine-hour with the upfront fee spread over it."""

    name: str
    days: int
    hourly: float
    upfront: float = 0.0
    offer_id: int | None = None


@dataclass(frozen=True)
class Owned:
    """Machines that are committed to already, for so many days from the first of the horizon."""

    machines: int
    days: int


@dataclass(frozen=True, kw_only=True)
class Market:
    """What machines cost: on demand and committed today, and the level of all prices on each day, 1 being today's.

    The horizon is as long as `levels`. A term costs its price of today x the level on the day it begins, and no later
    level; on demand follows every one.
    """

    on_demand: float
    terms: tuple[Term, ...]
    levels: tuple[float, ...]

    @property
    def days(self) -> int:
        return len(self.levels)


@dataclass(frozen=True)
class Purchase:
    """Machines that are committed to on one day."""

    day: int
    term: Term
    machines: int


@dataclass(frozen=True, kw_only=True)
class Size:
    """One size of cover: its purchases and what they cost over the horizon, what on demand costs beside them."""

    machines: int
    purchases: tuple[Purchase, ...]
    committed: float
    on_demand: float

    @property
    def cost(self) -> float:
        return self.committed + self.on_demand


def horizon_days(months: float) -> int:
    """Return the days of so many months, twelve of which have 365."""
    return round(months * DAYS_PER_YEAR / 12)


def together(machines: float, share: float) -> Demand:
    """Return the demand of machines that all run, or none: the least that a commitment can gain at that use."""
    return ((share, machines), (1 - share, 0.0))


def level(machines: float, share: float) -> Demand:
    """Return the demand of the same number of machines in every hour: the most that a commitment can gain."""
    return ((1.0, machines * share),)


def mixed(demands: Sequence[Demand], weights: Sequence[float]) -> Demand:
    """Return the demand of which each of the given holds with its weight."""
    return tuple(
        (share * weight, machines)
        for demand, weight in zip(demands, weights, strict=True)
        for share, machines in demand
    )


def use_of_each(demand: Demand, machines: int) -> list[float]:
    """Return u(1) ... u(machines): the share of hours in which each further machine of cover is used."""
    return [sum(share * min(max(runs - i, 0.0), 1.0) for share, runs in demand) for i in range(machines)]


def most(demand: Demand) -> int:
    """Return the machines that hold all of the demand."""
    return math.ceil(max((runs for share, runs in demand if share > 0), default=0.0))


def drifting(yearly: float, days: int) -> tuple[float, ...]:
    """Return the expected level of prices on each day, where moves of a mean sum of `yearly` come at random in a year.

    With moves as a Poisson process of n a year and a mean ratio r, the expectation is exp(n x (r - 1) x years); n x
    (r - 1) is `yearly`, the sum of the relative moves seen, by the years in which they were.
    """
    return tuple(math.exp(yearly * day / DAYS_PER_YEAR) for day in range(days))


def moved(ratio: float, days: int, *, on: int = 1) -> tuple[float, ...]:
    """Return the level of prices that move by a ratio on one day: the worst for what was bought the day before."""
    return tuple(1.0 if day < on else 1 + ratio for day in range(days))


def sizes(market: Market, demand: Demand, owned: Sequence[Owned] = (), *, at_least: int = 0) -> list[Size]:
    """Return every size of cover from 0 to all of the demand (or `at_least`), cheapest purchases for each."""
    n = max(most(demand), at_least)
    use = use_of_each(demand, n)
    free_from = [_free_from(owned, i + 1) for i in range(n)]
    chains = _cheapest_chains(market)
    overflow = _on_demand_of_each(market, use, free_from)
    found = []
    for machines in range(n + 1):
        starts = [day for day in free_from[:machines] if day < market.days]
        purchases = _purchases(chains, starts)
        committed = math.fsum(chains[day].cost for day in starts)
        if market.terms or not starts:
            on_demand = math.fsum(overflow[machines:])
            found.append(Size(machines=machines, purchases=purchases, committed=committed, on_demand=on_demand))
    return found


def best(found: Sequence[Size]) -> Size:
    """Return the size that costs least; of equals the smallest, which commits to nothing needlessly."""
    return min(found, key=lambda size: (round(size.cost, 6), size.machines))


def cost_in(size: Size, market: Market, demand: Demand, owned: Sequence[Owned] = ()) -> float:
    """Return what a size costs if demand and prices are these, its purchases being made as they were planned."""
    n = max(most(demand), size.machines)
    overflow = _on_demand_of_each(market, use_of_each(demand, n), [_free_from(owned, i + 1) for i in range(n)])
    return _committed(size.purchases, market) + math.fsum(overflow[size.machines :])


def unused_share(size: Size, demand: Demand) -> float | None:
    """Return the share of the covered hours in which nothing runs; None without a cover."""
    use = use_of_each(demand, size.machines)
    return 1 - math.fsum(use) / size.machines if size.machines else None


def regrets(
    found: Sequence[Size], market: Market, cases: Mapping[str, Demand], owned: Sequence[Owned] = ()
) -> dict[str, list[float]]:
    """Return for each case what each size costs more than the size that would have been best in that case."""
    text = {}
    for name, demand in cases.items():
        costs = [cost_in(size, market, demand, owned) for size in found]
        least = min(costs)
        text[name] = [cost - least for cost in costs]
    return text


def _free_from(owned: Sequence[Owned], rank: int) -> int:
    """Return the first day on which fewer than `rank` machines are owned: those that end last are the first ranks."""
    n = 0
    for each in sorted(owned, key=lambda each: -each.days):
        n += each.machines
        if n >= rank:
            return max(each.days, 0)
    return 0


@dataclass(frozen=True, slots=True)
class _Link:
    """The cheapest way from one day on: the term to begin with, on this day or before it, and the cost to the end."""

    cost: float
    term: Term | None
    start: int


def _cheapest_chains(market: Market) -> list[_Link]:
    """Return for each day the cheapest way to hold one machine from it to the end.

    A term holds a day if it begins on it or up to its length before. Of each term these beginnings slide along with the
    day: the cheapest stands first in a queue, and a dearer one that leaves the window sooner is dropped.
    """
    chains = [_Link(0.0, None, market.days)] * (market.days + 1)
    queues: list[deque[_Link]] = [deque() for _ in market.terms]
    starts = [market.days - 1] * len(market.terms)
    for day in reversed(range(market.days)):
        for i, (term, queue) in enumerate(zip(market.terms, queues, strict=True)):
            while starts[i] >= max(day - term.days + 1, 0):
                start = starts[i]
                starts[i] -= 1
                price = term.hourly * market.levels[start] * HOURS_PER_DAY * term.days
                link = _Link(price + chains[min(start + term.days, market.days)].cost, term, start)
                while queue and queue[-1].cost > link.cost:
                    queue.pop()
                queue.append(link)
            while queue[0].start > day:
                queue.popleft()
        if queues:
            chains[day] = min((queue[0] for queue in queues), key=lambda link: link.cost)
    return chains


def _purchases(chains: Sequence[_Link], starts: Sequence[int]) -> tuple[Purchase, ...]:
    counts: Counter[tuple[int, Term]] = Counter()
    for start in starts:
        day = start
        while day < len(chains) - 1 and (term := chains[day].term) is not None:
            counts[chains[day].start, term] += 1
            day = chains[day].start + term.days
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], item[0][1].name))
    return tuple(Purchase(day, term, n) for (day, term), n in ordered)


def _committed(purchases: Sequence[Purchase], market: Market) -> float:
    return math.fsum(
        each.machines * each.term.hourly * market.levels[each.day] * HOURS_PER_DAY * each.term.days
        for each in purchases
    )


def _on_demand_of_each(market: Market, use: Sequence[float], free_from: Sequence[int]) -> list[float]:
    """Return what each machine costs on demand, from the day on which none that is owned takes its place."""
    from_day = [0.0] * (market.days + 1)
    for day in reversed(range(market.days)):
        from_day[day] = from_day[day + 1] + market.levels[day] * market.on_demand * HOURS_PER_DAY
    return [share * from_day[min(day, market.days)] for share, day in zip(use, free_from, strict=True)]
