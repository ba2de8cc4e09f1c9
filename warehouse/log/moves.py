"""How the prices of one answer moved together: whether one factor explains them, and what a reader has to know.

A price is known to half a unit of its last digit, so a factor is known as an interval: from (after - half) / (before +
half) to (after + half) / (before - half). One factor explains several moves where their intervals have a point in
common. So a currency or a unit taken for another is seen in prices of a few dollars in cents as in prices of hundreds.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from warehouse.log.events import plain_amount

MIN_TOGETHER = 4
"""Offers, or chips, that must have moved at once before it is no coincidence; fewer are judged one by one."""

MAX_FACTORS = 100
"""How many factors are looked for in one answer at most: of thousands of prices that moved, some do alike by chance."""

MIN_SHARE_AT_ONCE = 0.4
"""Share of an answer's prices that must have moved by several factors at once: of a long list, a few always do."""

MIN_OWN_COUNTS = 3
"""Prices of several chips that must have moved by their own counts: several factors at once are no coincidence."""

SHARE_OF_WHOLE = 0.5
"""Share of an answer's prices that one factor explains, however few chips they are of."""

SMALL_MOVE = 0.03
"""What moved by less, as a share, is no sign of a mistake: reference rates move all prices by less in a month."""

UNIT_FACTORS = (2, 4, 8, 16, 24, 60, 72, 100, 720, 730, 744, 1000)
"""Factors that a wrong unit gives: chips of a node, cents, minutes, hours of a day or month."""

RATE_TOLERANCE = 0.004
"""How near a common factor must be to a reference rate: the rates of a few days differ by that much."""

BOUNDS = (0.5, 2.0)
"""A list price outside these multiples of its last value waits; AWS's largest real cut so far is to 0.56."""

MAX_FACTOR = 3.0
"""A list price that moved further, up or down, waits for a person: repeating a mistake does not make it true."""

FOR_PERSON, FOR_REPEAT = "waits for a person", "waits for confirmation 20 hours later"
"""How the reason of a price that waits ends, and so what it waits for."""

