"""InferenceX: whose run it is, what its rates divide by, and how many GPUs there were."""

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from extract.benchmarks import BenchmarkRefused, read
from warehouse.errors import LayoutChanged

OFFICIAL = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/19019407598/attempts/2"

# The form of the API; the figures of its row of 2025-11-02 for DeepSeek-R1 on H200, rounded.
ROW: dict[str, Any] = {
    "hardware": "h200", "framework": "trt", "model": "dsr1", "precision": "fp8", "spec_method": "none",
    "disagg": False, "is_multinode": False, "decode_tp": 8, "decode_ep": 1, "num_prefill_gpu": 8, "num_decode_gpu": 8,
    "isl": 1024, "osl": 1024, "conc": 4, "image": None, "date": "2025-11-02", "run_url": OFFICIAL,
    "metrics": {
        "mean_e2el": 12.965, "mean_ttft": 0.308, "median_ttft": 0.1188, "median_tpot": 0.013815,
        "median_intvty": 72.386, "tput_per_gpu": 69.110, "input_tput_per_gpu": 34.723, "output_tput_per_gpu": 34.387,
    },
}  # fmt: skip
# The row of 2026-03-23 for GB200: 4 GPUs prefill, 32 decode.
SPLIT: dict[str, Any] = {
    **ROW, "hardware": "gb200", "disagg": True, "conc": 24, "num_prefill_gpu": 4, "num_decode_gpu": 32,
    "metrics": {
        "mean_e2el": 7.068, "mean_ttft": 0.221, "median_tpot": 0.0075455, "tput_per_gpu": 169.071,
        "input_tput_per_gpu": 762.506, "output_tput_per_gpu": 94.892,
    },
}  # fmt: skip
AGG: dict[str, Any] = {
    "hw": "mi355x-amd_0", "conc": 16, "model": "amd/Kimi-K2.5-MXFP4", "framework": "vllm", "precision": "fp4",
    "spec_decoding": "mtp", "disagg": False, "tp": 4, "ep": 1, "dp_attention": "false", "isl": 1024, "osl": 1024,
    "tput_per_gpu": 200.0, "output_tput_per_gpu": 100.0, "median_tpot": 0.035, "image": "rocm/vllm:1",
}  # fmt: skip


def one(row: dict[str, Any], words: dict[str, str] | None = None, **changes: Any) -> SimpleNamespace:
    """Return the run of a row with other values; those of its metrics by the name metrics_..."""
    row = json.loads(json.dumps(row))
    for key, value in changes.items():
        if key.startswith("metrics_"):
            row["metrics"][key.removeprefix("metrics_")] = value
        else:
            row[key] = value
    (run,) = read(json.dumps([row]).encode(), "rows.json", words or {})
    return SimpleNamespace(**run)


@pytest.mark.parametrize(
    ("short", "name"), [("glm5.1", "GLM-5.1"), ("kimik2.6", "Kimi-K2.6"), ("dsv4", "DeepSeek-V4-Pro")]
)
def test_a_short_name_of_the_api_is_that_of_its_model(short: str, name: str) -> None:
    """A point release is a model of its own."""
    assert one(ROW, model=short).model_name == name


def test_an_official_run_is_graded_a_and_linked() -> None:
    """By the address that its row carries."""
    run = one(ROW, model="gptoss120b")

    assert run.model_name == "gpt-oss-120b"
    assert (run.evidence_grade, run.source_url, run.measured_by) == ("A", OFFICIAL, "SemiAnalysis InferenceX")
    assert "unofficial" not in run.note


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/somebody/InferenceMAX_fork/actions/runs/19019407598", None,
        "https://github.com/SemiAnalysisAI/InferenceX", "https://evil.org/SemiAnalysisAI/InferenceX/actions/runs/1",
    ],
)  # fmt: skip
def test_a_fork_is_unofficial(url: str | None) -> None:
    """Graded C at most, even as a vendor's document, and labelled so."""
    words = {"published_by": "vendor", "source_url": "https://vendor.com/x"} if url is None else {}
    run = one(ROW, words, run_url=url)

    assert (run.evidence_grade, run.measured_by) == ("C", None)
    assert "unofficial InferenceX run" in run.note


