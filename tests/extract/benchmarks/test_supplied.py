"""The user's words: what they add is taken, what contradicts the file is refused, what is unknown is named."""

import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from extract.benchmarks import BenchmarkIncomplete, BenchmarkRefused, read
from extract.benchmarks.supplied import MEANINGS, PRECISIONS

# The form of `vllm bench serve`, with the figures of llm-d's run of 2025-05-30 on four L40S, rounded.
RUN: dict[str, Any] = {
    "date": "20250530-203806", "model_id": "meta-llama/Llama-3.2-3B-Instruct", "num_prompts": 300,
    "request_rate": "inf", "max_concurrency": 64, "duration": 36.0, "completed": 300, "total_input_tokens": 299700,
    "total_output_tokens": 81050, "output_throughput": 2251.3889, "total_token_throughput": 10576.3889,
    "median_ttft_ms": 53.0, "median_tpot_ms": 13.5,
}  # fmt: skip
WORDS = {"accelerator": "L40S", "accelerator_count": "4", "precision": "bf16"}


def one(words: dict[str, str] | None = None, **fields: Any) -> SimpleNamespace:
    """Return the run with other fields and more words."""
    (run,) = read(json.dumps({**RUN, **fields}).encode(), "run.json", {**WORDS, **(words or {})})
    return SimpleNamespace(**run)


def refusal(words: dict[str, str], **fields: Any) -> BenchmarkRefused:
    """Return the refusal of words for the run."""
    with pytest.raises(BenchmarkRefused) as refused:
        one(words, **fields)
    return refused.value


def test_words_fill_what_the_file_lacks() -> None:
    """Each in its column, typed."""
    run = one(
        {
            "model": "llama-3.2-3b", "parallelism": "TP4", "software": "vLLM 0.9.0", "prefix_cache_hit_share": "0",
            "acceptance_length": "1", "disaggregated": "no", "measured_by": "us", "batch_size": "64",
            "source_url": "https://example.org/run", "measured_on": "2025-05-30",
        }
    )  # fmt: skip

    assert (run.model_name, run.accelerator_name, run.accelerator_count, run.precision) == (
        "llama-3.2-3b", "L40S", Decimal(4), "bf16",
    )  # fmt: skip
    assert (run.parallelism, run.software, run.prefix_cache_hit_share) == ("TP4", "vLLM 0.9.0", Decimal(0))
    assert (run.acceptance_length, run.is_disaggregated, run.measured_by) == (Decimal(1), False, "us")
    assert (run.batch_size, run.source_url) == (Decimal(64), "https://example.org/run")
    assert (run.measured_on, run.evidence_grade) == (date(2025, 5, 30), "C")
    assert "the file names the model meta-llama/Llama-3.2-3B-Instruct" in run.note


def test_a_run_on_a_warm_cache_is_a_scenario_of_its_own() -> None:
    """Ranks are within one scenario; vLLM's file tells nothing of its cache."""
    assert [one({"prefix_cache_hit_share": share}).scenario for share in ("0", "0.8")] == [
        "closed-loop", "closed-loop, 80 % of the input cached",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "precision", "is_refused"),
    [
        ("neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8", "fp16", True),
        ("neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8", "fp8", False),
        ("nvidia/DeepSeek-R1-0528-FP4", "nvfp4", False),
        ("amd/gpt-oss-120b-w-mxfp4-a-fp8", "mxfp4", False),
        ("unsloth/gpt-oss-120b-BF16", "fp8", False),
        ("Qwen/Qwen3-8B-FP8", "bf16", True),
        ("Qwen/Qwen3-8B-FP8", "int4", True),
    ],
)
def test_the_weights_of_a_model_are_as_its_name_says(model: str, precision: str, is_refused: bool) -> None:
    """Quantised weights have that in their name. A name with bf16 says nothing: a server quantises as it loads."""
    body = json.dumps({"output_throughput": 40.0, "total_token_throughput": 80.0, "model_id": model}).encode()
    if is_refused:
        with pytest.raises(BenchmarkRefused, match=f"contradicts the file, which says the model {model}"):
            read(body, "run.json", {**WORDS, "precision": precision})
    else:
        assert read(body, "run.json", {**WORDS, "precision": precision})[0]["precision"] == precision


