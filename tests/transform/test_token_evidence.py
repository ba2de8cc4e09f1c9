"""Rates of frontiers against the sources themselves, and official files read by the user against the catalogue."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import duckdb
import polars as pl
import pytest
from cost_file import cost_file, lines
from cost_world import cost_files
from published import named

from extract.benchmarks import read
from warehouse.publish import frame
from warehouse.reference import models, throughput

SPEEDS = (20.0, 30.0, 50.0, 75.0, 100.0)
CHIPS = {
    "NVIDIA H100 SXM": "H100", "NVIDIA H200 SXM": "H200", "NVIDIA B200 SXM": "B200", "NVIDIA B300 SXM": "B300",
    "NVIDIA GB200 NVL72": "GB200", "NVIDIA GB300 NVL72": "GB300", "AMD MI300X": "MI300X", "AMD MI325X": "MI325X",
    "AMD MI355X": "MI355X",
}  # fmt: skip
RACKS = ("GB200", "GB300")
"""Chips whose runs were on an NVL72, which is one node, and need a rack if they are more than a unit has."""
NODE, RACK = 8, 72
FILES = ("throughput_inferencemax", "throughput2/inferencex_capture_2026-05_not_in_first_file",
         "throughput2/inferencemax_runs_2025-12_2026-01")  # fmt: skip
HELD_BACK = 5
"""Every fifth run of InferenceMAX is read as the user would, and is no knot of the curves that it is held against."""


class Knot(NamedTuple):
    speed: float
    rate: float


def rows(shared: Path, name: str) -> list[dict[str, str]]:
    import csv

    with (shared / "data" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def speed(row: Mapping[str, str]) -> float:
    return float(row.get("interactivity_median_tok_s_user") or row["interactivity_tok_s_user"])


def chips(row: Mapping[str, str]) -> float:
    """Return the GPUs of a row; of one node those of its tensor parallelism, as some rows count experts' too."""
    if row["disaggregated"] == "True":
        return float(row["accelerator_count"])
    tp = row.get("decode_tp") or re.search(r"tp\s?(\d+)", row["parallelism"].rpartition("decode")[2])[1]
    return float(tp)


def share(n: float, unit: float) -> float:
    """Return the part of whole machines that n chips, or copies on them, use."""
    return math.floor(unit / n) * n / unit if n <= unit else n / (math.ceil(n / unit) * unit)


def counts(n: float, chip: str, unit: float, network: str | None) -> bool:
    """Return whether a run on n chips counts for units of so many, joined by a network."""
    return n <= unit or network == "rack" or (network == "cluster" and chip not in RACKS)


def contradicts(row: Mapping[str, str]) -> bool:
    """Return whether a run gave less than 0.4 of what its users and their latency make; one of InferenceX did."""
    made = float(row["concurrency"]) * float(row["osl"]) / float(row.get("e2el_median_s") or math.inf)
    return float(row["tokens_per_second_per_accelerator"]) * chips(row) < 0.4 * made


def curve(row: Mapping[str, str]) -> tuple[Any, ...]:
    """Return what one frontier is of: one node, several or disaggregated, beside lengths, precision and decoding."""
    chip = CHIPS[row["accelerator"]]
    is_one = chips(row) <= (RACK if chip in RACKS else NODE)
    topology = "disaggregated" if row["disaggregated"] == "True" else "one node" if is_one else "several"
    model = "deepseek-r1" if "DeepSeek" in row["model"] else row["model"]
    decoding = "one token a step" if row["spec_decoding"] == "none" else "speculative"
    return model, chip, row["precision"], float(row["isl"]), float(row["osl"]), decoding, topology


def layout(row: Mapping[str, str]) -> tuple[object, ...]:
    """Return how a run was spread over its chips."""
    if "decode_tp" in row:
        sides: tuple[str, ...] = tuple(f"tp{row[f'{side}_tp']}" for side in ("prefill", "decode"))
        attention = row["dp_attention"].lower() == "true"
        if row["disaggregated"] == "True":
            return sides, row["decode_ep"], attention, row["num_prefill_gpu"]
        return float(row["decode_tp"]), float(row["decode_ep"] or 1), attention
    if row["disaggregated"] == "True":
        return row["parallelism"], row["num_prefill_gpu"]
    tp, ep, attention_word = re.search(
        r"tp\s?(\d+) ep(\d+) dpa (\w+)", row["parallelism"].rpartition("decode")[2]
    ).groups()
    return float(tp), float(ep), attention_word.lower() == "true"


