"""vLLM, SGLang, GenAI-Perf, AIPerf and LLMPerf: their forms, and the numbers of a run that contradict each other."""

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from extract.benchmarks import BenchmarkRefused, read
from warehouse.errors import LayoutChanged

WORDS = {"model": "llama-3-8b", "accelerator": "H100 SXM", "accelerator_count": "1", "precision": "bf16"}

# The forms are the tools', the figures real and rounded: SGLang on sharegpt as a public script quotes it; llm-d's run
# of vLLM of 2025-05-30; AIPerf's own test fixture (Apache-2.0); LLMPerf's leaderboard of 2023-12-27 (Apache-2.0),
# its time between tokens as it would be without the first token, its errors fewer.
SGLANG: dict[str, Any] = {
    "backend": "sglang", "dataset_name": "sharegpt", "request_rate": 5.0, "max_concurrency": 256, "duration": 204.537,
    "completed": 1000, "total_input_tokens": 302118, "total_output_tokens": 195775,
    "total_output_tokens_retokenized": 195324, "request_throughput": 4.88909, "input_throughput": 1477.083,
    "output_throughput": 957.162, "total_throughput": 2434.245, "mean_e2e_latency_ms": 2409.5, "mean_ttft_ms": 91.69,
    "median_ttft_ms": 76.42, "median_tpot_ms": 11.83, "concurrency": 11.78, "accept_length": None,
}  # fmt: skip
VLLM: dict[str, Any] = {
    "date": "20250530-203806", "model_id": "ensemble", "num_prompts": 300, "request_rate": 10.0,
    "request_goodput:": None, "max_concurrency": None, "duration": 36.034, "completed": 300,
    "total_input_tokens": 299700, "total_output_tokens": 81050, "output_throughput": 2249.25,
    "total_token_throughput": 10566.33, "mean_ttft_ms": 54.58, "median_ttft_ms": 53.0, "mean_tpot_ms": 13.58,
    "median_tpot_ms": 13.51, "mean_e2el_ms": 3709.0,
}  # fmt: skip
GENAI: dict[str, Any] = {
    "request_throughput": {"unit": "requests/sec", "avg": 0.5033}, "request_latency": {"unit": "ms", "avg": 3747.7},
    "request_count": {"unit": "requests", "avg": 64.0}, "time_to_first_token": {"unit": "ms", "avg": 36.5, "p50": 35.5},
    "inter_token_latency": {"unit": "ms", "avg": 18.65, "p50": 18.52},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 100.65},
    "output_sequence_length": {"unit": "tokens", "avg": 199.97},
    "input_sequence_length": {"unit": "tokens", "avg": 100.0},
    "total_output_tokens": {"unit": "tokens", "avg": 12798.0}, "benchmark_duration": {"unit": "sec", "avg": 127.152},
    "input_config": {"model": ["ensemble"], "streaming": True, "output_tokens_mean": 200, "concurrency": 2},
    "was_cancelled": False, "error_summary": [], "error_request_count": None,
}  # fmt: skip
LLMPERF: dict[str, Any] = {
    "version": "2023-08-31", "model": "ensemble", "num_concurrent_requests": 5, "timestamp": 1703638329,
    "results_mean_output_throughput_token_per_s": 62.867, "results_num_completed_requests": 101,
    "results_num_completed_requests_per_min": 25.188, "results_number_input_tokens_mean": "550",
    "results_number_output_tokens_mean": 149.752, "results_error_rate": 0.02, "results_ttft_s_mean": 0.408,
    "results_ttft_s_quantiles_p50": 0.3877, "results_end_to_end_latency_s_mean": 7.058,
    "results_inter_token_latency_s_mean": 0.0444, "results_inter_token_latency_s_quantiles_p50": 0.0440,
}  # fmt: skip
RUNS = {"sglang": SGLANG, "vllm": VLLM, "genai_perf": GENAI, "llmperf": LLMPERF}


def changed(tool: str, changes: dict[str, Any]) -> bytes:
    """Return a run of a tool with other values; a key with a dot is one of an object within."""
    run = json.loads(json.dumps(RUNS[tool]))
    for key, value in changes.items():
        outer, _, inner = key.partition(".")
        if inner:
            run[outer][inner] = value
        else:
            run[key] = value
    return json.dumps(run).encode()


def one(tool: str, **changes: Any) -> SimpleNamespace:
    (run,) = read(changed(tool, changes), tool, WORDS)
    return SimpleNamespace(**run)


