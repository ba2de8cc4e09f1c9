"""MLPerf: only valid runs are results; tokens of training come from the log, and only where sequences are full."""

import json
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from extract.benchmarks import BenchmarkIncomplete, BenchmarkRefused, read
from warehouse.errors import LayoutChanged

WORDS = {"model": "llama-2-70b", "accelerator": "B200 SXM", "accelerator_count": "8", "precision": "fp4"}
TRAINING = {"accelerator": "H100 SXM", "accelerator_count": "512", "precision": "fp8"}

# LoadGen's form; figures of NVIDIA's 8 x B200 in Inference v5.1 (mlcommons/inference_results_v5.1).
SERVER = """\
================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 361.30
Completed tokens per second: 99123.04
Result is : VALID
  Performance constraints satisfied : Yes

================================================
Additional Stats
================================================
Scheduled samples per second : 363.79
Max latency (ns)                : 134234488037
99.00 percentile first token latency (ns)   : 436315697
99.00 percentile time to output token (ns)   : 132366416

================================================
Test Parameters Used
================================================
target_qps : 364
"""


def loadgen(text: str = SERVER, **words: str) -> SimpleNamespace:
    (run,) = read(text.encode(), "mlperf_log_summary.txt", {**WORDS, **words})
    return SimpleNamespace(**run)


def test_a_summary_is_read() -> None:
    """Nanoseconds as ms; completed, not scheduled or asked for; no input is counted."""
    run = loadgen()

    assert (run.output_rate, run.input_rate, run.unit_of_work) == (Decimal("99123.04"), None, "token")
    assert (run.ttft_ms, run.interactivity) == (Decimal("436.315697"), Decimal("7.55478640443"))


@pytest.mark.parametrize(
    ("line", "other", "field"),
    [
        ("Result is : VALID", "Result is : INVALID", "Result is"),
        ("Mode     : PerformanceOnly", "Mode     : AccuracyOnly", "Mode"),
        ("Mode     : PerformanceOnly", "Mode     : FindPeakPerformance", "Mode"),
        ("Scenario : Server", "Scenario : SingleStream", "Scenario"),
        ("tokens per second: 99123.04", "tokens per second: nan", "Completed tokens per second"),
        ("tokens per second: 99123.04", "tokens per second: 0", "Completed tokens per second"),
        ("first token latency (ns)   : 4", "first token latency (ns)   : 9999994",
         "99.00 percentile first token latency (ns)"),
    ],
)  # fmt: skip
def test_a_summary_that_is_no_result_is_refused(line: str, other: str, field: str) -> None:
    """An invalid run, a run for accuracy, a scenario of latency only."""
    assert line in SERVER
    with pytest.raises(BenchmarkRefused) as refused:
        loadgen(SERVER.replace(line, other))

    assert refused.value.field == field


def test_a_round_is_named_as_mlperf_names_it() -> None:
    """v5.1, so that two ways to write it make no two benchmarks."""
    assert loadgen(round="v5.1").benchmark == "MLPerf Inference v5.1"
    with pytest.raises(BenchmarkRefused, match="not the name of a round"):
        loadgen(round="5.1")


@pytest.mark.parametrize("cut", ["Result is : VALID\n", "Mode     : PerformanceOnly\n"])
def test_a_summary_that_does_not_say_so_is_no_result(cut: str) -> None:
    """Silence is not validity."""
    with pytest.raises(LayoutChanged):
        loadgen(SERVER.replace(cut, ""))


def test_a_model_without_tokens_is_counted_in_samples() -> None:
    """Which the user may call images; tokens they are not."""
    text = SERVER.replace("Completed tokens per second: 99123.04\n", "")

    assert (loadgen(text).output_rate, loadgen(text).unit_of_work) == (Decimal("361.30"), "sample")
    assert loadgen(text, unit="image").unit_of_work == "image"
    with pytest.raises(BenchmarkRefused, match="the file counts tokens"):
        loadgen(unit="image")


