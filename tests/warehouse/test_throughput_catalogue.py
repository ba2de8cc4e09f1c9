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
from warehouse.reference.table import DATA

Rows = list[dict[str, str]]
Run = Mapping[str, Any]
ACCOUNTED = {
    "mlperf": {
        "shipped": 824, "second accuracy target of a run": 232, "inferred from the stricter target": 54, "CPU": 24,
        "chip without a published peak": 32, "mixed chips": 12, "v6.1, partial": 6,
    },
    "neuron": {"shipped": 307},
    "inferencex": {"official runs": 3036},
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
        if run["benchmark"] != "MLPerf Inference v6.1"
    }
    assert ACCOUNTED["mlperf"] == fates
    assert wanted.keys() == found.keys()
    assert len(wanted) == len(found)
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
        scenario = run["scenario"].removesuffix(", open division")
        limit = {"Server": "server", "Interactive": "interactive"}.get(scenario)
        tpot = Decimal(rule[f"{limit}_tpot_ms"]) if limit else None
        assert (run["input_rate"], run["total_rate"]) == (None, None)
        assert ("serving" if limit else "offline") == run["task"]
        assert ("p99 limit" if limit else None) == run["interactivity_statistic"] == run["ttft_statistic"]
        if tpot:
            assert near(run["interactivity"], 1000 / tpot, "0.001")
            assert Decimal(rule[f"{limit}_ttft_ms"]) == run["ttft_ms"]
        speculative = scenario == "Interactive" and "Interactive" in rule["speculative_decoding"]
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
    decoded = [run["output_rate"] for run in weak if run["task"] != "training"]
    assert sorted(Decimal(row["tokens_per_second"]) for row in flagged) == sorted(decoded)
    assert all("never ranked" in run["note"] for run in weak)


def test_a_second_phase_of_bert_at_the_length_of_the_first_is_never_ranked(shipped):
    """AWS's table says 128 tokens a sequence, its tutorial 512, by which the rate is four times as high."""
    phases = [run for run in of(shipped, "neuron") if "phase 2" in (run["scenario"] or "")]
    assert {(run["input_length"], run["evidence_grade"]) for run in phases} == {(Decimal(128), "D")}
    assert len(phases) == 6


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


def speed(row: Mapping[str, str]) -> Decimal:
    return Decimal(row.get("interactivity_median_tok_s_user") or row["interactivity_tok_s_user"])


def test_every_official_run_of_inferencex_is_shipped(shared, shipped):
    """Each run of three files that does not contradict itself stands once, with the source's rates per GPU."""
    first = [row for row in read(shared, "inferencemax") if row["run_url"] and gpus(row)]
    second = [row for row in second_file(shared, "inferencex_capture_2026-05_not_in_first_file") if row["grade"] != "X"]
    kept = second_file(shared, "inferencemax_runs_2025-12_2026-01")
    by_key: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in of(shipped, "inferencex"):
        if number := re.match(r"run (\d+)", run["note"]):
            by_key[number[1], run["concurrency"], run["input_length"], run["output_length"]].append(run)
    used: set[int] = set()
    for row in (*first, *second, *kept):
        number = re.search(r"runs/(\d+)", row["run_url"])[1]
        found = [
            run for run in by_key[number, Decimal(row["concurrency"]), Decimal(row["isl"]), Decimal(row["osl"])]
            if near(run["interactivity"], speed(row), "0.001")
            and near(run["output_rate"] / run["accelerator_count"], Decimal(row["tokens_per_second_per_accelerator"]),
                     "0.001")
        ]  # fmt: skip
        assert found, row
        (run,) = found[:1]
        used |= {id(run) for run in found}
        prefill, count = Decimal(row["num_prefill_gpu"] or 0), run["accelerator_count"]
        split = row["disaggregated"] == "True"
        assert near(run["total_rate"] / count, Decimal(row["total_tokens_per_second_per_accelerator"]), "0.001")
        readers = prefill if split else count
        assert near(run["input_rate"] / readers, Decimal(row["published_input_tput_per_gpu"]), "0.001")
        assert (row["precision"], split) == (run["precision"], run["is_disaggregated"])
        assert (None if row["spec_decoding"] == "mtp" else 1) == run["acceptance_length"]
        if row["date"]:
            assert row["date"] == run["measured_on"].isoformat()
    assert used == {id(run) for runs in by_key.values() for run in runs}
    assert (len(first), len(second), len(kept)) == (1656, 180, 1342)
    assert len(used) == ACCOUNTED["inferencex"]["official runs"]


