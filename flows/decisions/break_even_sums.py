"""Sums of a move, on numbers given: `mart.break_even` in memory, and the value of each input at which its answer flips.

Nothing is computed here but where a flip lies: every sum is the macro's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb

from flows.shared.query import rows
from transform import models

Numbers = Mapping[str, float | None]
Key = tuple[int, str]
"""Which of several moves, and which input of it."""

INPUTS = tuple(next(macro for macro in models.MACROS if macro.name == "break_even").parameters)
"""The parameters of mart.break_even, by which its inputs are named here."""
MAY_BE_ZERO = ("weeks", "engineers", "engineer_hour", "upkeep", "dual_weeks", "stranded", "late_weeks", "late_usd")
UTILISATION = "utilisation"
"""Share of the measured rate that both sides serve: a token costs the more on both, the less of it is used."""
WIDEST = 1e6
"""How far from its given value an input is looked at, as a ratio either way."""
_PER_DECADE, _PARTS, _ROUNDS = 4, 16, 7
_FROM_ZERO = tuple(10 ** (power / 4) for power in range(-8, 49))
"""Where a flip is looked for of an input that is 0: 0.01 to 10^12."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """The value of one input at which the answer flips, all others as given.

    `ratio` is how far that is, as the greater over the lesser of the two values; None where the given one is 0.
    `pays` tells on which side of it the move pays, above or below.
    """

    name: str
    given: float
    flips_at: float
    ratio: float | None
    pays: str


@dataclass(frozen=True, kw_only=True)
class Range:
    """A number that is known as a range."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a move takes: weeks of work for one model, and how many models; upkeep is USD a month."""

    weeks: Range
    engineers: float
    usd_per_hour: float
    n_models: int = 1
    tokens_per_day: float | None = None
    upkeep: float = 0.0
    dual_weeks: float = 0.0
    stranded: float = 0.0
    delay_weeks: float = 0.0
    delay_usd_per_week: float = 0.0
    horizon_months: float = 12.0

    def inputs(self, from_usd: float, to_usd: float, weeks: float) -> dict[str, float | None]:
        """Return the inputs of mart.break_even."""
        return {
            "from_usd": from_usd,
            "to_usd": to_usd,
            "tokens_a_day": self.tokens_per_day,
            "weeks": weeks * self.n_models,
            "engineers": self.engineers,
            "engineer_hour": self.usd_per_hour,
            "upkeep": self.upkeep,
            "dual_weeks": self.dual_weeks,
            "stranded": self.stranded,
            "late_weeks": self.delay_weeks,
            "late_usd": self.delay_usd_per_week,
            "horizon": self.horizon_months,
        }


@dataclass(frozen=True, kw_only=True)
class Use:
    """How both sides are used, alike: share of the measured rate, and shares of paid hours that run."""

    utilisation: float = 1.0
    commitment_use: float = 1.0
    spot_running_share: float = 1.0


class Sums:
    """The formulas in a DuckDB of their own, in memory."""

    def __init__(self) -> None:
        self._con = duckdb.connect()
        models.create_formulas(self._con)
        self._con.execute("create schema mart")
        for macro in models.MACROS:
            if macro.name in ("break_even", "make_or_buy"):
                self._con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")

    def value(self, call: str, *values: float | None) -> float | None:
        """Return what one scalar macro gives, such as decision.upkeep_per_month."""
        (found,) = self._con.execute(f"select {call}({', '.join('?' * len(values))})", list(values)).fetchone() or (
            None,
        )
        return None if found is None else float(found)

    def rows(self, sql: str, values: Sequence[object]) -> list[dict[str, Any]]:
        """Return the rows of one question, by column."""
        return rows(self._con, sql, values)

    def moves(self, asked: Sequence[Numbers], columns: str = "*") -> list[dict[str, Any]]:
        """Return the row of mart.break_even for each list of inputs, in their order; all its columns, or one."""
        # As one text of JSON: DuckDB takes a millisecond for each row of a list that is handed to it from Python.
        given = ", ".join(f"(line ->> {place + 1})::DOUBLE as i_{name}" for place, name in enumerate(INPUTS))
        call = ", ".join(f"asked.i_{name}" for name in INPUTS)
        lines = json.dumps([[place, *(each[name] for name in INPUTS)] for place, each in enumerate(asked)])
        found = self.rows(
            f"select answer.{columns} from (select (line ->> 0)::BIGINT as place, {given} "
            "from (select unnest(json_extract(?, '$[*]')) as line)) as asked, "
            f"lateral mart.break_even({call}) as answer order by asked.place",
            [lines],
        )
        if len(found) != len(asked):
            raise ValueError(f"{len(found)} answers to {len(asked)} questions")
        return found

    def flips(self, asked: Sequence[tuple[Numbers, float | None]]) -> list[list[Flip]]:
        """Return for each move where its answer flips, the nearest first, what flips from 0 after all others.

        A move is its inputs and, where both costs come from measured rates, the utilisation of both sides. Without a
        load there is no answer, and so no flip. All moves are looked at together, as a question costs more than a row.
        """
        start: dict[Key, float] = {}
        for place, (given, used) in enumerate(asked):
            if given["tokens_a_day"] is not None:
                start |= {(place, name): value for name in INPUTS if (value := given[name]) is not None}
                start |= {} if used is None else {(place, UTILISATION): used}

        def pays(points: Sequence[tuple[Key, float]]) -> list[bool]:
            moved = [_changed(*asked[place], name, value) for (place, name), value in points]
            return [row["move_verdict"] == "pays" for row in self.moves(moved, "move_verdict")]

        found: list[list[Flip]] = [[] for _ in asked]
        for (place, name), bracket in _brackets(start, pays).items() if start else ():
            value = (bracket.low * bracket.high) ** 0.5 if bracket.low > 0 else bracket.high
            begin = start[place, name]
            ratio = max(value / begin, begin / value) if begin > 0 else None
            pays_where = "above" if bracket.above else "below"
            found[place].append(Flip(name=name, given=begin, flips_at=value, ratio=ratio, pays=pays_where))
        return [sorted(each, key=lambda flip: (flip.ratio is None, flip.ratio or flip.flips_at)) for each in found]


