"""What a token costs, and a training: the queries behind `cost`, sums on supplied numbers, and both as text and page.

Every figure comes from the macros of `transform/sql/cost/` and `transform/sql/physics/`; nothing is computed here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from flows.decisions import chips, cost_added
from flows.decisions.cost_added import NOT_INCLUDED, Added, addable
from flows.shared import output
from flows.shared.query import columns, rows
from reports import wording
from transform.audit import rates
from transform.audit.evidence import Evidence
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.reference.claim_text import Conditions
from warehouse.reference.instance_types import chip_named, chips_named
from warehouse.schema.columns import allowed
from warehouse.schema.vocabulary import HOURS_PER_MONTH

UTILISATIONS = (1.0, 0.7, 0.5, 0.3)
ASSUMED_MFU = 0.4
"""The middle of what Llama 3's makers report in BF16 on up to 16,384 H100, 38 to 43 % (arXiv 2407.21783, table 4)."""
POINT = "scenario, benchmark, precision, input_length, output_length, decoding, interactivity, interactivity_statistic"
"""Columns of an operating point of one model; those at which most chips were measured come first."""
TRAINING = "benchmark, scenario, precision, input_length"
"""Columns of what a training of one model is compared with, in the same order."""
SAME_POINT = columns(f"""
model_name, task, {POINT}, evidence_grade, accelerator_count, accelerator_name, form_factor, purchase_option,
commitment_class
""")
"""What rows share of which a table for people shows the cheapest one."""
NARROWER = ("interactivity", "chip", "beat")
"""What asks for every purchase option at the points that are left."""
OPTIONAL = columns("""
price_to_beat, rate_to_beat, rate_to_beat_share_of_bound, tokens_per_day, paid_accelerators, usd_per_month_at_load,
usd_per_million_at_load
""")
"""Columns of answers that not every query has."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How what is bought is used: shares of paid hours that run, a price to beat, and costs next to the chips.

    With `commitment_use` None a training pays for its whole term, and serving uses every hour of one.
    """

    commitment_use: float | None = None
    spot_running_share: float = 1.0
    beat: float | None = None
    added: tuple[Added, ...] = ()

    @property
    def values(self) -> dict[str, float | None]:
        """Return what queries take of it."""
        return {"committed": self.commitment_use, "spot": self.spot_running_share, "beat": self.beat}


@dataclass(frozen=True, kw_only=True)
class Sum:
    """A bare sum: USD an hour and tokens per second of `chips` together; the rest is for the bound."""

    price: float | None = None
    throughput: float | None = None
    utilisation: float = 1.0
    overhead: float = 0.0
    goodput: float = 1.0
    chips: float = 1.0
    chip: str | None = None
    model: str | None = None
    task: str = "serving"
    precision: str | None = None
    batch: int | None = None
    context: int = 0
    accepted_tokens: float | None = None


NARROW = (
    *("chip", "provider", "option", "USD/chip-h", "price of", "chips", "days", "median", "price to beat"),
    *("rate to beat", "with added", "chips paid", "USD/month at 100%", "at 50%", "grade"),
)
"""Columns of a cost that a line can hold."""
SPEED = "tok/s/user"
TERMS = {name: words for name, words in wording.words_of("term").items() if name != "under_a_year"}
KINDS = {"end of range": ("end of a range", "ends of ranges")}
LEFT_OUT = "from int.cost_left_out order by left_out_kind desc, n_left_out desc"
SUM_INPUTS = tuple(field.name for field in fields(Sum))


