"""Whether a move pays: both sides' cost per token, given or from one operating point that both were measured at.

A cost comes from `mart.serving_cost` of the published file, sums from `mart.break_even`. Where one side was not
measured at a point there is no answer for it: what is said then is what it would have to reach at its price.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.decisions import break_even_evidence as evidence
from flows.decisions import regions as allowed
from flows.decisions.break_even_sides import Side, read
from flows.decisions.break_even_sums import Range, Sums, Use, Work, in_memory
from flows.decisions.cost_added import NOT_INCLUDED
from warehouse.errors import ChipledgerError, SettingsError

EFFORTS = {"light": (1.0, 2.0), "port": (2.0, 3.0), "rewrite": (4.0, 6.0)}
"""Weeks of a port from CUDA to Neuron, of a team that knows Neuron, that does not, and with kernels of its own.

One author's estimates of 2026-07-02, not measurements: claims S2-049, S2-047 and S2-048 of `chipledger audit`."""


def weeks_of(effort: str) -> tuple[float, float, float]:
    """Return low, likely and high weeks of work of a kind of effort; the likely ones lie in the middle."""
    low, high = EFFORTS[effort]
    return low, (low + high) / 2, high


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
    """Return the answer for each point that both sides have; a side is a cost per million, or words of `read`.

    Raises ChipledgerError for words that are not understood and for a file without costs.
    """
    sums = in_memory()
    if work.tokens_per_day is None and (work.upkeep or work.dual_weeks):
        raise SettingsError("upkeep and both sides running need a load", field="--tokens-per-day", value="")
    known: dict[str, Any] = {"from": start, "to": target}
    answer: dict[str, Any] = {
        "regions": allowed.told((), ()),
        "inputs": {
            **{name: side if isinstance(side, str) else asdict(side) for name, side in known.items()},
            "model": model,
            "interactivity": interactivity,
            "effort": effort,
            **asdict(work),
            **asdict(use),
        },
        "not_included": list(NOT_INCLUDED.values()),
        "formula": "one-off cost / (cost per million before - after - upkeep a million) x 10^6",
        "answer": None,
        "cases": [],
        "unknown": [],
        "needed": [],
    }
    if isinstance(start, Range) and isinstance(target, Range):
        answer["cases"] = _cases(sums, [(None, _given(start), _given(target))], work, used=None)
    else:
        if file is None:
            raise ChipledgerError("a side in words needs the published file", field="--from", value=str(start))
        with evidence.opened(file, regions) as con:
            answer["regions"] = allowed.told(regions, allowed.left_out(con, regions))
            providers = evidence.providers(con)
            sides = {
                name: read(side, field=f"--{name}", providers=providers) if isinstance(side, str) else side
                for name, side in known.items()
            }
            in_words = [side for side in sides.values() if isinstance(side, Side)]
            # A number given is of one model: without its name it is held against prices alone, and no run.
            names = [] if model is None and len(in_words) < 2 else evidence.models_of(con, in_words, model)
            found = {
                name: evidence.points(con, side, names, interactivity, work.tokens_per_day, use)
                if isinstance(side, Side)
                else None
                for name, side in sides.items()
            }
            points = list(_common(sides, found))
            answer["cases"] = _cases(sums, points, work, used=use.utilisation if len(in_words) == 2 else None)
            if not answer["cases"]:
                answer["unknown"] = list(evidence.reasons(con, sides, found, names))
                prices = {
                    name: evidence.price(con, side, use) for name, side in sides.items() if isinstance(side, Side)
                }
                bounds = {
                    (name, model_name): evidence.compute_bound(con, priced, model_name)
                    for name, priced in prices.items()
                    if priced
                    for model_name in names
                }
                answer["needed"] = list(_needed(sums, sides, found, prices, bounds, work, use))
    verdicts = {case["answer"] for case in answer["cases"]}
    answer["answer"] = next(iter(verdicts)) if len(verdicts) == 1 else "depends" if verdicts else "unknown"
    return answer


def _given(given: Range) -> dict[str, Any]:
    return {"basis": "given", "low": given.low, "likely": given.likely, "high": given.high}


def _figure(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "basis": "measured",
        "low": row["all_in_output_usd_low"],
        "likely": row["all_in_output_usd_median"],
        "high": row["all_in_output_usd_high"],
        **{name: row[name] for name in evidence.SHOWN},
    }


