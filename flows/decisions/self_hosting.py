"""Make or buy: a hosted model's prices of tokens compared with rented machines, at the same model and traffic.

Hosted prices come from the user's CSV or a saved price list (`flows.decisions.bedrock`), one's own cost from
`mart.serving_cost`; machines are paid whole, all month, so that each further one opens a gap in which the hosted model
is cheaper again (`mart.make_or_buy`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from flows.decisions import break_even_sides as evidence
from flows.decisions import cost_added
from flows.decisions import regions as allowed
from flows.decisions.break_even import Sums, in_memory
from flows.decisions.break_even_page import MAX_LINES, Section
from flows.decisions.break_even_sides import Use
from flows.shared import user_file
from warehouse.errors import ChipledgerError
from warehouse.reference import models
from warehouse.reference.table import Model, Rule, fields_of

SAME_RATIO = 0.01
"""How far the ratio of input to output of a run may be from the traffic's, as a share of it."""


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """A hosted model's prices, USD per million tokens; cached input has none where none is stated."""

    provider: str
    model: str
    input_usd_per_million: Decimal
    output_usd_per_million: Decimal
    cached_input_usd_per_million: Decimal | None
    as_of: date
    url: str


HOSTED = Model(
    key="provider",
    fields=fields_of(Hosted),
    help="docs/deciding.md",
    may_be_zero=("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million"),
    rules=(Rule("url", "not an address such as https://example.com/pricing", "regexp_like(url, '^https?://')"),),
    unique=("provider", "model", "as_of"),
    repeated="a second price of the same model, provider and day",
)


def read_hosted(file: Path) -> list[Hosted]:
    """Return the prices of a CSV. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    return [Hosted(**row) for row in HOSTED.read(user_file.table(file))]


def compare(
    file: Path,
    *,
    hosted: Sequence[Hosted],
    own: str,
    model: str,
    interactivity: float | None,
    tokens_per_day: float | None,
    input_per_output: float | None,
    cached_share: float,
    use: Use,
    regions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return for each point of one's own and each hosted price of the model the loads at which one's own is cheaper.

    Raises ChipledgerError for a text that is not understood, and where no price in the CSV is of the model.
    """
    known = models.find(model)
    if known is None:
        raise models.unknown(model)
    offers = [one for one in hosted if (named := models.find(one.model)) and named.model_name == known.model_name]
    if not offers:
        hint = f"The prices are of {', '.join(sorted({one.model for one in hosted}))}"
        raise ChipledgerError("no hosted price is of that model", field="model", value=model, hint=hint)
    sums = in_memory()
    with allowed.opened(file, regions) as con:
        outside = allowed.left_out(con, regions)
        side = evidence.read(own, field="--own", providers=evidence.providers(con))
        points = evidence.points(con, side, [known.model_name], interactivity, tokens_per_day, use)
        sides: dict[str, Any] = {"from": side, "to": None}
        unknown = [] if points else list(evidence.reasons(con, sides, {"from": points}, [known.model_name]))
    cases, left_out = [], []
    for point, row in points.items():
        ratio, why_not = _ratio(row, input_per_output)
        if ratio is None:
            left_out.append(f"{evidence.described(point)}: {why_not}")
            continue
        cases += [_case(sums, row, offer, ratio, cached_share, tokens_per_day) for offer in offers]
    return {
        "regions": allowed.as_dict(regions, outside),
        "inputs": {
            "own": own,
            "model": known.model_name,
            "interactivity": interactivity,
            "tokens_per_day": tokens_per_day,
            "input_per_output": input_per_output,
            "cached_share": cached_share,
            **asdict(use),
        },
        "formula": "k units x USD a month = tokens a month x (output + input per output x input price)",
        "not_included": [*cost_added.NOT_INCLUDED.values(), "people who run the machines"],
        "cases": cases,
        "unknown": unknown,
        "left_out": left_out,
    }


def _ratio(row: Mapping[str, Any], traffic: float | None) -> tuple[float | None, str]:
    """Return the input tokens that come with each output token, or why the point does not represent the traffic."""
    measured = row["input_length"] / row["output_length"] if row["input_length"] and row["output_length"] else None
    if traffic is None:
        return measured, "its benchmark does not state the input: give --input-per-output"
    if measured is None or abs(measured - traffic) <= SAME_RATIO * max(traffic, measured):
        return traffic, ""
    return None, f"measured at {measured:.4g} input tokens to one of output"