@cache
def in_memory() -> Sums:
    """Return the formulas of this process: making them takes longer than most questions."""
    return Sums()


@dataclass(frozen=True)
class _Bracket:
    low: float
    high: float
    above: bool


def _changed(given: Numbers, used: float | None, name: str, value: float) -> Numbers:
    if name != UTILISATION:
        return {**given, name: value}
    costs = {side: cost for side in ("from_usd", "to_usd") if (cost := given[side]) is not None}
    return {**given, **{side: cost * (used or 1.0) / value for side, cost in costs.items()}}


def _brackets(
    start: Mapping[Key, float], pays: Callable[[Sequence[tuple[Key, float]]], list[bool]]
) -> dict[Key, _Bracket]:
    """Return for each input the narrow bracket of its flip nearest to its given value; none for what never flips."""
    grids = {key: _grid(key[1], value) for key, value in start.items()}
    brackets = {}
    for key, answers in _ask(grids, pays).items():
        near = _nearest(grids[key], answers, start[key])
        if near:
            brackets[key] = near
    for _ in range(_ROUNDS):
        finer = {key: _between(one.low, one.high) for key, one in brackets.items()}
        for key, answers in _ask(finer, pays).items():
            brackets[key] = _nearest(finer[key], answers, brackets[key].low) or brackets[key]
    return brackets


def _ask(
    grids: Mapping[Key, Sequence[float]], pays: Callable[[Sequence[tuple[Key, float]]], list[bool]]
) -> dict[Key, list[bool]]:
    answers = iter(pays([(key, value) for key, grid in grids.items() for value in grid]))
    return {key: [next(answers) for _ in grid] for key, grid in grids.items()}


def _grid(name: str, value: float) -> tuple[float, ...]:
    """Return the values of one input that are looked at first, rising, its given one among them."""
    if value == 0:
        return (0.0, *_FROM_ZERO)
    widest = round(_PER_DECADE * 6)
    steps = tuple(value * 10 ** (power / _PER_DECADE) for power in range(-widest, widest + 1) if power)
    grid = tuple(sorted((*steps, value, *((0.0,) if name in MAY_BE_ZERO else ()))))
    return (*tuple(point for point in grid if point < 1), 1.0) if name == UTILISATION else grid


def _between(low: float, high: float) -> tuple[float, ...]:
    """Return the ends of a bracket and values between them, evenly by ratio, or by difference from 0."""
    if low > 0:
        return (low, *(low * (high / low) ** (part / _PARTS) for part in range(1, _PARTS)), high)
    return tuple(low + (high - low) * part / _PARTS for part in range(_PARTS + 1))


def _nearest(grid: Sequence[float], answers: Sequence[bool], value: float) -> _Bracket | None:
    """Return of all steps at which the answer changes the one nearest to a value."""
    changes = [
        _Bracket(grid[place], grid[place + 1], answers[place + 1])
        for place in range(len(grid) - 1)
        if answers[place] != answers[place + 1]
    ]

    def distance(one: _Bracket) -> float:
        near = one.low if one.low >= value else one.high if one.high <= value else value
        if value <= 0:
            return near
        return max(near / value, value / near) if near > 0 else float("inf")

    return min(changes, key=distance, default=None)