def test_the_address_of_an_official_run_may_be_given() -> None:
    """Files of a run carry none; an experiment stays one whatever is given."""
    bare = {
        "model_id": "zai-org/GLM-5-FP8", "request_rate": "inf", "max_concurrency": 16, "duration": 50.7457,
        "completed": 160, "total_input_tokens": 163840, "total_output_tokens": 20480, "input_throughput": 3228.65,
        "output_throughput": 403.581, "median_ttft": 0.2914, "median_tpot": 0.033615,
    }  # fmt: skip
    words = {"accelerator": "B200", "accelerator_count": "8", "precision": "fp8", "source_url": OFFICIAL}

    assert one(AGG, {"source_url": OFFICIAL}).evidence_grade == "A"
    assert one(AGG).evidence_grade == "C"
    assert one(bare, words).evidence_grade == "C"


def test_a_row_is_read() -> None:
    """Rates of the whole system, seconds as ms, no speculation as one token a step."""
    run = one(AGG)

    assert (run.accelerator_name, run.accelerator_count) == ("MI355X", Decimal(4))
    forms = {
        "h200-nb": "SXM",
        "h200-nvl": "NVL",
        "gb300-nv": "NVL72",
        "rtx-pro-6000": None,
    }  # a runner's name, or a form
    assert {name: one(ROW, hardware=name).form_factor for name in forms} == forms
    assert (run.output_rate, run.input_rate, run.total_rate) == (Decimal(400), Decimal(400), Decimal(800))
    assert (run.scenario, run.software, run.parallelism) == ("1k/1k", "vllm (rocm/vllm:1)", "TP4 EP1")
    assert (run.acceptance_length, "speculative decoding: mtp" in run.note) == (None, True)
    assert (one(ROW).acceptance_length, one(ROW).ttft_ms) == (Decimal(1), Decimal("118.8"))
    assert "80 to 100 %" in run.note


def test_disaggregated_rates_divide_by_the_gpus_of_their_role() -> None:
    """94.892 x 32 out, 762.506 x 4 in; all 36 are billed."""
    run = one(SPLIT)

    assert (run.output_rate, run.input_rate) == (Decimal("3036.544"), Decimal("3050.024"))
    assert (run.accelerator_count, run.is_disaggregated) == (Decimal(36), True)


def test_newer_disaggregated_rates_divide_by_all_gpus() -> None:
    """Where the two sum to the total, both divide by all 36."""
    run = one(SPLIT, metrics_input_tput_per_gpu=84.723, metrics_output_tput_per_gpu=84.348)

    assert (run.output_rate, run.input_rate) == (Decimal("3036.528"), Decimal("3050.028"))


@pytest.mark.parametrize(("prefill", "decode"), [(36, 36), (32, 4), (4, 4)])
def test_disaggregated_rates_that_fit_no_denominator_are_refused(prefill: int, decode: int) -> None:
    """Eight rows of the API were of that kind."""
    with pytest.raises(BenchmarkRefused, match="is neither"):
        one(SPLIT, num_prefill_gpu=prefill, num_decode_gpu=decode)


def test_tp_times_ep_is_no_number_of_gpus() -> None:
    """4 users at 72 tokens/s get 290 at the most: 34.387 x 8 = 275 can be, 34.387 x 64 = 2,201 cannot."""
    run = one(ROW, decode_ep=8, num_prefill_gpu=64, num_decode_gpu=64)

    assert (run.accelerator_count, run.output_rate) == (Decimal(8), Decimal("275.096"))
    assert "the file counts 64 GPUs" in run.note


