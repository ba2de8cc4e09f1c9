"""The tables of chips and of models: what they say is consistent, leads to a page, and a wrong cell is named."""

import csv
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from warehouse.errors import ChipledgerError
from warehouse.reference import accelerator_facts, accelerators, models, throughput
from warehouse.reference.accelerator_facts import FACTS
from warehouse.schema.tables import table_named

Chips = dict[tuple[object, object], dict[str, Any]]
"""Figures of ref.accelerator by name and form."""

FACT_HEADER = ",".join(accelerator_facts.AcceleratorFact._fields)
FACT = "H100,SXM,memory_gb,80,GB,1,,https://x.test/a,2026-11-21"

MODEL_COLUMNS = table_named("ref.model").columns
MODEL_HEADER = ",".join(models.Model._fields)
DENSE = "toy-1b,toy1b,1000,1000,900,2,16,16,4,4,4,,,,,,,,4096,text,2026,https://x.test/b,,https://x.test/a,2026-11-21"
MOE = "moe-1b,,1000,400,200,2,16,16,,,,24,,,2,8,2,50,4096,text,2026,https://x.test/b,,https://x.test/a,2026-11-21"


@pytest.fixture(scope="module")
def chips() -> Chips:
    """Return the figures of ref.accelerator by name and form."""
    table = accelerator_facts.wide(accelerator_facts.read_table())
    return {(row[0], row[1]): dict(zip(FACTS, row[2:], strict=True)) for row in table}


def read_facts(tmp_path: Path, *lines: str) -> list[Any]:
    path = tmp_path / "accelerator_fact.csv"
    path.write_text("\n".join([FACT_HEADER, *lines]) + "\n", encoding="utf-8")
    return accelerator_facts.read_table(path)


def read_models(tmp_path: Path, *lines: str) -> list[models.Model]:
    path = tmp_path / "model.csv"
    path.write_text("\n".join([MODEL_HEADER, *lines]) + "\n", encoding="utf-8")
    return models.read_table(path)


def test_chips_are_of_the_vocabulary() -> None:
    """A fact is of a chip that a price can be of, in a form that a price can name."""
    forms = {chip.accelerator_name: chip.form_factors for chip in accelerators.read_table()}
    facts = accelerator_facts.read_table()

    assert {fact.accelerator_name for fact in facts} - set(forms) == set()
    assert [f for f in facts if f.form_factor and f.form_factor not in forms[f.accelerator_name]] == []


def test_chips_that_are_asked_for_are_there(chips: Chips) -> None:
    """Chips of several products stand once for each; H100 is three, and none of them is the other."""
    assert {form for name, form in chips if name == "H100"} == {"SXM", "PCIe", "NVL"}
    assert {form for name, form in chips if name == "A100-80GB"} == {"SXM", "PCIe"}
    assert {name for name, _ in chips} >= {
        "A10G", "L4", "L40", "L40S", "T4", "V100", "Gaudi1", "Gaudi2", "Gaudi3", "Inferentia1", "Inferentia2",
        "Trainium1", "Trainium2", "Trainium3", "MI300X", "MI325X", "MI350X", "MI355X", "TPU-v5e", "TPU-v5p", "TPU-v6e",
        "TPU-v7", "H200", "B200", "B300", "GB200", "GB300", "GH200", "A100-40GB", "RTX-PRO-6000",
        "RTX-PRO-4500",
    }  # fmt: skip


def test_traps_of_published_figures(chips: Chips) -> None:
    """Sparse is not dense, half of FP8 is not BF16, and the stacks are not the memory."""
    trainium3 = chips["Trainium3", None]
    assert (trainium3["dense_bf16_tflops"], trainium3["sparse_bf16_tflops"]) == (671, 2517)
    assert trainium3["dense_fp8_tflops"] == trainium3["dense_fp4_tflops"] == 2517
    assert [chips[f"Trainium{n}", None]["cores_per_accelerator"] for n in (1, 2, 3)] == [2, 8, 8]
    assert (chips["H100", "SXM"]["dense_fp8_tflops"], chips["H100", "SXM"]["sparse_fp8_tflops"]) == (1979, 3958)
    assert (chips["B200", None]["memory_gb"], chips["H100", "NVL"]["memory_gb"]) == (180, 94)
    assert chips["V100", "SXM"]["memory_gb"] is None  # sold with 16 and with 32
    assert chips["T4", None]["dense_bf16_tflops"] is None  # the chip has none