def bare(inputs: Sum, terms: Terms, file: Path | None) -> dict[str, Any]:
    """Return the sum, with its bound where chip and model are stated; `file` is needed for those alone."""
    from transform.formula import create_formulas

    if inputs.price is None and (inputs.throughput is None or terms.beat is None):
        raise SettingsError("give a price, or a throughput and a price to beat", field="--price", value="")
    of_training = inputs.goodput / (1 + inputs.overhead) if inputs.task == "training" else 1.0
    values = {name: getattr(inputs, name) for name in ("price", "chips", "throughput")} | {"beat": terms.beat}
    values |= {"used": inputs.utilisation * of_training}
    values |= {"running": (terms.commitment_use or 1.0) * terms.spot_running_share}
    with duckdb.connect() as con:
        create_formulas(con)
        (found,) = rows(
            con,
            "select $price / $chips as price_per_accelerator_hour, cost.monthly($price) as usd_per_month, "
            "cost.bought_usd($price, $running, $throughput, $used) as usd_per_million_tokens, "
            "$throughput * $used * $running * 3.6e3 * 730 / 1e6 as million_tokens_per_month, "
            "cost.price_to_beat($beat, 1, $throughput, $used) * $running as price_to_beat, "
            "cost.rate_to_beat(cost.paid_rate($price, $running), 1, $beat, $used) as rate_to_beat",
            values,
        )
    found |= _bound(inputs, found["rate_to_beat"], file)
    terms = replace(terms, added=addable(terms.added, has_month=found["million_tokens_per_month"] is not None))
    found |= cost_added.lines(found["usd_per_million_tokens"], found["million_tokens_per_month"], terms.added)
    return _answer(
        {**asdict(inputs), "beat": terms.beat},
        "price x 10^6 / (3600 x throughput x utilisation x share of the paid hours that run)"
        + (" x (1 + overhead) / goodput" if inputs.task == "training" else ""),
        [{name: value for name, value in found.items() if value is not None}],
        terms,
    )


def serving(
    file: Path,
    *,
    model: str,
    interactivity: float | None,
    tokens_per_day: float | None,
    terms: Terms,
    precision: str | None = None,
    utilisations: Sequence[float] = UTILISATIONS,
) -> dict[str, Any]:
    """Return what serving a model costs on every offer with evidence, at each utilisation. Raises ChipledgerError."""
    name = chips.model_named(model)
    terms = replace(terms, added=addable(terms.added, has_month=tokens_per_day is not None))
    values = {"model": name, "speed": interactivity, "load": tokens_per_day, "precision": precision, **terms.values}
    with duckdb.connect(str(file), read_only=True) as con:
        if precision:
            kinds = "select distinct precision from int.serving_rate where model_name = $1 and precision is not null"
            known = sorted(row["precision"] for row in rows(con, kinds, [name]))
            if precision.lower() not in known:
                message = "nothing of this model was measured in it"
                hint = f"Its runs are in {', '.join(known) or 'none that is stated'}"
                raise SettingsError(message, field="--precision", value=precision, hint=hint)
        found = [
            row
            for used in utilisations
            for row in rows(
                con,
                "select *, cost.price_to_beat($beat, 1, median_output_rate, utilisation) * running_share "
                "as price_to_beat, cost.rate_to_beat(paid_rate_usd, 1, $beat, utilisation) as rate_to_beat, "
                "cost.rate_to_beat(paid_rate_usd, 1, $beat, utilisation) / rate_bound_per_accelerator "
                "as rate_to_beat_share_of_bound "
                "from mart.serving_cost($model, $speed, $used, $committed, $spot, $load) "
                "where $precision::VARCHAR is null or precision = lower($precision) "
                f"window point as (partition by {POINT}) "
                "order by bool_or(is_ranked) over point desc, count(distinct accelerator_name) over point desc, "
                f"{POINT}, purchase_option, commitment_class, cost_rank nulls last, not is_price_ranked, "
                "if(is_price_ranked, all_in_output_usd_median, age_days), offer_id, throughput_id",
                values | {"used": used},
                field="cost",
            )
        ]
        slower = rows(
            con,
            "select count(*) as n from int.serving_rate where model_name = $model and interactivity_from is null "
            "and not coalesce(interactivity_limit >= $speed, false) and $speed is not null",
            {"model": name, "speed": interactivity},
        )
        left_out = rows(con, LEFT_OUT)
    if slower[0]["n"]:
        reason = f"points whose runs promise less than {interactivity:g} tokens per second and user, or nothing"
        left_out.insert(0, {"left_out_kind": "point", "reason": reason, "n_left_out": slower[0]["n"]})
    monthly = tokens_per_day * HOURS_PER_MONTH / 24 / 1e6 if tokens_per_day else None
    for row in found:
        base = row["usd_per_million_at_load"] if tokens_per_day else row["all_in_output_usd_median"]
        row |= cost_added.lines(base, monthly, terms.added)
    inputs = {"model": name, "task": "serving", "interactivity": interactivity, "tokens_per_day": tokens_per_day}
    inputs |= {"precision": precision, "utilisation": utilisations[0], "chip": None}
    return _answer(inputs, "paid rate x 10^6 / (3600 x output rate x utilisation)", _trim(found), terms, left_out)


