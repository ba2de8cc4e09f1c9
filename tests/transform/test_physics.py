"""The formulas of physics: hand-computed figures, what every formula keeps to, and how many chips hold a model."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from physics_file import physics_file
from published import named
from scripts import script

from transform.formula import SQL, Domain, Formula, Parameter, formulas, read
from warehouse.schema.columns import allowed

OF_ROWS = {"chip", "model"}
"""Parameters that are a row of ref.accelerator or ref.model."""
FORMULAS = tuple(formula for formula in formulas() if formula.schema == "physics")
OF_NUMBERS = tuple(f for f in FORMULAS if OF_ROWS.isdisjoint(parameter.name for parameter in f.parameters))
CON = physics_file()
MODELS = [name for (name,) in CON.execute("select model_name from ref.model where kv_values_per_layer > 0").fetchall()]
"""A DuckDB with ref.accelerator, ref.model and the macros; nothing writes to it."""

EXAMPLES = {"precision_name": "'fp8'", "is_causal_half": "false", "is_base_frozen": "false"}
POSITIVE = st.floats(1e-3, 1e6)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a connection of the test's own to that file."""
    with CON.cursor() as cursor:
        yield cursor


def value(call: str) -> Any:
    """Return what `physics.<call>` gives."""
    row = CON.execute(f"select physics.{call}").fetchone()
    assert row is not None
    return row[0]


def call(formula: Formula, **given: str) -> str:
    """Return a call of a formula, its parameters 0.5 where not given."""
    arguments = (given.get(p.name, EXAMPLES.get(p.name, "0.5")) for p in formula.parameters)
    return f"{formula.name}({', '.join(arguments)})"


@pytest.mark.parametrize(
    ("expected", "formula"),
    [
        # Trainium3, Llama-70B training at 28,500 tokens/s a chip: 11.97 PFLOP/s, 476 % of the FP8 peak.
        (4.7557, "model_flops_utilisation(28500, 1, 2517, physics.training_flop_per_token(70e9, 80, 8192, 0))"),
        # GPT-3 175B on H100 SXM, 815.6 tokens/s a chip: 856 TFLOP/s, 87 % of the BF16 and 43 % of the FP8 peak.
        (0.866, "model_flops_utilisation(815.6, 1, 989, physics.training_flop_per_token(175e9, 96, 12288, 0))"),
        (0.433, "model_flops_utilisation(815.6, 1, 1979, physics.training_flop_per_token(175e9, 96, 12288, 0))"),
        (0.433, "model_flops_utilisation(815.6*8, 8, 1979, physics.training_flop_per_token(175e9, 96, 12288, 0))"),
        # The same backwards: what 43.3 % of the FP8 peak trains.
        (815.6, "training_rate_at_mfu(0.43275, 1979, physics.training_flop_per_token(175e9, 96, 12288, 0))"),
        (1631.2, "training_rate_at_mfu(0.43275, 1979, physics.training_flop_per_token(175e9, 96, 12288, 0), 2)"),
        # LoRA with a frozen base: 4N; attention as ever.
        (280e9, "training_flop_per_token(70e9, 80, 8192, 0, is_base_frozen := true)"),
        (6e9 + 12 * 10 * 100 * 1000, "training_flop_per_token(1e9, 10, 100, 1000)"),
        (6e9 + 6 * 10 * 100 * 1000, "training_flop_per_token(1e9, 10, 100, 1000, is_causal_half := true)"),
        # 2N + 4Lds.
        (2e9 + 4 * 10 * 100 * 1000, "forward_flop_per_token(1e9, 10, 100, 1000)"),
        # 8 x 1,979 TFLOP/s over 140 GFLOP a token.
        (113_085.7, "forward_compute_bound(8, 1979, 140e9)"),
        # Input of three times the output, two thirds of it cached: twice the work for each output token.
        (56_542.9, "serving_output_bound(8, 1979, 140e9, 3000, 1000, 2.0/3)"),
        (28_271.4, "serving_output_bound(8, 1979, 140e9, 3000, 1000)"),
        # Weights of 141.1 GB at 8 x 3.35 TB/s, one sequence: 189.9 steps a second; each makes 3 tokens where 3 pass.
        (189.936, "decode_bandwidth_bound(8, 3.35, 141.1e9, 1, 0)"),
        (569.81, "decode_bandwidth_bound(8, 3.35, 141.1e9, 1, 0, 3)"),
        # 141 GB hold 137.95 GB of weights and 31 sequences of 98.3 MB; 130 GB do not hold the weights.
        (31, "largest_batch(1, 141, 137.95e9, 98.3e6)"),
        (0, "largest_batch(1, 130, 137.95e9, 98.3e6)"),
        # 16 sequences of 10 GB each are read beside the weights.
        (1424.09, "decode_bandwidth_bound(8, 3.35, 141.1e9, 16, 10e9)"),
        # Llama-2-70B: 327,680 bytes a token.
        (327680 * 4096, "kv_cache_bytes(2*8*128, 80, 4096, 2)"),
        # gpt-oss-120b at 1,000 tokens: 18 layers keep all, 18 keep 128; at 100 tokens all keep all.
        (2 * 1024 * 18 * (1000 + 128), "kv_cache_bytes(1024, 36, 1000, 2, 18, 128)"),
        (2 * 1024 * 36 * 100, "kv_cache_bytes(1024, 36, 100, 2, 18, 128)"),
        # Mixtral: one token reads two experts a layer, a thousand read all eight; two tokens 8 x (1 - 0.75^2) = 3.5.
        (2.0, "moe_weight_bytes_read(0, 1, 8, 2, 1, 1)"),
        (3.5, "moe_weight_bytes_read(0, 1, 8, 2, 2, 1)"),
        (8.0, "moe_weight_bytes_read(0, 1, 8, 2, 1000, 1)"),
        (2 * (100 + 2 * 50), "moe_weight_bytes_read(100, 50, 8, 2, 1, 2)"),
        (2 * 70e9, "moe_weight_bytes_read(70e9, 0, 1, 1, 16, 2)"),
        (181.1, "memory_needed_gb(141.1e9, 4, 10e9)"),
        (3, "accelerators_needed(181.1, 80)"),
        (2, "accelerators_needed(160, 80)"),
        (1120, "training_memory_gb(70e9)"),
        (140, "training_memory_gb(70e9, 2)"),
        (4500, "best_dense_tflops(2250, null, 4500, null, 4500)"),
        (0.53125, "bytes_per_value('mxfp4')"),
    ],
)
def test_hand_computed(expected: float, formula: str) -> None:
    """A formula gives the figure that a pencil gives."""
    assert value(formula) == pytest.approx(expected, rel=1e-3)