def test_sparse_is_not_below_dense(chips: Chips) -> None:
    """A sparse peak counts zeros as work: twice the dense one of NVIDIA (but in FP4), up to four times AWS's."""
    ratios = {
        (name, fact): row[fact] / row[fact.replace("sparse", "dense")]
        for (name, _), row in chips.items()
        for fact in FACTS
        if fact.startswith("sparse") and row[fact] is not None
    }

    assert len(ratios) > 40
    assert {key: ratio for key, ratio in ratios.items() if not 1 <= ratio <= 4} == {}
    assert {
        key: ratio
        for key, ratio in ratios.items()
        if not str(key[0]).startswith("Trainium") and not Decimal("1.3") < ratio < Decimal("2.05")
    } == {}


def test_disagreements_are_kept_and_explained() -> None:
    """What other sources say stands beside the figure we use, and says why it is another."""
    others = [fact for fact in accelerator_facts.read_table() if fact.fact_rank > 1]

    assert len(others) > 30
    assert [fact for fact in others if not fact.note] == []


EXPLAINED = {
    ("L40S", "dense_bf16_tflops"): "the datasheet's 362.05, rounded",
    ("Trainium1", "memory_bandwidth_tb_s"): "820 GiB/s to four decimals",
    ("Inferentia2", "memory_bandwidth_tb_s"): "820 GiB/s to four decimals",
    ("GB300", "memory_gb"): "278 that the driver shows, not 288 of the stacks",
    ("B300", "dense_int8_tops"): "published, where the older table had none",
    ("B300", "tdp_w"): "1,100 of HGX, as the peaks are; 1,400 is the most of the part",
    ("GB300", "dense_int8_tops"): "published, where the older table had none",
    ("TPU-v5e", "dense_int8_tops"): "393 in the present page",
    ("TPU-v5p", "dense_fp8_tflops"): "published, where the older table had none",
    ("TPU-v6e", "dense_fp8_tflops"): "published, where the older table had none",
    ("Gaudi2", "dense_int8_tops"): "published, where the older table had none",
    ("GH200", "memory_gb"): "sold with 96 and 144 GB under one name",
    ("GH200", "memory_bandwidth_tb_s"): "sold with 96 and 144 GB under one name",
}
"""Where the older table of chips and ours differ, with the reason."""

OLD_NAMES = {
    "A100 40GB SXM": ("A100-40GB", "SXM"), "A100 80GB SXM": ("A100-80GB", "SXM"), "H100 SXM": ("H100", "SXM"),
    "H100 PCIe": ("H100", "PCIe"), "H100 NVL": ("H100", "NVL"), "H200 SXM": ("H200", "SXM"),
    "H200 NVL": ("H200", "NVL"), "GH200 144GB": ("GH200", None), "B200 SXM": ("B200", None), "B300 SXM": ("B300", None),
    "GB200 (per GPU)": ("GB200", None), "GB300 (per GPU)": ("GB300", None),
    "RTX PRO 6000 Blackwell Server": ("RTX-PRO-6000", "Server"), "TPU v5e": ("TPU-v5e", None),
    "TPU v5p": ("TPU-v5p", None), "TPU v6e (Trillium)": ("TPU-v6e", None), "Gaudi 2": ("Gaudi2", None),
    "Gaudi 3": ("Gaudi3", None),
}  # fmt: skip


def test_agrees_with_the_older_table(chips: Chips, shared: Path) -> None:
    """Every peak, memory, bandwidth and power of the older table is ours too, or the difference is explained."""
    compared = ("dense_bf16_tflops", "dense_fp8_tflops", "dense_fp4_tflops", "dense_int8_tops", "memory_gb",
                "memory_bandwidth_tb_s", "tdp_w")  # fmt: skip
    differing, n = {}, 0
    with (shared / "data/accelerator_specs.csv").open(encoding="utf-8", newline="") as file:
        for old in csv.DictReader(file):
            name, form = OLD_NAMES.get(old["accelerator"], (old["accelerator"], None))
            for fact in compared:
                ours, n = chips[name, form][fact], n + 1
                if (Decimal(old[fact]) if old[fact] else None) != ours:
                    differing[name, fact] = (old[fact], ours)

    assert n == 29 * len(compared)
    assert differing.keys() == EXPLAINED.keys(), differing


