"""What the user supplies about a run, and how it completes what its file contains.

A file is believed before the user: a value that contradicts it is refused, one that says more is used.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any

from extract.benchmarks.result import BenchmarkIncomplete, BenchmarkRefused, ParsedRun, placed, plain
from warehouse.errors import did_you_mean
from warehouse.reference import accelerators, throughput
from warehouse.reference.accelerators import Chip, resolve
from warehouse.reference.table import Line, Model, Rule, Values, first_refusal, values
from warehouse.schema.columns import allowed

PRECISIONS = allowed("precision")
UNITS_OF_WORK = allowed("unit_of_work")
FINER_PRECISIONS = {"nvfp4": "fp4", "mxfp4": "fp4", "mxfp8": "fp8", "mxfp6": "fp6"}
"""Ways to scale a format: who knows which says more than a file with the plain word, and does not contradict it."""
QUANTISED = re.compile(r"(?<![a-z0-9])(?:mx|nv)?(?:fp|int)[48](?![a-z0-9])")
"""Words in a model's name for what its weights were stored in; wider ones say nothing, as a server may quantise."""

_TEXT = (files("extract.benchmarks") / "meanings.toml").read_text(encoding="utf-8")
MEANINGS: dict[str, str] = tomllib.loads(
    _TEXT.replace("{precisions}", ", ".join(PRECISIONS)).replace("{units}", ", ".join(UNITS_OF_WORK[1:]))
)
"""What may be given, by name, and how each is explained to who has to give it."""
ERROR_SHARE_LIMIT = Decimal("0.05")
"""Above it a run measures a system that was failing: kept, and never ranked."""
TOLERANCE = Decimal("0.01")
"""Between a given number and the file's, which tools round; and the share of input that a cold cache holds too."""
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

VOCABULARY = {
    "precision": PRECISIONS,
    "disaggregated": ("yes", "no"),
    "published_by": ("user", "vendor"),
    "unit": UNITS_OF_WORK[1:],
}
"""Values of a closed vocabulary, in which upper case does not matter."""
TENSOR_PARALLEL = re.compile(r"\b(?:tp|tensor[ _-]?parallel(?:ism|[ _-]?size)?)[ =:]*(\d{1,4})\b", re.IGNORECASE)
"""Each of these works on one NVIDIA GPU, on one core of an accelerator that has several."""
_NUMBERS = ("input_length", "output_length", "concurrency", "batch_size", "acceptance_length")
EITHER = (*_NUMBERS, "prefix_cache_hit_share", "parallelism", "measured_by", "measured_on", "source_url")
"""Columns of a run that the file states or the user."""
COUNTS = ("accelerator_count", "sequence_length", *_NUMBERS)
_TYPES = {**dict.fromkeys((*COUNTS, "prefix_cache_hit_share"), Decimal | None), "measured_on": date | None}
SUPPLIED = Model(
    key="supplied",
    fields={name: _TYPES.get(name, str | None) for name in MEANINGS},
    meanings=MEANINGS,
    free=tuple(MEANINGS),
    rules=(
        *(
            Rule(
                name,
                "expected one line of at most 300 characters",
                rf"length({name}) <= 300 and not regexp_like({name}, '[\p{{C}}\p{{Zl}}\p{{Zp}}]')",
            )
            for name in MEANINGS
            if name not in _TYPES
        ),
        *(Rule(name, "expected a number from 0.0001 to 1e9", f"{name} >= 0.0001 and {name} <= 1e9") for name in COUNTS),
        *(
            Rule(name, f"not one of {', '.join(words)}", f"lower({name}) in {words}")
            for name, words in VOCABULARY.items()
        ),
        Rule("round", "not the name of a round", r"regexp_like(round, '^v\d+\.\d+$')"),
        Rule("source_url", "not an https address", r"""regexp_like(source_url, '^https://[^\s<>"]+$')"""),
        Rule(
            "leave_out",
            "expected numbers of runs, such as 2,3",
            r"regexp_like(leave_out, '^[1-9]\d{0,5}( *, *[1-9]\d{0,5})*,?$')",
        ),
        Rule(
            "published_by",
            "a vendor's document needs its source_url",
            "lower(published_by) <> 'vendor' or source_url is not null",
        ),
    ),
    refusal=BenchmarkRefused,
)
"""What a user supplies, as a table of one row."""


