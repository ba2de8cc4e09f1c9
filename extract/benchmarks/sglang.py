"""SGLang's `python -m sglang.bench_serving --output-file`: JSON Lines, one object a run, latencies in ms.

https://docs.sglang.ai/developer_guide/bench_serving.html

Quirks:

1. `request_rate` is a bare Infinity where it is unlimited, which is no JSON, and "trace" where a trace is replayed.
2. The file is appended to: each line is a run of its own.
3. The total is `total_throughput`, the latency `e2e_latency`, and `concurrency` the mean that was reached.
4. The requested lengths are the upper ends of a range (`random_range_ratio`), so they are no means.
5. `accept_length` is the mean of speculative decoding, null without it or where the server does not say.
6. The input counts what the prefix cache held; `cache_report` (--cache-report) has the share, of random requests too.
   Where `dataset_name` is one of common beginnings, the scenario has it. Of requests of several turns the input is 0.
7. `total_output_tokens` is as the server counts, `..._retokenized` as the tool does: the first is used.
"""

from extract.benchmarks import serving
from extract.benchmarks.content import Run
from extract.benchmarks.result import ParsedRun

FAMILY = "sglang"
SHARING = ("generated-shared-prefix", "mooncake", "agentic-trace")
"""Datasets whose requests have beginnings in common, which a server reads once: other runs are none to compare with."""
KEYS = serving.bench_keys(total_rate="total_throughput", whole="e2e_latency")


def claims(run: Run) -> bool:
    """Return whether a run has the form of this tool."""
    own = {"random_input_len", "sharegpt_output_len", "total_output_tokens_retokenized"}  # not of its offline tools
    return "output_throughput" in run.fields and not own.isdisjoint(run.fields)


def parse(run: Run) -> ParsedRun:
    """Return what a run states. Raises LayoutChanged or BenchmarkRefused."""
    server = run.within("server_info")
    cached = run.within("cache_report").number("cache_hit_rate_pct")
    found = ParsedRun(
        benchmark="SGLang bench_serving",
        model=server.text("model_path"),
        software=serving.server(run),
        acceptance_length=run.number("accept_length") or None,
        prefix_cache_hit_share=None if cached is None else cached / 100,
    )
    version, backend = server.text("version"), run.text("backend")
    if version and backend and backend.startswith("sglang"):
        found.software = f"sglang {version}"
    serving.bench(run, found, KEYS)
    if found.input_rate == 0:
        found.input_length = found.input_rate = found.total_rate = None
    if found.concurrency is None:
        found.concurrency = run.number("concurrency")
    dataset = run.text("dataset_name")
    if dataset in SHARING:
        found.scenario = ", ".join(filter(None, (found.scenario, dataset)))
    return found
