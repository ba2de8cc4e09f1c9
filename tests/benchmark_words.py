"""What a user gives with each captured result file; chips and models that the captures do not name are made up."""

from collections.abc import Mapping

WORDS: Mapping[str, Mapping[str, str]] = {
    "aiperf_profile_export.json": {"accelerator_count": "1", "precision": "bf16"},
    "custom_multiturn_summary.json": {},
    "genai_perf_profile_export_nonstreaming.json": {
        "model": "llama-3-8b", "accelerator": "H100 SXM", "accelerator_count": "1", "precision": "fp8",
    },
    "genai_perf_profile_export_streaming_overcount_bug.json": {
        "model": "llama-3-8b", "accelerator": "H100 SXM", "accelerator_count": "1", "precision": "fp8",
    },
    "inferencex_agg_bmk_agentic_unofficial.json": {},
    "inferencex_api_v1_benchmarks_rows.json": {"leave_out": "3"},
    "inferencex_experimental_seconds_no_suffix.json": {
        "accelerator": "B200", "accelerator_count": "8", "precision": "fp8",
    },
    "llmperf_summary_bedrock_llama2-70b.json": {
        "accelerator": "A100 SXM 80GB", "accelerator_count": "8", "precision": "fp16",
    },
    "llmperf_summary_groq_llama2-70b.json": {
        "accelerator": "A100 SXM 80GB", "accelerator_count": "8", "precision": "fp16",
    },
    "mlperf_loadgen_summary_llama2-70b_offline_8xB200.txt": {
        "model": "llama-2-70b", "accelerator": "B200 SXM", "accelerator_count": "8", "precision": "fp4",
        "round": "v5.1",
    },
    "mlperf_loadgen_summary_llama2-70b_server_8xB200.txt": {
        "model": "llama-2-70b", "accelerator": "B200 SXM", "accelerator_count": "8", "precision": "fp4",
        "round": "v5.1",
    },
    "mlperf_training_mllog_gpt3_512xH100_excerpt.txt": {
        "accelerator": "H100 SXM", "accelerator_count": "512", "precision": "fp8", "round": "v4.0",
    },
    "neuron_llmperf_stdout_llama3.1-405b_trn2.txt": {
        "accelerator": "Trainium2", "accelerator_count": "16", "precision": "bf16",
    },
    "sglang_bench_serving_infinity_trimmed.jsonl": {
        "model": "llama-3.3-70b", "accelerator": "H200", "accelerator_count": "8", "precision": "fp8",
    },
    "sglang_bench_serving_sharegpt.jsonl": {
        "model": "llama-3-8b", "accelerator": "H100 SXM", "accelerator_count": "1", "precision": "bf16",
    },
    "vllm_bench_serve_4xL40S_llama3.2-3b.json": {"accelerator_count": "4", "precision": "bf16"},
}  # fmt: skip
"""For each sample, what its file does not tell. Chips and models that the captures do not name are made up."""