@pytest.mark.parametrize("tool", RUNS)
def test_the_form_of_each_tool_is_read(tool: str) -> None:
    """As it stands, so that what the refusals below change is what they refuse."""
    run = one(tool)

    assert (run.benchmark_family, run.evidence_grade) == (tool, "C")
    assert run.output_rate
    assert run.ttft_ms
    assert run.interactivity


@pytest.mark.parametrize(
    ("tool", "changes", "reason"),
    [
        ("vllm", {"completed": 0}, "no request was completed"),
        ("vllm", {"completed": 0, "output_throughput": 0, "total_output_tokens": 0}, "no request was completed"),
        ("vllm", {"output_throughput": 4498.5}, "over 36.034 s makes 162099, not 81050"),
        ("vllm", {"total_token_throughput": 2249.25}, "makes 81049.5, not 380750"),
        ("vllm", {"total_token_throughput": 2000, "total_input_tokens": None}, "less than the output alone"),
        ("vllm", {"completed": 301}, "more than the 300 requests that were sent"),
        ("vllm", {"output_throughput": -1}, "negative"), ("vllm", {"duration": 0}, "a rate of 0"),
        ("vllm", {"output_throughput": 0, "total_output_tokens": 0}, "a rate of 0"),
        ("vllm", {"output_throughput": float("nan")}, "not a finite number"),
        ("vllm", {"output_throughput": float("inf")}, "not a finite number"),
        ("vllm", {"median_tpot_ms": float("inf")}, "not a finite number"),
        ("vllm", {"mean_ttft_ms": 5000}, "a first token after 5000, a whole answer after 3709"),
        ("vllm", {"duration": 1e30}, "a number that no benchmark gives"),
        ("vllm", {"request_throughput": 8.3, "duration": None, "output_throughput": 9000, "total_token_throughput":
         None}, "9000 tokens/s cannot come from 8.3 requests/s of 270.167 tokens"),
        ("vllm", {"request_throughput": 8.325, "max_concurrency": 16}, "30.8774 in flight, more than the 16"),
        ("sglang", {"input_throughput": 14770.83}, "not 302118"),
        ("sglang", {"total_throughput": 24342.45}, "not 497893"),
        ("sglang", {"request_throughput": 48.8909}, "not 1000"),
        ("sglang", {"mean_e2e_latency_ms": 240950}, "in flight, more than the 256"),
        ("genai_perf", {"was_cancelled": True}, "the run was cancelled"),
        ("genai_perf", {"input_config.output_tokens_mean": 99}, "199.97 tokens where 99 were requested"),
        ("genai_perf", {"output_token_throughput.avg": 201.3}, "201.3 tokens/s cannot come from 0.5033 requests/s"),
        ("genai_perf", {"benchmark_duration.avg": 254.3}, "makes 25595.3, not 12798"),
        ("genai_perf", {"request_count.avg": 0}, "no request was completed"),
        ("genai_perf", {"request_latency.avg": 37477}, "18.8622 in flight, more than the 2"),
        ("genai_perf", {"time_to_first_token.avg": 4000}, "a first token after 4000"),
        ("genai_perf", {"output_token_throughput.avg": float("nan")}, "not a finite number"),
        ("llmperf", {"results_num_completed_requests": 0}, "no request was completed"),
        ("llmperf", {"results_mean_output_throughput_token_per_s": 628.67}, "cannot come from 0.4198 requests/s"),
        ("llmperf", {"results_end_to_end_latency_s_mean": 7058}, "in flight, more than the 5"),
        ("llmperf", {"results_error_rate": 32.7}, "not from 0 to 1"),
    ],
)  # fmt: skip
def test_a_run_that_contradicts_itself_is_refused(tool: str, changes: dict[str, Any], reason: str) -> None:
    """With the sum that it fails."""
    with pytest.raises(BenchmarkRefused) as refused:
        read(changed(tool, changes), tool, WORDS)

    assert reason in refused.value.message