def frontier(knots: list[Knot]) -> list[Knot]:
    found: list[Knot] = []
    for knot in sorted(knots, key=lambda each: (-each.speed, -each.rate)):
        if not found or knot.rate > found[-1].rate:
            found.append(knot)
    return found[::-1]


def at(knots: list[Knot], asked: float) -> tuple[str, float | None]:
    """Return how the rate at a speed is known, and the rate."""
    front = frontier(knots)
    slowest = min(knot.speed for knot in knots)
    above = [knot for knot in front if knot.speed >= asked]
    below = [knot for knot in front if knot.speed < asked]
    if not above:
        return "unreachable", None
    if asked < slowest:
        return "at most", above[0].rate
    if not below or above[0].speed == asked:
        return ("measured" if above[0].speed == asked else "between two runs"), above[0].rate
    (x0, y0), (x1, y1) = below[-1], above[0]
    return "between two runs", y0 + (y1 - y0) * (asked - x0) / (x1 - x0)


@pytest.fixture(scope="module")
def sources(shared: Path) -> dict[tuple[Any, ...], list[tuple[float, Knot]]]:
    """Return chips and middle of the repeats of the configurations of each frontier, straight from the sources."""
    seen: set[tuple[Any, ...]] = set()
    repeats: dict[Any, list[Knot]] = defaultdict(list)
    for name in FILES:
        for row in rows(shared, name):
            if row["accelerator"] not in CHIPS or not row["run_url"] or row.get("grade") == "X" or contradicts(row):
                continue
            one = (re.search(r"runs/(\d+)", row["run_url"])[1], row["concurrency"], *curve(row), chips(row),
                   round(math.log(speed(row)), 3))  # fmt: skip
            if one in seen:
                continue
            seen.add(one)
            key = curve(row), chips(row), row["concurrency"], layout(row), row["software"], row["image"]
            repeats[key].append(Knot(speed(row), float(row["tokens_per_second_per_accelerator"])))
    found: dict[tuple[Any, ...], list[tuple[float, Knot]]] = defaultdict(list)
    for (of, n, *_), knots in repeats.items():
        found[of].append((n, Knot(median(k.speed for k in knots), median(k.rate for k in knots))))
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cost_files(tmp_path_factory)["before"]


def cells(file: Path) -> dict[tuple[Any, ...], tuple[str, float | None]]:
    """Return how each cell of InferenceX is known, and its rate, by unit and network of those that are sold."""
    return {
        (*(line[name] for name in ("model_name", "accelerator_name", "precision", "input_length", "output_length",
                                   "decoding")), line["topology"].replace(" nodes", ""), line["interactivity"],
         line["unit_accelerators"], line["network"]): (line["reach"], line["output_rate_per_paid_accelerator"])
        for line in lines(
            file, "select * from int.token_rate where benchmark_family = 'inferencex' and is_ranked and "
            "model_name in ('deepseek-r1', 'gpt-oss-120b') and interactivity_statistic = 'median'",
        )
    }  # fmt: skip


@pytest.mark.parametrize("chips_sold", ["AWS's machines of 8", "all chips of the archive"])
def test_every_cell_of_inferencex_is_the_unthinned_source(
    request: pytest.FixtureRequest, sources: dict[tuple[Any, ...], list[tuple[float, Knot]]], chips_sold: str
):
    """At 20, 30, 50, 75 and 100 tokens/s, one decoding and topology at a time: the same reach, the same rate."""
    is_small = chips_sold.startswith("AWS")
    file = request.getfixturevalue("file" if is_small else "offline_run")
    ours = cells(file if is_small else file / "prices.duckdb")
    expected = {}
    for chip, unit, network in {(cell[1], *cell[-2:]) for cell in ours}:
        for of, runs in sources.items():
            knots = [
                Knot(knot.speed, knot.rate * share(n, unit))
                for n, knot in runs if of[1] == chip and counts(n, chip, unit, network)
            ]  # fmt: skip
            if knots:
                expected |= {(*of, asked, unit, network): at(knots, asked) for asked in SPEEDS}
    assert ours.keys() == expected.keys()
    wrong = [
        (cell, found, expected[cell]) for cell, found in ours.items()
        if found[0] != expected[cell][0] or (found[1] or 0) != pytest.approx(expected[cell][1] or 0, rel=2e-3)
    ]  # fmt: skip
    assert not wrong, str(wrong)
    assert len(ours) > (200 if is_small else 1000)
    assert {reach for reach, _ in ours.values()} >= {"between two runs", "at most", "unreachable"}
    assert {cell[1] for cell in ours} == {"H100", "H200", "B200", "MI300X"} | (
        set() if is_small else {"B300", "GB200", "GB300", "MI355X"}
    )


