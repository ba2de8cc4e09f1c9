"""What a benchmark run measured, as one value; the refusals of runs that cannot be used; and a run in a sentence."""

from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal

from warehouse.errors import ChipledgerError

TASKS = ("serving", "offline", "training")
FAMILIES = (
    "vllm",
    "sglang",
    "genai_perf",
    "llmperf",
    "inferencex",
    "mlperf_inference",
    "mlperf_training",
    "neuron",
)
GRADES = ("A", "B", "C", "D", "X")
"""A official and linked; B a vendor's document; C configuration known; D not, or doubtful; X breaks physics."""
UNITS_OF_WORK = ("token", "sequence", "image", "sample")
_DERIVED = Context(prec=12, rounding=ROUND_HALF_EVEN)
"""Twelve digits for what is computed from a file's numbers; what the file states keeps its own digits."""


class BenchmarkIncomplete(ChipledgerError):
    """The file does not tell something that is needed, and the user did not either; all of it is named at once."""


class BenchmarkRefused(ChipledgerError):
    """The run was not valid, contradicts itself or what was given with it, or nothing here can read it."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One run of one benchmark on one system; None is unknown.

    Rates are units of work per second of the whole system: of an inference run `output_rate` (generated), `input_rate`
    (read) and `total_rate` (both); of a training run `total_rate` alone, as it generates nothing. `accelerator_count`
    is the chips billed. `input_length` and `output_length` are means per request (of training: the sequence length,
    as input). `interactivity` is output tokens per second and user, `ttft_ms` the time to the first token; their
    statistic is that of the users (p99: of the slowest one in a hundred). `acceptance_length` is tokens per step of
    speculative decoding, 1 without it.
    """

    model_name: str
    task: str
    scenario: str | None
    benchmark: str
    benchmark_family: str
    accelerator_name: str
    form_factor: str | None
    accelerator_count: Decimal
    precision: str
    unit_of_work: str
    input_length: Decimal | None
    output_length: Decimal | None
    concurrency: Decimal | None
    batch_size: Decimal | None
    output_rate: Decimal | None
    input_rate: Decimal | None
    total_rate: Decimal | None
    interactivity: Decimal | None
    interactivity_statistic: str | None
    ttft_ms: Decimal | None
    ttft_statistic: str | None
    acceptance_length: Decimal | None
    prefix_cache_hit_share: Decimal | None
    error_share: Decimal | None
    is_disaggregated: bool | None
    parallelism: str | None
    software: str | None
    measured_by: str | None
    measured_on: date | None
    source_url: str | None
    evidence_grade: str
    note: str


@dataclass(kw_only=True)
class ParsedRun:
    """What a file itself tells of a run, before the user's words complete it; None where it is silent.

    `place` says which run of the file it is ("" where there is one), `accelerator` is the file's own text, `chips_used`
    the chips it says worked, `needed` names what this tool needs besides what every run needs. `is_official` holds
    where the file itself carries the link of an official run, and is False where no link can make it one.
    """

    benchmark: str
    family: str
    task: str = "serving"
    place: str = ""
    model: str | None = None
    scenario: str | None = None
    accelerator: str | None = None
    chips_used: Decimal | None = None
    precision: str | None = None
    unit_of_work: str = "token"
    input_length: Decimal | None = None
    output_length: Decimal | None = None
    concurrency: Decimal | None = None
    batch_size: Decimal | None = None
    output_rate: Decimal | None = None
    input_rate: Decimal | None = None
    total_rate: Decimal | None = None
    interactivity: Decimal | None = None
    interactivity_statistic: str | None = None
    ttft_ms: Decimal | None = None
    ttft_statistic: str | None = None
    acceptance_length: Decimal | None = None
    prefix_cache_hit_share: Decimal | None = None
    error_share: Decimal | None = None
    is_disaggregated: bool | None = None
    parallelism: str | None = None
    software: str | None = None
    measured_by: str | None = None
    measured_on: date | None = None
    source_url: str | None = None
    is_official: bool | None = None
    needed: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Return a ratio of two numbers of a file, to twelve digits; the divisor is not 0."""
    return _DERIVED.divide(dividend, divisor) if dividend else Decimal(0)


def product(*factors: Decimal) -> Decimal:
    """Return a product of numbers of a file, to twelve digits."""
    result = Decimal(1)
    for factor in factors:
        result = _DERIVED.multiply(result, factor)
    return result


def plain(number: Decimal, digits: int = 6) -> str:
    """Return a number for people: so many significant digits, no exponent, no trailing zeros."""
    rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN).plus(number)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def describe(measurement: Measurement) -> str:
    """Return the run as one plain sentence, rounded for reading."""
    one = measurement
    unit = f"{one.unit_of_work}s/s"
    rates = [
        f"{plain(rate, 5)} {kind}{unit}"
        for kind, rate in (("output ", one.output_rate), ("input ", one.input_rate))
        if rate is not None
    ] or [f"{plain(one.total_rate, 5)} {unit}" if one.total_rate is not None else "an unknown rate"]
    chip = " ".join(filter(None, (one.accelerator_name, one.form_factor)))
    where = f"{one.model_name} in {one.precision} on {plain(one.accelerator_count)} x {chip}"
    kind = "offline inference" if one.task == "offline" else one.task
    details = [
        f"scenario {one.scenario}" if one.scenario else "",
        f"{plain(one.input_length)} in" if one.input_length is not None else "",
        f"{plain(one.output_length)} out" if one.output_length is not None else "",
        f"concurrency {plain(one.concurrency)}" if one.concurrency is not None else "",
        f"{plain(one.interactivity, 4)} tokens/s/user ({one.interactivity_statistic})" if one.interactivity else "",
    ]
    shown = ", ".join(filter(None, details))
    when = f" on {one.measured_on.isoformat()}" if one.measured_on else ""
    by = f" by {one.measured_by}" if one.measured_by else ""
    return (
        f"{one.benchmark}: {kind} of {where} gave {' and '.join(rates)}{f' ({shown})' if shown else ''}"
        f", measured{by}{when or ' on an unknown date'}, evidence {one.evidence_grade}."
    )