def test_a_form_inherits_what_holds_for_all(tmp_path: Path) -> None:
    """A figure without a form is every form's, unless the form has its own; figures of rank 2 are not used."""
    facts = read_facts(
        tmp_path, FACT, FACT.replace("SXM", "NVL").replace(",80,", ",94,"),
        "H100,,memory_gb,79,GB,1,,https://x.test/a,2026-11-21", "H100,,tdp_w,700,W,1,,https://x.test/a,2026-11-21",
        "H100,,tdp_w,350,W,2,Of the card,https://x.test/a,2026-11-21",
        "L4,,tdp_w,72,W,1,,https://x.test/a,2026-11-21",
    )  # fmt: skip
    columns = table_named("ref.accelerator").columns
    memory, power = columns.index("memory_gb"), columns.index("tdp_w")

    rows: list[tuple[Any, ...]] = [(*row[:2], row[memory], row[power]) for row in accelerator_facts.wide(facts)]
    assert rows == [
        ("H100", "NVL", 94, 700), ("H100", "SXM", 80, 700), ("L4", None, None, 72),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "field", "reason"),
    [
        ([FACT.replace("memory_gb", "memory")], "fact", "not one of"),
        ([FACT.replace(",GB,", ",GiB,")], "unit", "memory_gb is in GB"),
        ([FACT.replace(",80,", ",0,")], "fact_value", "not above 0"),
        ([FACT.replace(",80,", ",-80,")], "fact_value", "not above 0"),
        ([FACT.replace(",80,", ",NaN,")], "fact_value", "not a number"),
        ([FACT.replace(",80,", ",eighty,")], "fact_value", "not a number"),
        ([FACT.replace(",80,", ",80.0000001,")], "fact_value", "does not fit"),
        ([FACT.replace(",80,", ",1000000,")], "fact_value", "does not fit"),
        ([FACT.replace("https", "http")], "source_url", "no public address"),
        ([FACT.replace("2026-11-21", "today")], "accessed_on", "not a date"),
        ([FACT.replace(",1,,", ",0,,")], "fact_rank", "not above 0"),
        ([FACT.replace(",1,,", ",2,,")], "fact_rank", "are not 1, 2, 3"),
        ([FACT, FACT], "fact_rank", "are not 1, 2, 3"),
        ([FACT, FACT.replace(",1,,", ",3,,")], "fact_rank", "are not 1, 2, 3"),
        ([FACT.replace("H100", "")], "accelerator_name", "empty"),
        ([FACT + ",more"], "accelerator_name", "more or fewer cells"),
    ],
)
def test_a_wrong_fact_is_named(tmp_path: Path, lines: list[str], field: str, reason: str) -> None:
    """The refusal names the field and says what is wrong with it."""
    with pytest.raises(ChipledgerError, match=reason) as caught:
        read_facts(tmp_path, *lines)

    assert (caught.value.source, caught.value.field) == ("accelerator_fact.csv", field)


def test_every_model_name_finds_its_model() -> None:
    """Names and aliases find their model, in any case, with blanks, and with the maker before a slash."""
    table = models.read_table()

    assert len(table) >= 15
    assert [(m.model_name, name) for m in table for name in m.names if models.find(name) != m] == []
    assert [m.model_name for m in table if models.find(f"Maker/{m.model_name.upper().replace('-', '_')} ") != m] == []
    assert [m.model_name for m in table if models.find(f"RedHatAI/{m.model_name}-FP8-dynamic") != m] == []


@pytest.mark.parametrize(
    "text",
    ["", "llama", "llama-3", "llama-3.1", "llama-3.1-8", "llama-3.1-80b", "llama-31-8-b", "llama-2-70b-lora", "8b"],
)
def test_a_near_name_is_no_name(text: str) -> None:
    """What is not exactly a name finds nothing, however near it comes."""
    assert models.find(text) is None


def test_shapes_of_known_models(shared: Path) -> None:
    """Parameters and cache of each model are those of the older table; the latent cache is counted as one vector."""
    with (shared / "data/model_architectures.csv").open(encoding="utf-8", newline="") as file:
        old = {row["model"]: row for row in csv.DictReader(file)}
    found = {name: models.find(name) for name in old}

    assert [name for name, model in found.items() if model is None] == []
    for name, model in found.items():
        assert model is not None
        assert model.kv_bytes_per_token == int(old[name]["kv_bytes_per_token_16bit"])
        assert model.parameters_total == pytest.approx(int(old[name]["params_total"]), rel=2e-3)
        assert model.parameters_active == pytest.approx(int(old[name]["params_active"]), rel=2e-3)
    deepseek = models.find("deepseek-r1")
    assert deepseek is not None
    assert deepseek.kv_bytes_per_token == 61 * 576 * 2