CENTS = 2
"""Decimals that a price list has at least, where one of its prices has them: 2.5 beside 2.49 is 2.50."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One price of an answer beside the last one known of its offer, or of the offer that it takes the place of.

    `field` is which of its amounts. `place` is what else makes prices comparable: provider, region, option, terms and
    size. `chips` is the offer's own number of chips. `scale` turns the ratio of the two amounts into that of prices per
    chip-hour. `replaced` says in words what else changed: the count, the unit or the currency.
    """

    row: int
    offer: Hashable
    machine: str
    chip: str = ""
    place: Hashable
    before: Decimal
    after: Decimal
    field: str = "unit_price"
    chips: float | None = None
    scale: float = 1.0
    replaced: str = ""

    @property
    def factor(self) -> float:
        """Return by how much the price per chip-hour moved."""
        return float(self.after) / float(self.before) * self.scale

    @property
    def is_unmoved(self) -> bool:
        """Return whether the price per chip-hour may be the same as before, each amount being rounded."""
        return all(span.low <= 1 <= span.high for span in _spans([self]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Why a price waits, in which amount, and whether for a person, or else for a second fetch 20 hours later.

    `n_together` is how many prices one cause explains.
    """

    reason: str
    for_person: bool
    field: str = "unit_price"
    n_together: int = 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Span:
    move: Move
    low: float
    high: float

    @property
    def is_by_chips(self) -> bool:
        """Return whether a price may have moved by its number of chips: one of a machine became one of a chip."""
        chips = self.move.chips or 1
        return chips > 1 and any(self.low <= by <= self.high for by in (chips, 1 / chips))


def judged(
    moves: Sequence[Move], rates: Mapping[str, float], *, n_compared: int, n_known: int, n_several: int
) -> dict[int, Doubt]:
    """Return which prices of one answer wait, by row: those that moved together, exchanged places, or moved far.

    `moves` are the prices that are not what they were, of `n_compared` that have one before them, `n_known` of which
    have it in the log, and `n_several` are of several chips. `rates` are US dollars per unit of currencies that a price
    could be in by mistake. A single price waits beyond BOUNDS; inside them it passes, unless it moved by its own number
    of chips, or MIN_TOGETHER offers and MIN_SHARE_AT_ONCE of all moved at once.
    """
    spans = [span for span in _spans(moves) if span.move.replaced or not span.low <= 1 <= span.high]
    large = [span for span in spans if span.move.replaced or abs(span.move.factor - 1) >= SMALL_MOVE]
    found = (
        _one_factor(large, n_compared, n_known, rates)
        | _own_counts(spans, n_several)
        | _swapped(spans)
        | _replaced(spans)
    )
    left = {span for span in large if span.move.row not in found}
    together = len({span.move.offer for span in large})
    at_once = together if together >= max(MIN_TOGETHER, MIN_SHARE_AT_ONCE * n_compared) else 0
    for span in spans:
        doubt = _single(span, at_once if span in left else 0)
        if doubt is not None:
            found.setdefault(span.move.row, doubt)
    return found


def _single(span: _Span, n_at_once: int) -> Doubt | None:
    """Return why a price waits for how far it moved, or as one of so many that moved at once; None: it passes."""
    move, factor = span.move, span.move.factor
    text = f"{factor:.3g} times the last price, {plain_amount(move.before)}"
    if span.is_by_chips:
        text += ": its number of chips"
    elif BOUNDS[0] <= factor <= BOUNDS[1]:
        if not n_at_once:
            return None
        text += f", and {n_at_once} prices moved at once"
    for_person = span.is_by_chips or not 1 / MAX_FACTOR <= factor <= MAX_FACTOR
    return Doubt(reason=f"{text}; {FOR_PERSON if for_person else FOR_REPEAT}", for_person=for_person, field=move.field)


def _spans(moves: Iterable[Move]) -> list[_Span]:
    moves = [move for move in moves if move.before > 0 and move.after > 0]
    before, after = _halves([move.before for move in moves]), _halves([move.after for move in moves])
    return [
        _Span(
            move=move,
            low=float((move.after - half_after) / (move.before + half_before)) * move.scale * (1 - 1e-9),
            high=float((move.after + half_after) / (move.before - half_before)) * move.scale * (1 + 1e-9),
        )
        if move.before > half_before
        else _Span(move=move, low=0.0, high=float("inf"))
        for move, half_before, half_after in zip(moves, before, after, strict=True)
    ]


def _halves(prices: Sequence[Decimal]) -> list[Decimal]:
    """Return half a unit of the last digit of each price, in the company of the others."""
    own = [max(0, -int(price.normalize().as_tuple().exponent)) for price in prices]
    least = min(CENTS, max(own, default=0))
    return [Decimal(5).scaleb(-max(digits, least) - 1) for digits in own]


def _replaced(spans: Iterable[_Span]) -> dict[int, Doubt]:
    """Return the prices of offers that differ from a former one of the same machine in count, unit or currency."""
    return {
        span.move.row: Doubt(
            reason=f"{span.move.replaced}, at {span.move.factor:.3g} times the price per chip-hour; {FOR_PERSON}",
            for_person=True,
        )
        for span in spans
        if span.move.replaced
    }


def _swapped(spans: Iterable[_Span]) -> dict[int, Doubt]:
    """Return the prices that went round among machines of one place: each costs now what the next one did before."""
    groups: dict[Hashable, list[Move]] = defaultdict(list)
    for span in spans:
        groups[span.move.place].append(span.move)
    found = {}
    for moves in groups.values():
        before = {move.before: move for move in moves}
        if len(before) != len(moves):
            continue
        for move in moves:
            circle = [move]
            while (following := before.get(circle[-1].after)) is not None and following not in circle:
                circle.append(following)
            if len(circle) > 1 and following is move:
                others = ", ".join(sorted(each.machine for each in circle[1:]))
                reason = f"exchanged its price with that of {others}; {FOR_PERSON}"
                found[move.row] = Doubt(reason=reason, for_person=True, field=move.field)
    return found


def _own_counts(spans: Iterable[_Span], n_several: int) -> dict[int, Doubt]:
    """Return the prices that moved by their own number of chips: a price of a machine became one of a chip."""
    own = [span.move for span in spans if span.is_by_chips]
    if len({move.offer for move in own}) < MIN_OWN_COUNTS or len(own) * 2 < n_several:
        return {}
    reason = f"{len(own)} of {max(n_several, len(own))} prices of several chips moved by their number of chips"
    doubt = Doubt(reason=f"{reason}; {FOR_PERSON}", for_person=True, n_together=len(own))
    return {move.row: doubt for move in own}


def _one_factor(spans: Sequence[_Span], n_compared: int, n_known: int, rates: Mapping[str, float]) -> dict[int, Doubt]:
    """Return the prices that one factor explains, of at least MIN_TOGETHER offers; again for what is left of them.

    They are of MIN_TOGETHER chips or most of an answer, or the factor is one of a currency or a unit: a provider cuts
    the price of one chip alike in all its machines and regions, and a mistake of reading meets several. Of an answer
    of two or three it has to be all, and such a factor.
    """
    found: dict[int, Doubt] = {}
    left = list(spans)
    fewest = max(n_compared if 1 < n_compared < MIN_TOGETHER else MIN_TOGETHER, len(spans) / MAX_FACTORS)
    while len(left) >= fewest:
        low, high = common(left)
        members = {span for span in left if span.low <= low and high <= span.high}
        if len({span.move.offer for span in members}) < fewest:
            break
        n_rows = len({span.move.row for span in members})
        text = f"{n_rows} of {max(n_compared, n_rows)} prices moved by one factor, {(low + high) / 2:.4g}"
        named = _named(low, high, rates)
        n_chips = len({span.move.chip or span.move.machine for span in members})
        is_most = SHARE_OF_WHOLE * n_known <= n_rows <= n_known  # a history may be of one chip
        if named or (n_rows >= MIN_TOGETHER and (n_chips >= MIN_TOGETHER or is_most)):
            reason = f"{text}{named}; {FOR_PERSON}"
            for span in members:
                found[span.move.row] = Doubt(reason=reason, for_person=True, field=span.move.field, n_together=n_rows)
        left = [span for span in left if span not in members]
    return found


def common(spans: Sequence[_Span]) -> tuple[float, float]:
    """Return the interval of factors that explains most of the moves: of several, the narrowest."""
    edges = sorted([(span.low, 0) for span in spans] + [(span.high, 1) for span in spans])
    depth, most, best = 0, 0, (0.0, 0.0)
    for place, (value, ends) in enumerate(edges):
        if ends:
            depth -= 1
            continue
        depth += 1
        following = edges[place + 1][0]
        if edges[place + 1][1] and (depth, -(following - value)) > (most, -(best[1] - best[0])):
            most, best = depth, (value, following)
    return best


def _named(low: float, high: float, rates: Mapping[str, float]) -> str:
    """Return what a factor is known as: a rate of exchange, or a unit; empty where it is neither."""
    for currency, rate in rates.items():
        if any(low <= by * (1 + RATE_TOLERANCE) and by * (1 - RATE_TOLERANCE) <= high for by in (rate, 1 / rate)):
            return f", the rate between {currency} and USD"
    if any(low <= by <= high for unit in UNIT_FACTORS for by in (unit, 1 / unit)):
        return ", that of a unit"
    return ""