@pytest.mark.parametrize(
    ("tool", "changes", "field"),
    [
        ("vllm", {"output_throughput": None}, "output_throughput"), ("vllm", {"date": "30 May"}, "date"),
        ("vllm", {"duration": [36]}, "duration"), ("vllm", {"duration": True}, "duration"),
        ("vllm", {"model_id": 7}, "model_id"), ("vllm", {"model_id": "a\nb"}, "model_id"),
        ("genai_perf", {"input_config": []}, "input_config"), ("genai_perf", {"was_cancelled": 1}, "was_cancelled"),
        ("genai_perf", {"request_latency.unit": "sec"}, "request_latency"),
        ("llmperf", {"timestamp": 1e12}, "timestamp"),
        ("genai_perf", {"start_time": "noon"}, "start_time"),
    ],
)  # fmt: skip
def test_another_form_is_named(tool: str, changes: dict[str, Any], field: str) -> None:
    """A unit that is not the tool's is not converted by guess."""
    with pytest.raises(LayoutChanged) as changed_form:
        read(changed(tool, changes), tool, WORDS)

    assert changed_form.value.field == field


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        ("vllm", {"mean_ttft_ms": 3709.0, "median_ttft_ms": 3700.0}),
        ("sglang", {"mean_ttft_ms": 2409.5}),
        ("genai_perf", {"time_to_first_token.avg": 3747.7}),
        ("genai_perf", {"input_config.streaming": False}),
        ("llmperf", {"results_ttft_s_mean": 7.058}),
    ],
)
def test_without_streaming_no_first_token_is_seen(tool: str, changes: dict[str, Any]) -> None:
    """The first token comes with the last: neither its time nor the interactivity is known."""
    run = one(tool, **changes)

    assert (run.ttft_ms, run.ttft_statistic, run.interactivity, run.interactivity_statistic) == (None,) * 4
    assert "not streamed" in run.note


def test_an_optional_number_that_is_none_stays_unknown() -> None:
    """NaN of a latency is no latency; the mean stands in where there is one, and says so."""
    run = one("vllm", median_tpot_ms=float("nan"), median_ttft_ms=None)

    assert (run.interactivity_statistic, run.ttft_statistic, run.ttft_ms) == ("mean", "mean", Decimal("54.58"))


def test_one_token_an_answer_has_no_time_between_tokens() -> None:
    """vLLM and SGLang write 0 then, which is not an infinite speed."""
    assert one("vllm", median_tpot_ms=0).interactivity is None


def test_the_load_is_told_in_the_tools_own_way() -> None:
    """A cap alone is closed-loop, neither is all at once, and under a rate the cap is not the concurrency."""
    capped, at_once, rated = (
        one("vllm", request_rate=rate, max_concurrency=cap) for rate, cap in (("inf", 64), ("inf", None), (5.0, 64))
    )

    assert (capped.scenario, capped.concurrency) == ("closed-loop", Decimal(64))
    assert (at_once.scenario, at_once.concurrency) == ("all 300 requests at once", None)
    assert (rated.scenario, rated.concurrency) == ("request rate 5/s", None)
    assert one("vllm", request_rate=None, max_concurrency=64).concurrency is None


def test_a_load_that_rises_is_no_operating_point() -> None:
    """vLLM writes no limit of the rate then, next to the rates from which and to which it rose."""
    ramp = {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 20}
    run = one("vllm", request_rate="inf", max_concurrency=64, **ramp)

    assert (run.scenario, run.concurrency, run.evidence_grade) == ("rising request rate", None, "D")


def test_vllm_reads_speculation_and_errors() -> None:
    """The mean tokens a step, and failed over all."""
    run = one("vllm", spec_decode_acceptance_length=2.5, failed=3)

    assert (run.acceptance_length, run.error_share) == (Decimal("2.5"), Decimal("0.00990099009901"))


def test_sglang_appends_a_run_a_line() -> None:
    """And writes Infinity where the rate has no limit, which is no JSON."""
    second = {**SGLANG, "request_rate": float("inf"), "accept_length": 2.75}
    body = f"{json.dumps(SGLANG)}\n{json.dumps(second)}\n".encode()

    first, last = (SimpleNamespace(**run) for run in read(body, "runs.jsonl", WORDS))

    assert b"Infinity" in body
    assert (first.concurrency, first.acceptance_length) == (Decimal("11.78"), None)
    assert (last.concurrency, last.scenario, last.acceptance_length) == (Decimal(256), "closed-loop", Decimal("2.75"))


@pytest.mark.parametrize("dataset", ["generated-shared-prefix", "mooncake", "agentic-trace"])
def test_requests_that_share_a_prefix_are_a_scenario_of_their_own(dataset: str) -> None:
    """The server reads the prefix once, and ranks are within one scenario. An agent's trace repeats all turns before.

    https://github.com/sgl-project/sglang : python/sglang/benchmark/serving.py, accessed 2026-11-28
    """
    capped = {"request_rate": float("inf"), "max_concurrency": 64}

    assert one("sglang", **capped, dataset_name=dataset).scenario == f"closed-loop, {dataset}"
    assert one("sglang", **capped, dataset_name="random").scenario == "closed-loop"