MACHINES = {"p5.48xlarge": "H100", "p5en.48xlarge": "H200", "p6-b200.48xlarge": "B200"}
PLANS = {
    (term, payment): f"sp_{years}_{payment.split()[0].lower()}"
    for term, years in (("one_year", "1y"), ("three_years", "3y"))
    for payment in ("No Upfront", "Partial Upfront", "All Upfront")
}
"""Columns of AWS's rates by term and payment."""


def paid_by_hand(shared: Path) -> dict[tuple[str, str, str], float]:
    """Return USD per usable hour of machines of 8 from the files of prices: by machine, option and words of its terms.

    Plans are of us-east-1; spot is each zone's last price; of Capacity Blocks the newest rate of the cheapest region
    counts, over the 23.5 hours of 24 that can be used.
    """
    found: dict[tuple[str, str, str], float] = {}
    for row in rows(shared, "aws2/aws_us_east_1_commitments_20260924"):
        for (term, payment), column in PLANS.items():
            if row["instance_type"] in MACHINES and row[column]:
                found[row["instance_type"], "savings_plan", f"{term} {payment}"] = float(row[column])
    for row in rows(shared, "aws2/aws_spot_importable_2026-10"):
        if row["instance_type"] in MACHINES and row["observed_at_utc"] == "2026-10-15T00:00:00Z":
            found[row["instance_type"], "spot", row["source"].split(":")[1]] = float(row["usd_per_hour"])
    for row in rows(shared, "aws_capacity_block_rates_history"):
        if row["observed_at_utc"] == "2026-07-22T07:13:52Z" and row["usd_per_instance_hour"]:
            found[row["instance_type"], "block", row["region"]] = float(row["usd_per_instance_hour"]) / (23.5 / 24)
    for machine in MACHINES:
        every = [price for (name, kind, _), price in found.items() if (name, kind) == (machine, "block")]
        found[machine, "capacity_block", ""] = min(every)
    return {key: price for key, price in found.items() if key[0] in MACHINES and key[1] != "block"}


def test_costs_by_hand_are_those_of_the_query(
    offline_run: Path, shared: Path, sources: dict[tuple[Any, ...], list[tuple[float, Knot]]]
):
    """gpt-oss-120b on p5, p5en and p6-b200 by plan, zone of spot and Capacity Block, at several points."""
    ours: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for line in lines(
        offline_run / "prices.duckdb",
        "select c.*, o.instance_type, o.offer_id from mart.token_cost as c "
        "inner join core.offer as o on c.offer_id = o.offer_id "
        "where c.model_name = 'gpt-oss-120b' and c.precision = 'fp4' and c.service_provider_name = 'AWS' and "
        "c.scenario in ('1k/1k', '8k/1k') and c.interactivity in (75, 100) and c.cost_rank is not null",
    ):
        option, terms = line["purchase_option"], line["offer_terms"] or ""
        words = {
            "savings_plan": f"{line['commitment_class']} {terms.rpartition(', ')[2]}",
            "spot": next((each for each in terms.split(", ") if re.fullmatch(r"us[ew]\d.*-az\d", each)), ""),
        }.get(option, "")
        key = line["instance_type"], option, words
        ours[line["scenario"], line["interactivity"], *key].append(line["usd_per_million_output_tokens"])
    expected: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for (machine, option, words), price in paid_by_hand(shared).items():
        for scenario, lengths in (("1k/1k", (1024.0, 1024.0)), ("8k/1k", (8192.0, 1024.0))):
            of = "gpt-oss-120b", MACHINES[machine], "fp4", *lengths, "one token a step", "one node"
            knots = [Knot(knot.speed, knot.rate * share(n, 8)) for n, knot in sources[of]]
            for asked in (75.0, 100.0):
                reach, rate = at(knots, asked)
                if reach in ("measured", "between two runs"):
                    expected[scenario, asked, machine, option, words].append(price / 8 * 1e6 / 3600 / rate)
    assert {key[3] for key in expected} == {"savings_plan", "spot", "capacity_block"}
    for key, costs in expected.items():
        assert sorted(ours[key]) == pytest.approx(costs, rel=2e-3), key
    assert {key[2] for key in expected} == {*MACHINES}
    assert len(expected) > 100


def test_of_several_topologies_that_of_fewest_chips_serves_a_load(offline_run: Path):
    """8,681 tokens a second of DeepSeek-R1 take six B200 machines, though copies of forty chips run 4 % faster."""
    found = lines(
        offline_run / "prices.duckdb",
        "from mart.serving_need('deepseek-r1', 50, 7.5e8, 1.0) where scenario = '8k/1k' and precision = 'fp8' and "
        "decoding = 'one token a step' and accelerator_name = 'B200' and unit_accelerators = 8",
    )
    assert {each["network"]: each["accelerators"] for each in found} == {"cluster": 48, None: 48}