def training(
    file: Path,
    *,
    model: str,
    tokens: float,
    overhead: float,
    goodput: float,
    mfu: float | None,
    precision: str,
    terms: Terms,
) -> dict[str, Any]:
    """Return what training a model costs on every offer, measured or (grade D) assumed. Raises ChipledgerError."""
    name = chips.model_named(model)
    inputs = {"tokens": tokens, "overhead": overhead, "goodput": goodput, "mfu": mfu, "precision": precision}
    with duckdb.connect(str(file), read_only=True) as con:
        found = rows(
            con,
            "select *, cost.price_to_beat($beat, 1, median_rate * working_share * goodput_share "
            "/ (1 + overhead_share), 1) * running_share as price_to_beat, "
            "cost.rate_to_beat(paid_rate_usd / working_share, 1, $beat, goodput_share) * (1 + overhead_share) "
            "as rate_to_beat, cost.rate_to_beat(paid_rate_usd / working_share, 1, $beat, goodput_share) "
            "* (1 + overhead_share) / rate_bound_per_accelerator as rate_to_beat_share_of_bound "
            "from mart.training_run_cost($model, $tokens, $overhead, $goodput, $committed, $spot, $mfu, $precision) "
            f"window point as (partition by {TRAINING}) "
            f"order by evidence_grade = 'D', count(distinct accelerator_name) over point desc, {TRAINING}, "
            "purchase_option, commitment_class, cost_rank nulls last, not is_price_ranked, "
            "if(is_price_ranked, training_usd_median, age_days), offer_id, throughput_id",
            {**inputs, "model": name, **terms.values},
            field="cost",
        )
        left_out = rows(con, LEFT_OUT)
    for row in found:
        months = row["training_days"] * 24 / HOURS_PER_MONTH if row["training_days"] else None
        row |= cost_added.lines(row["training_usd_median"], 1 / months if months else None, terms.added)
    stated = {"model": name, "task": "training", **inputs}
    stated |= {"assumed_mfu": stated.pop("mfu"), "precision_of_peak": stated.pop("precision")}
    formula = "paid rate x 10^6 x (1 + overhead) / (3600 x rate a paid chip x goodput), x tokens / 10^6"
    return _answer(stated, formula, _trim(found), terms, left_out)