def test_sglang_offline_is_no_serving() -> None:
    """`bench_offline_throughput` gives all requests to the engine at once: its rate is none that users would see.

    https://github.com/sgl-project/sglang : python/sglang/bench_offline_throughput.py, accessed 2026-11-28
    """
    offline = {
        "backend": "engine", "successful_requests": 1000, "total_latency": 25.4, "total_input_tokens": 224442,
        "total_output_tokens": 193160, "request_throughput": 39.37, "input_throughput": 8836.3,
        "output_throughput": 7604.7, "total_throughput": 16441.0, "last_gen_throughput": 5000.0,
    }  # fmt: skip
    with pytest.raises(BenchmarkRefused, match="no known benchmark tool"):
        read(json.dumps(offline).encode(), "offline.jsonl", WORDS)


def test_sglang_says_what_its_prefix_cache_held() -> None:
    """`--cache-report` counts it: of random requests 45.86 % were read before: that is no cold cache."""
    report = {"total_prompt_tokens": 1776000, "total_cached_tokens": 814474, "cache_hit_rate_pct": 45.86}
    capped = {"request_rate": float("inf"), "max_concurrency": 24, "dataset_name": "random"}
    warm, cold = one("sglang", **capped, cache_report=report), one("sglang", **capped, cache_report=None)
    never, first = (one("sglang", **capped, cache_report={**report, "cache_hit_rate_pct": pct}) for pct in (0.0, 0.1))

    assert (warm.prefix_cache_hit_share, warm.scenario) == (
        Decimal("0.4586"), "closed-loop, 45.9 % of the input cached",
    )  # fmt: skip
    assert (never.prefix_cache_hit_share, never.scenario) == (0, "closed-loop")
    assert (first.prefix_cache_hit_share, first.scenario) == (Decimal("0.001"), "closed-loop")
    assert (cold.prefix_cache_hit_share, cold.scenario) == (None, "closed-loop")
    with pytest.raises(BenchmarkRefused, match="cache"):
        one("sglang", **capped, cache_report={**report, "cache_hit_rate_pct": 145.86})


def test_the_input_of_several_turns_is_not_counted() -> None:
    """SGLang writes 0 for what it read, and the output alone as the total: what was read is unknown, and not free.

    https://github.com/sgl-project/sglang : python/sglang/benchmark/serving.py, accessed 2026-11-28
    """
    nothing = {"total_input_tokens": 0, "input_throughput": 0.0, "total_throughput": 957.162}
    run = one("sglang", **nothing, dataset_name="agentic-trace", backend="sglang-oai-chat")

    assert (run.input_length, run.input_rate, run.total_rate, run.output_rate) == (None, None, None, Decimal("957.162"))
    assert "input_length unknown, so it is never ranked" in run.note


def test_a_replayed_trace_has_no_request_rate() -> None:
    """With `--use-trace-timestamps` SGLang writes "trace" for it: requests come as those of the trace came."""
    run = one("sglang", request_rate="trace", max_concurrency=None, dataset_name="mooncake")

    assert (run.scenario, run.concurrency, run.output_rate) == ("mooncake", Decimal("11.78"), Decimal("957.162"))


@pytest.mark.parametrize("backend", ["sglang", "sglang-native", "sglang-oai", "sglang-oai-chat"])
def test_sglang_has_its_version_by_whatever_interface(backend: str) -> None:
    """Runs of two versions are no repeats of one configuration. Only SGLang answers with it; vLLM has none here."""
    info = {"version": "0.5.9"}

    assert one("sglang", backend=backend, server_info=info).software == "sglang 0.5.9"
    assert one("sglang", backend="vllm", server_info=info).software == "vllm"
    assert one("sglang", backend="sglang-oai").software == "sglang-oai"


def test_sglang_lengths_asked_for_are_no_means() -> None:
    """They are the upper ends of a range; without counts of tokens the mean is unknown."""
    bare = dict.fromkeys(("total_input_tokens", "total_output_tokens", "completed", "duration"))
    run = one("sglang", **bare, dataset_name="random", random_input_len=1024, random_output_len=512)

    assert (run.input_length, run.output_length, run.evidence_grade) == (None, None, "D")


def test_llmperf_as_aws_patches_it_has_a_time_between_tokens() -> None:
    """149.752 x 0.0444 s is 6.65 s, the latency less the first token; stock, 149.752 x 0.0471 s is all of 7.06 s."""
    patched, stock = one("llmperf"), one("llmperf", results_inter_token_latency_s_mean=0.0471)
    neither = one("llmperf", results_inter_token_latency_s_mean=0.02)

    assert patched.interactivity == Decimal("22.7272727273")
    assert (stock.interactivity, "contains the first" in stock.note) == (None, True)
    assert (neither.interactivity, "fits neither" in neither.note) == (None, True)


