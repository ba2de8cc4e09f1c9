"""What the user supplies about a run, and how it completes what its file contains.

A file is believed before the user: a value that contradicts it is refused, one that says more is used.
"""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from extract.benchmarks.result import (
    UNITS_OF_WORK,
    BenchmarkIncomplete,
    BenchmarkRefused,
    Measurement,
    ParsedRun,
    plain,
)

if TYPE_CHECKING:
    from warehouse.reference.accelerators import Chip

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "int8", "fp8", "mxfp8", "fp6", "mxfp6", "int4", "fp4", "nvfp4", "mxfp4")
FINER_PRECISIONS = {"nvfp4": "fp4", "mxfp4": "fp4", "mxfp8": "fp8", "mxfp6": "fp6"}
"""Ways to scale a format: who knows which says more than a file with the plain word, and does not contradict it."""

MEANINGS = {
    "model": "the model's name, such as meta-llama/Llama-3.1-8B-Instruct",
    "served_as": "the name of the model in the file, where it is an alias that says nothing of the model",
    "accelerator": "the chip, with its form factor where known, such as 'H100 SXM' or Trainium2",
    "accelerator_count": "chips billed for the run, idle ones of the machine among them, such as 8",
    "precision": f"of the weights: {', '.join(PRECISIONS)}",
    "unit": f"what one unit of work is, where it is no token: {', '.join(UNITS_OF_WORK[1:])}",
    "sequence_length": "tokens in one sequence of a training run",
    "input_length": "mean input tokens per request",
    "output_length": "mean output tokens per request",
    "concurrency": "requests in flight",
    "batch_size": "sequences in one step",
    "acceptance_length": "tokens per step of speculative decoding, 1 without it",
    "prefix_cache_hit_share": "share of input tokens found in the prefix cache, 0 to 1",
    "disaggregated": "whether prefill and decode ran on chips of their own: yes, no",
    "parallelism": "such as 'TP8 EP8'",
    "software": "the server and its version, such as 'vLLM 0.11.0'",
    "round": "of MLPerf, such as v5.1",
    "measured_by": "who ran it",
    "measured_on": "the day, such as 2026-11-21",
    "source_url": "an https address where the result can be checked",
    "published_by": "who published it: user, vendor (needs source_url)",
    "leave_out": "numbers of the runs in the file that are not wanted, such as 2,3",
}
"""What may be given, by name, and how each is explained to who has to give it."""
ERROR_SHARE_LIMIT = Decimal("0.05")
"""Above it a run measures a system that was failing: kept, and never ranked."""
TOLERANCE = Decimal("0.01")
"""Between a given number and the file's, which tools round."""
OFFICIAL = {
    "mlperf_inference": re.compile(
        r"https://github\.com/mlcommons/inference_results_v\d+\.\d+/(?:blob|tree)/[^/\s]+/closed/\S+"
        r"|https://mlcommons\.org/\S*\d\.\d-\d{4}\S*"
    ),
    "mlperf_training": re.compile(
        r"https://github\.com/mlcommons/training_results_v\d+\.\d+/(?:blob|tree)/[^/\s]+/\S+/results/\S+"
        r"|https://mlcommons\.org/\S*\d\.\d-\d{4}\S*"
    ),
    "inferencex": re.compile(
        r"https://github\.com/SemiAnalysisAI/Inference(?:X|MAX)/actions/runs/\d+(?:/attempts/\d+)?"
    ),
}
"""Addresses of results that their makers reviewed: of one result, not of a project."""


