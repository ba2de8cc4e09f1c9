"""What benchmarks of servers have in common: load, counts and latencies, and the arithmetic that these must keep.

Each tool names its fields (`Keys`); a run whose numbers contradict each other is refused with the sum that it fails.
Units are tokens per second, seconds and tokens per request; whatever is None is not checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from extract.benchmarks.content import Run, best
from extract.benchmarks.result import ParsedRun, plain, product, quotient

UNSTREAMED = "not streamed: the first token came with the last, so neither its time nor the interactivity is known"
SERVERS = frozenset({"vllm", "sglang", "sglang-native", "sglang-oai", "lmdeploy", "trt", "tensorrt-llm", "tgi"})
"""Words for the backend that name the server; the others (openai, openai-chat) name only its interface."""
TOLERANCE = Decimal("0.01")
"""Between a rate and the counts that it was computed from; tools print both from the same floats."""
LOAD_TOLERANCE = Decimal("0.05")
"""Between a run's mean load and its cap: requests overlap the ends of the measured time."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """What a tool calls its numbers; "" is what it does not have.

    `rate` (of output), `total_rate` and `input_rate` are tokens, `requests` requests per second; `read` and `written`
    are tokens in and out in all. `whole` and `first` are pairs of latencies: of an answer, and of its first token.
    `ttft` and `between` (two tokens) are by statistic; `per_second` is how many units of time make a second.
    """

    rate: str
    total_rate: str = ""
    input_rate: str = ""
    requests: str = ""
    duration: str = ""
    completed: str = ""
    read: str = ""
    written: str = ""
    input_length: str = ""
    output_length: str = ""
    whole: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    ttft: Mapping[str, str] = field(default_factory=dict)
    between: Mapping[str, str] = field(default_factory=dict)
    per_second: Decimal = Decimal(1000)


def bench_keys(*, total_rate: str, whole: str, suffix: str = "_ms", per_second: int = 1000) -> Keys:
    """Return the names of vLLM's `bench serve` and its relatives."""
    statistics = ("median", "mean", "p99")
    return Keys(
        rate="output_throughput",
        total_rate=total_rate,
        input_rate="input_throughput",
        requests="request_throughput",
        duration="duration",
        completed="completed",
        read="total_input_tokens",
        written="total_output_tokens",
        whole=(f"mean_{whole}{suffix}", f"median_{whole}{suffix}"),
        first=(f"mean_ttft{suffix}", f"median_ttft{suffix}"),
        ttft={name: f"{name}_ttft{suffix}" for name in statistics},
        between={name: f"{name}_tpot{suffix}" for name in statistics},
        per_second=Decimal(per_second),
    )


def bench(run: Run, found: ParsedRun, keys: Keys) -> None:
    """Set what a run of vLLM's `bench serve` or of a relative measured, under which load."""
    is_replay = run.fields.get("request_rate") == "trace"  # SGLang: each request comes when the trace says
    rate, cap = None if is_replay else run.limit("request_rate"), run.number("max_concurrency")
    prompts, completed = run.number("num_prompts"), run.number("completed")
    # The cap is the concurrency only where nothing else holds requests back; under a request rate it is not reached.
    if run.text("ramp_up_strategy"):
        found.scenario = "rising request rate"
    elif rate is not None and rate.is_finite():
        found.scenario = f"request rate {plain(rate)}/s"
    elif cap is not None and rate is not None:
        found.scenario, found.concurrency = "closed-loop", cap
    elif rate is not None and (sent := prompts or completed):
        found.scenario = f"all {plain(sent)} requests at once"
    counts(run, found, keys)
    failed = run.number("failed")
    if failed is None and prompts is not None and completed is not None:
        if completed > prompts:
            raise run.refused("completed", f"more than the {plain(prompts)} requests that were sent")
        failed = prompts - completed
    found.error_share = error_share(failed, completed)
    latencies(run, found, keys, cap=cap)


def server(run: Run) -> str | None:
    """Return the server that the backend names, None where it names an interface only."""
    backend = run.text("backend")
    return backend if backend in SERVERS else None


def error_share(failed: Decimal | None, completed: Decimal | None) -> Decimal | None:
    """Return the share of requests that failed; None where one of the counts is unknown."""
    return None if failed is None or completed is None else quotient(failed, failed + completed)


