"""Published files of cost that several modules of tests ask, made once: prices of `cost_file`, and runs of one's own.

Each run has a scenario of its own, by which its tests ask for it.
"""

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path

import kept
import pytest
from cost_file import put_prices, putting_costs, run

IMPOSSIBLE = run(output_rate=Decimal(1500), scenario="impossible")
SLOW, FAST, BEATEN = (
    run(scenario="own curve", interactivity=Decimal(speed), interactivity_statistic="median",
        output_rate=Decimal(rate), input_rate=Decimal(2 * rate), total_rate=Decimal(3 * rate), ttft_ms=Decimal(100),
        ttft_statistic="median", concurrency=Decimal(160 // speed))
    for speed, rate in ((20, 160), (40, 80), (30, 70))
)  # fmt: skip
REPEATED = tuple(
    run(scenario="repeats", interactivity=Decimal(speed), interactivity_statistic="median", concurrency=Decimal(users),
        output_rate=Decimal(rate), software="server 1")
    for users, speed, rate in ((8, "20", 160), (8, "20.2", 164), (8, "19.8", 150), (2, "40", 80))
)  # fmt: skip
TOO_LARGE = run(scenario="too large", precision="fp16", concurrency=None, acceptance_length=None)
"""Llama 3 70B "in fp16" on one H100: its weights alone are 141 GB."""


def training(scenario: str, rate: int, input_length: int = 500) -> tuple[object, ...]:
    """Return a run of a training of Llama 3 70B on eight H100 at a rate a chip."""
    return run(
        model_name="llama-3-70b", task="training", scenario=scenario, benchmark_family="mlperf_training",
        accelerator_count=Decimal(8), input_length=Decimal(input_length), output_rate=None, output_length=None,
        concurrency=None, acceptance_length=None, total_rate=Decimal(8 * rate), measured_on=date(2026, 1, 2),
    )  # fmt: skip


LORA, CHEAT, LONG = training("own LoRA", 6000), training("own", 6000), training("own LoRA", 3000, 8192)
RUNS = (IMPOSSIBLE, SLOW, FAST, BEATEN, *REPEATED, TOO_LARGE, LORA, CHEAT, LONG)
ASKED = (
    "token_rate", "token_cost", "token_option", "headline_token_cost", "serving_rate", "serving_cost", "training_cost",
    "training_run_cost", "cost_left_out",
)  # fmt: skip


def cost_files(base: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a file of day 0, one 89 days after another price of p5en.48xlarge, and one 91 days after it; read them."""
    folder = kept.once(base, "costs", _make)
    return {name: folder / f"{name}.duckdb" for name in ("before", "after", "late")}


def _make(folder: Path) -> None:
    with putting_costs(folder / "data", *RUNS, asked=ASKED) as put:
        shutil.copy(put_prices(put, 0), folder / "before.duckdb")
        shutil.copy(put_prices(put, 1, published_at=90, p5en="60"), folder / "after.duckdb")
        shutil.copy(put(at=92), folder / "late.duckdb")