def test_attention_of_a_long_sequence() -> None:
    """At 8k, attention adds 4 to 8 % to the 6N of Llama-3.1-405B: the less where the mask saves half of it."""
    six_n = value("training_flop_per_token(405.85e9, 126, 16384, 0)")
    half, whole = (
        value(f"training_flop_per_token(405.85e9, 126, 16384, 8192, {causal})") / six_n - 1
        for causal in ("true", "false")
    )

    assert (half, whole) == (pytest.approx(0.0417, abs=1e-4), pytest.approx(0.0833, abs=1e-4))


def test_every_file_is_listed() -> None:
    """Each file of a formula is a macro, and each macro has its file; the comment says what it is and whence."""
    names = {path.name for path in (SQL / "physics").iterdir()}

    assert names == {f"{formula.name}.sql" for formula in FORMULAS}
    assert [f.name for f in FORMULAS if "\n-- " not in f.sql] == []


def test_macros_are_as_listed(con: duckdb.DuckDBPyConnection) -> None:
    """A macro's parameters and comment are those of the list, so that what is documented is what is there."""
    made = con.execute(
        "select function_name, parameters, comment from duckdb_functions() where schema_name = 'physics' order by all"
    ).fetchall()

    assert made == sorted((f.name, [p.name for p in f.parameters], f.meaning) for f in FORMULAS)


def test_the_page_has_every_formula() -> None:
    """The page of formulas shows each macro as it is called, and what it gives."""
    page = script("tools/docs_site.py").formulas()

    calls = {
        f"`{f.schema}.{f.name}({', '.join(p.declaration for p in f.parameters)})`: {f.meaning}." for f in formulas()
    }
    assert len(calls) > len(FORMULAS)
    assert {line for line in calls if line not in page} == set()


