"""Claims made up from bounds, published figures and the history, with the verdict that the rules promise of each."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

import duckdb

CHIPS = (
    ("Trainium1", 380, 0.8805), ("Trainium2", 2563, 2.9), ("Trainium3", 2517, 4.9), ("H100 SXM", 3958, 3.35),
    ("H200 SXM", 3958, 4.8), ("B200 SXM", 18000, 8.0), ("A100 80GB SXM", 1248, 2.039), ("MI300X", 5230, 5.3),
)  # fmt: skip
"""Chips with the fastest published peak of any precision and memory bandwidth, typed here from their datasheets."""
MODELS = (("Llama 3 70B", 70.55e9), ("Llama 3 8B", 8.03e9), ("GPT-3 175B", 174.6e9), ("Llama 3.1 405B", 405.85e9))
CORES = (("Trainium1", 2), ("Trainium2", 8), ("Trainium3", 8))
OFF = (0.5, 0.8, 1.3, 2.5)
CHANGED = (
    "select o.instance_type, a.unit_price::DOUBLE, a.valid_from::DATE, a.valid_to::DATE, a.last_observed_at::DATE "
    "from int.price_history as a inner join core.offer as o on a.offer_id = o.offer_id "
    "inner join int.price_history as b on a.offer_id = b.offer_id and a.valid_to = b.valid_from "
    "where o.region_id = 'us-east-1' and o.purchase_option = 'on_demand' and o.conditions is null "
    "and abs(a.unit_price / b.unit_price - 1) > 0.03 and b.valid_to is null "
    "and b.last_observed_at > TIMESTAMP '2026-06-01' order by all"
)
"""Prices of us-east-1 that ended once, and on which days they began, ended and were last seen."""


class Planted(NamedTuple):
    """A line of a CSV of claims without its id, what kind of fault it has, and the verdicts then and today."""

    kind: str
    then: str
    today: str
    line: str


def bounds() -> Iterator[Planted]:
    """Yield rates beyond and within what peak and bandwidth allow."""
    bad, line = "physically_impossible", "{} / {},throughput_tokens_per_s_{},{:.3f},,,tokens/s{},{},2026-05-01"
    for chip, peak, bandwidth in CHIPS:
        for model, size in MODELS:
            bound = peak * 1e12 / (6 * size)
            for factor in (1.3, 2, 4, 8, 20):
                told = line.format(chip, model, "per_chip", bound * factor, "/chip", '"pre-training, ""~"""')
                yield Planted("training above the peak", bad, bad, told)
            told = line.format(chip, model, "per_chip", bound * 0.18, "/chip", "pre-training")
            yield Planted("training within the peak", "possible", "possible", told)
        for batch in (1, 8, 32):
            words = f'"output tokens, FP8, batch {batch}, no speculation"'
            bound = batch * bandwidth * 1e12 / 69.503e9
            told = line.format(chip, "Llama 3 70B", "per_chip", bound * 1.2, "/chip", words)
            yield Planted("generation above the bandwidth", bad, bad, told)
            told = line.format(chip, "Llama 3 70B", "per_chip", bound * 0.5, "/chip", words)
            yield Planted("generation within the bandwidth", "possible", "possible", told)
    for chip, cores in CORES:
        peak = next(peak for name, peak, _ in CHIPS if name == chip)
        rate = 1.2 * peak * 1e12 / cores / (6 * 70.55e9)
        told = line.format(chip, "Llama 3 70B", "per_core", rate, "/core", "pre-training")
        yield Planted("training above the peak of a core", bad, bad, told)
    for chip in ("H100", "H200", "Trainium3"):
        yield Planted("utilisation above 100 %", bad, bad, f"{chip} / Llama 3 70B,mfu_range,140,,,percent,,2026")
        yield Planted("a model beyond the memory", bad, bad,
                      f"{chip} / GPT-3 175B,capacity_fit,1,,,flag,BF16 weights in one chip,2026")  # fmt: skip