def cheapest(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return of rows at one point, chip and kind of purchase the first of `by_rank`."""
    return _first(found, SAME_POINT, by_rank)


def _overview(found: Mapping[str, Any], listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the least cost on demand of each point of serving, "at most" too, or none where the question is narrower.

    Too old a price stands where there is no other.
    """
    if found["inputs"]["task"] != "serving" or any(found["inputs"][name] for name in NARROWER):
        return []
    on_demand = [row for row in listed if row["purchase_option"] == "on_demand" and row["reach"] != "unreachable"]
    return _first(on_demand, columns(POINT), lambda row: (not row["is_price_ranked"], _usd(row), row["offer_id"]))


def _first(
    found: Sequence[dict[str, Any]], same: Sequence[str], order: Callable[[dict[str, Any]], tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """Return of rows with the same values, and the same utilisation, the first in an order."""
    best: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in found:
        key = tuple(row.get(name) for name in (*same, "utilisation"))
        if key not in best or order(row) < order(best[key]):
            best[key] = row
    return list(best.values())


def _usd(row: Mapping[str, Any]) -> float:
    names = "usd_per_million_at_load", "all_in_output_usd_median", "training_usd_median"
    return next(filter(None, map(row.get, names)), math.inf)


def only(found: Sequence[dict[str, Any]], chip: str) -> list[dict[str, Any]]:
    """Return the rows of one chip, in any form where none is named. Raises SettingsError for what is no chip."""
    named = chips_named(chip, "--chip")
    return [r for r in found if {(r["accelerator_name"], form) for form in (None, r["form_factor"])} & {*named}]


def by_rank(row: Mapping[str, Any]) -> tuple[bool, int, bool, float, int]:
    """Return the key that sorts costs by cost_rank; of those without one, as "at most", the cheapest comes first.

    Too old a price comes after them, the newest first.
    """
    is_old, rank = not row.get("is_price_ranked"), row["cost_rank"]
    least = row["age_days"] if is_old else _usd(row)
    return rank is None, rank or 0, is_old, least, row["offer_id"]


def _bound(inputs: Sum, rate_to_beat: float | None, file: Path | None) -> dict[str, Any]:
    """Return the bound of a bare sum, as the audit of claims has it: the loosest of the ways to read its rate."""
    chip = chip_named(inputs.chip, "--chip") if inputs.chip else None
    model = chips.model_named(inputs.model) if inputs.model else None
    if chip is None or model is None:
        return {"bound": "no bound: give chip and model"}
    if inputs.precision not in (None, *allowed("precision")):
        hint = f"Allowed are {', '.join(allowed('precision'))}"
        raise SettingsError("unknown precision", field="--precision", value=str(inputs.precision), hint=hint)
    if file is None:
        raise ChipledgerError("a bound needs the published file", field="--chip", value=inputs.chip)
    conditions = Conditions(
        batch_size=inputs.batch, precision=inputs.precision, is_training=inputs.task == "training" or None
    )
    with duckdb.connect(str(file), read_only=True) as con:
        evidence = Evidence(con, ())
        forms = evidence.named([chip])
        if len(forms) != 1:
            message = "no figures of this chip in one form are published here"
            hint = "Name the form too, such as H100 SXM; `chipledger chips` lists them"
            raise SettingsError(message, field="--chip", value=inputs.chip, hint=hint)
        count = inputs.chips, "one chip" if inputs.chips == 1 else f"{inputs.chips:g} chips"
        known = evidence, count, inputs.accepted_tokens, inputs.accepted_tokens is not None, inputs.context
        ways = rates.ways(forms[0], model, conditions, *known)
        bounds = rates.bounds_of(ways, evidence)
    if not bounds:
        return {"bound": "no bound is known for this chip and model"}
    (_, bound), rate = bounds[0], inputs.throughput
    ask = "possible, ask for the run log" if (rate or 0) / bound > rates.DEMAND_LOG else "possible"
    verdict = "IMPOSSIBLE" if (rate or 0) > bound else ask
    return {
        "readings": [f"{name}: at most {output.rounded(most)} tokens/s" for name, most in bounds],
        "rate_bound": bound,
        "share_of_bound": rate / bound if rate else None,
        "bound": f"{verdict}: {rates.in_words(rate, bounds)}" if rate else None,
        "rate_to_beat_share_of_bound": rate_to_beat / bound if rate_to_beat else None,
    }


def _answer(
    inputs: Mapping[str, Any],
    formula: str,
    found: list[dict[str, Any]],
    terms: Terms,
    left_out: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    names = {each.name for each in terms.added}
    stated = asdict(terms)
    added = stated.pop("added")
    return {
        "inputs": {**inputs, **stated},
        "formula": formula,
        "not_included": [label for name, label in NOT_INCLUDED.items() if name not in names],
        "added": [each | {"words": one.words} for each, one in zip(added, terms.added, strict=True)],
        "left_out": list(left_out),
        "rows": found,
    }


def _trim(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the optional columns that are empty in all of them."""
    empty = {name for name in OPTIONAL if all(row.get(name) is None for row in found)}
    return [{name: value for name, value in row.items() if name not in empty} for row in found]


def shown(found: Mapping[str, Any], *, everything: bool) -> list[dict[str, Any]]:
    """Return the rows that a table shows, with short heads: all, or the cheapest of each point, chip and option.

    Without a speed, a chip or a price to beat it is the least cost on demand of each point.
    Of a bare sum a row is a figure.
    """
    if _is_sum(found):
        return [{"what": name, "value": value} for name, value in found["rows"][0].items() if name != "readings"]
    listed = [row for row in found["rows"] if row.get("utilisation") == found["inputs"].get("utilisation")]
    if not everything:
        listed = _overview(found, listed) or cheapest(listed)
    if found["inputs"]["task"] == "training":
        return [_training(row) for row in listed]
    at: dict[tuple[Any, ...], dict[float, Mapping[str, Any]]] = {}
    for row in found["rows"]:
        at.setdefault(_key(row), {})[row["utilisation"]] = row
    return [_serving(row, at[_key(row)]) for row in listed]


def lines(found: Mapping[str, Any], table: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the answer as text: inputs, unit and formula; tables; what is not included, shown or counted.

    A table is of one scenario and speed, or of one scenario where a speed has one row alone.
    """
    rows = [{name: output.rounded(value) for name, value in row.items()} for row in table]
    whole = output.text_table(rows, ("what", "value") if _is_sum(found) else ())
    if _is_sum(found) or not rows or output.line_width() is None:
        return [*_head(found), whole or _nothing(found), *_foot(found, len(table))]
    narrow = [name.replace("100%", f"{found['inputs'].get('utilisation', 1):.0%}") for name in NARROW]
    by_point = [(title, [*group]) for title, group in groupby(rows, _title)]
    is_overview = all(len(group) == 1 for _, group in by_point)
    if is_overview:
        narrow, by_point = [SPEED, *narrow], [(title, [*group]) for title, group in groupby(rows, _scenario)]
    parts = []
    for title, group in by_point:
        shown = [{name: row[name] for name in narrow if name in row} for row in group]
        parts += [f"\n{title}", output.text_table(shown, narrow)]
    return [*_head(found), *parts, "\n--wide shows all columns.", *_foot(found, len(table))]


def _scenario(row: Mapping[str, Any]) -> str:
    return str(row.get("scenario") or row.get("training"))


def _title(row: Mapping[str, Any]) -> str:
    return f"{_scenario(row)}, {row[SPEED]:g} {SPEED}" if row.get(SPEED) else _scenario(row)


def render(found: Mapping[str, Any], table: Sequence[Mapping[str, Any]]) -> str:
    """Return the answer as an HTML page; the same answer gives the same bytes, and all text is escaped."""
    from reports.pages import frame

    cells = [{name: output.word(row[name]) for name in table[0]} for row in table]
    before = _head(found) + ([] if table else [_nothing(found)])
    return frame.answer("Cost per token", [("Cost per token", before, cells, _foot(found, len(table)), False)])


def _is_sum(found: Mapping[str, Any]) -> bool:
    return found["inputs"].get("price") is not None or found["inputs"].get("throughput") is not None


def _head(found: Mapping[str, Any]) -> list[str]:
    inputs = {name: value for name, value in found["inputs"].items() if value not in (None, (), [], "")}
    unit = {
        "training": "USD of the whole training; low, median, high over price and submitters",
        "serving": f"USD per million output tokens for all of the machine, {inputs.get('utilisation', 1):.0%} used",
    }
    return [
        ", ".join(
            f"{name} {f'{value:,.15g}' if isinstance(value, float) else output.word(value)}"
            for name, value in inputs.items()
        ),
        *([] if _is_sum(found) else [f"{unit[inputs['task']]}; USD/chip-h is of the offer named, spot last seen"]),
        f"Formula: {found['formula']}",
    ]


def _nothing(found: Mapping[str, Any]) -> str:
    return (
        f"No measured run of {found['inputs']['model']} fits the question on a chip that is sold: nothing is "
        "estimated, and nothing near it is shown instead."
    )


def _foot(found: Mapping[str, Any], n_shown: int) -> list[str]:
    after = [f"Not included: {', '.join(found['not_included'])}."] if found["not_included"] else []
    if found["added"]:
        after.append(f"Added: {'; '.join(each['words'] for each in found['added'])}.")
    if len(found["rows"]) > 1:
        after.append(f"Rows: {n_shown:,} of {len(found['rows']):,} (--all, --json). Compare only equal scenarios.")
        if found["inputs"]["task"] == "serving":
            options = ", ".join(f"--{name}" for name in NARROWER)
            after.append(f"Without {options} or --all: the least cost on demand at each speed.")
        after.append("Grades: A official, B a vendor's document, C others, D without configuration or assumed.")
    return after + [
        f"Left out{'' if one['left_out_kind'] == 'point' else ' of all models and chips'}: "
        f"{wording.count(one['n_left_out'], *KINDS.get(one['left_out_kind'], (one['left_out_kind'],)))}: "
        f"{one['reason']}."
        for one in found["left_out"]
    ]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["throughput_id"], row["offer_id"], row["interactivity"], row["scenario"], row["reach"]


def _serving(row: Mapping[str, Any], at: Mapping[float, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row of serving, with its cost at each utilisation: a million's, or a month's where a load is stated."""
    lengths = " / ".join("?" if each is None else f"{each:g}" for each in (row["input_length"], row["output_length"]))
    scenario = row["scenario"], row["precision"], f"lengths {lengths}", row["decoding"], row["benchmark"]
    median = row["all_in_output_usd_median"]
    limits = {"unreachable": "unreachable", "at most": f"at most {output.rounded(median)}"}
    if "usd_per_month_at_load" in row:
        by_use = {f"USD/month at {used:.0%}": at[used]["usd_per_month_at_load"] for used in at}
        by_use = {"chips paid": row["paid_accelerators"], **by_use}
    else:
        by_use = {f"at {used:.0%}": at[used]["all_in_output_usd_median"] for used in [*at][1:]}
    return {
        "scenario": ", ".join(filter(None, scenario)),
        SPEED: row["interactivity"],
        **_option(row),
        "low": row["all_in_output_usd_low"],
        "median": limits.get(row["reach"], median),
        "high": row["all_in_output_usd_high"],
        "total": row["total_usd_median"],
        "input": row["input_usd"],
        "output": row["output_usd"],
        **by_use,
        "known": row["reach"],
        "run on": row["most_accelerators"] and wording.count(float(row["most_accelerators"]), "chip"),
        "engine": row["software"],
        **_ends(row),
    }


def _training(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "training": ", ".join(filter(None, (row["benchmark"], row["scenario"], row["precision"]))),
        **_option(row),
        "chips": row["accelerator_count"],
        "USD/M": row["usd_per_million_tokens_median"],
        "low": row["training_usd_low"],
        "median": row["training_usd_median"],
        "high": row["training_usd_high"],
        "days": row["training_days"],
        **_ends(row),
    }


def _option(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chip": wording.chip(row),
        "provider": row["service_provider_name"],
        "type": row["instance_type"],
        "region": row["region_id"],
        "option": wording.listed(row["purchase_option"], TERMS.get(row["commitment_class"]), by=" "),
        "USD/chip-h": row["price_usd"],
        "price of": row["last_observed_at"].date(),
        "ranked": row["is_price_ranked"],
        "paid": row["price_basis"],
    }


def _ends(row: Mapping[str, Any]) -> dict[str, Any]:
    beaten = {}
    if "price_to_beat" in row:
        is_impossible = (row["rate_to_beat_share_of_bound"] or 0) > 1
        rate = "IMPOSSIBLE" if is_impossible else row["rate_to_beat"]
        beaten = {"price to beat": row["price_to_beat"], "rate to beat": rate}
    added = {name.removesuffix("_usd").replace("_", " "): row[name] for name in row if name.startswith("added_")}
    return {
        **beaten,
        **added,
        **({"with added": row["usd_with_added"]} if "usd_with_added" in row else {}),
        "of bound": row["share_of_bound"],
        "grade": row["evidence_grade"],
        "measured": row["measured_on"],
        "by": row["measured_by"],
    }