def test_gpus_that_the_latencies_do_not_settle_are_refused() -> None:
    """Two numbers and no latency: which of them it was is not guessed."""
    with pytest.raises(BenchmarkRefused, match="GPUs are 8 or 64, and which is open"):
        one(ROW, num_prefill_gpu=64, num_decode_gpu=64, metrics_mean_e2el=None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metrics_median_tpot": 13.815}, "are not 1 / 13.815 s"),
        ({"metrics_tput_per_gpu": 34.387}, "not the sum of 34.723 and 34.387"),
        ({"metrics_output_tput_per_gpu": 50.0, "metrics_tput_per_gpu": 84.723}, "more than 4 requests in flight give"),
        ({"metrics_output_tput_per_gpu": 0, "metrics_tput_per_gpu": 34.723}, "a rate of 0"),
        ({"metrics_mean_ttft": 308}, "a first token after 308"),
        ({"metrics_server_gpu_cache_hit_rate": 93.4}, "not from 0 to 1"),
        ({"metrics_output_tput_tps": 34.387}, "the rate per GPU times 8"),
        ({"metrics_num_requests_total": 9, "metrics_num_requests_successful": 10}, "more than the 9 that were sent"),
        ({"metrics_num_requests_total": 9, "metrics_num_requests_successful": 0}, "no request was completed"),
        ({"metrics_num_requests_total": 40, "metrics_num_requests_successful": 40, "metrics_duration_seconds": 1},
         "makes 277.784, not 40960"),
    ],
)  # fmt: skip
def test_a_row_that_contradicts_itself_is_refused(changes: dict[str, Any], reason: str) -> None:
    """Milliseconds among them, that stand where seconds belong."""
    with pytest.raises(BenchmarkRefused) as refused:
        one(ROW, **changes)

    assert reason in refused.value.message


def test_requests_that_failed_are_counted() -> None:
    """Of 100, ten failed: shown, never ranked, even in an official run."""
    run = one(ROW, metrics_num_requests_total=100, metrics_num_requests_successful=90)

    assert (run.error_share, run.evidence_grade) == (Decimal("0.1"), "D")


@pytest.mark.parametrize(
    ("row", "changes"),
    [(ROW, {"num_decode_gpu": None, "num_prefill_gpu": None, "decode_tp": None}), (ROW, {"metrics_tput_per_gpu": None}),
     (ROW, {"disagg": "perhaps"}), (SPLIT, {"metrics_input_tput_per_gpu": None}), (SPLIT, {"num_prefill_gpu": None})],
)  # fmt: skip
def test_another_form_is_an_error(row: dict[str, Any], changes: dict[str, Any]) -> None:
    """Nothing is put in the place of what is absent."""
    with pytest.raises(LayoutChanged):
        one(row, **changes)


# The form of agentic files since July 2026; the figures of a run of 2026-06-03 on MI355X, rounded: results/0603 of
# https://github.com/ajith-sirra-amd/InferenceMAX_Rocm_Team/tree/598828615e7701f3f4f8ac5b1da2dbb49fe11460
NESTED: dict[str, Any] = {
    "hw": "cluster:mi355x-amds", "conc": 8, "model": "amd/MiniMax-M2.5-MXFP4", "framework": "vllm", "precision": "fp4",
    "spec_decoding": "none", "disagg": False, "is_multinode": False, "scenario_type": "agentic-coding", "num_gpus": 1,
    "tp": 1, "ep": 1, "dp_attention": "false", "num_requests_total": 390, "num_requests_successful": 382,
    "request_accounting": {"records_total": 390, "records_warmup_dropped": 8, "records_error_dropped": 0},
    "request_metrics": {
        "latency": {
            "ttft": {"mean": 1.783, "p50": 0.9}, "e2el": {"mean": 28.8417, "p50": 20.1},
            "tpot": {"mean": 0.0454, "p50": 0.0441}, "itl": {"mean": 0.0454, "p50": 0.0441, "p90": 0.0549},
            "intvty": {"p50": 22.676}, "full_response_itl": {"p50": 0.05, "p90": 0.06},
        },
        "tokens": {"input": {"mean": 117947.4}, "output_actual": {"mean": 597.759}},
        "throughput": {
            "input": {"tokens_per_second": 24813.6}, "output": {"tokens_per_second": 125.756},
            "total": {"tokens_per_second": 24939.4}, "duration_seconds": 1815.77,
            "per_gpu": {"total_tput_tps": 24939.4, "output_tput_tps": 125.756, "input_tput_tps": 24813.6},
        },
    },
    "server_metrics": {"cache": {"gpu_cache_hit_rate": 0.9427}},
}  # fmt: skip


