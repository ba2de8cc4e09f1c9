"""What vLLM's `bench serve` and its relative, SGLang's `bench_serving`, have in common: load, lengths and latencies."""

from decimal import Decimal

from extract.benchmarks import checks
from extract.benchmarks.content import Run, first
from extract.benchmarks.result import ParsedRun, plain, quotient

UNSTREAMED = "not streamed: the first token came with the last, so neither its time nor the interactivity is known"
SERVERS = frozenset({"vllm", "sglang", "sglang-native", "sglang-oai", "lmdeploy", "trt", "tensorrt-llm", "tgi"})
"""Words for the backend that name the server; the others (openai, openai-chat) name only its interface."""
PER_SECOND = Decimal(1000)


def load(run: Run, parsed: ParsedRun) -> None:
    """Set scenario and concurrency from `request_rate` (text "inf" or Infinity: unlimited) and `max_concurrency`.

    The cap is the concurrency only where nothing else holds requests back; under a request rate it is not reached.
    """
    rate = run.limit("request_rate")
    cap = run.number("max_concurrency")
    if rate is not None and rate.is_finite():
        parsed.scenario = f"request rate {plain(rate)}/s"
    elif cap is not None and rate is not None:
        parsed.scenario, parsed.concurrency = "closed-loop", cap
    elif rate is not None:
        prompts = run.number("num_prompts") or run.number("completed")
        parsed.scenario = f"all {plain(prompts)} requests at once" if prompts else None


def counts(run: Run, parsed: ParsedRun, *, total_rate: str) -> None:
    """Set rates, mean lengths and the share of errors from the tool's counts, and refuse those that contradict."""
    duration, completed = run.number("duration"), run.number("completed")
    read, written = run.number("total_input_tokens"), run.number("total_output_tokens")
    checks.happened(run, "completed", completed)
    if duration is not None:
        checks.positive(run, "duration", duration)
    rate = checks.positive(run, "output_throughput", run.needed("output_throughput"))
    total, requests = run.number(total_rate), run.number("request_throughput")
    parsed.output_rate = rate
    parsed.total_rate = total
    parsed.input_rate = run.number("input_throughput")
    if parsed.input_rate is None and read is not None and duration is not None:
        parsed.input_rate = quotient(read, duration)
    if parsed.input_rate is None and total is not None:
        if total < rate:
            raise run.refused(total_rate, f"less than the output alone, {plain(rate)}")
        parsed.input_rate = total - rate
    if parsed.total_rate is None and parsed.input_rate is not None:
        parsed.total_rate = parsed.input_rate + rate
    if completed is not None:
        parsed.input_length = quotient(read, completed) if read is not None else None
        parsed.output_length = quotient(written, completed) if written is not None else None
    both = read + written if read is not None and written is not None else None
    checks.rate_times_duration(run, "output_throughput", rate=rate, duration_s=duration, total=written)
    checks.rate_times_duration(run, "input_throughput", rate=parsed.input_rate, duration_s=duration, total=read)
    checks.rate_times_duration(run, total_rate, rate=total, duration_s=duration, total=both)
    checks.rate_times_duration(run, "request_throughput", rate=requests, duration_s=duration, total=completed)
    checks.rate_of_requests(run, "output_throughput", rate=rate, requests_per_s=requests, length=parsed.output_length)
    parsed.error_share = _errors(run, completed)


def latencies(
    run: Run, parsed: ParsedRun, *, whole: str, suffix: str = "_ms", per_second: Decimal = PER_SECOND
) -> None:
    """Set TTFT and interactivity; `whole` names the end-to-end latency, `per_second` the file's time units."""
    latency = run.number(f"mean_{whole}{suffix}")
    requests = run.number("request_throughput")
    checks.load(
        run,
        f"mean_{whole}{suffix}",
        requests_per_s=requests,
        latency_s=quotient(latency, per_second) if latency is not None else None,
        concurrency=run.number("max_concurrency"),
    )
    unstreamed = checks.first_token(
        run, f"mean_ttft{suffix}", first_s=run.number(f"mean_ttft{suffix}"), whole_s=latency
    )
    middle = f"median_{whole}{suffix}"
    unstreamed |= checks.first_token(
        run, f"median_ttft{suffix}", first_s=run.number(f"median_ttft{suffix}"), whole_s=run.number(middle)
    )
    if unstreamed:
        parsed.notes.append(UNSTREAMED)
        return
    for statistic, _, value in first(run, {name: f"{name}_ttft{suffix}" for name in ("median", "mean", "p99")}):
        parsed.ttft_ms, parsed.ttft_statistic = value * 1000 / per_second, statistic
        break
    for statistic, _, value in first(run, {name: f"{name}_tpot{suffix}" for name in ("median", "mean", "p99")}):
        # Answers of one token have no time between tokens, and the tools write 0.
        if value > 0:
            parsed.interactivity, parsed.interactivity_statistic = quotient(per_second, value), statistic
        break


def server(run: Run) -> str | None:
    """Return the server that the backend names, None where it names an interface only."""
    backend = run.text("backend")
    return backend if backend in SERVERS else None


def _errors(run: Run, completed: Decimal | None) -> Decimal | None:
    failed, prompts = run.number("failed"), run.number("num_prompts")
    if completed is None:
        return None
    if failed is not None:
        return quotient(failed, failed + completed)
    if prompts is None:
        return None
    if completed > prompts:
        raise run.refused("completed", f"more than the {plain(prompts)} requests that were sent")
    return quotient(prompts - completed, prompts)
