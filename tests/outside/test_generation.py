"""Costs along a generation of chips, recomputed from the rates: what costs more than the chip before it is named."""

from collections import defaultdict
from pathlib import Path

import pytest
from published import query

LINES = {"H200": "H100", "B200": "H200", "B300": "B200", "GB300": "GB200", "MI325X": "MI300X", "MI355X": "MI325X",
         "Trainium2": "Trainium1", "Trainium3": "Trainium2"}  # fmt: skip
POINT = (
    "model_name, task, scenario, benchmark, precision, input_length, output_length, decoding, topology, interactivity, "
    "interactivity_statistic"
)


def test_a_newer_chip_that_costs_more_at_one_price_is_named(file: Path) -> None:
    """At an equal point and topology the older chip's best rate over the newer's, beyond 1.02, differs."""
    best: dict[tuple, dict[str, float]] = defaultdict(dict)
    for *point, chip, rate in query(
        file,
        f"select {POINT}, accelerator_name, output_rate_per_paid_accelerator from int.token_rate "
        "where is_ranked and reach in ('measured', 'between two runs')",
    ):
        at = best[tuple(point)]
        at[chip] = max(rate, at.get(chip, 0.0))
    ratios = defaultdict(list)
    for at in best.values():
        for newer, older in LINES.items():
            if newer in at and older in at:
                ratios[f"{newer} after {older}"].append(at[older] / at[newer])
    found = {
        subject: (n, n_differing, value, result)
        for subject, n, n_differing, value, result in query(
            file,
            "select subject, n_compared, n_differing, checked_value, result from int.truth_check "
            "where check_name = 'generation'",
        )
    }
    assert found.keys() == ratios.keys()
    for subject, each in ratios.items():
        n_off = sum(ratio > 1.02 for ratio in each)
        assert found[subject] == (len(each), n_off, pytest.approx(max(each)), "differs" if n_off else "holds")
    assert {result for *_, result in found.values()} == {"holds", "differs"}


def test_each_that_differs_says_where(file: Path) -> None:
    """The worst point stands in the example, with both chips and their rates; a reader is told what to do."""
    rows = query(
        file,
        "select c.example, c.advice, t.example from int.truth_check as c inner join int.truth_generation as t "
        "on c.subject = t.subject and c.checked_value = t.ratio where c.check_name = 'generation' "
        "and c.result = 'differs'",
    )
    assert len(rows) >= 2
    for example, advice, worst in rows:
        assert example == worst
        assert "tokens/s a paid chip" in example
        assert "truth_generation" in advice
