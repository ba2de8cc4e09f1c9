"""MLPerf Inference: mlperf_log_summary.txt, as LoadGen writes it. Latencies in nanoseconds.

https://github.com/mlcommons/inference/blob/master/loadgen/results.cc

Quirks:

1. Only a run that is VALID, in mode PerformanceOnly, is a result.
2. The line of the rate differs: "Tokens per second" (Offline), "Completed tokens per second" (Server, Interactive).
   "Scheduled" and "target" are what was asked of the system, not what it gave.
3. Models without tokens have samples per second only: the unit of work is then the sample.
4. Tokens are output tokens; the input is not counted. The mean output length is tokens over samples.
5. The limits of a scenario bind at the 99th percentile, so that is the statistic of latencies here.
6. Neither model, chip, count, precision nor date stand in the file.
"""

import re
from decimal import Decimal

from extract.benchmarks import serving
from extract.benchmarks.content import Run
from extract.benchmarks.result import ParsedRun, quotient

FAMILY = "mlperf_inference"
HEAD = "MLPerf Results Summary"
SCENARIOS = {"Offline": "offline", "Server": "serving", "Interactive": "serving"}
COMPLETED = ("Completed tokens per second", "Completed samples per second")
RATES = {"Offline": ("Tokens per second", "Samples per second"), "Server": COMPLETED, "Interactive": COMPLETED}
MAX_LINE = 300
"""Longer lines are none of a summary, and slow to match."""
_LINE = re.compile(r"([^:\n]{1,80}?)\s*:\s*(\S[^\n]{0,200})")


def parsed(text: str, source: str) -> Run | None:
    """Return the lines of a summary as fields, the first of each name; None where the text is none."""
    if HEAD not in text:
        return None
    fields: dict[str, str] = {}
    for line in text[text.index(HEAD) :].splitlines():
        match = _LINE.fullmatch(line.strip()) if len(line) <= MAX_LINE else None
        if match:
            fields.setdefault(match[1], match[2].strip())
    return Run(fields, source=source)


def parse(run: Run) -> ParsedRun:
    """Return what a run tells. Raises LayoutChanged or BenchmarkRefused."""
    for name, only in (("Mode", "PerformanceOnly"), ("Result is", "VALID")):
        if run.text(name) is None:
            raise run.layout(name, "absent")
        if run.text(name) != only:
            raise run.refused(name, f"only a run that is {only} is a result")
    scenario = run.text("Scenario")
    if scenario not in SCENARIOS:
        raise run.refused("Scenario", f"a throughput is measured in {', '.join(SCENARIOS)} only")
    found = ParsedRun(
        benchmark="MLPerf Inference",
        task=SCENARIOS[scenario],
        scenario=scenario,
    )
    tokens, samples = RATES[scenario]
    if run.fields.get(tokens) is None:
        found.unit_of_work = "sample"
        found.output_rate = serving.positive(run, samples, run.needed(samples))
        return found
    found.output_rate = serving.positive(run, tokens, run.needed(tokens))
    if per_sample := run.number(samples):
        found.output_length = quotient(found.output_rate, per_sample)
    token = run.number("99.00 percentile first token latency (ns)")
    if token is not None:
        found.ttft_ms, found.ttft_statistic = quotient(token, Decimal(10) ** 6), "p99"
    if between := run.number("99.00 percentile time to output token (ns)"):
        found.interactivity, found.interactivity_statistic = quotient(Decimal(10) ** 9, between), "p99"
    serving.first_at_end(run, "99.00 percentile first token latency (ns)", "Max latency (ns)")
    return found