# The other tables of the second collection


def second_file(shared: Path, name: str) -> Rows:
    with (shared / "data" / "throughput2" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def table_fate(row: Mapping[str, str]) -> str:
    if row["grade"] == "X":
        return "grade X"
    if row["metric_unit"] in ("Queries/s", "Samples/s"):
        return "no tokens"
    if row["inferred"] == "1":
        return "inferred from the stricter target"
    if row["accelerator"].startswith("none (CPU") or row["accelerator_count"] == "0":
        return "CPU"
    if row["accelerator_count"] == "" or row["scenario"] == "agentic trace":
        return "no number of chips, or no output"
    if re.search("Ascend|Arc|MI350P", row["accelerator"]):
        return "chip that is not known"
    users = [row[name] for name in ("concurrency", "interactivity_tok_s_user", "tokens_per_second")]
    if all(users) and row["metric_unit"].startswith("output") and row["tpot_median_s"]:
        concurrency, interactivity, rate = map(Decimal, users)
        at_once = re.search("saturated|all at once|prompts at once", row["notes"])
        if "gpustack" not in row["round"] and not at_once and rate > concurrency * interactivity * Decimal("1.05"):
            return "contradicts its own latency"
    return "shipped"


TABLES = {
    "mlperf_inference_v6_1": {"shipped": 180, "no tokens": 33, "inferred from the stricter target": 24, "CPU": 12,
                              "chip that is not known": 13, "grade X": 5},
    "vendor_tables": {"shipped": 151, "no number of chips, or no output": 1},
    "third_party_tables": {"shipped": 590, "grade X": 40, "chip that is not known": 28,
                           "contradicts its own latency": 4},
    "inferencex_tpu_gaudi_trn_previews": {"shipped": 15, "no number of chips, or no output": 16, "grade X": 1},
    "inferencex_dump_slice_2026-07": {"shipped": 21, "no number of chips, or no output": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_row_of_a_table_is_accounted_for(shared, shipped, name):
    """Each row is shipped once, with its rate, chips and address; or it is counted by the reason."""
    rows = second_file(shared, name)
    assert Counter(map(table_fate, rows)) == TABLES[name]
    found = defaultdict(list)
    for run in shipped:
        found[run["output_rate"], run["accelerator_count"]].append(run)
        if run["output_rate"] is None:
            found[run["total_rate"], run["accelerator_count"]].append(run)
    for row in rows:
        rate = row["tokens_per_second"] or row["metric_value"]
        same = [
            run for run in found[Decimal(rate), Decimal(row["accelerator_count"] or 0)]
            if row["source_path"].partition(":")[0] in run["source_url"]
        ]  # fmt: skip
        fate = table_fate(row)
        assert bool(same) == (fate == "shipped") or fate == "inferred from the stricter target", row
        if same:
            assert any(run["evidence_grade"] in (row["grade"], "D") for run in same)


def test_no_grade_x_row_is_priced(shared, shipped):
    """Of 54 rows of grade X (impossible, copied, mixed) none has its rate and chip in the catalogue."""
    bad = [
        row for name in (*TABLES, "inferencex_capture_2026-05_not_in_first_file")
        for row in second_file(shared, name) if row["grade"] == "X"
    ]  # fmt: skip
    rates = {
        (run["source_url"].split("/")[4], round(rate, 3))
        for run in shipped if (rate := run["output_rate"] or run["total_rate"])
    }  # fmt: skip
    assert len(bad) == 54
    for row in bad:
        repository = row["source_path"].partition(":")[0].partition("/")[2]
        assert (repository, round(Decimal(row["tokens_per_second"] or row["metric_value"]), 3)) not in rates


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


def test_the_file_is_sorted_and_in_its_compact_form(shipped):
    """Rows stand by benchmark, model, chip and scenario, and a cell that repeats the one above is written as =."""
    names = ("benchmark_family", "benchmark", "model_name", "accelerator_name", "form_factor", "scenario", "precision")
    keys = [tuple(run[name] or "" for name in names) for run in shipped]
    assert sorted(keys) == keys
    with (DATA / throughput.MODEL.file).open(newline="") as file:
        _, *cells = csv.reader(file)
    above = [""] * len(cells[0])
    for row in cells:
        assert not any(cell and cell == over for cell, over in zip(row, above, strict=True))
        above = [over if cell == throughput.MODEL.ditto else cell for cell, over in zip(row, above, strict=True)]
