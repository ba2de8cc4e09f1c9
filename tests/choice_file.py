"""A published file for tests of choices: the prices of `cost_file`, and two trainings of our own on eight chips."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cost_file import cost_file, run
from kept import once

MODEL = "llama-3-70b"
H100_RATE, H200_RATE = 1000, 1500
"""Tokens per second and chip of the two trainings."""


def training(chip: str, rate: int, **others: Any) -> tuple[object, ...]:
    """Return a training of Llama 3 70B on eight chips."""
    return run(**({
        "task": "training", "scenario": "own", "benchmark": "torch", "benchmark_family": "own", "concurrency": None,
        "accelerator_name": chip, "accelerator_count": Decimal(8), "output_rate": None, "output_length": None,
        "total_rate": Decimal(8 * rate), "acceptance_length": None, "precision": "bf16",
    } | others))  # fmt: skip


def choice_folder(base: pytest.TempPathFactory) -> Path:
    """Return the folder with the file, made once for all workers."""

    def make(folder: Path) -> None:
        with cost_file(folder, training("H100", H100_RATE), training("H200", H200_RATE)):
            pass

    return once(base, "choice", make)