def test_a_name_that_a_model_is_only_served_under_says_nothing_of_its_weights() -> None:
    body = json.dumps({"output_throughput": 40.0, "total_token_throughput": 80.0, "model_id": "prod-70B-FP8"}).encode()
    words = {**WORDS, "model": "llama-3-70b", "served_as": "prod-70B-FP8"}

    assert read(body, "run.json", words)[0]["precision"] == "bf16"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"model": "llama-3-3b"}, "model"), ({"model": "llama-3.2-1b"}, "model"), ({"model": "llama-3.2"}, "model"),
        ({"output_length": "500"}, "output_length"), ({"input_length": "1024"}, "input_length"),
        ({"concurrency": "128"}, "concurrency"), ({"measured_on": "2025-05-31"}, "measured_on"),
    ],
)  # fmt: skip
def test_a_word_against_the_file_is_refused(words: dict[str, str], field: str) -> None:
    """The file is believed: the actual output is 270 tokens, whatever was asked for."""
    refused = refusal(words)

    assert (refused.field, "contradicts the file" in refused.message) == (field, True)


def test_words_that_agree_are_taken() -> None:
    """Within the digits that the tool prints."""
    assert one({"output_length": "270", "input_length": "999", "concurrency": "64"}).output_length == Decimal(
        "270.166666667"
    )


@pytest.mark.parametrize(
    ("of_file", "of_user", "agree"),
    [
        ("DeepSeek-R1-Distill-Llama-70B", "deepseek-r1", False), ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1", True),
        ("meta.llama2-70b-chat-v1", "llama-2-70b", True), ("meta-llama/Llama-3.1-8B", "llama-3-8b", False),
        ("openai/gpt-oss-20b", "gpt-oss-120b", False), ("Qwen/Qwen3-30B-A3B", "qwen3-30b", True),
        ("ensemble", "llama-3-8b", True), ("prod-v2", "llama-3-8b", False),
    ],
)  # fmt: skip
def test_a_models_name_agrees_or_not(of_file: str, of_user: str, agree: bool) -> None:
    """Another version or size is another model; a name without a digit says nothing of it."""
    if agree:
        assert one({"model": of_user}, model_id=of_file).model_name == of_user
    else:
        assert refusal({"model": of_user}, model_id=of_file).field == "model"


def test_an_alias_is_confirmed_by_name() -> None:
    """Where a deployment's name looks like that of another model, the user says so."""
    run = one({"model": "llama-3-8b", "served_as": "prod-v2"}, model_id="prod-v2")

    assert (run.model_name, "served as prod-v2" in run.note) == ("llama-3-8b", True)
    assert "served_as=prod-v2" in refusal({"model": "llama-3-8b"}, model_id="prod-v2").hint
    assert refusal({"model": "llama-3-8b", "served_as": "other"}, model_id="prod-v2").field == "served_as"
    with pytest.raises(BenchmarkIncomplete, match="lacks model"):
        one({"served_as": "prod-v2"}, model_id="prod-v2")


def test_a_deployments_name_is_no_model() -> None:
    """Of "ensemble" the model is asked for."""
    with pytest.raises(BenchmarkIncomplete) as lacking:
        one(model_id="ensemble")

    assert lacking.value.field == "model"


@pytest.mark.parametrize(
    ("of_file", "of_user", "name"),
    [("4xNVIDIA_L40S", "H100", None), ("4xNVIDIA_L40S", "L40S", "L40S"), ("a fast one", "H100 SXM", "H100")],
)
def test_the_chip_of_the_metadata_is_believed(of_file: str, of_user: str, name: str | None) -> None:
    """Where it names a chip; its number is the user's to give."""
    if name is None:
        assert refusal({"accelerator": of_user}, gpu=of_file).field == "accelerator"
    else:
        assert one({"accelerator": of_user}, gpu=of_file).accelerator_name == name


def test_an_unknown_chip_is_named() -> None:
    """Never the nearest."""
    refused = refusal({"accelerator": "RTX 9999"})

    assert (refused.field, refused.value, refused.message) == (
        "accelerator", "RTX 9999", "not a chip that is known here",
    )  # fmt: skip


