"""Whether a move pays: both sides' cost per token, supplied or from one operating point that both were measured at.

A cost comes from `mart.serving_cost` of the published file, sums from `mart.break_even` in memory. Where one side was
not measured at a point there is no answer for it, but what it would have to reach at its price. Nothing is computed
here but where a flip lies, the value of an input at which the answer changes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from flows.decisions import break_even_sides as evidence
from flows.decisions import regions as allowed
from flows.decisions.break_even_sides import Side, Use, read
from flows.decisions.cost_added import NOT_INCLUDED
from flows.shared.query import rows
from transform import formula, models
from warehouse.errors import ChipledgerError, SettingsError

Numbers = Mapping[str, float | None]
Key = tuple[int, str]
"""Which of several moves, and which input of it."""
Flip = dict[str, Any]
"""Where one input flips the answer: name, given, flips_at, ratio (greater / lesser, None at 0), pays above or below."""

INPUTS = tuple(next(macro for macro in models.MACROS if macro.name == "break_even").parameters)
"""The parameters of mart.break_even, by which its inputs are named here."""
UTILISATION = "utilisation"
"""Share of the measured rate that both sides serve: a token costs the more on both, the less of it is used."""
STARTS = {"weeks": 0.0, "dual_weeks": 0.0, "late_weeks": 0.0, "horizon": 1e6}
"""Where Newton's rule starts, as a share of the value: on the side of the bend on which the gain is 0 once."""


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
        costs = from_usd, to_usd, self.tokens_per_day, weeks * self.n_models, self.engineers, self.usd_per_hour
        upkeep = self.upkeep, self.dual_weeks, self.stranded
        delay = self.delay_weeks, self.delay_usd_per_week, self.horizon_months
        return dict(zip(INPUTS, (*costs, *upkeep, *delay), strict=True))


class Sums:
    """The formulas in a DuckDB of their own, in memory."""

    def __init__(self) -> None:
        self.con = duckdb.connect()
        formula.create_formulas(self.con)
        self.con.execute("create schema mart")
        for macro in models.MACROS:
            if macro.name in ("break_even", "make_or_buy"):
                self.con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")

    def value(self, call: str, *values: float | None) -> float | None:
        """Return what one scalar macro gives, such as decision.upkeep_per_month."""
        ((found,),) = self.con.execute(f"select {call}({', '.join('?' * len(values))})", list(values)).fetchall()
        return None if found is None else float(found)

    def moves(self, inputs: Sequence[Numbers], columns: str = "*") -> list[dict[str, Any]]:
        """Return the row of mart.break_even for each list of inputs, in their order; all its columns, or one."""
        # As one text of JSON: DuckDB takes a millisecond for each row of a list that comes from Python.
        typed = ", ".join(f"(line ->> {place + 1})::DOUBLE as i_{name}" for place, name in enumerate(INPUTS))
        call = ", ".join(f"input.i_{name}" for name in INPUTS)
        lines = json.dumps([[place, *(each[name] for name in INPUTS)] for place, each in enumerate(inputs)])
        found = rows(
            self.con,
            f"select answer.{columns} from (select (line ->> 0)::BIGINT as place, {typed} "
            "from (select unnest(json_extract(?, '$[*]')) as line)) as input, "
            f"lateral mart.break_even({call}) as answer order by input.place",
            [lines],
        )
        if len(found) != len(inputs):
            raise ValueError(f"{len(found)} answers to {len(inputs)} queries")
        return found

    def flips(self, cases: Sequence[tuple[Numbers, float | None]]) -> list[list[Flip]]:
        """Return for each move where its answer flips, the nearest first, what flips from 0 after all others.

        A move is its inputs and, where both costs come from measured rates, the utilisation of both sides. Without a
        load there is no answer, and so no flip. The gain is a straight line of each input (of 1 / utilisation), bent
        where the horizon ends before the new side serves: Newton's rule finds where it is 0.
        """
        start: dict[Key, float] = {}
        for place, (inputs, used) in enumerate(cases):
            if inputs["tokens_a_day"] is not None:
                stated = {name: inputs[name] for name in INPUTS} | {UTILISATION: used}
                start |= {(place, name): value for name, value in stated.items() if value is not None}

        def at(points: Mapping[Key, float], column: str) -> list[Any]:
            moved = [_changed(*cases[place], name, value) for (place, name), value in points.items()]
            return [row[column] for row in self.moves(moved, column)] if moved else []

        root = {key: value * STARTS.get(key[1], 1.0) for key, value in start.items()}
        for _ in range(3):
            further = {key: value * 1.001 or 0.001 for key, value in root.items()}
            gains = zip(root.items(), further.values(), at(root, "gain_usd"), at(further, "gain_usd"), strict=True)
            steps = ((key, _root(key[1], value, *line)) for (key, value), *line in gains)
            root = {key: value for key, value in steps if value is not None}
        sides = [at({key: value * (1 + step) for key, value in root.items()}, "move_verdict") for step in (-1e-6, 1e-6)]
        found: list[list[Flip]] = [[] for _ in cases]
        for ((place, name), value), below, above in zip(root.items(), *sides, strict=True):
            begin = start[place, name]
            if (below == "pays") != (above == "pays"):
                ratio = max(value / begin, begin / value) if begin > 0 else None
                side = "above" if above == "pays" else "below"
                found[place].append({"name": name, "given": begin, "flips_at": value, "ratio": ratio, "pays": side})
        return [
            sorted(each, key=lambda flip: (flip["ratio"] is None, flip["ratio"] or flip["flips_at"])) for each in found
        ]