class Supplied:
    """What the user supplied, checked. Raises BenchmarkRefused where a name or a value cannot be used."""

    def __init__(self, supplied: Mapping[str, str], *, source: str) -> None:
        self.source = source
        cells = {name: value.strip() for name, value in supplied.items() if value.strip()}
        self._line = Line("", cells, source, SUPPLIED)
        for name in cells.keys() - MEANINGS.keys():
            raise self.refused(name, "unknown name", f"Known are {', '.join(MEANINGS)}")
        self.values = _checked(source, tuple(cells.items()))

    def __getitem__(self, name: str) -> Any:
        """Return what was supplied by a name, None where nothing was."""
        return self.values[name]

    def left_out(self) -> frozenset[int]:
        """Return the numbers of the runs to leave out."""
        return frozenset(int(part) for part in (self["leave_out"] or "").split(",") if part.strip())

    def refused(self, name: str, reason: str, hint: str = "") -> BenchmarkRefused:
        """Return the refusal of one value."""
        value = self._line.cells.get(name)
        return BenchmarkRefused(
            reason, source=self.source, field=name, value=value, hint=hint or f"{name} is {MEANINGS[name]}"
        )


@lru_cache(maxsize=8)
def _checked(source: str, cells: tuple[tuple[str, str], ...]) -> Values:
    line = Line("", dict(cells), source, SUPPLIED)
    found = values(line)
    if cells and (refused := first_refusal([line], [found])):
        raise refused[1]
    return found | {name: (found[name] or "").lower() or None for name in VOCABULARY}


def complete(parsed: ParsedRun, supplied: Supplied) -> Values:
    """Return a run with what the user supplied added. Raises BenchmarkIncomplete or BenchmarkRefused."""
    notes = list(parsed.notes)
    chip = _chip(parsed, supplied, notes)
    needed = {
        "model": _model(parsed, supplied, notes),
        "accelerator": chip,
        "accelerator_count": _count(parsed, supplied, notes),
        "precision": _precision(parsed, supplied),
    }
    is_open = {"precision": parsed.is_precision_open}
    lacking = [name for name, value in needed.items() if value is None and not is_open.get(name)]
    lacking += [name for name in parsed.needed if supplied[name] is None]
    if chip is None or lacking:
        flags = "; ".join(f"--set {name}=... ({MEANINGS[name]})" for name in lacking)
        names = ", ".join(lacking)
        message = placed(parsed.place, f"the file lacks {names}")
        raise BenchmarkIncomplete(message, source=supplied.source, field=names, value="missing", hint=f"Give {flags}")
    _check_kind(parsed, supplied)
    of_file = parsed.is_disaggregated
    disaggregated = supplied["disaggregated"]
    if of_file is not None and disaggregated not in (None, stated := "yes" if of_file else "no"):
        raise _contradiction(parsed, supplied, "disaggregated", stated)
    run = {name: getattr(parsed, name, None) for name in throughput.MEASURED}
    run |= {name: _either(parsed, supplied, name) for name in EITHER}
    is_of_trace = parsed.benchmark_family == "inferencex" and parsed.prefix_cache_hit_share is not None
    share = None if is_of_trace else run["prefix_cache_hit_share"]  # a first token in common is no warm cache
    cached = f"{plain(share * 100, 3)} % of the input cached" if share and share > TOLERANCE else None
    run |= {
        "model_name": needed["model"],
        "benchmark": " ".join(filter(None, (parsed.benchmark, supplied["round"]))),
        "accelerator_name": chip.accelerator_name,
        "form_factor": chip.form_factor,
        "accelerator_count": needed["accelerator_count"],
        "precision": needed["precision"],
        "scenario": ", ".join(filter(None, (parsed.scenario, cached))) or None,
        "unit_of_work": supplied["unit"] or parsed.unit_of_work,
        "is_disaggregated": disaggregated == "yes" if disaggregated else of_file,
        "software": supplied["software"] or parsed.software,
    }
    _check_split(parsed, supplied, run, chip)
    run["evidence_grade"] = _grade(parsed, supplied, run, notes)
    return run | {"note": "; ".join(notes)}


def _check_kind(parsed: ParsedRun, supplied: Supplied) -> None:
    """Refuse words that are of another kind of run."""
    if supplied["unit"] and parsed.unit_of_work != "sample":
        raise supplied.refused("unit", f"the file counts {parsed.unit_of_work}s")
    if supplied["round"] and not parsed.benchmark_family.startswith("mlperf"):
        raise supplied.refused("round", "only MLPerf has rounds")
    length = supplied["sequence_length"]
    if length is None:
        return
    if parsed.task != "training":
        raise supplied.refused("sequence_length", "only of a training run; give input_length and output_length")
    if parsed.input_length is not None and parsed.input_length != length:
        raise _contradiction(parsed, supplied, "sequence_length", plain(parsed.input_length))


def _check_split(parsed: ParsedRun, supplied: Supplied, run: Values, chip: Chip) -> None:
    """Refuse a run that is split over more NVIDIA chips than it had."""
    split = TENSOR_PARALLEL.search(run["parallelism"] or "")
    if chip.accelerator_vendor == "NVIDIA" and split and int(split[1]) > max(run["accelerator_count"], 1):
        count = plain(run["accelerator_count"])
        raise supplied.refused(
            "parallelism", placed(parsed.place, f"works on {split[1]} chips, and accelerator_count is {count}")
        )


