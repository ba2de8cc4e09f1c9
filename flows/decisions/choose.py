"""What wins where: for each workload the cheapest feasible option, and the questions that only the reader can answer.

Every figure comes from mart.choice; nothing is scored here.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from flows.config.settings import DecisionSettings, Spread
from flows.decisions import regions as allowed
from flows.shared.query import columns, rows
from transform import cover
from warehouse.errors import SettingsError

HORIZON_MONTHS = 12


class Question(NamedTuple):
    """One question of a published checklist: its text, the setting that answers it, what for, and who asks it."""

    text: str
    setting: str
    used_for: str
    origin: str


_LINES = (files("flows.decisions") / "questions.csv").read_text(encoding="utf-8").splitlines()
QUESTIONS = tuple(Question(**row) for row in csv.DictReader(_LINES))

JUDGEMENTS = (
    "breadth of the ecosystem and of its community",
    "which operators and kernels of your models a compiler covers",
    "how new the architecture of your models is",
    "what your people know already, and whom you can hire",
    "ease of debugging and maturity of tools",
    "portability, and what dependence on one supplier may cost later",
)
"""What published scorecards give points for and no number here can answer: the reader's own, and in no sum."""

WORKLOADS = "from int.workload"
PROVIDERS = "select distinct service_provider_name as name from int.provider_price"
KNOWN = "select exists (from {} where model_name = $model) as is_measured"
CHOICE = """
from mart.choice(
    $task, $model, $tokens, $speed, $horizon_months, $share_of_use, $tolerates_interruption, $spot_loss, $providers,
    $load, $utilisation, 0.0, 1.0, $price_days
)
order by n_feasible = 0, benchmark_family, scenario, precision, input_length, output_length
"""
CHOSEN_BY = columns(
    "horizon_months, share_of_use, tolerates_interruption, spot_loss, providers, utilisation, price_days"
)
UNMEASURED = """
select distinct accelerator_name from int.cost_price
where accelerator_name not in (select accelerator_name from {} where model_name = $model and is_ranked)
order by accelerator_name
"""
OFFERS = {"training": "int.training_offer", "serving": "int.serving_offer", "offline": "int.serving_offer"}


def stated(decision: DecisionSettings, **options: Any) -> DecisionSettings:
    """Return the settings with options in their place, as far as these are stated."""
    return decision.model_copy(update={name: value for name, value in options.items() if value not in (None, ())})


def answer(
    file: Path,
    decision: DecisionSettings,
    *,
    workloads: Sequence[str] = (),
    utilisation: float = 1.0,
    price_days: float | None = None,
) -> dict[str, Any]:
    """Return what wins for each workload, all without `workloads`, and which question each number answers.

    Raises ChipledgerError.
    """
    inputs = _inputs(decision) | {
        "utilisation": utilisation,
        "price_days": price_days,
        "monthly_spend": decision.monthly_spend,
    }
    regions = inputs["regions"] or ()
    with allowed.opened(file, regions) as con:
        known = {row["workload"]: row for row in rows(con, WORKLOADS)}
        _check(workloads, known, "no such workload", "--workload")
        providers = {row["name"] for row in rows(con, PROVIDERS)}
        _check(inputs["providers"] or (), providers, "no provider with a price has this name", "--provider")
        wanted = [row for name, row in known.items() if not workloads or name in workloads]
        found = [_workload(con, row, inputs) for row in wanted]
        stated = allowed.as_dict(con, regions)
    return {
        "inputs": inputs,
        "regions": stated,
        "formula": "USD per million tokens of mart.training_run_cost, mart.serving_cost; ranked at equal yardsticks",
        "workloads": found,
        "questions": _questions(inputs, decision),
        "own_judgement": list(JUDGEMENTS),
    }


def _check(names: Iterable[str], known: Iterable[str], message: str, field: str) -> None:
    for name in names:
        if name not in known:
            raise SettingsError(message, field=field, value=name, hint=f"Known: {', '.join(sorted(known))}")


def _inputs(decision: DecisionSettings) -> dict[str, Any]:
    """Return the inputs as set, else their defaults; None: not stated."""
    return {
        "horizon_months": decision.horizon_months or HORIZON_MONTHS,
        "tolerates_interruption": bool(decision.tolerates_interruption),
        "spot_loss": decision.spot_loss,
        "share_of_use": _share(decision),
        "providers": list(decision.providers) or None,
        "regions": list(decision.regions) or None,
        **{name: getattr(decision, name) for name in ("tokens_per_day", "training_tokens", "interactivity")},
    }


def _share(decision: DecisionSettings) -> float | None:
    """Return the share of committed hours that are used, by whatever runs there; None where none is stated."""
    use = decision.share_of_use
    if isinstance(use, Spread):
        return sum(weight * share for weight, share in zip(cover.SWANSON, (use.low, use.likely, use.high), strict=True))
    return use


def _workload(con: duckdb.DuckDBPyConnection, workload: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    task, model = workload["workload_task"], workload["model_name"]
    tokens = inputs["training_tokens"] or workload["training_tokens"]
    speed = inputs["interactivity"] or workload["least_interactivity"] if task == "serving" else None
    choices: list[dict[str, Any]] = []
    if rows(con, KNOWN.format(OFFERS[task]), {"model": model})[0]["is_measured"]:
        load = inputs["tokens_per_day"] if task == "serving" else None
        values = {"task": task, "model": model, "tokens": tokens, "speed": speed, "load": load}
        choices = rows(con, CHOICE, values | {name: inputs[name] for name in CHOSEN_BY}, field="choose")
    spend = inputs["monthly_spend"]
    for row in choices:
        margin = row["margin_share"]
        row["is_never_seen_obtainable"] = row["offer_id"] is not None and row["last_obtainable_at"] is None
        row["usd_a_month_at_stake"] = spend * margin if spend and margin is not None else None
    unmeasured = rows(con, UNMEASURED.format(OFFERS[task]), {"model": model})
    return {
        "workload": workload["workload"],
        "task": task,
        "model_name": model,
        "training_tokens": tokens if task == "training" else None,
        "least_interactivity": speed,
        "figure_source": workload["figure_source"],
        "choices": choices,
        "no_evidence": [row["accelerator_name"] for row in unmeasured],
    }


def _questions(inputs: Mapping[str, Any], decision: DecisionSettings) -> list[dict[str, Any]]:
    """Return each question of the checklists with the number that answers it; None where none was stated."""
    answered = []
    for text, setting, used_for, origin in QUESTIONS:
        number = inputs[setting] if setting in inputs else getattr(decision, setting)
        if isinstance(number, Spread):
            number = number.model_dump()
        row = {"question": text, "asked_by": origin, "setting": setting, "number": number, "used_for": used_for}
        weeks, limit = decision.weeks_of_migration, decision.weeks_to_production
        if setting == "weeks_of_migration" and weeks is not None and limit is not None:
            row["answer"] = "a migration ends in time" if weeks <= limit else "a migration ends too late"
        answered.append(row)
    return answered