def test_a_run_of_one_user_bounds_no_load(offline_run: Path):
    """4.28 tokens/s of a chip for one user at 40 are a latency: no count of chips for 30 follows from it."""
    found = {
        model: {line["reach"] for line in lines(
            offline_run / "prices.duckdb", f"from mart.serving_need('{model}', {speed}, 2e9, 1.0)"
        )}
        for model, speed in (("deepseek-v3", 30), ("deepseek-r1", 1))
    }  # fmt: skip
    assert found == {"deepseek-v3": set(), "deepseek-r1": {"at most", "measured"}}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("serving_need('deepseek-r', 50, 7.5e8, 1.0)", "no model is named deepseek-r, see ref.model"),
        ("training_need('llama-3.1', 3e11, 30, 0.15, 0.9)", "no model is named llama-3.1, see ref.model"),
        ("training_need(null, 3e11, 30, 0.15, 0.9)", "no model is named NULL"),
        ("drift('2026-10-08', '2026-10-01')", "until must not be before since"),
    ],
)
def test_a_question_that_nothing_can_answer_is_an_error(offline_run: Path, question: str, said: str):
    """A mistyped model and days the wrong way round have no empty answer."""
    with pytest.raises(duckdb.InvalidInputException, match=said):
        lines(offline_run / "prices.duckdb", f"from mart.{question}")
    of_one_day = "from mart.drift('2026-10-01', '2026-10-01')"
    assert {line["drift"] for line in lines(offline_run / "prices.duckdb", of_one_day)} <= {0, None}


def test_repeats_of_a_configuration_are_one_knot(file: Path):
    """Three runs of one configuration are one knot: their middle, and least and greatest as low and high."""
    (line,) = lines(
        file,
        "from int.token_cost where scenario = 'repeats' and utilisation = 1 and interactivity = 30 and "
        "instance_type = 'p5.4xlarge' and purchase_option = 'on_demand'",
    )
    low, middle, high = ((rate + 80) / 2 for rate in (150, 160, 164))
    assert line["median_output_rate"] == pytest.approx(middle)
    assert (line["low_output_rate"], line["high_output_rate"]) == (pytest.approx(low), pytest.approx(high))
    assert (line["n_runs"], line["reach"]) == (4, "between two runs")


def test_a_precision_that_cannot_be_is_unknown_and_never_ranked(file: Path):
    """A run above what fits in its precision keeps the word, has no precision and no rank; its grade stays."""
    (own,) = lines(file, "from int.throughput where scenario = 'too large'")
    assert (own["precision"], own["declared_precision"], own["fitting_bound"]) == (None, "fp16", 0)
    assert (own["is_ranked"], own["evidence_grade"]) == (False, "C")
    found = lines(
        file,
        "select *, output_rate_per_accelerator * accelerator_count::double as rate from int.throughput "
        "where declared_precision is not null and precision is null and source = 'catalogue'",
    )
    shown = [each for each in found if each["fitting_bound"] is not None and each["rate"] > each["fitting_bound"]]
    assert {(each["accelerator_name"], each["accelerator_count"], each["benchmark"]) for each in shown} == {
        ("H200", 1, "MLPerf Inference v4.1")
    }
    assert sorted(round(each["rate"]) for each in shown) == [4202, 4488]
    # The engine of that round declares it alike, in each version; nothing else is touched.
    assert {(each["benchmark"], each["software"].split()[0], each["declared_precision"]) for each in found} == {
        ("MLPerf Inference v4.1", "TensorRT", "fp16")
    }
    assert len({each["software"] for each in found}) == 6
    assert len(found) == 96
    ids = ", ".join(str(each["throughput_id"]) for each in [own, *found])
    assert lines(file, f"from int.token_cost where throughput_id in ({ids}) and cost_rank is not null") == []
    above = (
        "from int.throughput where precision is not null and scenario <> 'impossible' and "
        "output_rate_per_accelerator * accelerator_count::double"
    )
    assert lines(file, f"{above} > rate_bound") == []
    # Of how many accepted tokens a run speculates is told by none of InferenceX: the most that audits allow bounds it.
    speculative = "from int.throughput where acceptance_length is null and source = 'catalogue'"
    loose = lines(file, f"{speculative} and fitting_bound is not null")
    assert len(loose) > 450
    rates = [each["output_rate_per_accelerator"] * float(each["accelerator_count"]) for each in loose]
    assert all(rate <= each["fitting_bound"] for rate, each in zip(rates, loose, strict=True))


BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "mxfp4": 0.53125, "nvfp4": 0.5625, "fp4": 0.5, "int4": 0.5}
MOST_ACCEPTED = 8


def fitting_bound(run: Mapping[str, Any], memory_gb: float, tb_s: float) -> float | None:
    """Return tokens per second at the largest batch whose weights and cache fit, in Python; None where unknown."""
    model, width = models.find(run["model_name"]), BYTES.get(run["declared_precision"])
    if model is None or width is None or not model.shared_parameters or run["output_rate_per_accelerator"] is None:
        return None
    chips_of_run = float(run["accelerator_count"])
    tokens = [run["input_length"], run["output_length"] and run["output_length"] / (2 if run["input_length"] else 1)]
    room, cache, batch = chips_of_run * memory_gb * 1e9 - model.parameters_total * width, None, None
    if any(tokens) and model.kv_values_per_layer:
        context, windowed = sum(filter(None, tokens)), model.windowed_layers or 0
        seen = (model.layers - windowed) * context + windowed * min(context, model.window_tokens or 0)
        cache = width * model.kv_values_per_layer * seen
        batch = room // cache
    if room < 0 or (batch is not None and batch < 1):
        return 0.0
    in_flight = run["concurrency"] or run["batch_size"]
    batch = min(filter(None, (batch, in_flight)), default=None)
    if cache is None or batch is None:
        return None
    experts, used = model.experts or 1, model.experts_per_token or 1
    routed = (model.expert_parameters or 0) * (model.moe_layers or 0) * experts * (1 - (1 - used / experts) ** batch)
    accepted = run["acceptance_length"] or MOST_ACCEPTED
    return accepted * batch * chips_of_run * tb_s * 1e12 / (width * (model.shared_parameters + routed) + batch * cache)


def test_no_run_is_above_its_bound_at_the_largest_batch_that_fits(file: Path):
    """Bounds of all runs are those of an oracle, and what is above is named: two, and the two made up."""
    found = lines(
        file,
        "select t.*, c.memory_gb::double as memory, c.memory_bandwidth_tb_s::double as bandwidth from int.throughput "
        "as t left join ref.accelerator as c on t.accelerator_name = c.accelerator_name "
        "and t.chip_form_factor is not distinct from c.form_factor "
        "where t.unit_of_work = 'token' and t.task <> 'training'",
    )
    above = []
    for each in found:
        figures = {name: float(value) if isinstance(value, Decimal) else value for name, value in each.items()}
        known = each["memory"] and each["bandwidth"]
        expected = fitting_bound(figures, each["memory"], each["bandwidth"]) if known else None
        assert each["fitting_bound"] == (expected if expected is None else pytest.approx(expected)), each
        if expected is not None and figures["output_rate_per_accelerator"] * figures["accelerator_count"] > expected:
            above.append((each["accelerator_name"], each["benchmark"], each["precision"], each["is_ranked"]))
    assert sorted(above, key=str) == [
        ("H100", "vLLM bench serve", "fp8", False), ("H100", "vLLM bench serve", None, False),
        *2 * [("H200", "MLPerf Inference v4.1", None, False)],
    ]  # fmt: skip
    assert sum(each["fitting_bound"] is not None for each in found) > 3900


def test_a_later_round_replaces_an_earlier_one_in_ranks(file: Path):
    """Of a submitter, model, scenario and chip only the newest round has a rate; what is superseded has a successor."""
    every = lines(file, "from int.throughput where benchmark_family = 'mlperf_inference'")
    newest: dict[tuple[Any, ...], str] = {}
    for each in every:
        key = tuple(each[name] for name in ("measured_by", "model_name", "scenario", "accelerator_name", "form_factor"))
        newest[key] = max(newest.get(key, ""), each["benchmark"])
        each["key"] = key
    assert all(each["is_superseded"] is (each["benchmark"] < newest[each["key"]]) for each in every)
    assert sum(each["is_superseded"] for each in every) > 100
    old = {each["throughput_id"] for each in every if each["is_superseded"]}
    assert old.isdisjoint(line["throughput_id"] for line in lines(file, "from int.serving_rate"))


