"""Arithmetic that the numbers of one run must keep among themselves; a run that does not is refused with the sum.

Units are the tools': tokens per second, seconds, tokens per request. Whatever is None is not checked.
"""

from decimal import Decimal

from extract.benchmarks.content import Run
from extract.benchmarks.result import plain

TOLERANCE = Decimal("0.01")
"""Between a rate and the counts that it was computed from; tools print both from the same floats."""
LOAD_TOLERANCE = Decimal("0.05")
"""Between a run's mean load and its cap: requests overlap the ends of the measured time."""
TOO_LONG = Decimal(2)
"""Times the output length asked for: GenAI-Perf 24.11 to 24.12 counted streamed tokens about five times."""


def happened(run: Run, name: str, completed: Decimal | None) -> None:
    """Refuse a run that completed no request."""
    if completed is not None and completed == 0:
        raise run.refused(name, "no request was completed")


def positive(run: Run, name: str, rate: Decimal) -> Decimal:
    """Return a rate above 0; refuse one of 0."""
    if rate == 0:
        raise run.refused(name, "a rate of 0")
    return rate


def rate_times_duration(
    run: Run, name: str, *, rate: Decimal | None, duration_s: Decimal | None, total: Decimal | None
) -> None:
    """Refuse a rate that, over the duration, does not make the total that the file counts."""
    if rate is None or duration_s is None or total is None:
        return
    if abs(rate * duration_s - total) > TOLERANCE * max(total, Decimal(1)):
        raise run.refused(
            name, f"{plain(rate)}/s over {plain(duration_s)} s makes {plain(rate * duration_s)}, not {plain(total)}"
        )


def rate_of_requests(
    run: Run, name: str, *, rate: Decimal | None, requests_per_s: Decimal | None, length: Decimal | None
) -> None:
    """Refuse a rate of tokens above the rate of requests times their length."""
    if rate is None or requests_per_s is None or length is None:
        return
    if rate > requests_per_s * length * (1 + TOLERANCE):
        raise run.refused(
            name,
            f"{plain(rate)} tokens/s cannot come from {plain(requests_per_s)} requests/s of {plain(length)} tokens",
        )


def load(
    run: Run, name: str, *, requests_per_s: Decimal | None, latency_s: Decimal | None, concurrency: Decimal | None
) -> None:
    """Refuse a rate of requests that, by Little's law, keeps more of them in flight than the file says there were.

    In flight = rate of completion x mean latency (J. D. C. Little, Operations Research 9, 1961).
    """
    if requests_per_s is None or latency_s is None or concurrency is None:
        return
    flying = requests_per_s * latency_s
    if flying > concurrency * (1 + LOAD_TOLERANCE):
        raise run.refused(
            name,
            f"{plain(requests_per_s)} requests/s of {plain(latency_s)} s are {plain(flying)} in flight, "
            f"more than the {plain(concurrency)} that the file allows",
        )


def first_token(run: Run, name: str, *, first_s: Decimal | None, whole_s: Decimal | None) -> bool:
    """Return whether the first token came with the last, as it does unstreamed; refuse one that came after it."""
    if first_s is None or whole_s is None:
        return False
    if first_s > whole_s * (1 + TOLERANCE):
        raise run.refused(name, f"a first token after {plain(first_s)}, a whole answer after {plain(whole_s)}")
    return first_s >= whole_s * (1 - Decimal("1e-6"))


def requested_length(run: Run, name: str, *, length: Decimal | None, requested: Decimal | None) -> None:
    """Refuse a mean output length over twice the one asked for."""
    if length is not None and requested and length > TOO_LONG * requested:
        raise run.refused(
            name,
            f"a mean output of {plain(length)} tokens where {plain(requested)} were requested: the tool over-counted",
            value=plain(length),
            hint="GenAI-Perf 24.11 to 24.12 count streamed tokens about five times; run a later release",
        )