def test_queries_of_the_page_run(con: duckdb.DuckDBPyConnection) -> None:
    """The queries of docs/cost-per-token.md on bounds run unchanged and find something."""
    page = (Path(__file__).parents[2] / "docs/cost-per-token.md").read_text(encoding="utf-8")
    found = re.findall(r"^```sql\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    queries = [text for text in found if "physics." in text or "mart.fit" in text]

    assert len(queries) == 2
    assert [query for query in queries if not con.execute(query).fetchall()] == []


PARAMETERS = [(formula, parameter) for formula in OF_NUMBERS for parameter in formula.parameters]
IDS = [f"{formula.name}-{parameter.name}" for formula, parameter in PARAMETERS]


@pytest.mark.parametrize(("formula", "parameter"), PARAMETERS, ids=IDS)
def test_null_in_null_out(formula: Formula, parameter: Parameter) -> None:
    """An unknown input gives an unknown result; only the fastest of several peaks is of those that are known."""
    known = value(call(formula))
    unknown = value(call(formula, **{parameter.name: "null"}))

    assert known is not None
    assert unknown == (known if formula.name == "best_dense_tflops" or parameter.name in FLAGS else None)


FLAGS = ("is_causal_half", "is_base_frozen")
"""Choices, not measurements: NULL is no."""


def test_no_peak_known_is_no_peak() -> None:
    """The fastest of none is NULL, and so are the bytes of a precision that nobody has heard of."""
    assert value("best_dense_tflops(null, null, null, null, null)") is None
    assert value("bytes_per_value('fp7')") is None


def test_each_precision_of_a_run_has_its_bytes() -> None:
    """So that a run in any of them has a bound: the bits of a format, and 8 of the scale that 32 numbers share."""
    bits = {"fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "int8": 8, "fp8": 8, "mxfp8": 8.25, "fp6": 6}
    bits |= {"mxfp6": 6.25, "int4": 4, "fp4": 4, "nvfp4": 4.5, "mxfp4": 4.25}
    assert {name: 8 * value(f"bytes_per_value('{name}')") for name in allowed("precision")} == bits


OUTSIDE = {Domain.POSITIVE: ("0", "-1"), Domain.NOT_NEGATIVE: ("-1",), Domain.SHARE: ("-0.1", "1.1"), Domain.ANY: ()}


@pytest.mark.parametrize(("formula", "parameter"), PARAMETERS, ids=IDS)
def test_nonsense_is_refused(formula: Formula, parameter: Parameter) -> None:
    """A value that a parameter cannot have is an error with the names of both, over a column as for a constant."""
    for wrong in OUTSIDE[parameter.domain]:
        for argument in (wrong, "x"):
            text = f"select physics.{call(formula, **{parameter.name: argument})} from (values ({wrong}), (1)) as t (x)"
            with pytest.raises(duckdb.InvalidInputException, match=f"{formula.name}: {parameter.name} must be"):
                CON.execute(text).fetchall()


def test_large_counts_do_not_overflow() -> None:
    """Whole numbers and decimals as tables hold them, of a trillion parameters and a million tokens, stay finite."""
    assert value(
        "training_flop_per_token(1000000000000::BIGINT, 100::BIGINT, 100000::BIGINT, 1000000::BIGINT)"
    ) == pytest.approx(1.26e14)
    assert value(
        "decode_bandwidth_bound(1024::BIGINT, 8.000000::DECIMAL(12,6), 2e12, 1000000::BIGINT, 1000000000000000::BIGINT)"
    ) == pytest.approx(1024 * 8e12 / 1e15)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 10000), tera=POSITIVE, weights=POSITIVE, batch=st.integers(1, 4096), cache=POSITIVE)
def test_bounds_grow_with_chips(n: int, tera: float, weights: float, batch: int, cache: float) -> None:
    """Twice the chips double each bound; twice the speed does too."""
    bandwidth = "decode_bandwidth_bound({}, {}, {}, {}, {})".format
    one, chips, speed = value(bandwidth(n, tera, weights, batch, cache)), None, None
    chips = value(bandwidth(2 * n, tera, weights, batch, cache))
    speed = value(bandwidth(n, 2 * tera, weights, batch, cache))
    compute = [value(f"forward_compute_bound({k}, {tera}, {weights})") for k in (n, 2 * n)]

    assert (chips, speed) == (pytest.approx(2 * one), pytest.approx(2 * one))
    assert compute[1] == pytest.approx(2 * compute[0])


