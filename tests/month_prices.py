"""A month of list prices, drawn with a seed: what is for sale on each day, what a run can see of it, and what changed.

Prices are of one chip and hour. No price comes twice, so that each names its change. The faults of a month are days on
which nobody runs (`missed`), on which a run is killed before the slow source has answered (`killed`), and on which one
page cannot be read (`unread`).
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

SLOW = "aws_price_list"
UNREADABLE = "hotaisle"
LEAST_DAYS = 3
"""Between two moves of an offer: what goes there and back within days is a correction."""
MOST_MOVES = 3
"""Of an offer in a month: one that moves more often is called a market's."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Something for sale: whose, by which source, which chip, how bought; `copies` are its offers at the same price."""

    key: str
    source: str
    provider: str
    chip: str
    option: str
    start: str | None
    copies: int = 1


@dataclass(frozen=True, kw_only=True)
class Event:
    """A change of a price: from None it is new, to None it is gone. `is_short`: it is there on its day alone."""

    offer: Offer
    day: int
    before: Decimal | None
    after: Decimal | None
    is_short: bool = False

    @property
    def kind(self) -> str:
        """Return what the history calls it."""
        if self.before is None:
            return "new_offer"
        return "gone_offer" if self.after is None else "list_change"


VOLTAGE_PARK = {"source": "voltagepark", "provider": "Voltage Park", "option": "on_demand"}
HOT_AISLE = {"source": "hotaisle", "provider": "Hot Aisle", "chip": "MI300X"}
AWS = {"source": "aws_price_list", "provider": "AWS", "option": "on_demand"}
PLAN = {"source": "aws_savings_plans", "provider": "AWS", "chip": "H100", "option": "savings_plan"}
OFFERS = {
    each.key: each
    for each in (
        Offer(key="p5", chip="H100", start="6.88", **AWS),
        Offer(key="p5en", chip="H200", start="7.91", **AWS),
        Offer(key="p6-b200", chip="B200", start="14.24", **AWS),
        Offer(key="plan 1", start="3.47", **PLAN),
        Offer(key="plan 3", start="2.39", **PLAN),
        Offer(key="a ethernet", chip="H100", start="1.99", **VOLTAGE_PARK),
        Offer(key="a infiniband", chip="H100", start="2.49", **VOLTAGE_PARK),
        Offer(key="b ethernet", chip="B200", start="3.10", **VOLTAGE_PARK),
        Offer(key="b infiniband", chip="B200", start="3.60", **VOLTAGE_PARK),
        Offer(key="c ethernet", chip="H200", start="2.79", **VOLTAGE_PARK),
        Offer(key="c infiniband", chip="H200", start="3.21", **VOLTAGE_PARK),
        Offer(key="d ethernet", chip="H100", start="2.09", **VOLTAGE_PARK),
        Offer(key="d infiniband", chip="H100", start="2.59", **VOLTAGE_PARK),
        Offer(key="e ethernet", chip="H200", start=None, **VOLTAGE_PARK),
        Offer(key="e infiniband", chip="H200", start=None, **VOLTAGE_PARK),
        Offer(key="vm", option="on_demand", start="2.99", copies=3, **HOT_AISLE),
        Offer(key="metal", option="reserved", start="3.39", **HOT_AISLE),
    )
}
MOVING = tuple(key for key in OFFERS if key[0] not in "de")
"""Offers that are there from the first day to the last."""