def test_a_slice_is_counted_as_a_share_of_its_chip() -> None:
    """A MIG slice is not a chip that one could count."""
    assert "0.25" in refusal({"accelerator": "H100 MIG 1g.10gb"}).hint
    assert one({"accelerator": "H100 SXM", "accelerator_count": "0.25"}).accelerator_count == Decimal("0.25")


AGG = {
    "hw": "h200", "tput_per_gpu": 80.0, "output_tput_per_gpu": 40.0, "conc": 4, "tp": 4, "model": "a/DeepSeek-R1",
    "precision": "fp4", "isl": 1024, "osl": 1024, "disagg": False, "spec_decoding": "none", "framework": "sglang",
}  # fmt: skip


def agg(**words: str) -> SimpleNamespace:
    (run,) = read(json.dumps(AGG).encode(), "agg.json", words)
    return SimpleNamespace(**run)


def test_chips_billed_are_no_fewer_than_those_that_worked() -> None:
    """Four of a machine of eight worked: eight are billed, and the note says so. Three cannot be."""
    assert (agg().accelerator_count, agg(accelerator_count="8").accelerator_count) == (Decimal(4), Decimal(8))
    assert "8 chips billed, of which 4 worked" in agg(accelerator_count="8").note
    assert agg(accelerator_count="8").output_rate == Decimal(160)
    with pytest.raises(BenchmarkRefused, match="4 chips worked"):
        agg(accelerator_count="3")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"disaggregated": "yes"}, "contradicts the file, which says no"),
        ({"parallelism": "TP8"}, "contradicts the file, which says TP4"),
        ({"sequence_length": "1024"}, "only of a training run"),
    ],
)
def test_the_shape_of_the_system_is_the_files(words: dict[str, str], reason: str) -> None:
    """What the file does say is not the user's to change."""
    assert (agg(disaggregated="no").is_disaggregated, agg(parallelism="tp4").parallelism) == (False, "TP4")
    with pytest.raises(BenchmarkRefused, match=reason):
        agg(**words)


def test_a_finer_precision_is_no_contradiction() -> None:
    """nvfp4 is a kind of fp4; fp8 is not."""
    assert (agg().precision, agg(precision="NVFP4").precision) == ("fp4", "nvfp4")
    with pytest.raises(BenchmarkRefused, match="contradicts the file, which says fp4"):
        agg(precision="fp8")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"presicion": "fp8"}, "presicion"), ({"precision": "fp9"}, "precision"),
        ({"accelerator_count": "eight"}, "accelerator_count"), ({"accelerator_count": "0"}, "accelerator_count"),
        ({"accelerator_count": "-1"}, "accelerator_count"), ({"accelerator_count": "NaN"}, "accelerator_count"),
        ({"accelerator_count": "0.12345"}, "accelerator_count"), ({"prefix_cache_hit_share": "93"},
        "prefix_cache_hit_share"), ({"measured_on": "yesterday"}, "measured_on"), ({"source_url": "http://x.org"},
        "source_url"), ({"source_url": "https://x.org/<script>"}, "source_url"), ({"disaggregated": "maybe"},
        "disaggregated"), ({"published_by": "vendor"}, "published_by"), ({"published_by": "me"}, "published_by"),
        ({"round": "5.1"}, "round"), ({"round": "v5.1"}, "round"), ({"unit": "image"}, "unit"), ({"unit": "token"},
        "unit"), ({"sequence_length": "2048"}, "sequence_length"), ({"leave_out": "0"}, "leave_out"),
        ({"leave_out": "one"}, "leave_out"), ({"leave_out": "1"}, "leave_out"), ({"leave_out": "2"}, "leave_out"),
        ({"software": "a\nb"}, "software"), ({"parallelism": "TP8"}, "parallelism"),
        ({"parallelism": "tensor_parallel_size=5"}, "parallelism"),
        ({"measured_by": "x" * 301}, "measured_by"), ({"batch_size": "1e30"}, "batch_size"),
    ],
)  # fmt: skip
def test_a_word_that_cannot_be_is_named(words: dict[str, str], field: str) -> None:
    """With its value, and what it has to be."""
    refused = refusal(words)

    assert (refused.field, refused.source) == (field, "run.json")
    assert refused.hint