@settings(max_examples=40, deadline=None)
@given(
    batch=st.integers(1, 2000), more=st.integers(1, 2000), context=st.integers(1, 60000), longer=st.integers(1, 60000)
)
def test_batch_and_context(batch: int, more: int, context: int, longer: int) -> None:
    """More sequences never slow the whole and never speed one; a longer context never speeds anything or needs less."""

    def bound(sequences: int, tokens: int) -> float:
        cache = f"physics.kv_cache_bytes(1024, 36, {tokens}, 2, 18, 128)"
        weights = f"physics.moe_weight_bytes_read(1.5e9, 36*25e6, 128, 4, {sequences}, 0.5)"
        return float(value(f"decode_bandwidth_bound(4, 3.35, {weights}, {sequences}, {cache})"))

    def needed(sequences: int, tokens: int) -> float:
        return float(
            value(f"memory_needed_gb(60e9, {sequences}, physics.kv_cache_bytes(1024, 36, {tokens}, 2, 18, 128))")
        )

    slack = 1 + 1e-9
    here = bound(batch, context)
    assert here <= bound(batch + more, context) * slack
    assert bound(batch + more, context) / (batch + more) <= here / batch * slack
    assert bound(batch, context + longer) <= here * slack
    assert needed(batch, context) < needed(batch + more, context)
    assert needed(batch, context) < needed(batch, context + longer)


@settings(max_examples=40, deadline=None)
@given(needed=st.floats(1e-3, 1e5), memory=st.floats(1, 1000))
def test_chips_needed_are_the_least(needed: float, memory: float) -> None:
    """That many hold it, one fewer does not, and more memory never needs more chips."""
    chips = value(f"accelerators_needed({needed!r}, {memory!r})")

    assert (chips - 1) * memory < needed * (1 + 1e-9)
    assert needed <= chips * memory * (1 + 1e-9)
    assert value(f"accelerators_needed({needed!r}, {memory * 2!r})") <= chips


def fit(con: duckdb.DuckDBPyConnection, arguments: str) -> dict[tuple[str, str | None], dict[str, Any]]:
    """Return the rows of `mart.fit` by chip and form."""
    rows = named(con.execute(f"from mart.fit({arguments})"))
    return {(row["accelerator_name"], row["form_factor"]): row for row in rows}


def test_fit_by_hand(con: duckdb.DuckDBPyConnection) -> None:
    """Llama-3-70B in FP8 with 16 sequences of 8,192 tokens on H100 SXM, computed with a pencil.

    Weights 70.554 GB, cache 16 x 8,192 x 327,680 bytes = 42.950 GB, activations 8,192 x 8,192 x (10 x 2 + 24) bytes =
    2.953, together 116.456: two chips, of whose 160 GB 144 are used, 27.544 left. A step reads all but the input
    embedding: 16 x 2 x 3.35 TB/s / (69.503 + 42.950 GB) = 953.3 tokens/s. The run in that precision is the proof.
    """
    chip = fit(con, "'llama-3-70b', 'fp8', 8192, 16")["H100", "SXM"]

    assert (chip["accelerators_needed"], chip["weight_precision"], chip["binding_bound"]) == (2, "fp8", "bandwidth")
    assert (chip["accelerators_used"], chip["unit_accelerators"], chip["unknown_reason"]) == (2, 2, None)
    assert chip["activations_gb"] == pytest.approx(2.953, abs=1e-3)
    assert chip["memory_needed_gb"] == pytest.approx(116.456, abs=1e-3)
    assert chip["headroom_gb"] == pytest.approx(27.544, abs=1e-3)
    assert chip["bandwidth_bound"] == pytest.approx(953.3, abs=0.1)
    assert chip["compute_bound"] == pytest.approx(2 * 1979e12 / (2 * 70_553_706_496 + 4 * 80 * 8192 * 8192), rel=1e-9)
    assert chip["output_rate_bound"] == chip["bandwidth_bound"]
    proof = [chip[name] for name in ("measured_accelerators", "measured_precision", "source_url")]
    assert proof == [8, "fp8", "https://x.test/8"]


