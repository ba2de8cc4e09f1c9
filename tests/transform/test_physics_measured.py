"""The bounds held against what was measured: nothing that ran breaks them, or the reason is known.

The reference figures: 0 of 879 MLPerf inference results and 0 of 82 of pre-training break the compute bound; 152 decode
results of AWS Neuron sit at 5 to 44 % of the bandwidth bound, median 24 %.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from physics_file import physics_file

from warehouse.log.db import insert_rows
from warehouse.reference import models

CHIPS = {
    "NVIDIA B200-SXM-180GB": ("B200", None), "NVIDIA Blackwell GPU (B200-SXM-180GB)": ("B200", None),
    "NVIDIA B300-SXM-270GB": ("B300", None), "NVIDIA Blackwell Ultra GPU (B300-SXM-270GB)": ("B300", None),
    "NVIDIA GB200": ("GB200", None), "NVIDIA Blackwell GPU (GB200)": ("GB200", None),
    "NVIDIA GB300": ("GB300", None), "NVIDIA Blackwell Ultra GPU (GB300)": ("GB300", None),
    "NVIDIA H100-SXM-80GB": ("H100", "SXM"), "NVIDIA H100-SXM5-80GB": ("H100", "SXM"),
    "NVIDIA H100-NVL-94GB": ("H100", "NVL"), "NVIDIA H100-PCIe-80GB": ("H100", "PCIe"),
    "NVIDIA H200-SXM-141GB": ("H200", "SXM"), "NVIDIA H200-SXM5-141GB": ("H200", "SXM"),
    "NVIDIA H200-SXM-141GB-CTS": ("H200", "SXM"), "Virtualized NVIDIA H200-SXM-141GB": ("H200", "SXM"),
    "NVIDIA H200-NVL-141GB": ("H200", "NVL"), "NVIDIA GH200 Grace Hopper Superchip 144GB": ("GH200", None),
    "NVIDIA GH200 Grace Hopper Superchip 96GB": ("GH200", None), "NVIDIA L40S": ("L40S", None),
    "NVIDIA A100-SXM4-80GB": ("A100-80GB", "SXM"),
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": ("RTX-PRO-6000", "Server"),
    "AMD Instinct MI300X 192GB HBM3": ("MI300X", None), "AMD Instinct MI300X-NPS1-SPX-192GB-750W": ("MI300X", None),
    "AMD MI300X-NPS1-SPX-192GB-750W": ("MI300X", None), "AMD Instinct MI325X 256GB HBM3e": ("MI325X", None),
    "AMD Instinct MI325X 256GB HBM3E": ("MI325X", None), "AMD Instinct MI325X 256GB HBM3E DLC": ("MI325X", None),
    "AMD Instinct MI350X": ("MI350X", None), "AMD Instinct MI350X 288GB HBM3e": ("MI350X", None),
    "AMD Instinct MI355X": ("MI355X", None), "AMD Instinct MI355X 288GB HBM3e": ("MI355X", None),
    "AMD Instinct MI355X 288GB HBM3e (x87)": ("MI355X", None),
    "AMD Instinct MI355X 288GB HBM3e (x94)": ("MI355X", None),
    "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)": ("MI355X", None),
    "Intel(R) Gaudi(R) 2 AI Accelerator": ("Gaudi2", None), "TPU-v5p": ("TPU-v5p", None),
    "TPU-trillium": ("TPU-v6e", None),
}  # fmt: skip
"""The chips of MLPerf's results, as its submitters write them."""

NO_BOUND = {"CPU": 24, "Arc": 32, "RTX PRO 4500": 4, "VR-288GB": 1, "mixed": 12}
"""Inference results without a bound: CPUs have no rate per chip; of three chips we have no published peak; and three
clusters mix chips, so that no one peak is theirs (the 879 counts these by their first chip; ours are 867)."""


