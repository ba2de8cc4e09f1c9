"""What a check of a claim gives: ranges of figures, and the verdict with all that it rests on."""

import re
from dataclasses import dataclass
from decimal import Decimal

from transform.audit.verdicts import UNVERIFIABLE
from warehouse.reference.claims import NUMBER, UNITS, Claim

SMALL_WHOLE = 1000
"""Whole numbers below it are rounded to 1; above it, trailing zeros may be rounding."""
WHOLE_ROUNDING = 0.005
"""Most that trailing zeros of a whole number may hide: 28,500 is 28,358 to 28,642."""


@dataclass(frozen=True)
class Range:
    """Figures from low to high, both included."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Return the middle; of an open range the end that it has."""
        return self.low if self.high == float("inf") else (self.low + self.high) / 2

    def meets(self, other: "Range") -> bool:
        """Return whether any figure is in both; a billionth is left to floating point."""
        slack = 1e-9 * max(abs(self.low), abs(self.high), abs(other.low), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack

    def distance(self, other: "Range") -> tuple[bool, float]:
        """Return how far another is for choosing the nearest: whether they are apart, then how far their middles."""
        return not self.meets(other), abs(self.middle - other.middle)

    def __sub__(self, other: "Range") -> "Range":
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Range") -> "Range":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    def __truediv__(self, other: "Range") -> "Range":
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("a range that holds 0")
        return self * Range(1 / other.high, 1 / other.low)


def exactly(value: float) -> Range:
    """Return the range of one figure."""
    return Range(value, value)


def rounding(text: str) -> float:
    """Return how far a printed figure may be rounded: half of its last digit."""
    exponent = Decimal(text).as_tuple().exponent
    number = abs(float(text))
    if isinstance(exponent, int) and exponent < 0:
        return float(Decimal(5).scaleb(exponent - 1))
    if number < SMALL_WHOLE:
        return 0.5
    whole = format(Decimal(text), "f")
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(min(5 * 10.0 ** (zeros - 1), number * WHOLE_ROUNDING))


def printed(text: str) -> Range:
    """Return the figures that a printed one may stand for."""
    return Range(float(text) - rounding(text), float(text) + rounding(text))


def figure(claim: Claim) -> Range:
    """Return the figure of a claim in its unit, without rounding or hedge."""
    low, high = (claim.low, claim.high) if claim.value is None else (claim.value, claim.value)
    return Range(float(low or 0), float("inf" if high is None else high))


EXACT_UNITS = ("count", "year", "ordinal", "date", "cores", "flag")
"""Units in which nothing is rounded."""


def scale(claim: Claim) -> float:
    """Return what the unit of a claim is of the first unit of its kind."""
    return UNITS.get(claim.unit, ("", 1.0))[1]


def claimed(claim: Claim, *, hedged: bool = True, reached: bool = False) -> Range:
    """Return what a claim may stand for in its kind's first unit, rounded and hedged; `reached`: "up to 4" is no 3."""
    ends = (claim.value or claim.low, claim.value or claim.high)
    share = claim.hedge.share if hedged else 0.0
    spans = [(exactly(float(end)) if claim.unit in EXACT_UNITS else printed(end)) if end else None for end in ends]
    low = spans[0].low * (1 - share) if spans[0] else 0.0
    high = spans[1].high * (1 + share) if spans[1] else float("inf")
    if low > high:  # negative figures, such as a discount of -40 %
        low, high = high, low
    if hedged and claim.hedge.is_upper and not reached:
        low = min(low, 0.0)
    if hedged and claim.hedge.is_lower:
        high = float("inf")
    return Range(low * scale(claim), high * scale(claim))


def is_number(claim: Claim) -> bool:
    """Return whether the figure of a claim is one to compute with."""
    return all(re.search(NUMBER, end) for end in (claim.value, claim.low, claim.high) if end is not None)


@dataclass(frozen=True)
class Finding:
    """The verdict on one claim, as of its date and today, with what it rests on.

    `basis` is what decided: bound, arithmetic, history, evidence or nothing. `recomputed` is in the claim's own unit.
    """

    verdict: str
    verdict_today: str
    basis: str
    arithmetic: str
    recomputed: float | None = None
    readings: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    evidence_until: str | None = None


def found(verdict: str, basis: str, arithmetic: str, **more: object) -> Finding:
    """Return a finding that is the same as of the claim's date and today."""
    return Finding(verdict, verdict, basis, arithmetic, **more)  # type: ignore[arg-type]


def unknown(reason: str, **more: object) -> Finding:
    """Return the finding where nothing decides, with the reason."""
    return found(UNVERIFIABLE, "nothing", reason, **more)


def number(value: float) -> str:
    """Return a figure for reading: four significant digits, thousands apart, no exponent below 10^15."""
    if value == 0 or value != value or abs(value) == float("inf"):
        return str(value)
    return f"{value:,.0f}" if SMALL_WHOLE <= abs(value) < 1e15 else f"{value:.4g}"
