"""Every captured file: read with figures checked by hand, or refused for the right reason."""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from extract.benchmarks import BenchmarkIncomplete, BenchmarkRefused, describe, read, runs
from warehouse.schema.columns import allowed

Sample = Callable[[str], bytes]
Words = Mapping[str, Mapping[str, str]]

# One row a run. Sums are from the numbers of the files, worked out by hand.
READ: dict[str, list[dict[str, Any]]] = {
    "vllm_bench_serve_4xL40S_llama3.2-3b.json": [
        {
            "model_name": "meta-llama/Llama-3.2-3B-Instruct", "task": "serving", "scenario": "request rate 10/s",
            "benchmark": "vLLM bench serve", "benchmark_family": "vllm", "accelerator_name": "L40S",
            "accelerator_count": 4, "output_rate": 2249.247363167692,  # 81,050 tokens / 36.034 s
            "input_rate": 8317.08124, "total_rate": 10566.328606,  # 299,700 and 380,750 / 36.034 s
            "input_length": 999, "output_length": 270.1667,  # 81,050 / 300, where 500 were asked for
            "concurrency": None, "interactivity": 74.0054,  # 1000 / 13.5125 ms
            "interactivity_statistic": "median", "ttft_ms": 52.9993, "ttft_statistic": "median", "error_share": 0,
            "measured_on": date(2025, 5, 30), "evidence_grade": "C",
        }
    ],
    "sglang_bench_serving_sharegpt.jsonl": [
        {
            "model_name": "llama-3-8b", "scenario": "request rate 5/s", "benchmark_family": "sglang",
            "output_rate": 957.162043188693, "input_rate": 1477.0827846460556, "total_rate": 2434.2448278,
            "input_length": 302.118, "output_length": 195.775, "concurrency": 11.780263,  # reached, not the cap of 256
            "interactivity": 84.5363, "ttft_ms": 76.41967, "acceptance_length": None, "error_share": None,
            "software": "sglang", "evidence_grade": "C",
        }
    ],
    "sglang_bench_serving_infinity_trimmed.jsonl": [
        {
            "scenario": "closed-loop", "concurrency": 256, "output_rate": 392.68562839175024,
            "total_rate": 49491.299923230494, "input_rate": 49098.614295,  # the total less the output
            "input_length": None, "output_length": None, "interactivity": 10.1345, "ttft_ms": 505895.77354630455,
            "software": "vllm", "evidence_grade": "D",
        }
    ],
    "genai_perf_profile_export_nonstreaming.json": [
        {
            "model_name": "llama-3-8b", "benchmark": "GenAI-Perf", "benchmark_family": "genai_perf",
            "output_rate": 12277.70340876071, "input_rate": 4342.7316,  # 21.6218 requests/s x 200.85
            "input_length": 200.85, "output_length": 567.84, "concurrency": 100,
            "ttft_ms": None, "interactivity": None, "error_share": None, "evidence_grade": "C",
        }
    ],
    "aiperf_profile_export.json": [
        {
            "model_name": "Qwen/Qwen3-0.6B", "benchmark": "AIPerf", "accelerator_name": "RTX-6000-Ada",
            "output_rate": 100.6512156752534,  # 12,798 tokens / 127.152 s
            "input_rate": 50.33347, "output_length": 199.96875, "input_length": 100, "concurrency": 2,
            "interactivity": 53.99158, "ttft_ms": 35.5023455, "error_share": 0, "measured_on": date(2025, 11, 7),
        }
    ],
    "llmperf_summary_bedrock_llama2-70b.json": [
        {
            "model_name": "meta.llama2-70b-chat-v1", "benchmark": "LLMPerf 2023-08-31", "scenario": "closed-loop",
            "output_rate": 62.867056292903534,  # 101 answers x 149.75 tokens in 240.6 s
            "input_rate": 230.89355,  # 25.18839 requests/min x 550 / 60
            "concurrency": 5, "ttft_ms": 387.71995, "interactivity": None, "error_share": 0.32666666666666666,
            "measured_on": date(2023, 12, 27), "evidence_grade": "D",
        }
    ],
    "llmperf_summary_groq_llama2-70b.json": [
        {
            "model_name": "llama2-70b-4096", "output_rate": 441.84737788500206, "output_length": 150,
            "error_share": 0, "measured_on": date(2024, 1, 10), "interactivity": None, "evidence_grade": "C",
        }
    ],
    "neuron_llmperf_stdout_llama3.1-405b_trn2.txt": [
        {
            "model_name": "llama-3.1-405b", "benchmark_family": "llmperf", "accelerator_name": "Trainium2",
            "output_rate": 24.421011092151268, "input_rate": 136.58895,  # 0.81953 requests/min x 10,000 / 60
            "interactivity": 26.36494,  # 1 / 0.037929 s, the first token not in it
            "ttft_ms": 2441.959391, "error_share": 0, "concurrency": None, "evidence_grade": "D",
        }
    ],
    "inferencex_agg_bmk_agentic_unofficial.json": [
        {
            "model_name": "amd/Kimi-K2.5-MXFP4", "scenario": "agentic-coding", "accelerator_name": "MI355X",
            "accelerator_count": 4, "precision": "fp4", "output_rate": 9.109820806, "input_rate": 4632.896931,
            "interactivity": 0.64763, "interactivity_statistic": "p90", "ttft_ms": 586393.98939,
            "prefix_cache_hit_share": 0.017256850822441147, "concurrency": 56, "evidence_grade": "C",
        },
        {
            "output_rate": 211.635829, "total_rate": 36204.716287,  # 9,051.179 x 4
            "interactivity": 11.65488,  # 1 / 0.085801 s, not p90_intvty (37.9), which is that of the fastest
            "prefix_cache_hit_share": 0.9343305288111888, "acceptance_length": 1, "parallelism": "TP4 EP1",
        },
    ],
    "inferencex_api_v1_benchmarks_rows.json": [
        {
            "model_name": "DeepSeek-R1-0528", "scenario": "1k/1k", "accelerator_name": "H200", "accelerator_count": 8,
            "output_rate": 275.094373,  # 34.3868 x 8
            "input_rate": 277.784691, "interactivity": 72.385595, "interactivity_statistic": "median",
            "ttft_ms": 118.831139, "is_disaggregated": False, "measured_on": date(2025, 11, 2),
            "measured_by": "SemiAnalysis InferenceX", "evidence_grade": "A",
        },
        {
            # The file says 64 GPUs, tp 8 x ep 8; 8 users at 68 tokens/s get 544 at the most, not 65.26 x 64 = 4,177.
            "accelerator_count": 8, "output_rate": 522.081957, "concurrency": 8, "evidence_grade": "A",
        },
        {
            "accelerator_name": "GB200", "accelerator_count": 36, "is_disaggregated": True,
            "output_rate": 3036.529875,  # 94.8916 x the 32 decode GPUs
            "input_rate": 3050.022746,  # 762.5057 x the 4 prefill GPUs
            "total_rate": 6086.55262,  # 169.0709 x 36: the sum of both
            "parallelism": "prefill 4 GPUs TP4 EP4 DP attention x 1, decode 32 GPUs TP8 EP8 x 4",
        },
    ],
    "inferencex_experimental_seconds_no_suffix.json": [
        {
            "model_name": "zai-org/GLM-5-FP8", "benchmark_family": "inferencex", "scenario": "closed-loop",
            "output_rate": 403.5809313421254, "input_rate": 3228.647450737003, "input_length": 1024,
            "output_length": 128, "interactivity": 29.7487,  # 1 / 0.033615 s
            "ttft_ms": 291.3994, "error_share": 0, "measured_on": date(2026, 2, 13), "evidence_grade": "C",
        }
    ],
    "mlperf_loadgen_summary_llama2-70b_offline_8xB200.txt": [
        {
            "benchmark": "MLPerf Inference v5.1", "task": "offline", "scenario": "Offline", "output_rate": 101527,
            "input_rate": None, "total_rate": None, "output_length": 273.346,  # 101,527 / 371.423 samples/s
            "interactivity": None, "ttft_ms": None, "form_factor": "SXM", "evidence_grade": "C",
        }
    ],
    "mlperf_loadgen_summary_llama2-70b_server_8xB200.txt": [
        {
            "task": "serving", "scenario": "Server", "output_rate": 99123.04, "output_length": 274.351,
            "interactivity": 7.554786,  # 1e9 / 132,366,416 ns
            "interactivity_statistic": "p99", "ttft_ms": 436.315697, "ttft_statistic": "p99",
        }
    ],
    "mlperf_training_mllog_gpt3_512xH100_excerpt.txt": [
        {
            "model_name": "GPT-3 175B", "task": "training", "benchmark": "MLPerf Training v4.0", "scenario": "gpt3",
            "total_rate": 395727.395,  # 1,245,708,288 tokens / 3,147.895 s
            "output_rate": None, "input_length": 2048, "batch_size": 2304, "measured_by": "NVIDIA",
            "measured_on": date(2024, 5, 7), "unit_of_work": "token",
        }
    ],
}  # fmt: skip