def test_genai_perf_counts_errors() -> None:
    """An empty summary is none; no summary is unknown."""
    failing = one("genai_perf", error_request_count={"unit": "requests", "avg": 16.0})

    assert (failing.error_share, failing.evidence_grade) == (Decimal("0.2"), "D")
    assert one("genai_perf").error_share == 0
    assert one("genai_perf", error_summary=None).error_share is None


CLOSED: dict[str, Any] = {"name": "profiling", "kind": "profiling", "type": "concurrency", "concurrency": 2}
WARM_UP: dict[str, Any] = {**CLOSED, "name": "warmup", "kind": "warmup", "concurrency": 1}


def configured(*phases: dict[str, Any], **changes: Any) -> SimpleNamespace:
    """Return a run whose configuration has the form of AIPerf's YAML: lists of models and phases."""
    endpoint = {"urls": ["http://localhost:8000"], "type": "chat", "streaming": True}
    config = {"models": {"items": [{"name": "Qwen/Qwen3-8B"}]}, "endpoint": endpoint, "phases": [WARM_UP, *phases]}
    body = changed("genai_perf", {"input_config": config, **changes})
    (run,) = read(body, "aiperf", {name: word for name, word in WORDS.items() if name != "model"})
    return SimpleNamespace(**run)


def test_aiperf_lists_models_and_phases() -> None:
    """The phase of profiling is what was measured; the warm-up before it is not."""
    run = configured(CLOSED)

    assert (run.model_name, run.scenario, run.concurrency) == ("Qwen/Qwen3-8B", "closed-loop", Decimal(2))
    assert run.evidence_grade == "C"


@pytest.mark.parametrize(
    ("phases", "scenario"),
    [
        ([{**CLOSED, "type": "poisson", "rate": 30.0, "concurrency": 64}], "request rate 30/s"),
        ([{**CLOSED, "type": "fixed_schedule"}], None),
        ([CLOSED, {**CLOSED, "name": "stress", "concurrency": 64}], None),
        ([{**CLOSED, "concurrency_ramp": 30.0}], None),
    ],
)
def test_only_a_steady_closed_loop_has_a_concurrency(phases: list[dict[str, Any]], scenario: str | None) -> None:
    """A rate holds requests back, a schedule has its own times, and two loads or a rising one are no point."""
    run = configured(*phases)

    assert (run.scenario, run.concurrency) == (scenario, None)


def test_aiperf_says_what_the_server_read_from_its_cache() -> None:
    """44,480 of 64,948 input tokens, as a server's `usage` told it: a run of turns, and none on a cold cache.

    https://github.com/ai-dynamo/aiperf : src/aiperf/metrics/types, accessed 2026-11-28
    """
    metric = {"unit": "%", "avg": 68.4855576769108}
    warm = one("genai_perf", overall_usage_prompt_cache_read_pct=metric)

    assert (warm.prefix_cache_hit_share, warm.scenario) == (
        Decimal("0.684855576769108"), "closed-loop, 68.5 % of the input cached",
    )  # fmt: skip
    assert one("genai_perf").prefix_cache_hit_share is None
    with pytest.raises(LayoutChanged, match="unit %"):
        one("genai_perf", overall_usage_prompt_cache_read_pct={**metric, "unit": "tokens"})


def test_aiperf_counts_errors_by_kind() -> None:
    """16 of 80 requests failed, of two kinds."""
    kinds = [{"error_details": {"code": code}, "count": count} for code, count in ((500, 12), (429, 4))]
    run = configured(CLOSED, error_summary=kinds)

    assert (run.error_share, run.evidence_grade) == (Decimal("0.2"), "D")


def test_a_run_that_aiperf_calls_not_valid_is_refused() -> None:
    """Its own reasons are in the message."""
    with pytest.raises(BenchmarkRefused, match="insufficient_profile_metric_coverage"):
        configured(CLOSED, runtime_submission_invalid_reasons=["insufficient_profile_metric_coverage"])


def test_runs_of_two_tools_in_one_file_are_refused() -> None:
    """One file, one tool: what else is in it was not written by it."""
    with pytest.raises(LayoutChanged, match="run 2 of 2 is not of the tool of the first, vllm"):
        read(f"{json.dumps(VLLM)}\n{json.dumps(LLMPERF)}".encode(), "mixed.jsonl", WORDS)
