"""What a benchmark run measured, as a row; the refusals of runs that cannot be used; and a run in a sentence."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from types import SimpleNamespace
from typing import Any

from warehouse.errors import ChipledgerError
from warehouse.reference import throughput
from warehouse.reference.table import Model, Values, fields_of_columns

_DERIVED = Context(prec=12, rounding=ROUND_HALF_EVEN)
"""Twelve digits for what is computed from a file's numbers; what the file states keeps its own digits."""


class BenchmarkIncomplete(ChipledgerError):
    """Neither the file nor the user states something that is needed; all of it is named at once."""


class BenchmarkRefused(ChipledgerError):
    """The run was not valid, contradicts itself or what was supplied with it, or nothing here can read it."""


RUN = Model(
    key="model_name",
    fields=fields_of_columns(throughput.MEASURED, throughput.REQUIRED),
    advice="Measure again",
    help="docs/cost-per-token.md",
    may_be_zero=("input_length", "output_length", "input_rate", "ttft_ms"),
    rules=throughput.RULES,
    refusal=BenchmarkRefused,
)
"""A measured run: the columns of core.throughput without id and stamps, None where unknown.

Rates are units of work per second of the whole system: of an inference run `output_rate` (generated), `input_rate`
(read) and `total_rate` (both); of a training run `total_rate` alone, as it generates nothing. `accelerator_count`
is the chips billed. `input_length` and `output_length` are means per request (of training: the sequence length,
as input). `interactivity` is output tokens per second and user, `ttft_ms` the time to the first token; their
statistic is that of the users (p99: of the slowest one in a hundred). `acceptance_length` is tokens per step of
speculative decoding, 1 without it.
"""


class ParsedRun(SimpleNamespace):
    """What a file itself states of a run, before the user completes it; None where it is silent.

    Its attributes are the columns of `RUN`, and: `place`, which run of the file it is ("" where there is one); `model`
    and `accelerator`, the file's own texts; `chips_used`, the chips it says worked; `needed`, what this tool needs
    besides what every run needs; `notes`; `published_by`, vendor where the file says so; `is_precision_open`, where it
    declares several types and no one can tell which; `is_comparable`, whether its rules allow to compare it;
    `is_official`, which holds where the file itself carries the link of an official run, and is False where no link can
    make it one.
    """

    def __init__(self, **stated: Any) -> None:
        silent = dict.fromkeys((*RUN.fields, "model", "accelerator", "chips_used", "is_official"))
        usual: dict[str, Any] = {"task": "serving", "unit_of_work": "token", "place": "", "needed": (), "notes": []}
        usual |= {"published_by": None, "is_precision_open": False, "is_comparable": True}
        if unknown := stated.keys() - silent.keys() - usual.keys():
            raise TypeError(f"no columns of a run: {', '.join(sorted(unknown))}")
        super().__init__(**silent | usual | stated)


def quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Return a ratio of two numbers of a file, to twelve digits; the divisor is not 0."""
    return _DERIVED.divide(dividend, divisor) if dividend else Decimal(0)


def product(*factors: Decimal) -> Decimal:
    """Return a product of numbers of a file, to twelve digits."""
    result = Decimal(1)
    for factor in factors:
        result = _DERIVED.multiply(result, factor)
    return result


def placed(place: str, message: str) -> str:
    """Return a message with the place of its run in the file before it."""
    return f"{place}: {message}" if place else message


def plain(number: Decimal, digits: int = 6) -> str:
    """Return a number for people: so many significant digits, no exponent, no trailing zeros."""
    text = f"{Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(number):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def describe(run: Values) -> str:
    """Return a run as one plain sentence, rounded for reading."""

    def shown(form: str, name: str, digits: int = 6) -> str:
        value: Any = run[name]
        return form.format(plain(value, digits) if isinstance(value, Decimal) else value, **run) if value else ""

    output, read, total = (
        shown(f"{{}} {kind}{{unit_of_work}}s/s", f"{name}_rate", 5)
        for name, kind in (("output", "output "), ("input", "input "), ("total", ""))
    )
    rates = " and ".join(filter(None, (output, read))) or total
    details = (
        shown("scenario {}", "scenario"),
        shown("{} in", "input_length"),
        shown("{} out", "output_length"),
        shown("concurrency {}", "concurrency"),
        shown("{} tokens/s/user ({interactivity_statistic})", "interactivity", 4),
    )
    conditions = ", ".join(filter(None, details))
    chip = " ".join(filter(None, (run["accelerator_name"], run["form_factor"])))
    kind = "offline inference" if run["task"] == "offline" else run["task"]
    return (
        f"{run['benchmark']}: {kind} of {run['model_name']} in {run['precision']} "
        f"on {plain(run['accelerator_count'])} x {chip} gave {rates}"
        f"{f' ({conditions})' if conditions else ''}, measured{shown(' by {}', 'measured_by')} on "
        f"{run['measured_on'] or 'an unknown date'}, evidence {run['evidence_grade']}."
    )