@pytest.mark.parametrize(
    ("url", "grade"),
    [
        ("https://github.com/mlcommons/inference_results_v5.1/tree/main/closed/NVIDIA/results/B200/Server", "A"),
        ("https://mlcommons.org/benchmarks/inference-datacenter/?result=5.1-0072", "A"),
        ("https://github.com/mlcommons/inference_results_v5.1/tree/main/open/NVIDIA/results/B200/Server", "C"),
        ("https://github.com/mlcommons/inference_results_v5.1", "C"),
        ("https://github.com/mlcommons/training_results_v5.1/tree/main/NVIDIA/results/x", "C"),
        ("https://mlcommons.org.evil.com/5.1-0072", "C"),
    ],
)  # fmt: skip
def test_only_the_address_of_a_reviewed_result_is_graded_a(url: str, grade: str) -> None:
    """Of one result, of that benchmark, in the closed division."""
    assert loadgen(source_url=url).evidence_grade == grade


def log(
    *, benchmark: str = "llama31_405b", status: str | None = "success", prefix: str = "", last: dict[str, Any] | None
    = None, start: Any = 1715043829220, stop: Any = 1715046977115, **values: Any
) -> bytes:  # fmt: skip
    """Return a log in MLLOG's form, with the times of NVIDIA's run of gpt3 on 512 H100 in Training v4.0."""
    events: list[dict[str, Any]] = [{"key": "submission_benchmark", "value": benchmark}]
    events += [{"key": key, "value": value} for key, value in values.items()]
    events += [{"key": "run_start", "value": None, "time_ms": start, "metadata": {}}]
    events += [
        {"key": "eval_accuracy", "value": 3.0, "metadata": {"samples_count": 2304}},
        {"key": "eval_accuracy", "value": 2.69, "metadata": last or {"samples_count": 36864}},
    ]
    if status is not None:
        events += [{"key": "run_stop", "value": None, "time_ms": stop, "metadata": {"status": status}}]
    return "\n".join(["starting", *(f"{prefix}:::MLLOG {json.dumps(event)}" for event in events)]).encode()


def trained(body: bytes, **words: str) -> SimpleNamespace:
    (run,) = read(body, "result_0.txt", {**TRAINING, **words})
    return SimpleNamespace(**run)


def test_sequences_become_tokens_by_their_length() -> None:
    """36,864 x 8,192 tokens in 3,147.895 s."""
    run = trained(log(max_sequence_length=8192, global_batch_size=2304))

    assert (run.total_rate, run.unit_of_work) == (Decimal("95933.9139330"), "token")
    assert (run.model_name, run.input_length, run.output_rate) == ("Llama-3.1-405B", Decimal(8192), None)
    assert trained(log(max_sequence_length=8192, prefix="17: ")).total_rate == run.total_rate


def test_a_length_that_the_log_lacks_is_asked_for() -> None:
    """llama2_70b_lora logs none."""
    body = log(benchmark="llama2_70b_lora", last={"samples_count": 3072})

    with pytest.raises(BenchmarkIncomplete) as lacking:
        trained(body)
    run = trained(body, sequence_length="8192")

    assert lacking.value.field == "sequence_length"
    assert (run.total_rate, run.unit_of_work) == (Decimal("7994.49282775"), "token")
    with pytest.raises(BenchmarkRefused, match="contradicts the file, which says 4096"):
        trained(log(max_sequence_length=4096), sequence_length="8192")


CISCO: dict[str, Any] = {
    "max_sequence_length": 8192, "last": {"samples_count": 196608}, "start": 1778214510378, "stop": 1778219225464,
}  # fmt: skip
"""A run of Training v6.0 on 8 B300: https://github.com/Richardyu114/training_results_v6.0/blob/eabf23a0/Cisco/results"""