@pytest.mark.parametrize(
    ("lines", "field", "reason"),
    [
        ([DENSE.replace(",1000,1000,", ",1000,900,")], "parameters_active", "not all of a model without experts"),
        ([DENSE.replace(",900,", ",1001,")], "shared_parameters", "above parameters_total"),
        ([DENSE.replace(",900,2,", ",900,0,")], "layers", "not above 0"),
        ([DENSE.replace(",900,2,", ",900,,")], "layers", "empty"),
        ([DENSE.replace(",900,2,", ",900,2.5,")], "layers", "not a whole number"),
        ([DENSE.replace("toy-1b", "Toy 1b")], "model_name", "not in lower case with hyphens"),
        ([DENSE.replace("toy1b", "toy-1b")], "aliases", "is toy-1b already"),
        ([DENSE, DENSE], "model_name", "is toy-1b already"),
        ([DENSE, DENSE.replace("toy-1b", "toy-2b")], "aliases", "is toy-1b already"),
        ([DENSE.replace(",,,,,,,,4096", ",,1,,,,,,4096")], "windowed_layers", "without window_tokens"),
        ([DENSE.replace(",text,", ",image,")], "modality", "not one of"),
        ([DENSE.replace(",4,4,,", ",4,4,24,")], "kv_latent_size", "together with kv_heads"),
        ([MOE.replace(",2,8,2,50,", ",2,8,,50,")], "experts", "is missing"),
        ([MOE.replace(",2,8,2,50,", ",2,8,9,50,")], "experts", "more experts used"),
        ([MOE.replace(",1000,400,", ",1000,300,")], "parameters_active", "the shape gives 400"),
        ([MOE.replace(",1000,400,", ",900,400,")], "parameters_total", "below shared_parameters"),
    ],
)
def test_a_wrong_model_is_named(tmp_path: Path, lines: list[str], field: str, reason: str) -> None:
    """The refusal names the field and says what is wrong with it; the lines as they stand are right."""
    assert len(read_models(tmp_path, DENSE, MOE)) == 2

    with pytest.raises(ChipledgerError, match=reason) as caught:
        read_models(tmp_path, *lines)

    assert (caught.value.source, caught.value.field) == ("model.csv", field)


def test_both_tables_are_sorted_and_lead_to_pages() -> None:
    """Rows stand in order, so that a change reads well; every row leads to a page."""
    facts = accelerator_facts.read_table()
    names = [model.model_name for model in models.read_table()]
    order = list(FACTS)

    assert names == sorted(names)
    keys = [(f.accelerator_name, f.form_factor or "", order.index(f.fact), f.fact_rank) for f in facts]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("text", "billions"),
    [
        ("zai-org/GLM-4.5-Air", 106),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 480),
        ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", 400),
        ("Kimi-K2.5", 1030),
    ],
)
def test_a_counted_total_is_the_published_one(text: str, billions: int) -> None:
    """What a configuration adds up to is within one percent of what the maker calls the model."""
    model = models.find(text)
    assert model is not None
    assert model.parameters_total == pytest.approx(billions * 1e9, rel=0.01)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("zai-org/GLM-4.6", 202_752), ("moonshotai/Kimi-K2-Instruct", 131_072),
        ("moonshotai/Kimi-K2-Instruct-0905", 262_144), ("moonshotai/Kimi-K2-Thinking", 262_144),
    ],
)  # fmt: skip
def test_a_model_takes_the_context_of_its_version(text: str, tokens: int) -> None:
    """Versions of one shape differ in it, and `fit` refuses what is longer."""
    model = models.find(text)
    assert model is not None and model.max_context_tokens == tokens


def test_a_chip_that_was_measured_has_a_bound(chips: Chips) -> None:
    """Of memory, so that no impossible rate passes; GH200 is sold with two memories under one name."""
    measured = {run["accelerator_name"] for run in throughput.read_table()}
    bounded = {name for (name, _), facts in chips.items() if facts["memory_bandwidth_tb_s"]}
    assert measured - bounded == {"GH200"}


def test_rows_of_the_published_model_table() -> None:
    """ref.model has the table's columns and two that follow from them; what generates nothing keeps no cache."""
    rows = {row[0]: dict(zip(MODEL_COLUMNS, row, strict=True)) for row in models.core_rows(models.read_table())}

    assert rows["llama-2-70b"]["kv_values_per_layer"] == 2 * 8 * 128
    assert rows["llama-2-70b"]["kv_bytes_per_token"] == 327680
    assert rows["bert-large"]["kv_bytes_per_token"] is None


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    """The refusal shows the text and the names that it may have meant."""
    error = models.unknown("llama-9")

    assert (error.field, error.value) == ("model", "llama-9")
    assert "llama-2-7b" in (error.hint or "").partition("Did you mean")[2]