class Supplied:
    """The user's words, checked for their names and forms."""

    def __init__(self, words: Mapping[str, str], *, source: str) -> None:
        self.source = source
        self.words = {name: value.strip() for name, value in words.items() if value.strip()}
        for name, value in self.words.items():
            if name not in MEANINGS:
                raise self.refused(name, "unknown name", f"Known are {', '.join(MEANINGS)}")
            if len(value) > 300 or not value.isprintable():
                raise self.refused(name, "expected one line of at most 300 characters")
        self._check_words()

    def text(self, name: str) -> str | None:
        """Return a word as it was given."""
        return self.words.get(name)

    def number(self, name: str) -> Decimal | None:
        """Return a number above 0 (a share: from 0 to 1). Raises BenchmarkRefused."""
        text = self.words.get(name)
        if text is None:
            return None
        share = name.endswith("_share")
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        low, high = (Decimal(0), Decimal(1)) if share else (Decimal("0.0001"), Decimal(10) ** 9)
        if not number.is_finite() or not low <= number <= high:
            raise self.refused(name, "expected a number from 0 to 1" if share else "expected a number above 0")
        return number

    def day(self) -> date | None:
        """Return the day of measurement. Raises BenchmarkRefused."""
        text = self.words.get("measured_on")
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            raise self.refused("measured_on", "expected a date such as 2026-11-21") from None

    def left_out(self) -> frozenset[int]:
        """Return the numbers of the runs to leave out. Raises BenchmarkRefused."""
        parts = [part.strip() for part in self.words.get("leave_out", "").split(",") if part.strip()]
        if not all(re.fullmatch(r"[1-9]\d{0,5}", part) for part in parts):
            raise self.refused("leave_out", "expected numbers of runs", "Such as leave_out=2,3")
        return frozenset(int(part) for part in parts)

    def refused(self, name: str, reason: str, hint: str = "") -> BenchmarkRefused:
        """Return the refusal of one given word."""
        if not hint and name in MEANINGS:
            hint = f"{name} is {MEANINGS[name]}"
        return BenchmarkRefused(reason, source=self.source, field=name, value=self.words.get(name), hint=hint)

    def _check_words(self) -> None:
        allowed = {
            "precision": PRECISIONS,
            "disaggregated": ("yes", "no"),
            "published_by": ("user", "vendor"),
            "unit": UNITS_OF_WORK[1:],
        }
        for name, words in allowed.items():
            if name in self.words and self.words[name].lower() not in words:
                raise self.refused(name, f"not one of {', '.join(words)}")
        if "round" in self.words and not re.fullmatch(r"v\d+\.\d+", self.words["round"]):
            raise self.refused("round", "not the name of a round")
        url = self.words.get("source_url")
        if url is not None and not re.fullmatch(r"https://[^\s<>\"]+", url):
            raise self.refused("source_url", "not an https address")
        if self.words.get("published_by", "").lower() == "vendor" and url is None:
            raise self.refused("published_by", "a vendor's document needs its source_url")


def complete(parsed: ParsedRun, supplied: Supplied) -> Measurement:
    """Return a run with the user's words added. Raises BenchmarkIncomplete or BenchmarkRefused."""
    notes = list(parsed.notes)
    model, chip = _model(parsed, supplied, notes), _chip(parsed, supplied, notes)
    count, precision = _count(parsed, supplied, notes), _precision(parsed, supplied)
    needed = {"model": model, "accelerator": chip, "accelerator_count": count, "precision": precision}
    lacking = [name for name, value in needed.items() if value is None]
    lacking += [name for name in parsed.needed if supplied.text(name) is None]
    if model is None or chip is None or count is None or precision is None or lacking:
        raise _incomplete(parsed, supplied, lacking)
    _check_kind(parsed, supplied)
    lengths = {name: _number(parsed, supplied, name) for name in ("input_length", "output_length", "concurrency")}
    url = _text(parsed, supplied, "source_url")
    grade = _grade(parsed, supplied, lengths, url, notes)
    return Measurement(
        model_name=model,
        task=parsed.task,
        scenario=parsed.scenario,
        benchmark=" ".join(filter(None, (parsed.benchmark, supplied.text("round")))),
        benchmark_family=parsed.family,
        accelerator_name=chip.accelerator_name,
        form_factor=chip.form_factor,
        accelerator_count=count,
        precision=precision,
        unit_of_work=(supplied.text("unit") or parsed.unit_of_work).lower(),
        input_length=lengths["input_length"],
        output_length=lengths["output_length"],
        concurrency=lengths["concurrency"],
        batch_size=_number(parsed, supplied, "batch_size"),
        output_rate=parsed.output_rate,
        input_rate=parsed.input_rate,
        total_rate=parsed.total_rate,
        interactivity=parsed.interactivity,
        interactivity_statistic=parsed.interactivity_statistic,
        ttft_ms=parsed.ttft_ms,
        ttft_statistic=parsed.ttft_statistic,
        acceptance_length=_number(parsed, supplied, "acceptance_length"),
        prefix_cache_hit_share=_number(parsed, supplied, "prefix_cache_hit_share"),
        error_share=parsed.error_share,
        is_disaggregated=_disaggregated(parsed, supplied),
        parallelism=_text(parsed, supplied, "parallelism"),
        software=supplied.text("software") or parsed.software,
        measured_by=_text(parsed, supplied, "measured_by"),
        measured_on=_day(parsed, supplied),
        source_url=url,
        evidence_grade=grade,
        note="; ".join(notes),
    )


