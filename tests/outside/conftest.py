"""What the tests of outputs share: the published file of an offline run."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def file(offline_run: Path) -> Path:
    return offline_run / "prices.duckdb"