def test_fit_speaks_of_what_is_sold_and_runs(con: duckdb.DuckDBPyConnection) -> None:
    """Counts that are sold, of which a divisor of the heads works: 156 GB are neither two H100 nor seven L4."""
    rows = fit(con, "'llama-3-70b', 'fp8', 8192, 32")
    counts = {
        name: [rows[name, form][each] for each in ("accelerators_needed", "accelerators_used", "unit_accelerators")]
        for name, form in (("H100", "SXM"), ("L4", None), ("Inferentia2", None), ("B200", None))
    }
    # 156.5 GB and activations: 8 x 24 x 0.9 hold it on L4; of twelve Inferentia2 eight work, as 64 heads are no twelve.
    assert counts == {"H100": [8, 8, 8], "L4": [8, 8, 8], "Inferentia2": [12, 8, 12], "B200": [1, 1, None]}
    assert rows["B200", None]["unknown_reason"] == "nobody is known to sell it: by heads and memory alone"
    assert fit(con, "'llama-3-8b', 'fp8', 8192, 64")["L4", None]["accelerators_needed"] == 8
    assert fit(con, "'llama-3.2-1b', 'fp4', 128, 1")["L4", None]["accelerators_needed"] == 0.125
    large = fit(con, "'llama-3.1-405b', 'bf16', 8192, 8")
    assert large["H100", "SXM"]["accelerators_needed"] == 16
    assert (large["L4", None]["accelerators_needed"], large["L4", None]["unknown_reason"]) == (
        None, "no size that is sold holds it",
    )  # fmt: skip


