"""vLLM's `vllm bench serve --save-result` (formerly benchmark_serving.py): one JSON object a run, latencies in ms.

https://docs.vllm.ai/en/latest/cli/bench/serve.html

Quirks:

1. The lengths asked for may stand in the file as metadata; the actual ones are the totals over the completed requests
   (270 tokens came where 500 were asked for).
2. `request_goodput:` has a colon in older releases; neither it nor `request_goodput` is read here.
3. `request_rate` is a number or the text "inf", `max_concurrency` null where there was no cap. With
   `--ramp-up-strategy` it is "inf" too, although the rate rose from `ramp_up_start_rps` to `ramp_up_end_rps`.
4. Neither chips nor precision are in the file. `--metadata gpu=...` is the user's own word: the chip is taken from it,
   the number is not, as it need not be the number billed.
5. `date` has no zone; its day is kept as it stands.
"""

from extract.benchmarks import serving
from extract.benchmarks.content import Run, clean
from extract.benchmarks.result import ParsedRun

FAMILY = "vllm"
KEYS = serving.bench_keys(total_rate="total_token_throughput", whole="e2el")


def claims(run: Run) -> bool:
    """Return whether a run has the form of this tool."""
    return "output_throughput" in run.fields and ("total_token_throughput" in run.fields or "model_id" in run.fields)


def parse(run: Run) -> ParsedRun:
    """Return what a run states. Raises LayoutChanged or BenchmarkRefused."""
    chip = run.fields.get("gpu")
    found = ParsedRun(
        benchmark="vLLM bench serve",
        model=run.text("model_id"),
        accelerator=clean(chip, run, "gpu") if isinstance(chip, str) else None,
        software=serving.server(run),
        measured_on=run.day("date", "%Y%m%d-%H%M%S"),
        acceptance_length=run.number("spec_decode_acceptance_length"),
    )
    serving.bench(run, found, KEYS)
    return found