def _case(
    sums: Sums, row: Mapping[str, Any], offer: Hosted, ratio: float, cached_share: float, load: float | None
) -> dict[str, Any]:
    """Return one hosted price next to one point of one's own; amounts go as doubles into ratios, as in the marts."""
    cached = offer.cached_input_usd_per_million
    hosted = sums.value(
        "decision.hosted_usd_per_million",
        float(offer.input_usd_per_million),
        float(offer.output_usd_per_million),
        None if cached is None else float(cached),
        ratio,
        cached_share,
    )
    spend = sums.value("decision.monthly_spend", load, hosted) if hosted else None
    own = row["usd_per_month_at_load"]
    return {
        "point": {name: row[name] for name in evidence.POINT},
        "hosted": asdict(offer),
        "hosted_usd_per_million_output": hosted,
        "input_per_output": ratio,
        "own": {name: row[name] for name in evidence.SHOWN},
        **{
            f"make_{end}": _stretches(sums, row, price, rate, hosted)
            for end, price, rate in (
                ("soonest", "low_price_usd", "high_output_rate"),
                ("likely", "median_price_usd", "median_output_rate"),
                ("latest", "high_price_usd", "low_output_rate"),
            )
        },
        "hosted_usd_per_month": spend,
        "own_usd_per_month": own,
        "cheaper": None if spend is None or own is None else "make" if own < spend else "buy",
    }


def _stretches(
    sums: Sums, row: Mapping[str, Any], price: str, rate: str, hosted: float | None
) -> list[dict[str, Any]] | None:
    """Return the loads at which one's own is cheaper, at one price and one rate; None where one is unknown."""
    if not hosted or row[rate] is None or row[price] is None:
        return None
    units = row["unit_accelerators"]
    return sums.rows(
        "select answer.* from (select cost.monthly(? * cost.paid_rate(?, ?)) as usd, "
        "?::DOUBLE * 86400 * ? * ? as tokens, ?::DOUBLE as hosted) as own, "
        "lateral mart.make_or_buy(own.usd, own.tokens, own.hosted) as answer order by unit_count",
        [units, row[price], row["running_share"], units, row[rate], row["utilisation"], hosted],
    )


def sections(found: Mapping[str, Any]) -> list[Section]:
    """Return the answer in sections, as people read it."""
    inputs = found["inputs"]
    silent = sum(case["point"]["input_length"] is None for case in found["cases"])
    lines = [
        f"{inputs['model']}: loads in output tokens a day at which {inputs['own']} is cheaper, paid in whole units.",
        f"Formula: {found['formula']}",
        f"Not included: {', '.join(found['not_included'])}.",
        *allowed.lines(found["regions"]),
        *(
            [f"Of {silent} rows the benchmark does not state the input: whether the rate holds with this is unknown."]
            if silent
            else []
        ),
        *(_bedrock_lines(found["bedrock"]) if "bedrock" in found else []),
        *(f"unknown: {reason}" for reason in found["unknown"]),
        *(f"left out: {reason}" for reason in found["left_out"][:MAX_LINES]),
    ]
    table = [
        {
            "point": evidence.described(list(case["point"].values())),
            "hosted by": case["hosted"]["provider"],
            "as of": case["hosted"]["as_of"],
            "hosted USD/M output": case["hosted_usd_per_million_output"],
            "own is cheaper": _loads(case["make_likely"]),
            "first at best": _first(case["make_soonest"]),
            "first at worst": _first(case["make_latest"]),
            "units of": case["own"]["unit_accelerators"],
            "USD/chip-h": case["own"]["median_price_usd"],
            "price of": case["own"]["last_observed_at"].date(),
            "current": case["own"]["is_current"],
            "tok/s a chip": case["own"]["median_output_rate"],
            "grade": case["own"]["evidence_grade"],
            "measured": case["own"]["measured_on"],
            **(
                {}
                if inputs["tokens_per_day"] is None
                else {
                    "hosted USD/month": case["hosted_usd_per_month"],
                    "own USD/month": case["own_usd_per_month"],
                    "cheaper": case["cheaper"],
                }
            ),
        }
        for case in found["cases"]
    ]
    return [Section("Make or buy", lines, table)]


def _bedrock_lines(listed: Mapping[str, Any]) -> list[str]:
    """Return where the prices of Amazon Bedrock come from, and what of the price list was left out."""
    counted = ", ".join(f"{reason} {n}" for reason, n in listed["left_out"].items())
    return [
        f"Amazon Bedrock: {listed['hosted']} models of {listed['file']}, version {listed['version']}, published "
        f"{listed['published_at']:%Y-%m-%d}, SHA-256 {listed['document_sha256']}.",
        *([f"Products of it left out: {counted}."] if counted else []),
        *(f"left out of it: {model}" for model in listed["models_left_out"][:MAX_LINES]),
    ]


def _first(stretches: Sequence[Mapping[str, Any]] | None) -> Any:
    """Return the load from which one's own is cheaper first; None where that is unknown."""
    if stretches is None:
        return None
    return stretches[0]["make_from_tokens_per_day"] if stretches else "never"


def _loads(stretches: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return stretches of loads as text: the first ones, and from where on it is always so; None: unknown."""
    if stretches is None:
        return None
    if not stretches:
        return "never"
    words = [
        f"{one['make_from_tokens_per_day']:.4g} to {one['make_until_tokens_per_day']:.4g}" for one in stretches[:-1]
    ]
    shown = [*words[:3], *([f"{len(words) - 3} more stretches"] if len(words) > 3 else [])]
    return "; ".join((*shown, f"always above {stretches[-1]['make_from_tokens_per_day']:.4g}"))