def _contradiction(parsed: ParsedRun, supplied: Supplied, name: str, of_file: object) -> BenchmarkRefused:
    return supplied.refused(name, placed(parsed.place, f"contradicts the file, which says {of_file}"))


def _model(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> str | None:
    of_user: str | None = supplied["model"]
    of_file: str | None = parsed.model
    alias = supplied["served_as"]
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
            placed(parsed.place, f"contradicts the file, which says {of_file}"),
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


def _chip(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> Chip | None:
    text = supplied["accelerator"]
    of_user = resolve(text) if text else None
    of_file = resolve(parsed.accelerator) if parsed.accelerator else None
    if text and of_user is None:
        raise supplied.refused("accelerator", "not a chip that is known here", did_you_mean(text, accelerators.names()))
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
            placed(parsed.place, f"{text or parsed.accelerator} is a part of a chip, or not known to be a whole one"),
            "Give the whole chip, and its share as accelerator_count, such as 0.25",
        )
    return chip


def _count(parsed: ParsedRun, supplied: Supplied, notes: list[str]) -> Decimal | None:
    billed: Decimal | None = supplied["accelerator_count"]
    used = parsed.chips_used
    if billed is None or used is None:
        return billed or used
    if billed < used:
        raise _contradiction(parsed, supplied, "accelerator_count", f"{plain(used)} chips worked")
    if billed > used:
        notes.append(f"{plain(billed)} chips billed, of which {plain(used)} worked")
    return billed


def _precision(parsed: ParsedRun, supplied: Supplied) -> str | None:
    of_user: str | None = supplied["precision"]
    words = (parsed.precision or "").lower()
    of_file = words if words in PRECISIONS else None
    named = {FINER_PRECISIONS.get(word, word) for word in QUANTISED.findall((parsed.model or "").lower())}
    if of_user and named and FINER_PRECISIONS.get(of_user, of_user) not in named and supplied["served_as"] is None:
        raise _contradiction(parsed, supplied, "precision", f"the model {parsed.model}")
    if of_user is None or of_file is None or of_user == of_file:
        return of_user or of_file
    if FINER_PRECISIONS.get(of_user) == of_file:
        return of_user
    if FINER_PRECISIONS.get(of_file) == of_user:
        return of_file
    raise _contradiction(parsed, supplied, "precision", parsed.precision)


def _either(parsed: ParsedRun, supplied: Supplied, name: str) -> Any:
    """Return what the file states of a column, else what the user supplied; refuse two that contradict each other."""
    of_user, of_file = supplied[name], getattr(parsed, name)
    if of_user is None or of_file is None:
        return of_user if of_file is None else of_file
    if isinstance(of_file, Decimal):
        is_same = abs(of_user - of_file) <= TOLERANCE * of_file
    else:
        is_same = _squeezed(of_user) == _squeezed(of_file)
    if not is_same:
        shown = plain(of_file) if isinstance(of_file, Decimal) else of_file
        raise _contradiction(parsed, supplied, name, shown)
    return of_file


def _squeezed(value: object) -> str:
    return re.sub(r"[\s,]", "", str(value)).casefold()


def _grade(parsed: ParsedRun, supplied: Supplied, run: Values, notes: list[str]) -> str:
    official = OFFICIAL.get(parsed.benchmark_family)
    linked = official is not None and official.fullmatch(run["source_url"] or "") is not None
    if parsed.is_official is not False and (parsed.is_official or linked):
        grade = "A"
    else:
        grade = "B" if "vendor" in (supplied["published_by"], parsed.published_by) else "C"
        if parsed.benchmark_family == "inferencex":
            notes.append("unofficial InferenceX run: no address of an official one")
            grade = "C"
    if not parsed.is_comparable:
        notes.append("its rules let the model be another one, so it is never ranked")
        return "D"
    if parsed.error_share is not None and parsed.error_share > ERROR_SHARE_LIMIT:
        notes.append(f"{plain(parsed.error_share * 100, 3)} % of the requests failed, so it is never ranked")
        return "D"
    if parsed.task == "serving" and not parsed.benchmark_family.startswith("mlperf"):
        unknown = [name for name in ("input_length", "output_length") if run[name] is None]
        # A scenario with a number is the load itself, such as "request rate 5/s".
        if run["concurrency"] is None and not re.search(r"\d", parsed.scenario or ""):
            unknown.append("concurrency")
        if unknown:
            notes.append(f"{', '.join(unknown)} unknown, so it is never ranked")
            return "D"
    return grade
