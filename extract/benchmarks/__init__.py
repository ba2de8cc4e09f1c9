"""Results of other people's benchmark tools, read as measurements: bring your own benchmark.

Read are vLLM, SGLang, GenAI-Perf and AIPerf, LLMPerf, InferenceX, MLPerf LoadGen, MLPerf Training and
the results of a round of MLPerf Inference; one module each,
whose docstring says what its files mean. What a file does not tell the user gives (`supplied.MEANINGS`); nothing is
guessed. A run that contradicts itself, or was not valid, is refused with the sum that it fails.
"""

import re
from collections.abc import Mapping
from types import ModuleType

from extract.benchmarks import (
    content,
    genai_perf,
    inferencex,
    llmperf,
    mlperf_loadgen,
    mlperf_results,
    mlperf_training,
    sglang,
    vllm,
)
from extract.benchmarks.content import Run
from extract.benchmarks.result import RUN, BenchmarkIncomplete, BenchmarkRefused, ParsedRun, describe
from extract.benchmarks.supplied import MEANINGS, Supplied, complete
from warehouse.errors import ChipledgerError
from warehouse.reference.table import Line, Values, first_refusal

__all__ = ["BenchmarkIncomplete", "BenchmarkRefused", "MEANINGS", "describe", "read", "runs"]

_JSON_TOOLS = (mlperf_results, inferencex, genai_perf, llmperf, sglang, vllm)
"""In the order in which they are asked: forms that are parts of others come after them."""
KNOWN = (
    "the JSON of `vllm bench serve --save-result`, of SGLang's --output-file, profile_export_aiperf.json, "
    "profile_export_genai_perf.json, LLMPerf's summary, InferenceX's rows, MLPerf's logs and summary.json"
)


def read(body: bytes, name: str, supplied: Mapping[str, str]) -> list[Values]:
    """Return the runs of a result file, completed by the user's words.

    Raises BenchmarkIncomplete where something needed is missing, BenchmarkRefused where a run or a word cannot be
    used, LayoutChanged where the file is damaged. A file with one run that cannot be used gives none: the error names
    the runs, and `leave_out` reads the others.
    """
    words = Supplied(supplied, source=name)
    found = runs(body, name)
    if found is None:
        raise BenchmarkRefused(
            "no known benchmark tool wrote this file",
            source=name,
            field="body",
            value=body[:60].decode("utf-8", "replace"),
            hint=f"Read are {KNOWN}: docs/cost-per-token.md",
        )
    tool, every = found
    left_out = words.left_out()
    if left_out and not left_out < set(range(1, len(every) + 1)):
        raise words.refused("leave_out", f"the file has {len(every)} runs, and one must remain")
    lines: dict[int, Line] = {}
    failed: list[tuple[int, ChipledgerError]] = []
    for position, run in enumerate(every, start=1):
        if position in left_out:
            continue
        try:
            lines[position] = Line(run.place, complete(_parse(tool, run, words), words), name, RUN)
        except ChipledgerError as error:
            failed.append((position, error))
    measured = [dict(line.cells) for line in lines.values()]
    if measured and (refused := first_refusal(list(lines.values()), measured)):
        failed.append(([*lines][refused[0]], refused[1]))
    if failed:
        raise _with_all_places(failed, left_out, is_other_good=len({*lines} - {place for place, _ in failed}) > 0)
    return measured


def runs(body: bytes, name: str) -> tuple[ModuleType, list[Run]] | None:
    """Return the tool that wrote a file and its runs; None where no known one did. Raises LayoutChanged."""
    text = content.decoded(body, name)
    for tool in (mlperf_loadgen, mlperf_training, llmperf):
        run = tool.parsed(text, name)
        if run is not None:
            return tool, [run]
    if not re.match(r"\s*[{\[](?!\d{4}-)", text):  # a log begins with a date in brackets
        return None
    found = content.json_runs(text, name)
    for tool in _JSON_TOOLS:
        if tool.claims(found[0]):
            for run in found:
                if not tool.claims(run):
                    raise run.layout("body", f"{run.place} is not of the tool of the first, {tool.FAMILY}")
            return tool, mlperf_results.chosen(found, name) if tool is mlperf_results else found
    return None


def _parse(tool: ModuleType, run: Run, words: Supplied) -> ParsedRun:
    parsed: ParsedRun = tool.parse(run)
    parsed.benchmark_family, parsed.place = tool.FAMILY, run.place
    if tool is mlperf_training:
        mlperf_training.with_sequence_length(parsed, words["sequence_length"])
    if tool is inferencex and parsed.is_official is None:
        inferencex.with_form(parsed, words["source_url"])
    return parsed


def _with_all_places(
    failed: list[tuple[int, ChipledgerError]], left_out: frozenset[int], *, is_other_good: bool
) -> ChipledgerError:
    """Return the first error; where other runs could be read, with the setting that leaves out those that cannot."""
    error = failed[0][1]
    if is_other_good and isinstance(error, BenchmarkRefused):
        places = ",".join(str(place) for place in sorted({place for place, _ in failed} | left_out))
        error.hint = f"{error.hint}. " * bool(error.hint) + f"To read the other runs give --set leave_out={places}"
    return error