def test_nested_figures_are_read() -> None:
    """With the speed over whole answers, where it is told; a warm-up is no failure."""
    run = one(NESTED)

    assert (run.accelerator_name, run.accelerator_count, run.scenario) == ("MI355X", Decimal(1), "agentic-coding")
    assert (run.output_rate, run.input_rate) == (Decimal("125.756"), Decimal("24813.6"))
    assert (run.input_length, run.output_length) == (Decimal("117947.4"), Decimal("597.759"))
    assert (run.interactivity, run.interactivity_statistic, run.ttft_ms) == (Decimal(20), "median", Decimal(900))
    assert (run.prefix_cache_hit_share, run.error_share) == (Decimal("0.9427"), 0)


def test_speculation_in_agentic_runs_is_simulated() -> None:
    """Since 2026-07-10 the rules pin its acceptance: https://github.com/SemiAnalysisAI/InferenceX/pull/2160 ."""
    agentic = one({**NESTED, "spec_decoding": "eagle"})

    assert (agentic.acceptance_length, one(NESTED).acceptance_length) == (None, Decimal(1))
    assert "speculative decoding: eagle, its acceptance simulated since July 2026" in agentic.note
    assert "simulated" not in one(NESTED).note + one(AGG).note


def test_the_interactivity_of_agentic_rows_is_of_the_time_between_tokens() -> None:
    """The API keeps the older time per output token beside it, and 1 / that is not what it shows."""
    run = one(
        ROW, isl=None, osl=None, metrics_mean_input_tokens=1024, metrics_mean_output_tokens_actual=1024,
        metrics_median_itl=0.015, metrics_median_intvty=66.667,
    )  # fmt: skip

    assert run.interactivity == Decimal("66.6666666667")


def test_pipeline_stages_have_gpus_of_their_own() -> None:
    """The API keeps their number with the metrics; the number of GPUs that a file states is that of all."""
    assert one(AGG, pp=2).accelerator_count == 8
    assert one(ROW, conc=8, num_prefill_gpu=16, num_decode_gpu=16, metrics_pp=2).accelerator_count == 16
    run = one(
        ROW, conc=8, num_prefill_gpu=16, num_decode_gpu=0, decode_tp=0, decode_ep=0, num_aggregate_gpu=16, prefill_tp=16
    )
    assert (run.accelerator_count, run.parallelism) == (16, "TP16")


def test_two_kinds_of_chips_are_refused() -> None:
    """There is no one price for them."""
    assert one(SPLIT, prefill_hw="gb200", decode_hw="cluster:gb200-nv").accelerator_name == "GB200"
    with pytest.raises(BenchmarkRefused, match="ran on several kinds of chips: gb200, h200"):
        one(SPLIT, prefill_hw="h200", decode_hw="gb200")


def test_a_run_that_missed_its_gate_is_never_ranked() -> None:
    """More than 5 % of its requests failed: InferenceX keeps such a file, and does not publish it."""
    outcome = {"status": "failed", "requested": 160, "completed": 150, "failed": 10, "max_failure_rate": 0.05}
    run = one(AGG, {"source_url": OFFICIAL}, benchmark_outcome=outcome)

    assert (run.error_share, run.evidence_grade) == (Decimal("0.0625"), "D")


@pytest.mark.parametrize(("mtp", "tokens"), [("on", None), ("off", Decimal(1))])
def test_the_first_files_tell_of_speculation_in_a_word_of_their_own(mtp: str, tokens: Decimal | None) -> None:
    """Of 2025: "mtp"."""
    run = one(AGG, spec_decoding=None, mtp=mtp)

    assert (run.acceptance_length, "speculative decoding: mtp" in run.note) == (tokens, mtp == "on")
