"""docs/data-dictionary.md is what tools/data_dictionary.py makes of the file of an offline run."""

from pathlib import Path
from types import ModuleType

import pytest
from scripts import script

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script, as a module."""
    return script("tools/data_dictionary.py")


def test_the_page_is_up_to_date(tool: ModuleType, offline_run: Path) -> None:
    """Every table with its columns, every column with its unit and meaning, nothing else."""
    made = tool.page(offline_run / "prices.duckdb")
    assert tool.DOCUMENT.read_text(encoding="utf-8") == made, "run: python tools/data_dictionary.py"
    assert made.count("\n### mart.") > 15
    assert made.count("\n### int.") > 30
    assert "| `unit_price` | DECIMAL(18,10) | pricing currency per hour, or per pricing_unit |" in made
    assert "### mart.price_on(moment)" in made