def test_fit_counts_copies_of_the_cache(con: duckdb.DuckDBPyConnection) -> None:
    """Four heads of keys on eight chips are each there twice; a latent vector is on all chips of a machine."""
    for model, copies in (("qwen3-235b-a22b", 2), ("deepseek-r1", 8)):
        chip = fit(con, f"'{model}', 'fp8', 4096, 1")["H100", "SXM"]
        (one,) = con.execute(
            f"select kv_bytes_per_token * 4096 / 1e9 from ref.model where model_name = '{model}'"
        ).fetchone()
        assert chip["accelerators_used"] % 8 == 0
        assert chip["kv_cache_gb"] == pytest.approx(one * copies)


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(MODELS), st.sampled_from(("fp4", "fp8", "bf16")), st.integers(1, 64), st.integers(64, 2048))
def test_fit_never_says_what_does_not_run(model: str, precision: str, batch: int, context: int) -> None:
    """Of every model: what works divides the heads on each machine, and is within what is sold and its memory."""
    (heads,) = CON.execute(f"select attention_heads from ref.model where model_name = '{model}'").fetchone()  # type: ignore[misc]
    sold = {(n, f, u) for n, f, u, *_ in CON.execute("from int.cost_option where price_usd is not null").fetchall()}
    for (name, form), row in fit(CON, f"'{model}', '{precision}', {context}, {batch}").items():
        if (needed := row["accelerators_needed"]) is None:
            assert row["unknown_reason"]
            continue
        machine, unit = max(8, row["unit_accelerators"] or 0), row["unit_accelerators"]
        assert unit is None or ((name, form, unit) in sold and needed % unit == 0)
        assert heads % (row["accelerators_used"] / max(1, needed // machine)) == 0
        assert row["headroom_gb"] >= 0
        usable = 0.9 * float(row["memory_gb"]) * min(needed, row["accelerators_used"])
        assert row["memory_needed_gb"] + row["headroom_gb"] == pytest.approx(usable)


def test_fit_takes_the_fastest_precision_unless_one_is_named(con: duckdb.DuckDBPyConnection) -> None:
    """Without a name each chip is taken in its fastest published precision; FP4 for B200, FP8 for H100, FP16 for T4."""
    unnamed, named = fit(con, "'llama-3.1-8b', null, 1024, 1"), fit(con, "'llama-3.1-8b', 'bf16', 1024, 1")

    fastest = {
        chip: unnamed[chip, form]["weight_precision"]
        for chip, form in (("B200", None), ("H100", "SXM"), ("L4", None), ("V100", "SXM"))
    }
    assert fastest == {"B200": "fp4", "H100": "fp8", "L4": "fp8", "V100": "fp16"}
    assert {row["weight_precision"] for row in named.values()} == {"bf16"}
    assert unnamed["B200", None]["peak_tflops"] == 9000
    assert named["B200", None]["peak_tflops"] == 2250


def test_fit_leaves_the_unknown_unknown(con: duckdb.DuckDBPyConnection) -> None:
    """Every chip has its row: no memory, no count; no peak in the named precision, no compute bound and so no bound."""
    rows = fit(con, "'llama-3.1-8b', 'fp8', 1024, 1")

    assert len(rows) == CON.execute("select count(*) from ref.accelerator").fetchone()[0]  # type: ignore[index]
    assert rows["V100", "SXM"]["accelerators_needed"] is None
    a100 = rows["A100-80GB", "SXM"]
    assert a100["bandwidth_bound"] > 0
    assert (a100["compute_bound"], a100["output_rate_bound"], a100["binding_bound"]) == (None, None, None)


def test_fit_says_which_bound_binds() -> None:
    """Many short sequences are bound by compute; where one of the bounds is unknown, so is the least of them."""
    file = physics_file()
    file.execute("insert into ref.accelerator (accelerator_name, memory_gb, dense_bf16_tflops) values ('Toy', 80, 100)")

    rows = fit(file, "'llama-3.1-8b', 'bf16', 1, 4096")

    l4 = rows["L4", None]
    assert l4["compute_bound"] < l4["bandwidth_bound"]
    assert (l4["output_rate_bound"], l4["binding_bound"]) == (l4["compute_bound"], "compute")
    toy = rows["Toy", None]
    assert toy["compute_bound"] > 0
    assert (toy["bandwidth_bound"], toy["output_rate_bound"], toy["binding_bound"]) == (None, None, None)


def test_fit_of_experts_and_windows(con: duckdb.DuckDBPyConnection) -> None:
    """All experts must be in memory, few are read for one sequence; compute and cache see windows."""
    one, many = (fit(con, f"'gpt-oss-120b', 'fp8', 131072, {batch}")["H200", "SXM"] for batch in (1, 1024))

    assert one["weights_gb"] == pytest.approx(116.83, abs=0.01)
    assert one["kv_cache_gb"] == pytest.approx(2 * 1024 * 18 * (131072 + 128) / 1e9)
    read = 1_548_424_512 + 4 * 36 * 24_891_840
    assert one["bandwidth_bound"] == pytest.approx(4.8e12 / (read + one["kv_cache_gb"] * 1e9))
    assert one["compute_bound"] == pytest.approx(1979e12 / (2 * 5_130_000_000 + 4 * 36 * 4096 * (131072 + 128) / 2))
    assert many["accelerators_needed"] > one["accelerators_needed"]


def test_fit_of_what_generates_nothing(con: duckdb.DuckDBPyConnection) -> None:
    """An encoder has no cache and no rate of generation: NULL, not 0."""
    chip = fit(con, "'bert-large', 'bf16', 512, 8")["A10G", None]

    assert (chip["kv_cache_gb"], chip["accelerators_needed"], chip["output_rate_bound"]) == (None, None, None)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("'llama-9', 'fp8', 1024, 1", "no model is named llama-9"),
        ("null, 'fp8', 1024, 1", "no model is named NULL"),
        ("'llama-3.1-8b', 'fp7', 1024, 1", "precision_name must be"),
        ("'llama-3.1-8b', 'fp8', 131073, 1", "context_tokens must be given, at most 131072"),
        ("'llama-3.1-8b', 'fp8', null, 1", "context_tokens must be given"),
        ("'llama-3.1-8b', 'fp8', -1, 1", "context_tokens must be"),
        ("'llama-3.1-8b', 'fp8', 1024, 0", "batch must be 1 or more"),
        ("'llama-3.1-8b', 'fp8', 1024, null", "batch must be 1 or more"),
    ],
)
def test_fit_refuses_what_it_cannot_answer(con: duckdb.DuckDBPyConnection, arguments: str, reason: str) -> None:
    """A wrong question is an error that says what is wrong, never an empty answer."""
    with pytest.raises(duckdb.InvalidInputException, match=re.escape(reason)):
        fit(con, arguments)


def test_fit_knows_aliases(con: duckdb.DuckDBPyConnection) -> None:
    """A model may be named as benchmarks do, in any case."""
    assert {row["model_name"] for row in fit(con, "'Llama2-70B', 'fp8', 1024, 1").values()} == {"llama-2-70b"}


@pytest.mark.parametrize("text", ["-- x\nselect 1", "select a as b, c as d from t", "create table x as y"])
def test_a_file_of_another_form_is_refused(text: str) -> None:
    """A formula's file is one SELECT of one named expression."""
    with pytest.raises(ValueError, match=r"odd\.sql is not one SELECT"):
        _ = Formula("physics", "odd", "", (), text).expression


