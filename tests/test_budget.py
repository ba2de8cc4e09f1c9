"""The budget of the house, tests/budget.toml: nothing grows unseen."""

import sys
import tomllib
from pathlib import Path

import pytest

from flows.cli.main import main
from transform.models import PUBLIC

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import house  # noqa: E402

LIMITS: dict[str, int] = tomllib.loads((ROOT / "tests/budget.toml").read_text(encoding="utf-8"))["limits"]


@pytest.fixture(scope="module")
def measured() -> dict[str, int]:
    """Return every figure of this checkout."""
    return house.measure(ROOT) | {
        "top_level_commands": len(main.commands),
        "public_tables": len(PUBLIC),
        "environment_megabytes": house.environment_bytes() // 1_000_000,
    }


@pytest.mark.parametrize("name", LIMITS)
def test_within_budget(measured: dict[str, int], name: str) -> None:
    """Each figure is within its limit."""
    assert measured[name] <= LIMITS[name]


def test_everything_measured_has_a_limit(measured: dict[str, int]) -> None:
    """A figure without a limit would grow unseen."""
    assert set(measured) == set(LIMITS)