@cache
def in_memory() -> Sums:
    """Return the formulas of this process: making them takes longer than most queries."""
    return Sums()


def _changed(inputs: Numbers, used: float | None, name: str, value: float) -> Numbers:
    if name != UTILISATION:
        return {**inputs, name: value}
    costs = {side: cost for side in ("from_usd", "to_usd") if (cost := inputs[side]) is not None}
    return {**inputs, **{side: cost * (used or 1.0) / value for side, cost in costs.items()}}


def _root(name: str, value: float, other: float, gain: float | None, more: float) -> float | None:
    """Return where the line through two gains is 0: above 0, and a share at most 1; None where it is nowhere."""
    if not gain or gain == more:
        return value if gain == 0 else None
    if name == UTILISATION:
        found = 1 / (1 / value - gain * (1 / other - 1 / value) / (more - gain) or float("inf"))
        return found if 0 < found <= 1 else None
    return max(value - gain * (other - value) / (more - gain), value * 1e-6) or None


EFFORTS = {
    name: Range(low=low, likely=(low + high) / 2, high=high)
    for name, low, high in (("light", 1.0, 2.0), ("port", 2.0, 3.0), ("rewrite", 4.0, 6.0))
}
"""Weeks of a port from CUDA to Neuron, of a team that knows Neuron, that does not, and with kernels of its own: one
author's estimates of 2026-07-02, not measurements, claims S2-049, S2-047 and S2-048 of `chipledger audit`."""