@dataclass(kw_only=True)
class Month:
    """Days with their changes: `events` in order of days, the first of which is seen as it is."""

    first: date
    n_days: int
    missed: int | None = None
    killed: int | None = None
    unread: range = range(0)
    events: list[Event] = field(default_factory=list)

    def day(self, number: int) -> date:
        """Return a day by its number."""
        return self.first + timedelta(days=number)

    def prices(self, day: int) -> dict[str, Decimal | None]:
        """Return what is for sale on a day, by key."""
        found = {key: Decimal(offer.start) if offer.start else None for key, offer in OFFERS.items()}
        for event in self.events:
            if event.day == day or (event.day < day and not event.is_short):
                found[event.offer.key] = event.after
        return found

    def sees(self, source: str, day: int) -> bool:
        """Return whether what a source says on a day becomes known, then or by what a killed run left."""
        is_slow = day == self.killed and source == SLOW
        return day != self.missed and not is_slow and not (day in self.unread and source == UNREADABLE)

    def history(self) -> Iterator[tuple[Event, date]]:
        """Yield each change that the history must show, with the day on which it was first seen."""
        for event in self.events:
            if not event.is_short:
                day = next(day for day in range(event.day, self.n_days) if self.sees(event.offer.source, day))
                yield event, self.day(day)

    # --- drawing

    def add(self, key: str, day: int, *factors: float, dice: random.Random, is_short: bool = False) -> None:
        """Let a price move by a factor between two, to one that nothing has cost."""
        before = self.prices(day)[key]
        assert before is not None
        used = {Decimal(each.start) for each in OFFERS.values() if each.start}
        used |= {event.after for event in self.events if event.after is not None}
        after = before
        while after in used or abs(after / before - 1) < Decimal("0.03"):
            after = round(before * Decimal(str(dice.uniform(*factors))), 2)
        self._put(Event(offer=OFFERS[key], day=day, before=before, after=after, is_short=is_short))

    def come(self, place: str, day: int, *prices: str) -> None:
        """Let a place of Voltage Park open."""
        for network, price in zip(("ethernet", "infiniband"), prices, strict=True):
            self._put(Event(offer=OFFERS[f"{place} {network}"], day=day, before=None, after=Decimal(price)))

    def go(self, place: str, day: int) -> None:
        """Let a place of Voltage Park close."""
        for network in ("ethernet", "infiniband"):
            key = f"{place} {network}"
            self._put(Event(offer=OFFERS[key], day=day, before=self.prices(day)[key], after=None))

    def add_some(self, days: range, count: int, *, dice: random.Random) -> None:
        """Let so many prices move within the bounds of the history gate on some of these days."""
        for _ in range(count):
            free = [(key, day) for key in MOVING for day in days if self._is_free(key, day)]
            key, day = dice.choice(free)
            self.add(key, day, 0.75, 1.3, dice=dice)

    def _put(self, event: Event) -> None:
        self.events = sorted([*self.events, event], key=lambda each: each.day)

    def _is_free(self, key: str, day: int) -> bool:
        """Return whether an offer moves seldom enough, and not while a change of it waits to be seen."""
        own = [event for event in self.events if event.offer.key == key]
        waits = {day, *self.unread, self.missed, self.killed} if OFFERS[key].source == UNREADABLE else {day}
        jumped = any(event.after / event.before < Decimal("0.6") for event in own if event.before and event.after)
        near = any(abs(event.day - each) < LEAST_DAYS for event in own for each in waits if each is not None)
        later = any(event.day > day for event in own)  # whose price before would be another
        return len(own) < MOST_MOVES and not jumped and not near and not later


def whole(seed: int) -> Month:
    """Return thirty runs of thirty-one days, from a Wednesday on, with four whole mails."""
    dice = random.Random(seed)  # noqa: S311 (no secret)
    month = Month(first=date(2026, 9, 2), n_days=31, unread=range(8, 12), missed=16, killed=23)
    month.add_some(range(1, 4), 2, dice=dice)
    month.add("a infiniband", 4, 0.44, 0.48, dice=dice)  # held on a Sunday, confirmed on Monday before the mail
    month.add("vm", 9, 1.05, 1.3, dice=dice)  # while the page cannot be read
    month.come("e", 10, "2.63", "2.97")
    month.add_some(range(5, 12), 3, dice=dice)
    month.add("p6-b200", 14, 2.2, 2.6, dice=dice, is_short=True)  # held, and gone on the next day
    month.add("p5en", 16, 0.8, 0.95, dice=dice)  # while nobody looks
    month.add_some(range(12, 19), 2, dice=dice)
    month.go("d", 20)
    month.add("p5", 23, 0.8, 0.95, dice=dice)  # the killed run never saw it
    month.add("b ethernet", 23, 1.05, 1.3, dice=dice)  # the killed run had just landed it
    month.add_some(range(19, 26), 2, dice=dice)
    month.add_some(range(27, 30), 1, dice=dice)  # after the last mail
    return month


def three_days(seed: int) -> Month:
    """Return a Saturday, a Sunday whose run is killed, and the Monday of the mail."""
    dice = random.Random(seed)  # noqa: S311 (no secret)
    month = Month(first=date(2026, 9, 5), n_days=3, killed=1)
    for key in ("p5", "a ethernet", "vm"):
        month.add(key, 1, 0.75, 1.3, dice=dice)
    month.come("e", 1, "2.63", "2.97")
    month.add("b ethernet", 2, 0.75, 1.3, dice=dice)
    return month