@pytest.fixture(scope="module")
def con(shared: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a physics file with the measured results as views, their models and chips resolved."""
    con = physics_file()
    con.execute("create table chip (accelerator VARCHAR, accelerator_name VARCHAR, form_factor VARCHAR)")
    insert_rows(con, "chip", [(text, *chip) for text, chip in CHIPS.items()])
    con.execute("create table named (model VARCHAR, model_name VARCHAR)")
    for source in ("mlperf", "neuron"):
        path = shared / f"data/throughput_{source}.csv"
        con.execute(f"create table {source} as from read_csv('{path}', all_varchar = true)")
    texts = con.execute("select model from mlperf union select model from neuron").fetchall()
    found = [(text, models.find(text)) for (text,) in texts]
    insert_rows(con, "named", [(text, model.model_name) for text, model in found if model])
    con.execute(
        "create table bounded as select r.task, r.model, r.tokens_per_second_per_accelerator::DOUBLE as rate, "
        "m.parameters_active as n, m.layers, m.attention_size, r.max_sequence_length::BIGINT as length, "
        "a.dense_bf16_tflops as bf16, a.dense_fp8_tflops as fp8, c.accelerator_name, r.accelerator, "
        "physics.best_dense_tflops(a.dense_bf16_tflops, a.dense_fp16_tflops, a.dense_fp8_tflops, "
        "a.dense_fp4_tflops, a.dense_int8_tops) as best "
        "from mlperf as r join named using (model) join ref.model as m using (model_name) "
        "join chip as c using (accelerator) join ref.accelerator as a "
        "on a.accelerator_name = c.accelerator_name and a.form_factor is not distinct from c.form_factor"
    )
    yield con
    con.close()


def one(con: duckdb.DuckDBPyConnection, query: str) -> tuple[float, ...]:
    """Return the only row of a query."""
    (row,) = con.execute(query).fetchall()
    return tuple(row)


def test_no_inference_result_breaks_the_compute_bound(con: duckdb.DuckDBPyConnection) -> None:
    """Every output token is a forward pass; the fastest result is far below the fastest dense peak."""
    n, broken, most = one(
        con,
        "select count(*), count(*) filter (rate > bound), max(rate / bound) from (select rate, "
        "physics.forward_compute_bound(1, best, physics.forward_flop_per_token(n, layers, attention_size, 0)) as bound "
        "from bounded where task = 'inference')",
    )

    assert (n, broken) == (867, 0)
    assert most == pytest.approx(0.330, abs=0.001)


def test_results_without_a_bound_are_counted(con: duckdb.DuckDBPyConnection) -> None:
    """What has no bound is no chip of ours, chip by chip; nothing is left out silently."""
    left = con.execute(
        "select case when accelerator like 'CPU%' then 'CPU' when accelerator like '%Arc Pro%' then 'Arc' "
        "when accelerator like '%MI300X%MI325X%' or accelerator like '%MI325X%MI300X%' then 'mixed' "
        "when accelerator like '%RTX PRO 4500%' then 'RTX PRO 4500' when accelerator like '%VR-288GB%' then 'VR-288GB' "
        "else accelerator end, count(*) from mlperf where task = 'inference' and accelerator not in "
        "(select accelerator from bounded) group by all"
    ).fetchall()

    assert dict(left) == NO_BOUND
    assert sum(NO_BOUND.values()) + 867 == one(con, "select count(*) from mlperf where task = 'inference'")[0]


def test_no_training_result_breaks_the_peak(con: duckdb.DuckDBPyConnection) -> None:
    """82 results of pre-training, three models: below the fastest dense peak even with the whole of attention."""
    share = (
        "physics.model_flops_utilisation(rate, 1, best, physics.training_flop_per_token(n, layers, attention_size, {}))"
    )
    n, broken, most, most_whole = one(
        con,
        f"select count(*), count(*) filter (whole > 1), max(bare), max(whole) from (select {share.format(0)} as bare, "
        f"{share.format('length')} as whole from bounded where task = 'training')",
    )

    assert (n, broken) == (82, 0)
    assert [most, most_whole] == pytest.approx([0.433, 0.469], abs=0.001)


def test_best_training_results(con: duckdb.DuckDBPyConnection) -> None:
    """Of each chip the best result in 6N, as a share of its BF16 and its FP8 peak: precision makes MFU."""
    rows = con.execute(
        "select model, accelerator_name, round(max(rate), 1), round(max(rate * flop / 1e12)), "
        "round(100 * max(physics.model_flops_utilisation(rate, 1, bf16, flop))), "
        "round(100 * max(physics.model_flops_utilisation(rate, 1, fp8, flop))) from "
        "(select *, physics.training_flop_per_token(n, layers, attention_size, 0) as flop from bounded) "
        "where task = 'training' group by all"
    ).fetchall()
    best = {(model, chip): tuple(figures) for model, chip, *figures in rows}

    assert best["gpt3-175b", "H100"] == (815.6, 854, 86, 43)  # 856 and 87 of a round 175 billion parameters
    assert best["llama3.1-405b", "H100"] == (319.6, 778, 79, 39)
    assert best["llama3.1-405b", "GB300"] == (1369.5, 3335, 133, 67)  # above the BF16 peak: it trains in FP4
    assert best["llama3.1-8b", "H100"][2:] == (52, 26)
    assert best["llama3.1-8b", "MI355X"][2:] == (59, 29)


BYTES = (
    "physics.bytes_per_value(case when r.weight_dtype = 'int8' then 'int8' when r.precision like 'fp8%' then 'fp8' "
    "else 'bf16' end)"
)
ALL_ACTIVE = f"m.parameters_active * {BYTES}"
READ = (
    "physics.moe_weight_bytes_read(m.shared_parameters, coalesce(m.expert_parameters * m.moe_layers, 0), "
    f"coalesce(m.experts, 1), coalesce(m.experts_per_token, 1), r.batch_size::BIGINT, {BYTES})"
)
CACHE = (
    "physics.kv_cache_bytes(m.kv_values_per_layer, m.layers, r.input_length::DOUBLE + r.output_length::DOUBLE / 2, 2, "
    "m.windowed_layers, coalesce(m.window_tokens, 0))"
)


def shares(con: duckdb.DuckDBPyConnection, weights: str, cache: str, scenarios: str) -> tuple[float, ...]:
    """Return how many of AWS's decode results there are, and the least, median and greatest share of the bound."""
    return one(
        con,
        "select count(*), min(share), median(share), max(share) from (select r.tokens_per_second::DOUBLE / "
        f"physics.decode_bandwidth_bound(r.accelerators_used::BIGINT, a.memory_bandwidth_tb_s, {weights}, "
        f"r.batch_size::BIGINT, {cache}) as share from neuron as r join named using (model) "
        "join ref.model as m using (model_name) join ref.accelerator as a on a.accelerator_name = r.accelerator "
        f"where r.task = 'inference' and r.token_basis = 'output tokens' and {scenarios})",
    )


PLAIN = "r.scenario not like '%EAGLE%' and r.scenario not like '%speculation (%'"


@pytest.mark.parametrize(
    ("weights", "cache", "expected"),
    [
        (ALL_ACTIVE, "0", (0.050, 0.223, 0.427)),  # all active parameters, no cache
        (READ, "0", (0.046, 0.219, 0.425)),  # the input embedding is not read
        (READ, CACHE, (0.056, 0.279, 0.428)),  # and the cache is, at the mean context
    ],
)
def test_neuron_decodes_below_the_bandwidth_bound(
    con: duckdb.DuckDBPyConnection, weights: str, cache: str, expected: tuple[float, float, float]
) -> None:
    """152 results of decode without speculation: 5 to 43 % of the bound that the weights alone set, median 22 %.

    The bound of what a step really reads is higher by the input embedding, and lower by the cache.
    """
    n, *found = shares(con, weights, cache, PLAIN)

    assert n == 152
    assert found == pytest.approx(expected, abs=0.001)


def test_speculation_against_a_bound_of_one_token(con: duckdb.DuckDBPyConnection) -> None:
    """Four results speculate. Against a bound of one token a step, which is not theirs, one of them comes to 88 %.

    The median of 24 % counts these four too: with them it is 24.0 %, without them 22.3 %. No other reading of
    chips, cache and weights gives 5, 24 and 44 % together; the greatest without speculation is 42.7 %.
    """
    n, least, median, most = shares(con, ALL_ACTIVE, "0", "true")

    assert n == 156
    assert [least, median, most] == pytest.approx([0.050, 0.240, 0.881], abs=0.001)