def move(
    start: Range | str,
    target: Range | str,
    *,
    work: Work,
    use: Use,
    model: str | None = None,
    interactivity: float | None = None,
    file: Path | None = None,
    effort: str | None = None,
    regions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the answer for each point that both sides have; a side is a cost per million, or a text for `read`.

    Raises ChipledgerError for a text that is not understood and for a file without costs.
    """
    sums = in_memory()
    if work.tokens_per_day is None and (work.upkeep or work.dual_weeks):
        message = "--upkeep-per-month and --dual-running-weeks require --tokens-per-day"
        raise SettingsError(message, field="--tokens-per-day", value="")
    known: dict[str, Any] = {"from": start, "to": target}
    stated = {name: side if isinstance(side, str) else asdict(side) for name, side in known.items()}
    answer: dict[str, Any] = {
        "regions": {"allowed": [], "left_out": []},
        "inputs": stated
        | {"model": model, "interactivity": interactivity, "effort": effort, **asdict(work), **asdict(use)},
        "not_included": [words for name, words in NOT_INCLUDED.items() if name != "engineering"],
        "formula": "one-off cost / (cost per million before - after - upkeep a million) x 10^6",
        "answer": None,
        **{name: [] for name in ("cases", "unknown", "needed")},
    }
    if isinstance(start, Range) and isinstance(target, Range):
        answer["cases"] = _cases(sums, [(None, _supplied(start), _supplied(target))], work, used=None)
    else:
        if file is None:
            raise ChipledgerError("a side named by text needs the published file", field="--from", value=str(start))
        with allowed.opened(file, regions) as con:
            answer["regions"] = allowed.as_dict(con, regions)
            providers = evidence.providers(con)
            sides = {
                name: read(side, field=f"--{name}", providers=providers) if isinstance(side, str) else side
                for name, side in known.items()
            }
            named = {name: side for name, side in sides.items() if isinstance(side, Side)}
            # A supplied cost is of one model: without its name it is compared with prices alone, and with no run.
            names = [] if model is None and len(named) < 2 else evidence.models_of(con, [*named.values()], model)
            found = {
                name: evidence.points(con, side, names, interactivity, work.tokens_per_day, use)
                for name, side in named.items()
            }
            points = list(_common(sides, found))
            answer["cases"] = _cases(sums, points, work, used=use.utilisation if len(named) == 2 else None)
            if not answer["cases"]:
                answer["unknown"] = list(evidence.reasons(con, sides, found, names))
                answer["needed"] = list(_needed(con, sums, sides, found, work, use))
    verdicts = {case["answer"] for case in answer["cases"]}
    answer["answer"] = next(iter(verdicts)) if len(verdicts) == 1 else "depends" if verdicts else "unknown"
    return answer


def _supplied(cost: Range) -> dict[str, Any]:
    return {"basis": "given", **asdict(cost)}


def _figure(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "basis": "measured",
        "low": row["all_in_output_usd_low"],
        "likely": row["all_in_output_usd_median"],
        "high": row["all_in_output_usd_high"],
        **{name: row[name] for name in evidence.SHOWN},
    }


def _common(
    sides: Mapping[str, Any], found: Mapping[str, evidence.Points]
) -> Iterator[tuple[tuple[Any, ...] | None, dict[str, Any], dict[str, Any]]]:
    """Yield each point that no named side lacks, with the figures of both sides."""
    for point in next(iter(found.values())):
        if all(point in each for each in found.values()):
            start, target = (
                _figure(found[name][point]) if name in found else _supplied(sides[name]) for name in ("from", "to")
            )
            yield point, start, target


def _cases(
    sums: Sums,
    points: Sequence[tuple[tuple[Any, ...] | None, dict[str, Any], dict[str, Any]]],
    work: Work,
    *,
    used: float | None,
) -> list[dict[str, Any]]:
    """Return the answer at each point: soonest, likely and latest, and where the likely one flips."""
    inputs = [
        (
            work.inputs(start["high"], target["low"], work.weeks.low),
            work.inputs(start["likely"], target["likely"], work.weeks.likely),
            work.inputs(start["low"], target["high"], work.weeks.high),
        )
        for _, start, target in points
    ]
    moves = sums.moves([each for three in inputs for each in three])
    flips = sums.flips([(likely, used) for _, likely, _ in inputs])
    cases = []
    for place, (point, start, target) in enumerate(points):
        soonest, likely, latest = moves[3 * place : 3 * place + 3]
        # An end whose price is unknown has no verdict; the likely one always has its price and its rate.
        verdicts = {likely["move_verdict"], *filter(None, (soonest["move_verdict"], latest["move_verdict"]))}
        case: dict[str, Any] = {
            "point": point and dict(zip(evidence.POINT, point, strict=True)),
            "from": start,
            "to": target,
            "answer": verdicts.pop() if len(verdicts) == 1 else "depends",
            "soonest": soonest,
            "likely": likely,
            "latest": latest,
            "whole_units": None,
            "flips": [
                line
                for flip in flips[place]
                for line in (flip, *_of_evidence(flip, {"from_usd": start, "to_usd": target}.get(flip["name"])))
            ],
        }
        if work.tokens_per_day and start["basis"] == target["basis"] == "measured":
            # The likely answer where machines are paid whole, all month, on both sides.
            millions = sums.value("decision.million_tokens_per_month", work.tokens_per_day) or 0.0
            before, after = (case[side]["usd_per_month_at_load"] / millions for side in ("from", "to"))
            (whole,) = sums.moves([work.inputs(before, after, work.weeks.likely)])
            chips = {f"{side}_accelerators": case[side]["paid_accelerators"] for side in ("from", "to")}
            case["whole_units"] = chips | whole | {"verdict": whole["move_verdict"]}
            case["answer"] = case["answer"] if case["answer"] == case["whole_units"]["verdict"] else "depends"
        cases.append(case)
    return cases


def _of_evidence(flip: Mapping[str, Any], figure: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield a flip of a cost as one of its price and of its rate: it rises with the one, falls with the other."""
    if figure is None or figure["basis"] != "measured":
        return
    side, change = flip["name"].removesuffix("_usd"), flip["flips_at"] / flip["given"]
    other = "below" if flip["pays"] == "above" else "above"
    price, rate = figure["price_usd"], figure["median_output_rate"]
    yield {**flip, "name": f"{side}_price", "given": price, "flips_at": price * change}
    yield {**flip, "name": f"{side}_rate", "given": rate, "flips_at": rate / change, "pays": other}


def _needed(
    con: duckdb.DuckDBPyConnection,
    sums: Sums,
    sides: Mapping[str, Any],
    found: Mapping[str, evidence.Points],
    work: Work,
    use: Use,
) -> Iterator[dict[str, Any]]:
    """Yield what a side would have to reach at its price, at each point that the other was measured at.

    `rate_to_be_equal` makes a token cost the same on both sides, `rate_to_pay` brings the cost of the move back within
    the horizon: of the side one would go to the least rate, of the one where one is the greatest. None: none does.
    """
    (once,) = sums.moves([work.inputs(1.0, 1.0, work.weeks.likely)])
    fixed = once["engineering_usd"] + once["stranded_usd"] + once["delay_usd"]
    for name, other in (("to", "from"), ("from", "to")):
        side = sides[other]
        price = evidence.price(con, sides[name], use) if isinstance(sides[name], Side) else None
        if price is None:
            continue
        known = (
            [(None, _supplied(side))]
            if isinstance(side, Range)
            else [(point, _figure(row)) for point, row in found[other].items()]
        )
        for point, figure in known:
            to_pay = None
            if work.tokens_per_day is not None:
                load = once["wait_months"], work.dual_weeks, work.tokens_per_day, figure["likely"], work.upkeep, fixed
                to_pay = sums.value(f"decision.{name}_cost_to_pay", work.horizon_months, *load)
            equal = _rate(sums, price["paid_rate_usd"], figure["likely"], use)
            bound = evidence.compute_bound(con, price, point[0]) if point else None
            yield {
                "side": name,
                "point": point and dict(zip(evidence.POINT, point, strict=True)),
                "known": figure,
                "price": price,
                "cost_to_pay": to_pay,
                "rate_to_be_equal": equal,
                "rate_to_pay": None if to_pay is None else _rate(sums, price["paid_rate_usd"], to_pay, use),
                "compute_bound": bound,
                "equal_share_of_bound": equal / bound if equal and bound else None,
            }


def _rate(sums: Sums, paid: float, usd: float, use: Use) -> float | None:
    return sums.value("cost.rate_to_beat", paid, 1.0, usd, use.utilisation)
