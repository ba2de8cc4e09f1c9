"""MLPerf Inference: summary.json or summary_results.json of a results repository, every result of a round in one file.

https://github.com/mlcommons/inference/tree/master/tools/submission writes both: summary.json has the fields of
summary.csv, and summary_results.json (v3.1 to v6.0) renames some, has "" for none, and power next to the result.

Quirks:

1. The one is an object with a number for each result, the other a list. Read are results of language models in tokens
   per second, of systems with chips of one kind; the log says how many others there are. Of a model with two targets of
   accuracy the stricter one is read, as most enter one run for both; so a result that was carried over (`inferred`) is
   none of its own.
2. `weight_data_types` is what the submitter declared: one type, a sentence, or a list of types, of which none is known
   to be that of the weights. It is not always what ran (int.throughput checks it).
3. No result states its input, its latency or its date. Server and Interactive had to keep the limits of the rules.
4. Chips are `accelerators_per_node` x `number_of_nodes`, unless the name itself counts them: "MI355X 288GB (x87)".
5. Results of systems that could not be bought then are grade B; outside the closed division the model itself may be
   another one: such a result is never ranked.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from extract.benchmarks.content import Run
from extract.benchmarks.mlperf_loadgen import FAMILY as FAMILY
from extract.benchmarks.mlperf_loadgen import SCENARIOS
from extract.benchmarks.result import BenchmarkRefused, ParsedRun, quotient
from warehouse.reference.accelerators import resolve
from warehouse.schema.columns import allowed

ROUND = re.compile(r"v\d+\.\d+")
COUNTED = re.compile(r"\s*\(x(\d+)\)\s*$")
STRICT = "99.9"
REPORTED = {
    "Submitter": "Organization",
    "Category": "Division",
    "Nodes": "number_of_nodes",
    "Accelerator": "accelerator_model_name",
    "a#": "accelerators_per_node",
    "Software": "framework",
    "Model": "MlperfModel",
    "UsedModel": "Model",
    "Performance_Result": "Result",
    "Performance_Units": "Units",
}
"""The fields of summary.json by the names that they have in summary_results.json."""
PLACE = re.compile(r"^\./|/performance/run_1.*$")


class Limits(NamedTuple):
    """Of one model: the mean output, and milliseconds to the first token and between two, at the 99th percentile."""

    output_length: Decimal | None
    server: tuple[int, int]
    interactive: tuple[int, int] | None
    is_speculative: bool = False


LIMITS = {
    "llama2-70b": Limits(Decimal("294.45"), (2000, 200), (450, 40)),
    "llama3.1-8b": Limits(Decimal(128), (2000, 100), (500, 30)),
    "llama3.1-405b": Limits(None, (6000, 175), (4500, 80)),
    "mixtral-8x7b": Limits(None, (2000, 200), None),
    "deepseek-r1": Limits(None, (2000, 80), (1500, 15), is_speculative=True),
    "gpt-oss-120b": Limits(None, (3000, 80), (2000, 20), is_speculative=True),
}
"""Rules of MLPerf Inference, https://github.com/mlcommons/inference_policies/blob/ac93e89/inference_rules.adoc, read on
2026-11-21: limits that a valid result kept, and whether Interactive may speculate."""


def claims(run: Run) -> bool:
    """Return whether a run is one result of such a file."""
    return {"Model", "Scenario"} <= run.fields.keys() and not {"MlperfModel", "UsedModel"}.isdisjoint(run.fields)


def chosen(runs: Sequence[Run], source: str) -> list[Run]:
    """Return the results that can be read, and log how many cannot, by the reason; raise where none can."""
    for run in runs:
        names = REPORTED if "UsedModel" in run.fields else {}
        run.fields = {names.get(name, name): value for name, value in run.fields.items() if value != ""}
    strict = {_key(run) for run in runs if str(run.fields["Model"]).endswith(STRICT)}
    reasons = [_reason(run, strict) for run in runs]
    left = Counter(filter(None, reasons))
    words = ", ".join(f"{count} {reason}" for reason, count in left.most_common())
    if left.total() == len(runs):
        raise BenchmarkRefused(f"no result can be read: {words}", source=source, field="results", value=len(runs))
    if left:
        counts = (source, left.total(), len(runs), words)
        logging.getLogger(__name__).warning("%s: %s of %s results are not read: %s", *counts)
    return [run for run, reason in zip(runs, reasons, strict=True) if reason is None]


def parse(run: Run) -> ParsedRun:
    """Return what a result tells. Raises LayoutChanged or BenchmarkRefused."""
    scenario, model = run.text("Scenario") or "", _model(run)
    limits = LIMITS[model]
    version = run.text("version") or ""
    if not ROUND.fullmatch(version):
        raise run.layout("version", "expected the name of a round, such as v6.1")
    division, place = run.text("Division"), PLACE.sub("", run.text("Location") or "")
    found = ParsedRun(
        benchmark=f"MLPerf Inference {version}",
        task=SCENARIOS[scenario],
        scenario=scenario if division == "closed" else f"{scenario}, {division} division",
        model=model,
        accelerator=COUNTED.sub("", run.text("accelerator_model_name") or ""),
        chips_used=chips(run),
        precision=declared(run.text("weight_data_types") or ""),
        output_rate=run.needed("Result"),
        output_length=limits.output_length,
        software=run.text("framework"),
        measured_by=run.text("Organization") or run.text("Submitter"),
        source_url=f"https://github.com/mlcommons/inference_results_{version}/tree/main/{place}" if place else None,
        is_official=division == "closed" and run.text("Availability") == "available",
    )
    limit = {"Server": limits.server, "Interactive": limits.interactive}.get(scenario)
    if limit:
        found.ttft_ms, found.ttft_statistic = Decimal(limit[0]), "p99 limit"
        found.interactivity, found.interactivity_statistic = quotient(Decimal(1000), Decimal(limit[1])), "p99 limit"
    if not (limits.is_speculative and scenario == "Interactive"):
        found.acceptance_length = Decimal(1)
    if found.precision is None:
        found.is_precision_open = True
        found.notes.append(f"declared {run.text('weight_data_types')}")
    found.is_comparable = division == "closed"
    if not found.is_official:
        found.published_by = "vendor"
        found.notes.append(f"{division} division, {run.text('Availability')}")
    return found


def declared(words: str) -> str | None:
    """Return the type that a submitter declared for the weights; None for a list of types, or no known one."""
    first = re.match(r"[a-z]+\d+", words.strip().lower())
    name = first[0] if first else None
    is_list = re.fullmatch(r"\s*[A-Za-z]+\d+(\s*,\s*[A-Za-z]+\d+)+\s*", words)
    return name if name in allowed("precision") and not is_list else None


def _reason(run: Run, strict: set[tuple[object, ...]]) -> str | None:
    """Return why a result is not read; None where it is."""
    if run.fields.get("Units") != "Tokens/s" or run.fields["Scenario"] not in SCENARIOS:
        return "count no tokens of a language model"
    if _model(run) not in LIMITS:
        return f"are of {_model(run)}, whose rules are not known here"
    if (name := run.text("accelerator_model_name")) and resolve(COUNTED.sub("", name)) is None:
        return "are of a chip that is not known, or of several kinds"
    if not chips(run):
        return "are of processors alone"
    if run.fields.get("inferred"):
        return "are carried over from a stricter target"
    is_second = not str(run.fields["Model"]).endswith(STRICT) and _key(run) in strict
    return "are of a second target of a run" if is_second else None


def chips(run: Run) -> Decimal | None:
    """Return how many chips a system has in all its nodes; None where it has none."""
    counted = COUNTED.search(run.text("accelerator_model_name") or "")
    if counted:
        return Decimal(counted[1])
    return (run.number("accelerators_per_node") or Decimal(0)) * (run.number("number_of_nodes") or Decimal(1)) or None


def _model(run: Run) -> str:
    return re.sub(r"-99(\.9)?$", "", run.text("Model") or "")


def _key(run: Run) -> tuple[object, ...]:
    names = ("Organization", "Platform", "Scenario", "weight_data_types", "Division")
    return (*(run.fields.get(name) for name in names), _model(run))
