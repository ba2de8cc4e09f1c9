"""Ray's LLMPerf (token_benchmark_ray.py), as AWS uses it too: the summary JSON, or what the tool prints. Seconds.

https://github.com/ray-project/llmperf

Quirks:

1. Latencies are in seconds. Some numbers of the summary are text.
2. Stock LLMPerf divides the whole answer's time, with the first token in it, by the tokens: no time between tokens. AWS
   patches that (https://github.com/aws-neuron/aws-neuron-sdk). Which of the two a file holds shows in its means:
   tokens x time between them is the whole latency, or the latency less the first token's time. Where it is the
   first, the interactivity is unknown.
3. Tokens are counted with one tokenizer for all models, unless patched: a note says so.
4. Requests that failed are left out of every figure but the error rate.
5. Rates of input are computed: completed requests per minute x mean input. The tool gives none.
6. The printed form has no concurrency and no date.
"""

import re
from dataclasses import replace
from decimal import Decimal

from extract.benchmarks import serving
from extract.benchmarks.content import Run
from extract.benchmarks.result import ParsedRun, quotient

FAMILY = "llmperf"


def _by_statistic(block: str) -> dict[str, str]:
    keys = {"median": "quantiles_p50", "mean": "mean", "p99": "quantiles_p99"}
    return {name: f"results_{block}_{key}" for name, key in keys.items()}


HEAD = "Results for token benchmark for "
OVERALL = "Overall Output Throughput"
RATE = "results_mean_output_throughput_token_per_s"
_PRINTED = {
    OVERALL: RATE,
    "Number Of Errored Requests": "results_number_errors",
    "Number Of Completed Requests": "results_num_completed_requests",
    "Completed Requests Per Minute": "results_num_completed_requests_per_min",
}
_BLOCKS = (
    *("inter_token_latency_s", "ttft_s", "end_to_end_latency_s", "request_output_throughput_token_per_s"),
    *("number_input_tokens", "number_output_tokens"),
)
KEYS = serving.Keys(
    rate=RATE,
    requests="completed requests per second",  # computed: the tool counts them by the minute
    completed="results_num_completed_requests",
    input_length="results_number_input_tokens_mean",
    output_length="results_number_output_tokens_mean",
    whole=("results_end_to_end_latency_s_mean",),
    first=("results_ttft_s_mean",),
    ttft=_by_statistic("ttft_s"),
    between=_by_statistic("inter_token_latency_s"),
    per_second=Decimal(1),
)
FIRST_TOKEN_TOLERANCE = Decimal("0.02")
"""Between the two ways to divide and the file's means; a means of ratios is not quite a ratio of means."""
FIGURES = re.compile(r"\s+(p\d\d|mean|min|max|stddev) = (\S{1,40})")


def claims(run: Run) -> bool:
    """Return whether a run has the form of this tool's summary."""
    return RATE in run.fields


def parsed(text: str, source: str) -> Run | None:
    """Return what the tool printed as the fields of its summary; None where the text is not that."""
    if HEAD not in text or f"{OVERALL}:" not in text:
        return None
    fields: dict[str, str] = {}
    block = ""
    for line in text[text.index(HEAD) :].splitlines():
        name, colon, value = line.partition(":")
        figure = FIGURES.fullmatch(line)
        if line.startswith(HEAD):
            fields["model"] = line.removeprefix(HEAD).partition(" queried with ")[0].rstrip("/").rpartition("/")[2]
        elif line.strip() in _BLOCKS:
            block = line.strip()
        elif figure and block:
            kind = f"quantiles_{figure[1]}" if figure[1].startswith("p") else figure[1]
            fields.setdefault(f"results_{block}_{kind}", figure[2])
        elif colon and name in _PRINTED:
            fields.setdefault(_PRINTED[name], value.strip())
    return Run(fields, source=source)


def parse(run: Run) -> ParsedRun:
    """Return what a run states. Raises LayoutChanged or BenchmarkRefused."""
    per_minute = run.number("results_num_completed_requests_per_min")
    requests = quotient(per_minute, Decimal(60)) if per_minute is not None else None
    run = Run({**run.fields, KEYS.requests: requests}, source=run.source, place=run.place)
    found = ParsedRun(
        benchmark=" ".join(filter(None, ("LLMPerf", run.text("version")))),
        model=run.text("model"),
        scenario="closed-loop",
        concurrency=run.number("num_concurrent_requests"),
        measured_on=run.moment("timestamp"),
    )
    serving.counts(run, found, KEYS)
    found.error_share = run.number("results_error_rate")
    if found.error_share is None:
        found.error_share = serving.error_share(run.number("results_number_errors"), run.number(KEYS.completed))
    if serving.latencies(run, found, replace(KEYS, between={}), cap=found.concurrency):
        _interactivity(run, found)
    return found


def _interactivity(run: Run, found: ParsedRun) -> None:
    whole, token = run.number(KEYS.whole[0]), run.number(KEYS.first[0])
    between = run.number(KEYS.between["mean"])
    if whole is None or token is None or between is None or found.output_length is None:
        return
    tokens = between * found.output_length
    if abs(tokens - whole) <= abs(tokens - (whole - token)):
        found.notes.append("stock LLMPerf: its time between tokens contains the first, so interactivity is unknown")
        found.notes.append("tokens counted with LLMPerf's one tokenizer, not the model's")
    elif abs(tokens - (whole - token)) > FIRST_TOKEN_TOLERANCE * whole:
        found.notes.append("the time between tokens fits neither way to compute it, so interactivity is unknown")
    else:
        serving.set_interactivity(run, found, KEYS)