def _incomplete(parsed: ParsedRun, supplied: Supplied, lacking: list[str]) -> BenchmarkIncomplete:
    flags = "; ".join(f"--set {name}=... ({MEANINGS[name]})" for name in lacking)
    names = ", ".join(lacking)
    return BenchmarkIncomplete(
        _where(parsed, f"the file lacks {names}"),
        source=supplied.source,
        field=names,
        value="missing",
        hint=f"Give {flags}",
    )


def _check_kind(parsed: ParsedRun, supplied: Supplied) -> None:
    """Refuse words that are of another kind of run."""
    if supplied.text("unit") and parsed.unit_of_work != "sample":
        raise supplied.refused("unit", f"the file counts {parsed.unit_of_work}s")
    if supplied.text("round") and not parsed.family.startswith("mlperf"):
        raise supplied.refused("round", "only MLPerf has rounds")
    length = supplied.number("sequence_length")
    if length is None:
        return
    if parsed.task != "training":
        raise supplied.refused("sequence_length", "only of a training run; give input_length and output_length")
    if parsed.input_length is not None and parsed.input_length != length:
        raise _contradiction(parsed, supplied, "sequence_length", plain(parsed.input_length))


def _contradiction(parsed: ParsedRun, supplied: Supplied, name: str, of_file: object) -> BenchmarkRefused:
    return supplied.refused(name, _where(parsed, f"contradicts the file, which says {of_file}"))


def _where(parsed: ParsedRun, message: str) -> str:
    return f"{parsed.place}: {message}" if parsed.place else message


