"""NVIDIA's GenAI-Perf and its successor AIPerf: profile_export*.json, each metric an object with unit and statistics.

https://github.com/triton-inference-server/perf_analyzer , https://github.com/ai-dynamo/aiperf

Quirks:

1. GenAI-Perf 24.11 to 24.12 count streamed tokens about five times (perf_analyzer issue 298): a run whose mean output
   is over twice what was asked for is refused. The file does not tell its release.
2. Without streaming the first token's time is that of the whole request: neither it nor the interactivity is known.
3. Metrics without a value are null or absent; AIPerf has no `error_request_count` where nothing failed, and says so by
   an empty `error_summary`.
4. AIPerf's telemetry names the GPUs that it saw: the chip is taken from it where all are the same, their number is not,
   as they need be neither all nor only those of the server.
5. A model served as "ensemble" is a deployment of Triton, and names no model.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from extract.benchmarks import checks
from extract.benchmarks.content import Run, clean
from extract.benchmarks.result import ParsedRun, plain, quotient
from extract.benchmarks.serving import UNSTREAMED

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
    "output_token_throughput_per_user": "tokens/sec/user",
    "total_output_tokens": "tokens",
    "total_isl": "tokens",
    "request_count": "requests",
    "error_request_count": "requests",
}
"""The unit each metric is read in; a file in another one is refused, not converted."""


def claims(run: Run) -> bool:
    """Return whether a run has the form of these tools."""
    return isinstance(run.fields.get("output_token_throughput"), dict)


def parse(run: Run) -> ParsedRun:
    """Return what a run tells. Raises LayoutChanged or BenchmarkRefused."""
    if run.flag("was_cancelled"):
        raise run.refused("was_cancelled", "the run was cancelled")
    config = run.within("input_config")
    is_aiperf = "loadgen" in config.fields or "was_cancelled" in run.fields
    version = run.text("aiperf_version")
    found = ParsedRun(
        benchmark=" ".join(filter(None, ("AIPerf" if is_aiperf else "GenAI-Perf", version))),
        family=FAMILY,
        place=run.place,
        model=_model(config),
        accelerator=_chip(run),
        measured_on=_day(run),
    )
    _load(config, found)
    _rates(run, config, found)
    _latencies(run, config, found)
    return found


def _metric(run: Run, name: str, statistic: str = "avg") -> Decimal | None:
    metric = run.within(name)
    if not metric.fields:
        return None
    if metric.fields.get("unit") != UNITS[name]:
        raise run.layout(name, f"expected the unit {UNITS[name]}")
    return metric.number(statistic)


def _model(config: Run) -> str | None:
    names = config.within("endpoint").fields.get("model_names") or config.fields.get("model")
    if isinstance(names, list):
        names = names[0] if len(names) == 1 else None
    return clean(names, config, "model") if isinstance(names, str) else None


def _load(config: Run, found: ParsedRun) -> None:
    loadgen = config.within("loadgen") if "loadgen" in config.fields else config
    concurrency, rate = loadgen.number("concurrency"), loadgen.number("request_rate")
    if rate is not None:
        found.scenario = f"request rate {plain(rate)}/s"
    elif concurrency is not None:
        found.scenario, found.concurrency = "closed-loop", concurrency


def _rates(run: Run, config: Run, found: ParsedRun) -> None:
    _metric(run, "output_token_throughput")  # its unit
    rate = run.within("output_token_throughput").needed("avg")
    requests = _metric(run, "request_throughput")
    checks.positive(run, "output_token_throughput", rate)
    completed = _metric(run, "request_count")
    checks.happened(run, "request_count", completed)
    found.output_rate = rate
    found.output_length = _metric(run, "output_sequence_length")
    found.input_length = _metric(run, "input_sequence_length")
    requested = config.number("output_tokens_mean")
    if requested is None:
        requested = config.within("input").within("prompt").within("output_tokens").number("mean")
    checks.requested_length(run, "output_sequence_length", length=found.output_length, requested=requested)
    checks.rate_of_requests(
        run, "output_token_throughput", rate=rate, requests_per_s=requests, length=found.output_length
    )
    duration = _metric(run, "benchmark_duration")
    checks.rate_times_duration(
        run, "output_token_throughput", rate=rate, duration_s=duration, total=_metric(run, "total_output_tokens")
    )
    checks.rate_times_duration(run, "request_throughput", rate=requests, duration_s=duration, total=completed)
    if requests is not None and found.input_length is not None:
        found.input_rate = requests * found.input_length
        found.total_rate = found.input_rate + rate
    errors = _metric(run, "error_request_count")
    if errors is None and run.fields.get("error_summary") == []:
        errors = Decimal(0)
    if errors is not None and completed is not None:
        found.error_share = quotient(errors, errors + completed)


def _latencies(run: Run, config: Run, found: ParsedRun) -> None:
    latency, token = _metric(run, "request_latency"), _metric(run, "time_to_first_token")
    checks.load(
        run,
        "request_latency",
        requests_per_s=_metric(run, "request_throughput"),
        latency_s=latency / 1000 if latency is not None else None,
        concurrency=found.concurrency,
    )
    unstreamed = checks.first_token(run, "time_to_first_token", first_s=token, whole_s=latency)
    streaming = (
        config.flag("streaming") if "streaming" in config.fields else config.within("endpoint").flag("streaming")
    )
    if unstreamed or streaming is False:
        found.notes.append(UNSTREAMED)
        return
    for statistic, key in (("median", "p50"), ("mean", "avg"), ("p99", "p99")):
        value = _metric(run, "time_to_first_token", key)
        if value is not None and found.ttft_ms is None:
            found.ttft_ms, found.ttft_statistic = value, statistic
        between = _metric(run, "inter_token_latency", key)
        if between and found.interactivity is None:
            found.interactivity, found.interactivity_statistic = quotient(Decimal(1000), between), statistic


def _day(run: Run) -> date | None:
    text = run.text("start_time")
    if text is None:
        return None
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise run.layout("start_time", "expected an ISO time") from None


def _chip(run: Run) -> str | None:
    names = set(_gpu_names(run.fields.get("telemetry_data")))
    return names.pop() if len(names) == 1 else None


def _gpu_names(telemetry: Any) -> Iterator[str]:
    endpoints = telemetry.get("endpoints") if isinstance(telemetry, dict) else None
    for endpoint in endpoints.values() if isinstance(endpoints, dict) else ():
        gpus = endpoint.get("gpus") if isinstance(endpoint, dict) else None
        for gpu in gpus.values() if isinstance(gpus, dict) else ():
            name = gpu.get("gpu_name") if isinstance(gpu, dict) else None
            if isinstance(name, str) and name.isprintable() and len(name) <= 100:
                yield name