def test_a_file_declares_its_formula() -> None:
    """Name, parameters with what they may be, defaults and meaning begin the comment, over several lines."""
    text = "-- odd(a > 0, b between 0 and 1 := 1,\n-- c): Something\n-- of two. And more: (of) it.\nselect a as x\n"
    declared = (Parameter("a"), Parameter("b", Domain.SHARE, "1"), Parameter("c", Domain.ANY))

    assert read("physics", "odd", text) == Formula("physics", "odd", "Something of two", declared, text)
    for wrong, reason in (
        (text.replace("odd", "even"), r"odd\.sql does not begin with"),
        (text.replace("-- odd", "-- That is odd"), r"odd\.sql does not begin with"),
        (text.replace("a > 0", "a > 1"), "'a > 1' has none of the conditions"),
    ):
        with pytest.raises(ValueError, match=reason):
            read("physics", "odd", wrong)


# Bounds of a row of ref.accelerator and one of ref.model


def bounds(chip: str, model: str, rest: str, *each: str) -> list[dict[str, Any]]:
    """Return physics.rate_bounds of a chip and a model by name; `rest` are the other arguments, one of them x."""
    name, _, form = chip.partition(" ")
    sizes = ", ".join(rest.split(", ")[2:7])
    values = ", ".join(f"({number}, {x})" for number, x in enumerate(each))
    rows = CON.execute(
        f"select physics.rate_bounds(c, m, {rest}, physics.fitting_batch(c, m, {sizes})) "
        f"from ref.accelerator as c cross join ref.model as m cross join (values {values}) as t (number, x) "
        "where c.accelerator_name = ? and coalesce(c.form_factor, '') = ? and m.model_name = ? order by number",
        [name, form, model],
    ).fetchall()
    return [dict(row[0]) for row in rows]


def test_one_h200_in_fp16_gives_a_thousand_tokens_at_most() -> None:
    """Llama-2-70B, replies of 294 tokens, no batch told: 31 sequences fit, and 4.8 TB/s read them 34 times a second."""
    (found,) = bounds("H200 SXM", "llama-2-70b", "'serving', false, 1, x, null, null, 294.45, null, 1", "'fp16'")
    weights, cache = 68_976_648_192 * 2, 294.45 * 327_680
    batch = (141e9 - weights) // cache
    assert batch == 31
    read = (68_976_648_192 - 32_000 * 8_192) * 2  # of the input embedding a step reads a row a sequence
    assert found["fitting"] == pytest.approx(batch * 4.8e12 / (read + batch * cache))
    assert found["fitting"] == pytest.approx(1_060, abs=1)
    assert found["bandwidth"] is None
    assert found["compute"] == pytest.approx(1979e12 / (2 * 68_976_648_192))


def test_a_smaller_batch_in_flight_binds_and_a_larger_one_does_not() -> None:
    """Of 8 requests in flight 8 are read; of 10,000 only those whose cache fits."""
    rest = "'serving', false, 1, 'fp16', x, 100, 389, null, 1"
    few, many, untold = bounds("H200 SXM", "llama-2-70b", rest, "8", "10000", "null")
    assert few["fitting"] < many["fitting"] == untold["fitting"]


def test_weights_that_do_not_fit_bound_at_nothing() -> None:
    """Llama-3.1-405B in BF16 takes 812 GB: eight A100 of 80 GB cannot have run it."""
    rest = "'serving', false, 8, x, 1, 100, 100, null, null"
    bf16, int8 = bounds("A100-80GB SXM", "llama-3.1-405b", rest, "'bf16'", "'int8'")
    assert (bf16["fitting"], int8["fitting"]) == (0, None)  # of the other, speculation is not told


def test_training_has_the_compute_bound_alone() -> None:
    """Six operations a parameter and token, four where the base is frozen."""
    rest = "'training', x, 8, 'bf16', null, 8192, null, null, null"
    full, lora = bounds("H100 SXM", "llama-2-70b", rest, "false", "true")
    assert full["compute"] == pytest.approx(8 * 1979e12 / (6 * 68_976_648_192))
    assert lora["compute"] == pytest.approx(1.5 * full["compute"])
    assert full["bandwidth"] is full["fitting"] is None
