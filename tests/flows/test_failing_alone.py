"""A fault of one source's own code costs its scope, and nothing else."""

from pathlib import Path

import pytest
from few_marts import LEAST_MARTS
from toy_source import installed


@pytest.mark.usefixtures("few_marts", "no_comments")
def test_a_fault_of_a_source_s_own_code_costs_its_scope_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An error that no source should raise fails the scope, with the kind of it and no word of its content."""
    monkeypatch.setattr("flows.steps.MARTS", LEAST_MARTS)
    monkeypatch.setattr("flows.steps.MACROS", ())
    monkeypatch.setattr("flows.steps.create_formulas", lambda con: None)
    toy = installed(monkeypatch, tmp_path)

    # What JSON cannot hold: a TypeError within the source's fetch.
    summary = toy.run(0, a={"p5.48xlarge": "10"}, b={"p4d.24xlarge": object()})  # type: ignore[dict-item]

    assert {result.scope: result.status for result in summary.results} == {"a": "ok", "b": "failed"}
    told = str(summary.failed[0].error)
    assert "TypeError" in told
    assert "JSON" not in told