@pytest.mark.parametrize(("benchmark", "model"), [("gpt_oss_20b", "gpt-oss-20b"), ("deepseekv3_671b", "DeepSeek-V3")])
def test_the_models_of_training_v6_count_tokens(benchmark: str, model: str) -> None:
    """Both are trained on full sequences; a placeholder of NVIDIA's container is nobody's name. Cisco's run of B300."""
    held = {"submission_org": "SUBMISSION_ORG_PLACEHOLDER", "submission_platform": "1xSUBMISSION_PLATFORM_PLACEHOLDER"}
    run = trained(log(benchmark=benchmark, **CISCO, **held), round="v6.0")

    assert (run.model_name, run.unit_of_work, run.total_rate) == (model, "token", Decimal("341587.138814"))
    assert run.measured_by is None and "PLACEHOLDER" not in run.note


def test_chips_and_precision_of_a_log_are_believed_before_the_user() -> None:
    """NVIDIA's container logs the system, and before it what the shell prints; AMD's logs, the lowest precision."""
    system = {"system_name": "", "accelerators_per_node": "4", "accelerator_model_name": "NVIDIA B300 SXM6 AC"}
    line = f":::SYSJSON {json.dumps(system | {'number_of_nodes': '2'})}"
    body = f"+ echo '{line}'\n{line}\n".encode() + log(
        benchmark="gpt_oss_20b", **CISCO, lowest_numerical_precision_linear="mxfp4"
    )
    (run,) = read(body, "result_0.txt", {})
    found = (run["accelerator_name"], run["form_factor"], run["accelerator_count"], run["precision"])
    assert found == ("B300", "SXM", 8, "mxfp4")
    for name, word in (("accelerator", "H100 SXM"), ("accelerator_count", "4"), ("precision", "bf16")):
        with pytest.raises(BenchmarkRefused, match="contradicts the file") as refused:
            read(body, "result_0.txt", {name: word})
        assert refused.value.field == name
    later = log(**CISCO, lowest_numerical_precision_in_linear="bfloat16")
    assert trained(later, precision="bf16").precision == "bf16"
    with pytest.raises(LayoutChanged, match="line 2 is no event"):
        trained(b"start\n:::SYSJSON {broken}\n" + later)


def test_a_log_of_the_open_division_is_never_ranked() -> None:
    """Its model may be another one, at an official address too."""
    url = "https://github.com/mlcommons/training_results_v5.1/tree/main/NVIDIA/results/8xB200/llama31_8b"
    assert [
        trained(log(**CISCO, submission_division=division), source_url=url).evidence_grade
        for division in ("closed", "open")
    ] == ["A", "D"]


def test_of_gpt3_epoch_num_counts_tokens() -> None:
    """1,245,708,288 is 264 batches of 2,304 x 2,048 tokens; a number that is none was something else."""
    shape: dict[str, Any] = {"benchmark": "gpt3", "global_batch_size": 2304, "max_sequence_length": 2048}

    assert trained(log(**shape, last={"epoch_num": 1245708288})).total_rate == Decimal("395727.394973")
    with pytest.raises(BenchmarkRefused, match="not a whole number of batches of 4718592 tokens"):
        trained(log(**shape, last={"epoch_num": 608256}))
    with pytest.raises(LayoutChanged):
        trained(log(benchmark="gpt3", max_sequence_length=2048, last={"epoch_num": 1245708288}))