def aggregate(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the table as the object of agg_bmk.json that it was made of."""
    found: dict[str, Any] = {
        "hw": row["system"], "conc": int(float(row["concurrency"])), "model": row["model"],
        "framework": row["software"],
        "image": row["image"], "precision": row["precision"], "spec_decoding": row["spec_decoding"],
        "disagg": row["disaggregated"] == "True", "isl": int(row["isl"]), "osl": int(row["osl"]),
        "tput_per_gpu": float(row["total_tokens_per_second_per_accelerator"]),
        "output_tput_per_gpu": float(row["published_output_tput_per_gpu"]),
        "input_tput_per_gpu": float(row["published_input_tput_per_gpu"]),
        "median_ttft": float(row["ttft_median_s"]), "median_tpot": 1 / speed(row), "median_intvty": speed(row),
    }  # fmt: skip
    if not found["disagg"]:
        tp, ep, attention = re.fullmatch(r"tp(\d+) ep(\d+) dpa (\w+)", row["parallelism"]).groups()
        return found | {"tp": int(tp), "ep": int(ep), "dp_attention": attention}
    for side, text in zip(("prefill", "decode"), row["parallelism"].split(";"), strict=True):
        tp, ep, attention, workers = re.search(r"tp(\d+) ep(\d+) dpa (\w+)(?: x(\d+))?", text).groups()
        found |= {f"{side}_tp": int(tp), f"{side}_ep": int(ep), f"{side}_dp_attention": attention,
                  f"{side}_num_workers": int(workers) if workers else None}  # fmt: skip
    return found | {f"num_{side}_gpu": int(float(row[f"num_{side}_gpu"])) for side in ("prefill", "decode")}


SAME = ("model_name", "task", "scenario", "benchmark", "benchmark_family", "accelerator_name", "form_factor",
        "accelerator_count", "precision", "unit_of_work", "input_length", "output_length", "concurrency",
        "interactivity_statistic", "acceptance_length", "is_disaggregated", "parallelism", "software",
        "measured_by")  # fmt: skip
FIGURES = ("output_rate", "input_rate", "total_rate", "interactivity", "ttft_ms")


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.prove)])
def test_an_official_file_gives_the_rows_of_the_catalogue(shared: Path, every: int):
    """Of every fifth run of InferenceMAX, read as `benchmark add` does with its address, every so manieth is ours."""
    held = rows(shared, "throughput2/inferencemax_runs_2025-12_2026-01")[HELD_BACK - 1 :: HELD_BACK]
    shipped = defaultdict(list)
    for each in throughput.read_table():
        if each["benchmark"] == "InferenceX":
            shipped[each["concurrency"], each["accelerator_name"], round(float(each["interactivity"]), 2)].append(each)
    assert len(held) == 268
    for row in held[::every]:
        words = {"source_url": row["run_url"]}
        (parsed,) = read(json.dumps([aggregate(row)]).encode(), "agg_bmk.json", words)
        parsed = throughput.named(parsed) | {"measured_by": "SemiAnalysis InferenceX"}
        assert parsed["evidence_grade"] == "A"
        number = re.search(r"runs/(\d+)", row["run_url"])[1]
        near = [
            each for each in shipped[parsed["concurrency"], parsed["accelerator_name"],
                                     round(float(parsed["interactivity"]), 2)]
            if f"run {number}" in each["note"]
            and float(each["output_rate"]) == pytest.approx(float(parsed["output_rate"]), rel=1e-3)
        ]  # fmt: skip
        assert near, row
        of_file = [name for name in SAME if near[0][name] != parsed[name]]
        # Where both files hold the run, the one of the API names its image without the registry's tag, or more layout.
        assert set(of_file) <= ({"parallelism", "software"} if "attempt" in near[0]["note"] else set()), (row, of_file)
        for name in FIGURES:
            assert float(near[0][name]) == pytest.approx(float(parsed[name]), rel=1e-3)


def test_interpolation_at_points_held_back(shared: Path):
    """Of runs held back that lie on their frontier, between two others, the line is within 2 % in the middle."""
    every = rows(shared, "throughput2/inferencemax_runs_2025-12_2026-01")
    kept: dict[tuple[Any, ...], list[Knot]] = defaultdict(list)
    errors = []
    chips_too = {row["accelerator"]: row["accelerator"] for row in every}
    for place, row in enumerate(every):
        if place % HELD_BACK != HELD_BACK - 1:
            kept[key(row, chips_too)].append(Knot(speed(row), float(row["tokens_per_second_per_accelerator"])))
    for row in every[HELD_BACK - 1 :: HELD_BACK]:
        knots, own = kept[key(row, chips_too)], Knot(speed(row), float(row["tokens_per_second_per_accelerator"]))
        is_beaten = any(each.speed >= own.speed and each.rate >= own.rate for each in knots)
        reach, rate = at(knots, own.speed) if knots else ("unreachable", None)
        if not is_beaten and reach == "between two runs":
            errors.append(abs(rate / own.rate - 1))
    errors.sort()
    assert len(errors) > 70
    assert median(errors) < 0.02
    assert errors[int(0.95 * len(errors))] < 0.40


def key(row: Mapping[str, str], chips_too: Mapping[str, str]) -> tuple[Any, ...]:
    topology = "disaggregated" if row["disaggregated"] == "True" else chips(row) <= NODE
    return (row["model"], chips_too[row["accelerator"]], row["precision"], row["isl"], row["osl"], row["spec_decoding"],
            topology)  # fmt: skip


def test_a_round_of_mlperf_gives_the_rows_of_the_catalogue(shared: Path):
    """Every fifth result of v6.1, read as `benchmark add` reads summary.json, is the catalogue's own row."""
    held = rows(shared, "throughput2/mlperf_inference_v6_1")[HELD_BACK - 1 :: HELD_BACK]
    results = {
        str(n): {
            "Organization": row["submitter"], "Availability": row["availability"], "Division": row["division"],
            "Platform": str(n), "Model": row["model"], "MlperfModel": row["model"], "Scenario": row["scenario"],
            "Result": float(row["metric_value"]), "Units": row["metric_unit"], "version": "v6.1",
            "accelerator_model_name": row["accelerator"], "number_of_nodes": 1,
            "accelerators_per_node": float(row["accelerator_count"] or 0), "framework": row["software"],
            "weight_data_types": row["precision"], "inferred": int(row["inferred"]), "Location": "",
        }
        for n, row in enumerate(held) if row["grade"] != "X"
    }  # fmt: skip
    found = [throughput.named(run) for run in read(json.dumps(results).encode(), "summary.json", {})]
    shipped = {
        (each["output_rate"], each["measured_by"], each["scenario"]): each
        for each in throughput.read_table() if each["benchmark"] == "MLPerf Inference v6.1"
    }  # fmt: skip
    assert len(held) == 53
    assert len(found) > 30
    for each in found:
        own = shipped[each["output_rate"], each["measured_by"], each["scenario"]]
        names = (*SAME, "interactivity", "ttft_ms", "output_rate", "evidence_grade")
        # The notes of three results contradict their declared type: the catalogue has none for them.
        differing = [name for name in names if own[name] != each[name]]
        assert differing in ([], ["precision"] if "MXFP4" in own["note"] else []), (each, differing)


SUPPLIED = datetime(2026, 1, 1, tzinfo=UTC)


def key_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what tells one run of InferenceX from all others, whichever of its files it was read from."""
    (number,) = re.findall(r"^run (\d+)|runs/(\d+)", f"{run['note']}\n{run['source_url']}")[:1]
    return ("".join(number), run["accelerator_name"], run["concurrency"], run["input_length"], run["output_length"],
            round(math.log(run["output_rate"]), 3), round(math.log(run["interactivity"]), 3))  # fmt: skip


CURVE = ("model_name", "accelerator_name", "precision", "input_length", "output_length", "decoding", "topology")


def curve_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what one frontier is of, of a row of core.throughput."""
    decoding = "one token a step" if run["acceptance_length"] == 1 else "speculative"
    topology = "disaggregated" if run["is_disaggregated"] else "one node"
    lengths = float(run["input_length"] or 0), float(run["output_length"] or 0)
    return run["model_name"], run["accelerator_name"], run["precision"], *lengths, decoding, topology


def knot_of(run: Mapping[str, Any]) -> Knot:
    """Return speed and rate a paid chip of a row of core.throughput on machines of 8."""
    n = float(run["accelerator_count"])
    return Knot(float(run["interactivity"]), float(run["output_rate"] or 0) / n * share(n, NODE))


def read_back(shared: Path) -> list[tuple[object, ...]]:
    """Return every fifth run of InferenceMAX as `benchmark add` puts it into the log, a file for each official run."""
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(shared, "throughput2/inferencemax_runs_2025-12_2026-01")[HELD_BACK - 1 :: HELD_BACK]:
        files[row["run_url"]].append(aggregate(row))
    found = []
    for place, (url, objects) in enumerate(files.items()):
        body = json.dumps(objects).encode()
        runs = read(body, "agg_bmk.json", {"source_url": url})
        found += [
            throughput.core_row(
                run | {"measured_by": "SemiAnalysis InferenceX"}, source="benchmark:held back", observed_at=SUPPLIED,
                document_sha256=f"held back {place}", recorded_at=SUPPLIED,
            )
            for run in runs
        ]  # fmt: skip
    return found


RATES = """
select h.*, o.price_usd, o.instance_type,
    cost.rates_at_speed(
        h.speed, r.interactivity_from, r.interactivity_to, r.is_clamped, r.rates_from, r.rates
    ) as rates
from held as h inner join int.serving_rate as r
    on h.model_name = r.model_name and h.accelerator_name = r.accelerator_name and h.precision = r.precision
    and h.input_length = r.input_length and h.output_length = r.output_length and h.decoding = r.decoding
    and h.topology = r.topology and r.benchmark_family = 'inferencex' and r.network = 'cluster'
    and r.interactivity_from < h.speed and h.speed <= r.interactivity_to and not r.is_clamped
inner join int.cost_option as o
    on r.accelerator_name = o.accelerator_name and r.unit_accelerators = o.unit_accelerators
    and r.network = o.network and o.purchase_option = 'on_demand' and o.service_provider_name = 'AWS'
"""
"""The rate of the product at the speed of each run that was held back, and the price of the chip on demand at AWS."""


def at_held_back(file: Path, held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with duckdb.connect() as con:
        con.execute(f"attach '{file}' as published (read_only); use published")
        frame = pl.DataFrame(held, infer_schema_length=None)
        con.register("held", frame)
        return named(con.execute(RATES))


@pytest.mark.prove
def test_what_was_held_back_is_interpolated_then_read_and_priced(
    shared: Path,
    sources: dict[tuple[Any, ...], list[tuple[float, Knot]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Without every fifth run the line is near it; with it, each on its frontier costs price / rate, by the formula."""
    names = dict(zip(throughput.CORE.columns, range(len(throughput.CORE.columns)), strict=True))
    back = read_back(shared)
    told = [{name: row[place] for name, place in names.items()} for row in back]
    gone = {key_of(run) for run in told}
    shipped = throughput.catalogue_rows()
    kept = tuple(
        row for row in shipped
        if not (row[names["note"]] or "").startswith("run ")
        or key_of({name: row[place] for name, place in names.items()}) not in gone
    )  # fmt: skip
    assert len(back) == 268
    assert len(shipped) - len(kept) == len(gone)
    monkeypatch.setattr(throughput, "catalogue_rows", lambda: kept)
    monkeypatch.setattr(frame, "_folder", lambda data_dir: data_dir)  # not as it was made before
    curves: dict[tuple[Any, ...], list[Knot]] = defaultdict(list)
    for row in kept:
        run_kept = {name: row[place] for name, place in names.items()}
        if run_kept["benchmark_family"] == "inferencex" and run_kept["interactivity"]:
            curves[curve_of(run_kept)].append(knot_of(run_kept))
    held = [
        {**dict(zip(CURVE, curve_of(run), strict=True)), "speed": knot_of(run).speed, "rate": knot_of(run).rate,
         "is_beaten": any(each.speed >= knot_of(run).speed and each.rate >= knot_of(run).rate
                          for each in curves[curve_of(run)])}
        for run in told if run["accelerator_name"] in ("H100", "H200", "B200")
    ]  # fmt: skip
    with cost_file(tmp_path / "without") as file:
        without = at_held_back(file, held)
    # A line between two others says nothing of a run that one of them beats.
    errors = sorted(
        abs(line["rates"]["median_output_rate"] / line["rate"] - 1) for line in without if not line["is_beaten"]
    )
    with cost_file(tmp_path / "with", *back) as file:
        costs = lines(file, "select distinct throughput_id from int.throughput where source = 'benchmark:held back'")
        again = at_held_back(file, held)
    assert len(costs) == len({row[0] for row in back})
    for line in again[::3]:
        of = tuple(line[name] for name in CURVE)
        _, rate = at([Knot(knot.speed, knot.rate * share(n, NODE)) for n, knot in sources[of]], line["speed"])
        by_hand = line["price_usd"] * 1e6 / 3600 / rate
        costs = lines(
            file,
            f"from mart.serving_cost('{line['model_name']}', {line['speed']!r}, 1, 1, 1, null) where "
            f"accelerator_name = '{line['accelerator_name']}' and precision = '{line['precision']}' and "
            f"input_length = {line['input_length']} and output_length = {line['output_length']} and "
            f"decoding = '{line['decoding']}' and topology = '{line['topology']}' and "
            f"instance_type = '{line['instance_type']}' and purchase_option = 'on_demand' and "
            "benchmark_family = 'inferencex'",
        )
        assert [each["all_in_output_usd_median"] for each in costs] == pytest.approx([by_hand], rel=1e-3)
    print(f"held back: {len(errors)} on a frontier, error {median(errors):.2%} in the middle, "
          f"{errors[int(0.95 * len(errors))]:.0%} at the 95th percentile; {len(again[::3])} costs equal")  # fmt: skip
    assert len(errors) >= 20 < len(again[::3])
    assert median(errors) < 0.05