REFUSED = {
    "genai_perf_profile_export_streaming_overcount_bug.json": "mean output of 2565.86 tokens where 500 were requested",
    "custom_multiturn_summary.json": "`vllm bench serve --save-result`, of SGLang's --output-file",
}

NOTES = {
    "genai_perf_profile_export_nonstreaming.json": "not streamed",
    "llmperf_summary_bedrock_llama2-70b.json": "32.7 % of the requests failed",
    "llmperf_summary_groq_llama2-70b.json": "its time between tokens contains the first",
    "inferencex_agg_bmk_agentic_unofficial.json": "unofficial InferenceX run",
    "inferencex_experimental_seconds_no_suffix.json": "unofficial InferenceX run",
    "sglang_bench_serving_infinity_trimmed.jsonl": "input_length, output_length unknown",
    "mlperf_training_mllog_gpt3_512xH100_excerpt.txt": "evaluation pauses included",
    "neuron_llmperf_stdout_llama3.1-405b_trn2.txt": "concurrency unknown",
}

LACKING = {
    "aiperf_profile_export.json": "accelerator_count, precision",
    "vllm_bench_serve_4xL40S_llama3.2-3b.json": "accelerator_count, precision",
    "sglang_bench_serving_sharegpt.jsonl": "model, accelerator, accelerator_count, precision",
    "genai_perf_profile_export_nonstreaming.json": "model, accelerator, accelerator_count, precision",
    "llmperf_summary_groq_llama2-70b.json": "accelerator, accelerator_count, precision",
    "neuron_llmperf_stdout_llama3.1-405b_trn2.txt": "accelerator, accelerator_count, precision",
    "inferencex_experimental_seconds_no_suffix.json": "accelerator, accelerator_count, precision",
    "mlperf_loadgen_summary_llama2-70b_offline_8xB200.txt": "model, accelerator, accelerator_count, precision",
    "mlperf_training_mllog_gpt3_512xH100_excerpt.txt": "accelerator, accelerator_count, precision",
}