def test_an_unknown_word_shows_the_known_ones() -> None:
    """A typing error must not pass for silence."""
    assert all(name in refusal({"gpu": "H100"}).hint for name in MEANINGS)
    assert all(name in refusal({"precision": "half"}).message for name in PRECISIONS)


@pytest.mark.parametrize(
    ("words", "grade"),
    [
        ({}, "C"), ({"source_url": "https://mlcommons.org/benchmarks/inference-datacenter/"}, "C"),
        ({"published_by": "vendor", "source_url": "https://vendor.com/paper"}, "B"),
        ({"published_by": "user"}, "C"),
    ],
)  # fmt: skip
def test_a_run_of_a_user_is_graded_c(words: dict[str, str], grade: str) -> None:
    """A vendor's document with its address B; no address makes a run of vLLM official."""
    assert one(words).evidence_grade == grade


def test_users_make_no_more_than_their_speed_allows() -> None:
    """Of 64 users at 13.5 ms a token come 4,741 tokens a second at most, and twice that at the ends of a short run."""
    refused = refusal({}, duration=3.6, output_throughput=22513.889, total_token_throughput=105763.889)
    assert (refused.field, "more than 64 users at 74.07" in refused.message) == ("output_rate", True)


def test_many_errors_are_shown_and_never_ranked() -> None:
    """16 of 300 requests are 5.3 %; 15 are not above the limit."""
    failing, passing = (one(completed=300 - n, total_output_tokens=81050, num_prompts=300, failed=n) for n in (16, 15))

    assert (failing.evidence_grade, "5.33 % of the requests failed" in failing.note) == ("D", True)
    assert (passing.evidence_grade, passing.error_share) == ("C", Decimal("0.05"))


def test_a_load_that_is_unknown_is_never_ranked() -> None:
    """Neither a cap nor a rate: what the system was asked to do cannot be said."""
    run = one(request_rate=None, max_concurrency=None)

    assert (run.evidence_grade, run.concurrency, run.scenario) == ("D", None, None)
    assert "concurrency unknown" in run.note
    assert one({"concurrency": "64"}, request_rate=None, max_concurrency=None).evidence_grade == "C"


@pytest.mark.parametrize(
    ("of_file", "of_user", "name", "form_factor"),
    [
        ("NVIDIA A100", "A100 80GB", "A100-80GB", None), ("NVIDIA A100-SXM4-80GB", "A100", "A100-80GB", "SXM"),
        ("NVIDIA H100", "H100 SXM", "H100", "SXM"),
    ],
)  # fmt: skip
def test_of_two_names_of_a_chip_the_finer_is_taken(of_file: str, of_user: str, name: str, form_factor: str) -> None:
    """Whoever says more: the file or the user."""
    run = one({"accelerator": of_user}, gpu=of_file)

    assert (run.accelerator_name, run.form_factor) == (name, form_factor)


@pytest.mark.parametrize(
    ("of_file", "of_user"), [("NVIDIA A100-SXM4-40GB", "A100 80GB"), ("H100 SXM", "H100 PCIe"), ("H100", "H200")]
)
def test_another_chip_is_refused(of_file: str, of_user: str) -> None:
    """Another memory that makes another product, another form, another chip."""
    assert refusal({"accelerator": of_user}, gpu=of_file).field == "accelerator"


def test_a_row_that_the_model_of_runs_refuses_is_named_with_its_place() -> None:
    """No requests in flight measure nothing; the error says where, which column, the value, and what to do."""
    whole = json.dumps(AGG)
    broken = json.dumps({**AGG, "conc": 0})

    with pytest.raises(BenchmarkRefused) as refused:
        read(f"{whole}\n{broken}".encode(), "agg.jsonl", {"accelerator": "H200"})

    error = refused.value
    assert (error.source, error.field, error.value) == ("agg.jsonl", "concurrency", Decimal(0))
    assert error.message == "run 2 of 2: not above 0"
    assert "--set leave_out=2" in error.hint
