"""Every shipped figure held against the reference data, and every row of that accounted for: shipped, or why not."""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from warehouse.reference import models, throughput

Rows = list[dict[str, str]]
Run = Mapping[str, Any]
ACCOUNTED = {
    "mlperf": {
        "shipped": 824, "second accuracy target of a run": 232, "inferred from the stricter target": 54, "CPU": 24,
        "chip without a published peak": 32, "mixed chips": 12, "v6.1, partial": 6,
    },
    "neuron": {"shipped": 307},
    "inferencex": {
        "shipped": 1017, "beaten on the day of the run": 639,
        "a post's table, total per GPU alone": 144, "copied by a third party": 8, "its own numbers contradict": 1,
    },
}  # fmt: skip
"""What became of the rows of each file."""
MISCOUNTED = {("64", "8", "8"): 264, ("16", "4", "4"): 99}
"""Rows of one node by GPUs stated, tensor and expert parallel: they count tp x ep, where tp GPUs did the work."""


@pytest.fixture(scope="module")
def shipped() -> list[dict[str, Any]]:
    return throughput.read_table()


def of(shipped: list[dict[str, Any]], *families: str) -> list[dict[str, Any]]:
    return [run for run in shipped if run["benchmark_family"] in families]


def read(shared: Path, name: str) -> Rows:
    with (shared / "data" / f"throughput_{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def near(one: Decimal, other: Decimal, tolerance: str = "0.00002") -> bool:
    return abs(one - other) <= Decimal(tolerance) * abs(other)


# MLPerf


def target(row: Mapping[str, str]) -> tuple[str, ...]:
    model = re.sub(r"-99(\.9)?$", "", row["model"])
    return row["round"], row["submitter"], row["platform"], model, row["scenario"], row["precision"]


def mlperf_fate(row: Mapping[str, str], strict: set[tuple[str, ...]]) -> str:
    if row["round"] == "inference v6.1":
        return "v6.1, partial"
    if row["accelerator"].startswith("CPU"):
        return "CPU"
    if "Arc Pro" in re.sub(r"\(R\)", "", row["accelerator"]):
        return "chip without a published peak"
    if row["notes"].startswith("mixed accelerators"):
        return "mixed chips"
    if row["inferred"] == "1":
        return "inferred from the stricter target"
    return "second accuracy target of a run" if row["model"].endswith("-99") and target(row) in strict else "shipped"


def folder(row: Mapping[str, str]) -> str:
    """Return the folder of a result within its repository, which its address must end in."""
    path = row["source_path"].partition(":")[2].rpartition("#")[2].removeprefix("./").rstrip("/")
    return row["source_path"].partition(":")[0] + "/" + re.sub(r"/performance/run_1.*$", "", path)


def test_mlperf_rates_are_those_of_the_reference(shared, shipped):
    """Each result stands once, with the rate, chips, precision and submitter of its folder; nothing else is shipped."""
    source = read(shared, "mlperf")
    strict = {target(row) for row in source if row["model"].endswith("-99.9") and row["inferred"] != "1"}
    fates = Counter(mlperf_fate(row, strict) for row in source)
    wanted = {folder(row): row for row in source if mlperf_fate(row, strict) == "shipped"}
    found = {
        re.sub(r"^https://github\.com/(.+)/tree/[0-9a-f]+/", r"\1/", run["source_url"]): run
        for run in of(shipped, "mlperf_inference", "mlperf_training")
    }
    assert ACCOUNTED["mlperf"] == fates
    assert wanted.keys() == found.keys()
    assert len(wanted) == len(of(shipped, "mlperf_inference", "mlperf_training"))
    for place, row in wanted.items():
        run = found[place]
        rate = run["total_rate"] if row["task"] == "training" else run["output_rate"]
        assert (Decimal(row["tokens_per_second"]), Decimal(row["accelerator_count"])) == (
            rate, run["accelerator_count"],
        )  # fmt: skip
        assert (row["precision"] or None, row["submitter"]) == (run["precision"], run["measured_by"])
        assert run["benchmark"] == f"MLPerf {row['round'].capitalize()}"
        assert ("B" if row["availability"].lower() == "preview" else "A") == run["evidence_grade"]
        per_chip = Decimal(row["tokens_per_second_per_accelerator"])
        assert near(rate / run["accelerator_count"], per_chip, "0.001")
        if row["task"] == "training":
            assert (Decimal(row["max_sequence_length"]), Decimal(row["global_batch_size"])) == (
                run["input_length"], run["batch_size"],
            )  # fmt: skip


def test_mlperf_tells_no_input_and_its_limits_are_limits(shared, shipped):
    """No result has input tokens; what Server and Interactive had to keep is the p99 limit of the rules."""
    with (shared / "data" / "mlperf_inference_workloads.csv").open(newline="") as file:
        rules = {models.find(row["model"]).model_name: row for row in csv.DictReader(file)}
    for run in of(shipped, "mlperf_inference"):
        rule = rules[run["model_name"]]
        limit = {"Server": "server", "Interactive": "interactive"}.get(run["scenario"])
        tpot = Decimal(rule[f"{limit}_tpot_ms"]) if limit else None
        assert (run["input_rate"], run["total_rate"]) == (None, None)
        assert ("serving" if limit else "offline") == run["task"]
        assert ("p99 limit" if limit else None) == run["interactivity_statistic"] == run["ttft_statistic"]
        if tpot:
            assert near(run["interactivity"], 1000 / tpot, "0.001")
            assert Decimal(rule[f"{limit}_ttft_ms"]) == run["ttft_ms"]
        speculative = run["scenario"] == "Interactive" and "Interactive" in rule["speculative_decoding"]
        assert (None if speculative else 1) == run["acceptance_length"]


# AWS Neuron


def neuron_key(file: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    rate = row.get("tokens_per_second") or row.get("output_rate") or row.get("total_rate")
    batch = row.get("global_batch_size") or row.get("batch_size") or row.get("concurrency")
    return file, Decimal(rate), Decimal(batch), Decimal(row["accelerator_count"])


def test_neuron_rates_are_those_of_the_reference(shared, shipped):
    """Each row of the documentation stands with its rate, batch and chips, of the whole machine that is billed."""
    wanted = defaultdict(list)
    for row in read(shared, "neuron"):
        wanted[neuron_key(row["source_path"].partition(":")[2], row)].append(row)
    found = defaultdict(list)
    for run in of(shipped, "neuron"):
        if run["unit_of_work"] == "token":
            commit, path = re.fullmatch(r"\S+?/blob/([0-9a-f]+)/(.+)", run["source_url"]).groups()
            found[neuron_key(f"{path}@{commit}", run)].append(run)
    assert {key: len(rows) for key, rows in wanted.items()} == {key: len(runs) for key, runs in found.items()}
    assert ACCOUNTED["neuron"]["shipped"] == sum(map(len, found.values()))
    for key, rows in wanted.items():
        basis = Counter(row["token_basis"].startswith("output") for row in rows)
        assert basis == Counter(run["output_rate"] is not None for run in found[key])
        assert Counter(row["precision"].removeprefix("matmult-").startswith("fp") for row in rows) == Counter(
            run["precision"].startswith("fp") for run in found[key]
        )
        lengths = Counter((row["input_length"] or row["sequence_length"], row["output_length"]) for row in rows)
        assert lengths == Counter(
            tuple("" if run[name] is None else str(run[name]) for name in ("input_length", "output_length"))
            for run in found[key]
        )


def test_neuron_rows_that_contradict_themselves_are_never_ranked(shared, shipped):
    """The 13 rows that disagree with their own latencies, and one called illustrative, have grade D and the reason."""
    flagged = [row for row in read(shared, "neuron") if row["consistency_flag"] or "illustrative" in row["notes"]]
    weak = [run for run in of(shipped, "neuron") if run["evidence_grade"] == "D" and run["unit_of_work"] == "token"]
    assert sorted(Decimal(row["tokens_per_second"]) for row in flagged) == sorted(run["output_rate"] for run in weak)
    assert all("never ranked" in run["note"] for run in weak)


def test_other_workloads_name_their_unit(shipped):
    """Encoders count sequences, vision models images; those that contradict themselves have grade D with the reason."""
    others = [run for run in of(shipped, "neuron") if run["unit_of_work"] != "token"]
    by_name = {(run["model_name"], run["accelerator_name"], run["scenario"]): run for run in others}
    assert Counter({"sequence": 24, "image": 20, "sample": 1}) == Counter(run["unit_of_work"] for run in others)
    # Copied by hand from the tables at the commits that the rows name.
    for key, rate, batch, unit in (
        (("bert-large", "Inferentia2", "Batch, 128 tokens"), "950.0496231", 4, "sequence"),
        (("bert-large", "Trainium1", "Real Time, 128 tokens"), "747.48212826", 1, "sequence"),
        (("resnet50", "Inferentia2", "Real Time, 224x224"), "1218.875", 1, "image"),
        (("Stable Diffusion 2.1", "Inferentia2", "Real Time, 768x768"), "0.188", 1, "image"),
    ):
        run = by_name[key]
        assert (Decimal(rate), batch, unit, 1) == (
            run["output_rate"], run["batch_size"], run["unit_of_work"], run["accelerator_count"],
        )  # fmt: skip
    assert sum(run["evidence_grade"] == "D" for run in others) == 4
    assert all("never ranked" in run["note"] for run in others if run["evidence_grade"] == "D")


# InferenceX


def gpus(row: Mapping[str, str]) -> Decimal | None:
    """Return the GPUs that a row's latency allows: its rate is 0.4 to 1.05 of concurrency x output / latency."""
    most = Decimal(row["concurrency"]) * Decimal(row["osl"]) / Decimal(row["e2el_median_s"])
    users = Decimal(row["concurrency"]) * Decimal(row["interactivity_median_tok_s_user"])
    stated = {Decimal(row["accelerator_count"])}
    if row["disaggregated"] == "False":
        stated.add(Decimal(row["decode_tp"]))
    rates = {count: Decimal(row["tokens_per_second_per_accelerator"]) * count for count in stated}
    fits = [
        count for count, rate in rates.items()
        if Decimal("0.4") <= rate / most <= Decimal("1.05") and rate <= users * Decimal("1.05")
    ]  # fmt: skip
    return fits[0] if len(fits) == 1 else None


FRONT = ("accelerator", "precision", "isl", "osl", "spec_decoding", "disaggregated")


def speed_and_rate(row: Mapping[str, str]) -> tuple[Decimal, Decimal]:
    return Decimal(row["interactivity_median_tok_s_user"]), Decimal(row["tokens_per_second_per_accelerator"])


def beaten(row: Mapping[str, str], rows: Rows) -> bool:
    """Return whether a run of that day or before is as good in speed for the user and rate, and better in one."""
    return any(
        other["date"] <= row["date"]
        and speed_and_rate(other) != speed_and_rate(row)
        and all(theirs >= own for theirs, own in zip(speed_and_rate(other), speed_and_rate(row), strict=True))
        for other in rows
    )


def test_counts_of_one_node_are_corrected_where_latency_excludes_them(shared):
    """All 363 miscounted rows fit tp GPUs and none fits tp x ep; of the others one contradicts itself."""
    official = [row for row in read(shared, "inferencemax") if row["run_url"]]
    wrong = [
        row for row in official if row["disaggregated"] == "False" and row["accelerator_count"] != row["decode_tp"]
    ]
    assert Counter((row["accelerator_count"], row["decode_tp"], row["decode_ep"]) for row in wrong) == MISCOUNTED
    assert {Decimal(row["decode_tp"]) for row in wrong} == {gpus(row) for row in wrong}
    assert all(gpus(row) == Decimal(row["decode_tp"]) for row in wrong)
    assert sum(gpus(row) is None for row in official) == 1


def test_inferencex_rates_are_those_of_the_reference(shared, shipped):
    """Shipped is what was on its frontier on the day of the run, with the source's rates per GPU."""
    source = read(shared, "inferencemax")
    official = [row for row in source if row["run_url"]]
    sound = [row for row in official if gpus(row)]
    by_front = defaultdict(list)
    for row in sound:
        by_front[tuple(row[name] for name in FRONT)].append(row)
    front = [row for rows in by_front.values() for row in rows if not beaten(row, rows)]
    fates = {
        "shipped": len(front), "beaten on the day of the run": len(sound) - len(front),
        "its own numbers contradict": len(official) - len(sound),
        "a post's table, total per GPU alone": sum("blog" in row["submitter"] for row in source),
        "copied by a third party": sum("third party" in row["submitter"] for row in source),
    }  # fmt: skip
    assert ACCOUNTED["inferencex"] == fates
    assert len(source) == sum(fates.values())
    runs = {run_key(run): run for run in of(shipped, "inferencex")}
    assert len(front) == len(runs) == len(of(shipped, "inferencex"))
    for row in front:
        number = re.search(r"runs/(\d+)/attempts/(\d+)", row["run_url"]).groups()
        run = runs[(*number, Decimal(row["concurrency"]), Decimal(row["interactivity_median_tok_s_user"]))]
        count = gpus(row)
        assert count == run["accelerator_count"]
        assert near(run["output_rate"] / count, Decimal(row["tokens_per_second_per_accelerator"]))
        assert near(run["total_rate"] / count, Decimal(row["total_tokens_per_second_per_accelerator"]))
        readers = Decimal(row["num_prefill_gpu"] or count)
        assert near(run["input_rate"] / readers, Decimal(row["published_input_tput_per_gpu"]))
        assert (row["date"], row["precision"]) == (run["measured_on"].isoformat(), run["precision"])
        assert run["is_disaggregated"] is (row["disaggregated"] == "True")
        assert (None if row["spec_decoding"] == "mtp" else 1) == run["acceptance_length"]
        assert ("which its latency excludes" in run["note"]) is (count != Decimal(row["accelerator_count"]))


def test_every_point_of_the_frontier_of_one_decoding_is_shipped(shared, shipped):
    """The 224 points that a frontier over both ways of decoding had cut off are shipped, each with its own rate."""
    with (shared / "data" / "throughput2" / "inferencex_frontier_restored.csv").open(newline="") as file:
        restored = list(csv.DictReader(file))
    runs = {run_key(run): run for run in of(shipped, "inferencex")}
    assert len(restored) == 224
    for row in restored:
        number = re.search(r"runs/(\d+)/attempts/(\d+)", row["run_url"]).groups()
        run = runs[(*number, Decimal(row["concurrency"]), Decimal(row["interactivity_tok_s_user"]))]
        assert near(run["output_rate"] / run["accelerator_count"], Decimal(row["tokens_per_second_per_accelerator"]))
        assert (None if row["spec_decoding"] == "mtp" else 1) == run["acceptance_length"]


def run_key(run: Run) -> tuple[Any, ...]:
    number = re.match(r"run (\d+) attempt (\d+)", run["note"]).groups()
    return (*number, run["concurrency"], run["interactivity"])


# The whole


def test_no_chip_without_evidence_has_a_row(shipped):
    """AWS has published no throughput of Trainium3 that could be checked, and so there is none here."""
    chips = {run["accelerator_name"] for run in shipped}
    assert {"Trainium1", "Trainium2", "Inferentia2", "H100", "MI355X", "TPU-v5p"} <= chips
    assert "Trainium3" not in chips


def test_the_reference_points_are_in_it(shipped):
    """The rates that the cost model's worked points divide by can be found."""
    per_chip = {
        (run["benchmark"], run["accelerator_name"], run["scenario"], round(rate / run["accelerator_count"], 1))
        for run in shipped
        if (rate := run["output_rate"] or run["total_rate"])
    }
    assert {
        ("MLPerf Training v4.1", "H100", "gpt3", Decimal("815.6")),
        ("MLPerf Training v5.1", "GB300", "llama31_405b", Decimal("1369.5")),
        ("AWS Neuron docs 2.18.0", "Trainium1", "pre-training, strong scaling", Decimal("58.4")),
    } <= per_chip


def test_the_file_is_sorted(shipped):
    """Rows stand by benchmark, model, chip and scenario, so that a change of one shows as one line."""
    names = ("benchmark_family", "benchmark", "model_name", "accelerator_name", "form_factor", "scenario", "precision")
    keys = [tuple(run[name] or "" for name in names) for run in shipped]
    assert sorted(keys) == keys