def test_sequences_that_are_not_full_stay_samples() -> None:
    """BERT pads its sequences: 512 tokens each would be too many."""
    run = trained(log(benchmark="bert", max_sequence_length=512), model="bert-large")

    assert (run.unit_of_work, run.total_rate) == ("sample", Decimal("11.7106828531"))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (log(status="aborted"), "run_stop"), (log(status=None), "run_stop"), (log(stop=1715043829220), "run_stop"),
        (log(stop=1715043829), "run_stop"),
        (log(last={"samples_count": 0}, max_sequence_length=8192), "samples_count"),
        (log(benchmark="resnet", last={"epoch_num": 37}), "samples_count"),
        (log(last={"epoch_num": 3}, global_batch_size=2304, max_sequence_length=8192), "samples_count"),
    ],
)  # fmt: skip
def test_a_run_that_is_no_result_is_refused(body: bytes, field: str) -> None:
    """Aborted, cut off before its end, or without a count of what it trained on."""
    with pytest.raises(BenchmarkRefused) as refused:
        trained(body, model="llama-3.1-405b")

    assert refused.value.field == field


def test_a_damaged_event_is_named() -> None:
    """Line by line."""
    with pytest.raises(LayoutChanged, match="line 2 is no event"):
        trained(b'start\n:::MLLOG {"key": "run_start"')
    with pytest.raises(LayoutChanged, match="line 1 is no event"):
        trained(b':::MLLOG ["run_start"]')
    with pytest.raises(LayoutChanged, match="expected a time since 1970, in 1/1000 s"):
        trained(log(start=1, stop=2))


# A whole round: the form of summary.json; figures of AMD's and NVIDIA's results in mlcommons/inference_results_v6.1.
RESULT: dict[str, Any] = {
    "Organization": "AMD", "Availability": "available", "Division": "closed", "SystemType": "datacenter",
    "Platform": "8xMI355X_2xEPYC_9575F", "Model": "llama2-70b-99.9", "MlperfModel": "llama2-70b-99.9",
    "Scenario": "Server", "Result": 103275.0, "Accuracy": "ROUGE1: 44.5266", "number_of_nodes": 1,
    "accelerator_model_name": "AMD Instinct MI355X 288GB HBM3e", "accelerators_per_node": 8, "total_accelerators": 8,
    "Location": "./closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99.9/Server/performance/run_1",
    "framework": "PyTorch 2.10.0", "notes": None, "version": "v6.1", "inferred": 0, "Units": "Tokens/s",
    "weight_data_types": "fp4",
}  # fmt: skip
LEFT_OUT: dict[str, dict[str, Any]] = {
    "count no tokens of a language model": {"Model": "dlrm-v3", "MlperfModel": "dlrm-v3", "Units": "Samples/s"},
    "are of processors alone": {"accelerator_model_name": None, "accelerators_per_node": 0, "Platform": "cpu"},
    "are of a chip that is not known, or of several kinds": {
        "accelerator_model_name": "NVIDIA H200-SXM-141GB + AMD Instinct MI350X 288GB HBM3e", "Platform": "both",
        "accelerators_per_node": "8, 4",
    },
    "are of deepseek-v3, whose rules are not known here": {"Model": "deepseek-v3-99"},
    "are carried over from a stricter target": {"Scenario": "Interactive", "inferred": 1},
    "are of a second target of a run": {"Model": "llama2-70b-99"},
}  # fmt: skip


def round_of(*results: dict[str, Any]) -> list[SimpleNamespace]:
    body = json.dumps({str(n): RESULT | each for n, each in enumerate(results)})
    return [SimpleNamespace(**run) for run in read(body.encode(), "summary.json", {})]


def test_a_round_is_read_whole() -> None:
    """A result has its round, chips and limits of the rules, and the address of its folder; no word is needed."""
    (run,) = round_of({})
    assert (run.benchmark, run.model_name, run.task, run.scenario) == (
        "MLPerf Inference v6.1", "llama2-70b-99.9".removesuffix("-99.9"), "serving", "Server",
    )  # fmt: skip
    assert (run.accelerator_name, run.accelerator_count, run.precision) == ("MI355X", 8, "fp4")
    assert (run.output_rate, run.input_rate, run.output_length) == (103275, None, Decimal("294.45"))
    assert (run.ttft_ms, run.interactivity, run.interactivity_statistic) == (2000, 5, "p99 limit")
    assert (run.acceptance_length, run.measured_by, run.evidence_grade) == (1, "AMD", "A")
    assert run.source_url == (
        "https://github.com/mlcommons/inference_results_v6.1/tree/main/closed/AMD/results/8xMI355X_2xEPYC_9575F/"
        "llama2-70b-99.9/Server"
    )