def test_every_sample_is_in_a_table(folder: frozenset[str], words: Words) -> None:
    """A capture added tomorrow needs its expectation here."""
    assert {*READ, *REFUSED} == set(words) == folder


@pytest.mark.parametrize("name", READ)
def test_a_sample_is_read(sample: Sample, words: Words, name: str) -> None:
    """Figures as worked out by hand, to six digits; all others within the vocabulary."""
    runs = read(sample(name), name, words[name])

    assert len(runs) == len(READ[name])
    for run, expected in zip(runs, READ[name], strict=True):
        found = run
        for field, value in expected.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert isinstance(found[field], Decimal), field
                assert float(found[field]) == pytest.approx(value, rel=1e-6), field
            else:
                assert found[field] == value, field
        assert all(run[name] in allowed(name) for name in ("task", "benchmark_family", "evidence_grade"))
        assert NOTES.get(name, "") in run["note"]


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_a_sample_is_refused(sample: Sample, words: Words, name: str, reason: str) -> None:
    """With the reason, and the name of the file."""
    with pytest.raises(BenchmarkRefused, match=reason) as refused:
        read(sample(name), name, words[name])

    assert refused.value.source == name


@pytest.mark.parametrize(("name", "fields"), LACKING.items())
def test_what_a_sample_lacks_is_named_at_once(sample: Sample, name: str, fields: str) -> None:
    """Every missing thing, each with the flag that gives it and its meaning."""
    with pytest.raises(BenchmarkIncomplete) as lacking:
        read(sample(name), name, {})

    assert lacking.value.field == fields
    for field in fields.split(", "):
        assert f"--set {field}=... (" in lacking.value.hint
    assert "nvfp4" in lacking.value.hint


def test_one_bad_run_refuses_the_file_and_says_how_to_read_the_rest(sample: Sample) -> None:
    """Row 3 of the API says 36 + 36 GPUs: 32.67 x 72 is not 146.43 x 36 + 18.45 x 36."""
    name = "inferencex_api_v1_benchmarks_rows.json"

    with pytest.raises(BenchmarkRefused, match=r"run 3 of 4: 32\.6674 per GPU over 36 \+ 36 GPUs") as refused:
        read(sample(name), name, {})

    assert refused.value.hint == "To read the other runs give --set leave_out=3"


@pytest.mark.parametrize("name", [*READ, *REFUSED])
def test_the_family_is_detected(sample: Sample, name: str) -> None:
    """By the content alone; the name plays no part."""
    family = READ[name][0].get("benchmark_family") if name in READ else None
    found = runs(sample(name), "")
    detected = found and found[0].FAMILY

    assert detected is None if name == "custom_multiturn_summary.json" else detected in allowed("benchmark_family")
    assert family is None or detected == family


def test_a_run_is_described_in_a_sentence(sample: Sample, words: Words) -> None:
    """Rounded for reading, with units and statistic."""
    vllm, training = (
        describe(read(sample(name), name, words[name])[0])
        for name in (
            "vllm_bench_serve_4xL40S_llama3.2-3b.json",
            "mlperf_training_mllog_gpt3_512xH100_excerpt.txt",
        )
    )

    assert vllm == (
        "vLLM bench serve: serving of meta-llama/Llama-3.2-3B-Instruct in bf16 on 4 x L40S gave 2249.2 output tokens/s"
        " and 8317.1 input tokens/s (scenario request rate 10/s, 999 in, 270.167 out, 74.01 tokens/s/user (median)),"
        " measured on 2025-05-30, evidence C."
    )
    assert training == (
        "MLPerf Training v4.0: training of GPT-3 175B in fp8 on 512 x H100 SXM gave 395730 tokens/s"
        " (scenario gpt3, 2048 in), measured by NVIDIA on 2024-05-07, evidence C."
    )