def _common(
    sides: Mapping[str, Any], found: Mapping[str, evidence.Points | None]
) -> Iterator[tuple[tuple[Any, ...] | None, dict[str, Any], dict[str, Any]]]:
    """Yield each point that no side in words lacks, with the figures of both sides."""
    measured = [each for each in (found["from"], found["to"]) if each is not None]
    for point in measured[0]:
        if all(point in each for each in measured):
            start, target = (
                _given(sides[name]) if (each := found[name]) is None else _figure(each[point])
                for name in ("from", "to")
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
    asked = [
        (
            work.inputs(start["high"], target["low"], work.weeks.low),
            work.inputs(start["likely"], target["likely"], work.weeks.likely),
            work.inputs(start["low"], target["high"], work.weeks.high),
        )
        for _, start, target in points
    ]
    moves = sums.moves([each for three in asked for each in three])
    flips = sums.flips([(likely, used) for _, likely, _ in asked])
    cases = []
    for place, (point, start, target) in enumerate(points):
        soonest, likely, latest = moves[3 * place : 3 * place + 3]
        # An end whose price is not known says nothing; the likely one always has its price and its rate.
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
                for flip in map(asdict, flips[place])
                for line in (flip, *_of_evidence(flip, {"from_usd": start, "to_usd": target}.get(flip["name"])))
            ],
        }
        if work.tokens_per_day and start["basis"] == target["basis"] == "measured":
            case["whole_units"] = _whole_units(sums, case, work)
            case["answer"] = case["answer"] if case["answer"] == case["whole_units"]["verdict"] else "depends"
        cases.append(case)
    return cases


def _of_evidence(flip: Mapping[str, Any], figure: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield a flip of a cost as one of its price and of its rate: it rises with the one, falls with the other."""
    if figure is None or figure["basis"] != "measured":
        return
    side, change = flip["name"].removesuffix("_usd"), flip["flips_at"] / flip["given"]
    other = "below" if flip["pays"] == "above" else "above"
    price, rate = figure["median_price_usd"], figure["median_output_rate"]
    yield {**flip, "name": f"{side}_price", "given": price, "flips_at": price * change}
    yield {**flip, "name": f"{side}_rate", "given": rate, "flips_at": rate / change, "pays": other}


def _needed(
    sums: Sums,
    sides: Mapping[str, Any],
    found: Mapping[str, evidence.Points | None],
    prices: Mapping[str, dict[str, Any] | None],
    bounds: Mapping[tuple[str, str], float | None],
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
        price, side = prices.get(name), sides[other]
        if price is None:
            continue
        known = (
            [(None, _given(side))]
            if isinstance(side, Range)
            else [(point, _figure(row)) for point, row in (found[other] or {}).items()]
        )
        for point, figure in known:
            to_pay = (
                None
                if work.tokens_per_day is None
                else sums.value(
                    f"decision.{name}_cost_to_pay",
                    work.horizon_months,
                    once["wait_months"],
                    work.dual_weeks,
                    work.tokens_per_day,
                    figure["likely"],
                    work.upkeep,
                    fixed,
                )
            )
            equal = _rate(sums, price["paid_rate_usd"], figure["likely"], use)
            bound = bounds.get((name, point[0])) if point else None
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


def _whole_units(sums: Sums, case: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return the likely answer where machines are paid whole, all month, on both sides."""
    months = case["from"]["usd_per_month_at_load"], case["to"]["usd_per_month_at_load"]
    both = sums.value("decision.dual_running_cost", work.dual_weeks, months[1])
    likely = case["likely"]
    once = sums.value(
        "decision.one_off_cost", likely["engineering_usd"], both, likely["stranded_usd"], likely["delay_usd"]
    )
    (found,) = sums.rows(
        "select unnest(decision.plan(?::DOUBLE, ?::DOUBLE, ?::DOUBLE, ?::DOUBLE, ?::DOUBLE, ?::DOUBLE))",
        [once, likely["wait_months"], *months, work.upkeep, work.horizon_months],
    )
    return {
        "from_accelerators": case["from"]["paid_accelerators"],
        "to_accelerators": case["to"]["paid_accelerators"],
        **found,
    }