FINAL = {
    "Organization": "Submitter", "Division": "Category", "number_of_nodes": "Nodes", "framework": "Software",
    "accelerator_model_name": "Accelerator", "accelerators_per_node": "a#", "Model": "UsedModel",
    "MlperfModel": "Model", "Result": "Performance_Result", "Units": "Performance_Units",
}  # fmt: skip
"""What tools/submission/generate_final_report.py calls the fields in summary_results.json, a list: v3.1 to v6.0."""


def test_the_final_report_of_a_round_is_read_as_its_summary(caplog: pytest.LogCaptureFixture) -> None:
    """Its fields have other names; of processors it writes "", of a power run two results, of nothing measured 0."""
    none = {"accelerator_model_name": "", "accelerators_per_node": "", "Platform": "cpu"}
    listed = [{FINAL.get(name, name): value for name, value in (RESULT | each).items()} for each in ({}, none)]
    listed[0] |= {"Location": "closed/AMD/results/8xMI355X_2xEPYC_9575F/llama2-70b-99.9/Server", "Power_Units": "Watts"}
    zero = {name: value for name, value in listed[0].items() if not name.startswith("Performance")}
    listed.append(zero | {"Scenario": "Offline", "Result": 0, "Units": "Samples/s"})
    with caplog.at_level("INFO"):
        (found,) = read(json.dumps(listed).encode(), "summary_results.json", {})
    (expected,) = round_of({})
    assert SimpleNamespace(**found | {"place": None}) == SimpleNamespace(**vars(expected) | {"place": None})
    assert "2 of 3 results are not read" in caplog.text


def test_what_a_round_has_beside_is_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    """Recommendation, processors, mixed chips, inferred results and second targets: each by its reason."""
    with caplog.at_level("INFO"):
        assert len(round_of({}, *LEFT_OUT.values())) == 1
    assert "6 of 7 results are not read" in caplog.text
    assert all(f"1 {reason}" in caplog.text for reason in LEFT_OUT)
    with pytest.raises(BenchmarkRefused, match="no result can be read: 1 are of deepseek-v3"):
        round_of({"Model": "deepseek-v3-99"})


@pytest.mark.parametrize(
    ("declared", "precision"),
    [
        ("fp4", "fp4"), ("INT8", "int8"), ("NVFP4 weights and activations; FP8 KV cache", "nvfp4"),
        ("nvfp4, fp8-kv", "nvfp4"),
        ("fp8,fp4", None), ("fp16,bf16,fp8", None), ("something", None), ("", None),
    ],
)  # fmt: skip
def test_a_list_of_types_is_no_precision(declared: str, precision: str | None) -> None:
    """One type with words about it is that type; of several nobody knows which is the weights', and note has them."""
    (run,) = round_of({"weight_data_types": declared})
    assert run.precision == precision
    assert ("declared" in run.note) is (precision is None)


def test_a_preview_is_b_and_an_open_result_is_never_ranked() -> None:
    """What could not be bought is no official result; the open division may serve another model."""
    preview, opened = round_of({"Availability": "preview"}, {"Division": "open"})
    assert (preview.evidence_grade, opened.evidence_grade) == ("B", "D")
    assert opened.scenario == "Server, open division"
    assert "never ranked" in opened.note


def test_a_count_in_the_chips_name_counts() -> None:
    """87 chips in 11 nodes of 8."""
    (run,) = round_of({"accelerator_model_name": "AMD Instinct MI355X 288GB HBM3e (x87)", "number_of_nodes": 11})
    assert run.accelerator_count == 87
