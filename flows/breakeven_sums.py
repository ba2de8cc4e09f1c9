"""Sums of a move, on numbers given: `mart.break_even` in memory, and the value of each input at which its answer flips.

Nothing is computed here but where a flip lies: every sum is the macro's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from transform import models

Numbers = Mapping[str, float | None]

INPUTS = tuple(next(macro for macro in models.MACROS if macro.name == "break_even").parameters)
"""The parameters of mart.break_even, by which its inputs are named here."""
MAY_BE_ZERO = ("weeks", "engineers", "engineer_hour", "upkeep", "dual_weeks", "stranded", "late_weeks", "late_usd")
UTILISATION = "utilisation"
"""Share of the measured rate that both sides serve: a token costs the more on both, the less of it is used."""
WIDEST = 1e6
"""How far from its given value an input is looked at, as a ratio either way."""
_PER_DECADE, _PARTS, _ROUNDS = 8, 32, 8
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
        cursor = self._con.execute(sql, list(values))
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, line, strict=True)) for line in cursor.fetchall()]

    def moves(self, asked: Sequence[Numbers]) -> list[dict[str, Any]]:
        """Return the row of mart.break_even for each list of inputs, in their order."""
        # As one text of JSON: DuckDB takes a millisecond for each row of a list that is handed to it from Python.
        columns = ", ".join(f"(line ->> {place + 1})::DOUBLE as i_{name}" for place, name in enumerate(INPUTS))
        call = ", ".join(f"asked.i_{name}" for name in INPUTS)
        lines = json.dumps([[place, *(each[name] for name in INPUTS)] for place, each in enumerate(asked)])
        found = self.rows(
            f"select answer.* from (select (line ->> 0)::BIGINT as place, {columns} "
            "from (select unnest(json_extract(?, '$[*]')) as line)) as asked, "
            f"lateral mart.break_even({call}) as answer order by asked.place",
            [lines],
        )
        if len(found) != len(asked):
            raise ValueError(f"{len(found)} answers to {len(asked)} questions")
        return found

    def flips(self, given: Numbers, *, used: float | None = None) -> list[Flip]:
        """Return where the answer flips, the nearest first, what flips from 0 after all others.

        `used` is the utilisation of both sides, where their costs come from measured rates. Without a load there is
        no answer, and so no flip.
        """
        if given["tokens_a_day"] is None:
            return []
        start: dict[str, float] = {name: value for name in INPUTS if (value := given[name]) is not None}
        if used is not None:
            start[UTILISATION] = used

        def pays(points: Sequence[tuple[str, float]]) -> list[bool]:
            rows = self.moves([_changed(given, name, value, used) for name, value in points])
            return [row["move_verdict"] == "pays" for row in rows]

        found = []
        for name, bracket in _brackets(start, pays).items():
            value = (bracket.low * bracket.high) ** 0.5 if bracket.low > 0 else bracket.high
            begin = start[name]
            ratio = max(value / begin, begin / value) if begin > 0 else None
            found.append(
                Flip(name=name, given=begin, flips_at=value, ratio=ratio, pays="above" if bracket.above else "below")
            )
        return sorted(found, key=lambda flip: (flip.ratio is None, flip.ratio or flip.flips_at))


@dataclass(frozen=True)
class _Bracket:
    low: float
    high: float
    above: bool


def _changed(given: Numbers, name: str, value: float, used: float | None) -> Numbers:
    if name != UTILISATION:
        return {**given, name: value}
    costs = {side: cost for side in ("from_usd", "to_usd") if (cost := given[side]) is not None}
    return {**given, **{side: cost * (used or 1.0) / value for side, cost in costs.items()}}


def _brackets(
    start: Mapping[str, float], pays: Callable[[Sequence[tuple[str, float]]], list[bool]]
) -> dict[str, _Bracket]:
    """Return for each input the narrow bracket of its flip nearest to its given value; none for what never flips."""
    grids = {name: _grid(name, value) for name, value in start.items()}
    brackets = {}
    for name, answers in _ask(grids, pays).items():
        near = _nearest(grids[name], answers, start[name])
        if near:
            brackets[name] = near
    for _ in range(_ROUNDS):
        finer = {name: _between(one.low, one.high) for name, one in brackets.items()}
        for name, answers in _ask(finer, pays).items():
            near = _nearest(finer[name], answers, brackets[name].low)
            brackets[name] = near or brackets[name]
    return brackets


def _ask(
    grids: Mapping[str, Sequence[float]], pays: Callable[[Sequence[tuple[str, float]]], list[bool]]
) -> dict[str, list[bool]]:
    answers = iter(pays([(name, value) for name, grid in grids.items() for value in grid]))
    return {name: [next(answers) for _ in grid] for name, grid in grids.items()}


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