def _model(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> str | None:
    of_user, of_file, alias = supplied.text("model"), parsed.model, supplied.text("served_as")
    if alias is not None:
        if alias != of_file:
            raise _contradiction(parsed, supplied, "served_as", of_file)
        if of_user is None:
            return None
    # A name without a digit ("ensemble") is that of a deployment: it says no size and no version of a model.
    if of_file is None or alias is not None or not re.search(r"\d", of_file):
        if of_file is not None and of_user is not None and of_user != of_file:
            notes.append(f"served as {of_file}")
        return of_user
    if of_user is None or of_user == of_file:
        return of_file
    ours, theirs = _words(of_user), _words(of_file)
    sizes = _sizes(of_file)
    if not (ours <= theirs or theirs <= ours) or (sizes and sizes != _sizes(of_user)):
        raise supplied.refused(
            "model",
            _where(parsed, f"contradicts the file, which says {of_file}"),
            f"If that is only the name it is served under, give also served_as={of_file}",
        )
    notes.append(f"the file names the model {of_file}")
    return of_user


def _words(model: str) -> Counter[str]:
    # 3.1 is one word, so that Llama-3 is not a part of Llama-3.1; llama2 is two, as in Llama-2.
    return Counter(re.findall(r"\d+(?:\.\d+)*|[a-z]+", model.lower()))


def _sizes(model: str) -> frozenset[str]:
    # DeepSeek-R1 is not DeepSeek-R1-Distill-Llama-70B: a size that only one of them has makes two models.
    return frozenset(re.findall(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])", model.lower()))


def _chip(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> "Chip | None":
    from warehouse.reference.accelerators import resolve

    text = supplied.text("accelerator")
    of_user = resolve(text) if text else None
    of_file = resolve(parsed.accelerator) if parsed.accelerator else None
    if text and of_user is None:
        raise supplied.refused("accelerator", "not a chip that is known here")
    if of_user is not None and of_file is not None:
        forms = {form for form in (of_user.form_factor, of_file.form_factor) if form}
        names = sorted((of_user.accelerator_name, of_file.accelerator_name), key=len)
        if len(forms) > 1 or not (names[0] == names[1] or re.fullmatch(rf"{re.escape(names[0])}-\d+GB", names[1])):
            raise _contradiction(parsed, supplied, "accelerator", parsed.accelerator)
        # A100 says less than A100-80GB, and H100 less than H100 SXM: what either of them says is taken.
        finer = of_user if of_user.accelerator_name == names[1] else of_file
        chip: Chip | None = finer._replace(form_factor=next(iter(forms), None))
    else:
        chip = of_user or of_file
    if parsed.accelerator and of_file is None and chip is not None:
        notes.append(f"the file names the chip {parsed.accelerator}")
    if chip is not None and chip.accelerator_share != 1:
        raise supplied.refused(
            "accelerator",
            _where(parsed, f"{text or parsed.accelerator} is a part of a chip, or not known to be a whole one"),
            "Give the whole chip, and its share as accelerator_count, such as 0.25",
        )
    return chip


def _count(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> Decimal | None:
    billed, used = supplied.number("accelerator_count"), parsed.chips_used
    if billed is not None and (billed.normalize().as_tuple().exponent < -4):  # type: ignore[operator]
        raise supplied.refused("accelerator_count", "more than 4 decimals")
    if billed is None or used is None:
        return billed or used
    if billed < used:
        raise _contradiction(parsed, supplied, "accelerator_count", f"{plain(used)} chips worked")
    if billed > used:
        notes.append(f"{plain(billed)} chips billed, of which {plain(used)} worked")
    return billed


def _precision(parsed: ParsedRun, supplied: Supplied) -> str | None:
    of_user = (supplied.text("precision") or "").lower() or None
    of_file = parsed.precision.lower() if parsed.precision else None
    if of_file is not None and of_file not in PRECISIONS:
        of_file = None
    if of_user is None or of_file is None or of_user == of_file:
        return of_user or of_file
    if FINER_PRECISIONS.get(of_user) == of_file:
        return of_user
    if FINER_PRECISIONS.get(of_file) == of_user:
        return of_file
    raise _contradiction(parsed, supplied, "precision", parsed.precision)


def _number(parsed: ParsedRun, supplied: Supplied, name: str) -> Decimal | None:
    of_user, of_file = supplied.number(name), getattr(parsed, name)
    if of_user is None or of_file is None:
        return of_user if of_file is None else of_file
    if abs(of_user - of_file) > TOLERANCE * of_file:
        raise _contradiction(parsed, supplied, name, plain(of_file))
    return Decimal(of_file)


def _text(parsed: ParsedRun, supplied: Supplied, name: str) -> str | None:
    of_user, of_file = supplied.text(name), getattr(parsed, name)
    if of_user is not None and of_file is not None and _squeezed(of_user) != _squeezed(of_file):
        raise _contradiction(parsed, supplied, name, of_file)
    return of_file or of_user


def _squeezed(text: str) -> str:
    return re.sub(r"[\s,]", "", text).casefold()


def _disaggregated(parsed: ParsedRun, supplied: Supplied) -> bool | None:
    word = supplied.text("disaggregated")
    of_user = None if word is None else word.lower() == "yes"
    if of_user is not None and parsed.is_disaggregated is not None and of_user != parsed.is_disaggregated:
        raise _contradiction(parsed, supplied, "disaggregated", "yes" if parsed.is_disaggregated else "no")
    return parsed.is_disaggregated if of_user is None else of_user


def _day(parsed: ParsedRun, supplied: Supplied) -> date | None:
    of_user = supplied.day()
    if of_user is not None and parsed.measured_on is not None and of_user != parsed.measured_on:
        raise _contradiction(parsed, supplied, "measured_on", parsed.measured_on)
    return parsed.measured_on or of_user


def _grade(
    parsed: ParsedRun, supplied: Supplied, numbers: Mapping[str, Decimal | None], url: str | None, notes: list[str]
) -> str:
    official = OFFICIAL.get(parsed.family)
    linked = url is not None and official is not None and official.fullmatch(url) is not None
    if parsed.is_official is not False and (parsed.is_official or linked):
        grade = "A"
    else:
        grade = "B" if (supplied.text("published_by") or "").lower() == "vendor" else "C"
        if parsed.family == "inferencex":
            notes.append("unofficial InferenceX run: no address of an official one")
            grade = "C"
    if parsed.error_share is not None and parsed.error_share > ERROR_SHARE_LIMIT:
        notes.append(f"{plain(parsed.error_share * 100, 3)} % of the requests failed, so it is never ranked")
        return "D"
    if parsed.task == "serving" and not parsed.family.startswith("mlperf"):
        unknown = [name for name in ("input_length", "output_length") if numbers[name] is None]
        # A scenario with a number is the load itself, such as "request rate 5/s".
        if numbers["concurrency"] is None and not re.search(r"\d", parsed.scenario or ""):
            unknown.append("concurrency")
        if unknown:
            notes.append(f"{', '.join(unknown)} unknown, so it is never ranked")
            return "D"
    return grade