def counts(run: Run, found: ParsedRun, keys: Keys) -> None:
    """Set rates and mean lengths from the tool's counts, and refuse those that contradict each other."""
    requests, completed = run.number(keys.requests), happened(run, keys.completed)
    rate = positive(run, keys.rate, run.needed(keys.rate))
    total, duration = run.number(keys.total_rate), run.number(keys.duration)
    if duration is not None:
        positive(run, keys.duration, duration)
    read, written = run.number(keys.read), run.number(keys.written)
    found.input_length, found.output_length = run.number(keys.input_length), run.number(keys.output_length)
    if completed is not None:
        found.input_length = quotient(read, completed) if read is not None else found.input_length
        found.output_length = quotient(written, completed) if written is not None else found.output_length
    found.output_rate, found.total_rate, found.input_rate = rate, total, run.number(keys.input_rate)
    if found.input_rate is None and read is not None and duration is not None:
        found.input_rate = quotient(read, duration)
    if found.input_rate is None and total is not None:
        if total < rate:
            raise run.refused(keys.total_rate, f"less than the output alone, {plain(rate)}")
        found.input_rate = total - rate
    if found.input_rate is None and requests is not None and found.input_length is not None:
        found.input_rate = product(requests, found.input_length)
    if total is None and found.input_rate is not None:
        found.total_rate = found.input_rate + rate
    length = found.output_length
    if requests is not None and length is not None and rate > requests * length * (1 + TOLERANCE):
        each = f"{plain(requests)} requests/s of {plain(length)} tokens"
        raise run.refused(keys.rate, f"{plain(rate)} tokens/s cannot come from {each}")
    both = read + written if read is not None and written is not None else None
    over_duration(run, keys.rate, rate=rate, duration_s=duration, total=written)
    over_duration(run, keys.input_rate, rate=found.input_rate, duration_s=duration, total=read)
    over_duration(run, keys.total_rate, rate=total, duration_s=duration, total=both)
    over_duration(run, keys.requests, rate=requests, duration_s=duration, total=completed)


def latencies(run: Run, found: ParsedRun, keys: Keys, *, cap: Decimal | None, is_streamed: bool = True) -> bool:
    """Set TTFT and interactivity, and return whether they can be known; `cap` bounds the requests in flight.

    In flight = rate of completion x mean latency (J. D. C. Little, Operations Research 9, 1961).
    """
    latency, requests = run.number(keys.whole[0]), run.number(keys.requests)
    if requests is not None and latency is not None and cap is not None:
        seconds = quotient(latency, keys.per_second)
        if (flying := requests * seconds) > cap * (1 + LOAD_TOLERANCE):
            raise run.refused(
                keys.whole[0],
                f"{plain(requests)} requests/s of {plain(seconds)} s are {plain(flying)} in flight, "
                f"more than the {plain(cap)} that the file allows",
            )
    at_end = [first_at_end(run, first, whole) for first, whole in zip(keys.first, keys.whole, strict=True)]
    if any(at_end) or not is_streamed:
        found.notes.append(UNSTREAMED)
        return False
    first, statistic = best(run, keys.ttft)
    if first is not None:
        found.ttft_ms, found.ttft_statistic = first * 1000 / keys.per_second, statistic
    set_interactivity(run, found, keys)
    return True


def set_interactivity(run: Run, found: ParsedRun, keys: Keys) -> None:
    """Set the interactivity; answers of one token have no time between tokens, and tools write 0 then."""
    between, statistic = best(run, keys.between)
    if between:
        found.interactivity, found.interactivity_statistic = quotient(keys.per_second, between), statistic


def happened(run: Run, name: str) -> Decimal | None:
    """Return how many requests were completed; refuse a run that completed none."""
    completed = run.number(name)
    if completed == 0:
        raise run.refused(name, "no request was completed")
    return completed


def positive(run: Run, name: str, rate: Decimal) -> Decimal:
    """Return a rate above 0; refuse one of 0."""
    if rate == 0:
        raise run.refused(name, "a rate of 0")
    return rate


def over_duration(
    run: Run, name: str, *, rate: Decimal | None, duration_s: Decimal | None, total: Decimal | None
) -> None:
    """Refuse a rate that, over the duration, does not make the total that the file counts."""
    if rate is None or duration_s is None or total is None:
        return
    if abs(rate * duration_s - total) > TOLERANCE * max(total, Decimal(1)):
        made = f"{plain(rate)}/s over {plain(duration_s)} s makes {plain(rate * duration_s)}"
        raise run.refused(name, f"{made}, not {plain(total)}")


def first_at_end(run: Run, first: str, whole: str) -> bool:
    """Return whether the first token came with the last, as it does unstreamed; refuse one that came after it."""
    token, latency = run.number(first), run.number(whole)
    if token is None or latency is None:
        return False
    if token > latency * (1 + TOLERANCE):
        raise run.refused(first, f"a first token after {plain(token)}, a whole answer after {plain(latency)}")
    return token >= latency * (1 - Decimal("1e-6"))
