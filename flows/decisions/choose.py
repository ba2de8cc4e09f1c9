"""What wins where: for each workload the cheapest feasible option, and the questions that only the reader can answer.

Every figure comes from mart.choice; nothing is scored here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from flows.config.settings import DecisionSettings, Spread
from flows.decisions import regions as allowed
from flows.shared.query import rows
from transform import cover
from warehouse.errors import ChipledgerError, SettingsError

HORIZON_MONTHS = 12

CHECKLIST_TITLE = "AWS Trainium vs NVIDIA H100: Cost, Performance, and Migration Trade-Offs for ML Teams"
FRAMEWORK_TITLE = "an article on AWS Trainium 3 beside NVIDIA H200 and B200"
MATRIX_TITLE = "AWS Trainium3 vs NVIDIA H100: AI Training Cost and Performance in 2026"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of a published checklist: who asks it, the setting that answers it, and what is done with it."""

    question: str
    asked_by: str
    setting: str
    used_for: str


QUESTIONS = (
    Question(
        question="How much a month goes into this?",
        asked_by=CHECKLIST_TITLE,
        setting="monthly_spend",
        used_for="USD a month between the best option and the runner-up",
    ),
    Question(
        question="How many weeks may a migration take?",
        asked_by=CHECKLIST_TITLE,
        setting="weeks_of_migration",
        used_for="whether it ends before weeks_to_production; its cost: chipledger breakeven",
    ),
    Question(
        question="In how many weeks must it run?",
        asked_by=CHECKLIST_TITLE,
        setting="weeks_to_production",
        used_for="compared with weeks_of_migration",
    ),
    Question(
        question="For how long is this wanted, and may one commit?",
        asked_by=CHECKLIST_TITLE,
        setting="horizon_months",
        used_for="longer commitments, and trainings that take longer, are left out",
    ),
    Question(
        question="Is the work steady or in bursts?",
        asked_by=CHECKLIST_TITLE,
        setting="share_of_use",
        used_for="commitments are charged for hours that nobody uses",
    ),
    Question(
        question="May the work be interrupted?",
        asked_by=FRAMEWORK_TITLE,
        setting="tolerates_interruption",
        used_for="spot counts only then, with spot_loss",
    ),
    Question(
        question="What do interruptions cost?",
        asked_by=FRAMEWORK_TITLE,
        setting="spot_loss",
        used_for="spot is charged for the hours that it loses",
    ),
    Question(
        question="One cloud, or any?",
        asked_by=MATRIX_TITLE,
        setting="providers",
        used_for="all other providers are left out",
    ),
    Question(
        question="How many tokens a day are served?",
        asked_by=FRAMEWORK_TITLE,
        setting="tokens_per_day",
        used_for="whole units are paid for, whether the load fills them or not",
    ),
    Question(
        question="How long is the training?",
        asked_by=MATRIX_TITLE,
        setting="training_tokens",
        used_for="time and cost of the whole training",
    ),
    Question(
        question="How fast must it answer?",
        asked_by=CHECKLIST_TITLE,
        setting="interactivity",
        used_for="only rates measured at that speed for each user count",
    ),
)

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
KNOWN = "select exists (from {} where model_name = $model) as is_measured"
CHOICE = """
from mart.choice(
    $task, $model, $tokens, $speed, $months, $used, $tolerates, $spot_loss, $providers, $load, $utilisation, 0.0, 1.0,
    $days
)
order by n_feasible = 0, benchmark_family, scenario, precision, input_length, output_length
"""
UNMEASURED = """
select distinct accelerator_name from int.cost_price
where accelerator_name not in (select accelerator_name from {} where model_name = $model and is_ranked)
order by accelerator_name
"""
OFFERS = {"training": "int.training_offer", "serving": "int.serving_offer", "offline": "int.serving_offer"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked beside the settings, which stand in for what is left out."""

    workloads: tuple[str, ...] = ()
    horizon_months: float | None = None
    tolerates_interruption: bool | None = None
    spot_loss: float | None = None
    share_of_use: float | None = None
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    tokens_per_day: float | None = None
    training_tokens: float | None = None
    interactivity: float | None = None
    utilisation: float = 1.0
    price_days: float | None = None


def answer(file: Path, asked: Asked, decision: DecisionSettings) -> dict[str, Any]:
    """Return what wins for each workload, and which question each number answers. Raises ChipledgerError."""
    given = _given(asked, decision)
    regions = given["regions"] or ()
    with allowed.opened(file, regions) as con:
        known = rows(con, WORKLOADS)
        names = [row["workload"] for row in known]
        for name in asked.workloads:
            if name not in names:
                raise SettingsError(
                    "no such workload", field="--workload", value=name, hint=f"Known: {', '.join(names)}"
                )
        _check_providers(con, given["providers"])
        wanted = [row for row in known if not asked.workloads or row["workload"] in asked.workloads]
        found = [_workload(con, row, given) for row in wanted]
        outside = allowed.left_out(con, regions)
    return {
        "inputs": given,
        "regions": allowed.told(regions, outside),
        "formula": "USD per million tokens of mart.training_run_cost, mart.serving_cost; ranked at equal yardsticks",
        "workloads": found,
        "questions": _questions(given, decision, found),
        "own_judgement": list(JUDGEMENTS),
    }


def _given(asked: Asked, decision: DecisionSettings) -> dict[str, Any]:
    """Return every input: as asked, else as set, else its default."""
    tolerates = (
        decision.tolerates_interruption if asked.tolerates_interruption is None else asked.tolerates_interruption
    )
    return {
        "horizon_months": asked.horizon_months or decision.horizon_months or HORIZON_MONTHS,
        "tolerates_interruption": bool(tolerates),
        "spot_loss": decision.spot_loss if asked.spot_loss is None else asked.spot_loss,
        "share_of_use": _share(decision) if asked.share_of_use is None else asked.share_of_use,
        "providers": list(asked.providers or decision.providers) or None,
        "regions": list(asked.regions or decision.regions) or None,
        "tokens_per_day": asked.tokens_per_day or decision.tokens_per_day,
        "training_tokens": asked.training_tokens or decision.training_tokens,
        "interactivity": asked.interactivity or decision.interactivity,
        "utilisation": asked.utilisation,
        "price_days": asked.price_days,
        "monthly_spend": decision.monthly_spend,
    }


def _share(decision: DecisionSettings) -> float:
    """Return the share of committed hours that are used: 1 where nothing is said, which the answer then says."""
    use = decision.share_of_use
    if isinstance(use, Spread):
        return sum(weight * share for weight, share in zip(cover.SWANSON, (use.low, use.likely, use.high), strict=True))
    return 1.0 if use is None else use


def _check_providers(con: duckdb.DuckDBPyConnection, names: Sequence[str] | None) -> None:
    known = {
        name for (name,) in con.execute("select distinct service_provider_name from int.provider_price").fetchall()
    }
    for name in names or ():
        if name not in known:
            raise SettingsError(
                "no provider with a price is called so",
                field="--provider",
                value=name,
                hint=f"Known: {', '.join(sorted(known))}",
            )


def _workload(con: duckdb.DuckDBPyConnection, workload: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    task, model = workload["workload_task"], workload["model_name"]
    tokens = given["training_tokens"] or workload["training_tokens"]
    speed = given["interactivity"] or workload["least_interactivity"]
    is_measured = _asked(con, KNOWN.format(OFFERS[task]), {"model": model})[0]["is_measured"]
    choices = (
        _choices(con, task, model, given, tokens=tokens, speed=speed if task == "serving" else None)
        if is_measured
        else []
    )
    for row in choices:
        row["is_never_seen_obtainable"] = row["offer_id"] is not None and row["last_obtainable_at"] is None
        row["usd_a_month_at_stake"] = (
            given["monthly_spend"] * row["margin_share"]
            if given["monthly_spend"] and row["margin_share"] is not None
            else None
        )
    return {
        "workload": workload["workload"],
        "task": task,
        "model_name": model,
        "training_tokens": tokens if task == "training" else None,
        "least_interactivity": speed if task == "serving" else None,
        "figure_source": workload["figure_source"],
        "choices": choices,
        "no_evidence": [
            row["accelerator_name"] for row in _asked(con, UNMEASURED.format(OFFERS[task]), {"model": model})
        ],
    }


def _choices(
    con: duckdb.DuckDBPyConnection,
    task: str,
    model: str,
    given: Mapping[str, Any],
    *,
    tokens: float | None,
    speed: float | None,
) -> list[dict[str, Any]]:
    return _asked(
        con,
        CHOICE,
        {
            "task": task,
            "model": model,
            "tokens": tokens,
            "speed": speed,
            "months": given["horizon_months"],
            "used": given["share_of_use"],
            "tolerates": given["tolerates_interruption"],
            "spot_loss": given["spot_loss"],
            "providers": given["providers"],
            "load": given["tokens_per_day"] if task == "serving" else None,
            "utilisation": given["utilisation"],
            "days": given["price_days"],
        },
    )


def _questions(
    given: Mapping[str, Any], decision: DecisionSettings, found: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return each question of the checklists with the number that answers it; None where none was given."""
    told = []
    for each in QUESTIONS:
        number = getattr(decision, each.setting) if each.setting not in given else given[each.setting]
        if isinstance(number, Spread):
            number = number.model_dump()
        told.append(
            {
                "question": each.question,
                "asked_by": each.asked_by,
                "setting": each.setting,
                "number": number,
                "used_for": each.used_for,
            }
        )
    if decision.weeks_of_migration is not None and decision.weeks_to_production is not None:
        is_in_time = decision.weeks_of_migration <= decision.weeks_to_production
        for row in told:
            if row["setting"] == "weeks_of_migration":
                row["answer"] = "a migration ends in time" if is_in_time else "a migration ends too late"
    return told


def _asked(con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the rows of a question with named values. Raises ChipledgerError where a macro refuses one."""
    try:
        cursor = con.execute(sql, dict(values))
    except duckdb.InvalidInputException as error:
        words = str(error).splitlines()[0].removeprefix("Invalid Input Error: ")
        raise ChipledgerError(words, field="choose", value=values.get("model", "")) from error
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