def history(con: duckdb.DuckDBPyConnection) -> Iterator[Planted]:
    """Yield prices of each type whose price changed: the old one then, the old one later, and ones that never were."""
    line = '{},price_usd_per_hour_instance,{},,,USD/h,"On-Demand, us-east-1",{}'
    monthly = '{},price_usd_per_month,{:.2f},,,USD/month,"On-Demand, us-east-1",{}'
    for name, old, since, until, last in con.execute(CHANGED).fetchall():
        middle = since + (last - since) / 2
        yield Planted("a price that was true then", "consistent", "stale", line.format(name, old, middle))
        yield Planted("a month of it", "consistent", "stale", monthly.format(name, old * 730, middle))
        for days in (1, 20, 60, 150):
            when = until + timedelta(days=days)
            yield Planted("an old price", "stale", "stale", line.format(name, old, when))
            yield Planted("a month of an old price", "stale", "stale", monthly.format(name, old * 730, when))
        for factor in (0.31, 1.37, 3):
            bad = "inconsistent"
            told = line.format(name, old * factor, until + timedelta(days=20))
            yield Planted("a price that never was", bad, bad, told)


def figures(con: duckdb.DuckDBPyConnection) -> Iterator[Planted]:
    """Yield memory, bandwidth and peaks of all chips of one form, as published and 30 % off."""
    asked = (("spec_memory_gb", "memory_gb", "GB"), ("spec_memory_bandwidth_tb_s", "memory_bandwidth_tb_s", "TB/s"),
             ("spec_fp8_tflops", "dense_fp8_tflops", "TFLOPS"), ("spec_tdp_w", "tdp_w", "W"))  # fmt: skip
    columns = ", ".join(f"{fact}::DOUBLE" for _, fact, _ in asked)
    rows = con.execute(
        f"select accelerator_name, {columns} from ref.accelerator where form_factor is null "
        "and accelerator_name not like 'TPU%' order by all"
    ).fetchall()
    for chip, *values in rows:
        for (metric, _, unit), value in zip(asked, values, strict=True):
            if value is not None:
                line = f"{chip},{metric},{{:.6g}},,,{unit},dense,2026"
                yield Planted("a published figure", "consistent", "consistent", line.format(value))
                yield Planted("a wrong figure", "inconsistent", "inconsistent", line.format(value * 1.3))


def arithmetic() -> Iterator[list[Planted]]:
    """Yield texts whose last figure is, or is not, what the figures before it give."""
    asked = (
        ("price of a chip", "p5.48xlarge,price_usd_per_hour_instance,55.04,,,USD/h,on-demand,2026-03-01",
         "H100,price_per_chip,{:.4f},,,USD/h,p5.48xlarge / 8,2026-03-01", 6.88),
        ("month", "trn1.32xlarge,price_usd_per_hour_instance,21.5,,,USD/h,on-demand,2026-03-01",
         "trn1.32xlarge,price_usd_per_month,{:.2f},,,USD/month,on-demand,2026-03-01", 15695),
        ("discounted price", "H100,price_per_chip,12.29,,,USD/h,on-demand,2026-03-01",
         "H100,price_per_chip,{:.4f},,,USD/h,1-Year Savings Plan (-40%),2026-03-01", 7.374),
        ("cost of tokens", "H200 SXM,price_per_chip,4.54,,,USD/h,on-demand,2026-03-01",
         'H200 SXM,cpm,{:.5f},,,USD per 1M tokens,"4.54 USD/h at 1,500 tok/s",2026-03-01', 0.84074),
        ("migration", "move,team_engineers,2,,,count,,2026",
         'move,migration_cost,{:.0f},,,USD,"3 weeks, 2 engineers, 150 USD/h",2026', 36000),
        ("break-even", "move,migration_cost,36000,,,USD,,2026",
         "move,break_even_tokens,{:.0f},,,tokens,0.28 vs 0.61 USD/M,2026", 109090909091),
        ("amount saved", "run,note,1,,,count,,2026", "run,savings_usd,{:.0f},,,USD,45% of a 300000 run,2026", 135000),
    )  # fmt: skip
    for kind, given, line, right in asked:
        context = Planted("context", "", "", given)
        yield [context, Planted(f"right {kind}", "consistent", "consistent", line.format(right))]
        for factor in OFF:
            yield [context, Planted(f"wrong {kind}", "inconsistent", "inconsistent", line.format(right * factor))]
