"""Whatever the bytes: a file is read or refused by a documented error, in little time, without impossible figures."""

import re
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extract.benchmarks import BenchmarkIncomplete, BenchmarkRefused, read, runs
from extract.benchmarks.content import MAX_BYTES
from warehouse.errors import LayoutChanged

DOCUMENTED = (BenchmarkIncomplete, BenchmarkRefused, LayoutChanged)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
ODD = (
    b"0", b"-1", b"1e999", b"1e99999999999999999999", b"-0.0", b"NaN", b"Infinity", b"-Infinity", b"null", b"true",
    b'"x"', b'"inf"', b'"-5"', b"[]", b"{}", b"1e-300", b"9" * 5000, b'"sNaN"', b'"NaN"', b"", b"0.0000001",
    b'"\\u0000"',
)  # fmt: skip
NAMES = (
    "aiperf_profile_export.json", "custom_multiturn_summary.json", "genai_perf_profile_export_nonstreaming.json",
    "genai_perf_profile_export_streaming_overcount_bug.json", "inferencex_agg_bmk_agentic_unofficial.json",
    "inferencex_api_v1_benchmarks_rows.json", "inferencex_experimental_seconds_no_suffix.json",
    "llmperf_summary_bedrock_llama2-70b.json", "llmperf_summary_groq_llama2-70b.json",
    "mlperf_loadgen_summary_llama2-70b_offline_8xB200.txt", "mlperf_loadgen_summary_llama2-70b_server_8xB200.txt",
    "mlperf_training_mllog_gpt3_512xH100_excerpt.txt", "neuron_llmperf_stdout_llama3.1-405b_trn2.txt",
    "sglang_bench_serving_infinity_trimmed.jsonl", "sglang_bench_serving_sharegpt.jsonl",
    "vllm_bench_serve_4xL40S_llama3.2-3b.json",
)  # fmt: skip


def check(body: bytes, words: Mapping[str, str]) -> bool:
    """Return whether a file was read; fail where it raises anything else, or gives a figure that cannot be."""
    try:
        runs = read(body, "damaged", words)
    except DOCUMENTED as error:
        assert str(error)
        return False
    for run in runs:
        numbers = {name: value for name, value in run.items() if isinstance(value, Decimal)}
        assert all(value.is_finite() and value >= 0 for value in numbers.values()), numbers
        assert run["output_rate"] or run["total_rate"]
        assert run["note"].isprintable()
    return True


def cut(body: bytes, data: st.DataObject) -> bytes:
    """Leave it as a download that broke off does."""
    start = data.draw(st.sampled_from((0, 0, len(body) // 3)))
    return body[start : data.draw(st.integers(start, len(body)))]


def with_other_bytes(body: bytes, data: st.DataObject) -> bytes:
    """Replace a few bytes, put some in or leave some out."""
    harmed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(harmed)))
        harmed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    return bytes(harmed)


def with_an_odd_number(body: bytes, data: st.DataObject) -> bytes:
    """Replace one number by what is none, or by one that cannot be."""
    places = [match.span() for match in NUMBER.finditer(body)]
    start, stop = places[data.draw(st.integers(0, len(places) - 1))]
    return body[:start] + data.draw(st.sampled_from(ODD)) + body[stop:]


@pytest.mark.parametrize("n_files", [50, pytest.param(1000, marks=pytest.mark.prove)])
@pytest.mark.parametrize("harm", [cut, with_other_bytes, with_an_odd_number])
def test_a_damaged_file_is_read_or_refused(
    sample: Callable[[str], bytes],
    words: Mapping[str, Mapping[str, str]],
    harm: Callable[[bytes, st.DataObject], bytes],
    n_files: int,
) -> None:
    """In the long form twenty times as many."""

    @settings(max_examples=n_files, deadline=timedelta(seconds=2), suppress_health_check=[HealthCheck.too_slow])
    @given(name=st.sampled_from(NAMES), data=st.data())
    def check_one(name: str, data: st.DataObject) -> None:
        check(harm(sample(name), data), words[name])

    check_one()


@given(body=st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    """No file of this length is a result."""
    assert not check(body, {})


@pytest.mark.parametrize(
    "body",
    [
        b"", b" \n", b"\xff\xfe{}", b"[]", b"[" * 100_000, b'{"a":' * 100_000, b"[1]", b'{"output_throughput": 1}\nnot',
        b'{"output_throughput": 1, "model_id": "x", "output_throughput": 2}', b"{}" * 3,
        b'{"output_throughput": 1e99999999999999999999, "model_id": "x"}',
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_what_is_no_text_of_runs_is_a_changed_layout(body: bytes) -> None:
    """Nothing, other bytes, depth, a key that stands twice, a file of the wrong size."""
    with pytest.raises(LayoutChanged):
        read(body, "damaged", {})


@pytest.mark.parametrize(
    "body", [b"{}", b'{"output_throughput": 1}', b'[{"price": 1}]', b"1", b'"x"', b'<html lang="en">']
)
def test_what_no_tool_wrote_is_refused_or_detected_as_none(body: bytes) -> None:
    """A table of prices is no benchmark."""
    try:
        detected = runs(body, "")
    except LayoutChanged:
        detected = None

    assert detected is None
    assert not check(body, {})


def test_a_log_is_no_broken_json() -> None:
    """Megatron's begins with a date in brackets."""
    body = b" [2026-05-08 04:28:31] iteration       10/     100 | throughput per GPU (TFLOP/s/GPU): 412.3 |"
    with pytest.raises(BenchmarkRefused, match="no known benchmark tool wrote this file"):
        read(body, "megatron.log", {})


def test_a_file_that_is_no_summary_is_not_even_decoded() -> None:
    """A log of requests, or the wrong file."""
    with pytest.raises(LayoutChanged, match="larger than 64 MiB"):
        read(b" " * (MAX_BYTES + 1), "log", {})


@pytest.mark.parametrize(
    "head", [b"MLPerf Results Summary\n", b":::MLLOG ", b"Results for token benchmark for x\nttft_s\n"]
)
@pytest.mark.parametrize("filler", [b" ", b": ", b"(", b'{"a":', b"1", b"9\n"], ids=repr)
def test_a_long_line_takes_little_time(head: bytes, filler: bytes) -> None:
    """A million characters where a line is expected, in less than a second."""
    body = head + b"a" + filler * (1_000_000 // len(filler)) + b"b\nOverall Output Throughput: 1\n"
    start = time.process_time()

    with pytest.raises(DOCUMENTED):
        read(body, "long", {})

    assert time.process_time() - start < 1


def test_spaces_in_a_summary_take_little_time() -> None:
    """Thirty million of them between two letters, which a pattern would try again and again."""
    body = b"MLPerf Results Summary\na" + b" " * 30_000_000 + b"b"
    start = time.process_time()

    with pytest.raises(DOCUMENTED):
        read(body, "long", {})

    assert time.process_time() - start < 1
