"""NVIDIA's GenAI-Perf and its successor AIPerf: profile_export*.json, each metric an object with unit and statistics.

https://github.com/triton-inference-server/perf_analyzer , https://github.com/ai-dynamo/aiperf

Quirks:

1. GenAI-Perf 24.11 to 24.12 count streamed tokens about five times (perf_analyzer issue 298): a run whose mean output
   is over twice what was asked for is refused. The file does not tell its release.
2. Without streaming the first token's time is that of the whole request: neither it nor the interactivity is known.
3. Metrics without a value are null or absent; AIPerf has no `error_request_count` where nothing failed, and counts
   errors by kind in `error_summary` too. Where the server tells it, one has the share of input read from a cache.
4. AIPerf's telemetry names the GPUs that it saw: the chip is taken from it where all are the same, their number is not,
   as they need be neither all nor only those of the server.
5. A model served as "ensemble" is a deployment of Triton, and names no model.
6. AIPerf names model and load in `endpoint` and `loadgen`; since its YAML configuration in `models` and `phases`, of
   which those of the kind `profiling` are measured: docs/reference/json-export-schema.md and tutorials/yaml-config.md.
"""

from decimal import Decimal
from typing import Any

from extract.benchmarks import serving
from extract.benchmarks.content import Run, clean
from extract.benchmarks.result import ParsedRun, plain

FAMILY = "genai_perf"
UNITS = {
    "output_token_throughput": "tokens/sec",
    "request_throughput": "requests/sec",
    "request_latency": "ms",
    "time_to_first_token": "ms",
    "inter_token_latency": "ms",
    "output_sequence_length": "tokens",
    "input_sequence_length": "tokens",
    "benchmark_duration": "sec",
    "total_output_tokens": "tokens",
    "request_count": "requests",
    "error_request_count": "requests",
    "overall_usage_prompt_cache_read_pct": "%",
}
"""The unit each metric is read in; a file in another one is refused, not converted."""
STATISTICS = {"median": "p50", "mean": "avg", "p99": "p99"}
KEYS = serving.Keys(
    rate="output_token_throughput",
    requests="request_throughput",
    duration="benchmark_duration",
    completed="request_count",
    written="total_output_tokens",
    input_length="input_sequence_length",
    output_length="output_sequence_length",
    whole=("request_latency",),
    first=("time_to_first_token",),
    ttft={name: f"time_to_first_token {key}" for name, key in STATISTICS.items()},
    between={name: f"inter_token_latency {key}" for name, key in STATISTICS.items()},
)


def claims(run: Run) -> bool:
    """Return whether a run has the form of these tools."""
    return isinstance(run.fields.get("output_token_throughput"), dict)


def parse(run: Run) -> ParsedRun:
    """Return what a run states. Raises LayoutChanged or BenchmarkRefused."""
    if run.flag("was_cancelled"):
        raise run.refused("was_cancelled", "the run was cancelled")
    if run.fields.get("runtime_submission_invalid_reasons"):
        raise run.refused("runtime_submission_invalid_reasons", "the tool calls the run not valid")
    config = run.within("input_config")
    is_aiperf = "loadgen" in config.fields or "was_cancelled" in run.fields
    found = ParsedRun(
        benchmark=" ".join(filter(None, ("AIPerf" if is_aiperf else "GenAI-Perf", run.text("aiperf_version")))),
        model=_model(config),
        accelerator=_chip(run),
        measured_on=run.day("start_time"),
    )
    load = _load(config)
    concurrency, rate = load.number("concurrency"), load.number("request_rate")
    if rate is not None:
        found.scenario = f"request rate {plain(rate)}/s"
    elif concurrency is not None:
        found.scenario, found.concurrency = "closed-loop", concurrency
    metrics = _metrics(run)
    cached = metrics.number("overall_usage_prompt_cache_read_pct")
    found.prefix_cache_hit_share = None if cached is None else cached / 100
    _refuse_overcount(metrics, config)
    serving.counts(metrics, found, KEYS)
    found.error_share = serving.error_share(_errors(run, metrics), metrics.number("request_count"))
    streaming = config if "streaming" in config.fields else config.within("endpoint")
    is_streamed = streaming.flag("streaming") is not False
    serving.latencies(metrics, found, KEYS, cap=found.concurrency, is_streamed=is_streamed)
    return found


def _load(config: Run) -> Run:
    """Return how requests were sent; without fields where several phases were measured, or the load rose."""
    phases = config.fields.get("phases")
    if not isinstance(phases, list):
        return config.within("loadgen") if "loadgen" in config.fields else config
    measured = [one for one in phases if isinstance(one, dict) and "profiling" in (one.get("kind"), one.get("name"))]
    phase = measured[0] if len(measured) == 1 else {}
    if any(phase.get(name) for name in ("concurrency_ramp", "rate_ramp", "adaptive_scale")):
        phase = {}
    concurrency = phase.get("concurrency") if phase.get("type") == "concurrency" else None
    fields = {"concurrency": concurrency, "request_rate": phase.get("rate")}
    return Run(fields, source=config.source, place=config.place)


def _errors(run: Run, metrics: Run) -> Decimal | None:
    counted, kinds = metrics.number("error_request_count"), run.fields.get("error_summary")
    if counted is not None or not isinstance(kinds, list):
        return counted
    summary = [Run(kind, source=run.source, place=run.place) for kind in kinds if isinstance(kind, dict)]
    return sum((kind.needed("count") for kind in summary), start=Decimal(0))


def _metrics(run: Run) -> Run:
    """Return the averages of the metrics by their names, and their other statistics as "name p50"."""
    fields: dict[str, Any] = {}
    for name, unit in UNITS.items():
        metric = run.within(name).fields
        if metric and metric.get("unit") != unit:
            raise run.layout(name, f"expected the unit {unit}")
        fields |= {name: metric.get("avg")} | {f"{name} {key}": metric.get(key) for key in STATISTICS.values()}
    return Run(fields, source=run.source, place=run.place)


def _refuse_overcount(metrics: Run, config: Run) -> None:
    """Refuse a mean output length over twice the requested one."""
    length, requested = metrics.number("output_sequence_length"), config.number("output_tokens_mean")
    if requested is None:
        requested = config.within("input").within("prompt").within("output_tokens").number("mean")
    if length is not None and requested and length > 2 * requested:
        raise metrics.refused(
            "output_sequence_length",
            f"a mean output of {plain(length)} tokens where {plain(requested)} were requested: the tool over-counted",
            value=plain(length),
            hint="GenAI-Perf 24.11 to 24.12 count streamed tokens about five times; run a later release",
        )


def _model(config: Run) -> str | None:
    names = config.within("endpoint").fields.get("model_names") or config.fields.get("model")
    for items in config.at("models items"):
        names = [one.get("name") for one in items if isinstance(one, dict)]
    if isinstance(names, list):
        names = names[0] if len(names) == 1 else None
    return clean(names, config, "model") if isinstance(names, str) else None


def _chip(run: Run) -> str | None:
    texts = run.at("telemetry_data endpoints * gpus * gpu_name")
    names = {clean(one, run, "gpu_name") for one in texts if isinstance(one, str)}
    return names.pop() if len(names) == 1 else None
