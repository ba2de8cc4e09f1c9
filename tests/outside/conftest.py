"""What the tests of outputs share: the published file of an offline run."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def file(offline_run: Path) -> Path:
    return offline_run / "prices.duckdb"


@pytest.fixture(scope="module")
def own_history(shared_history: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a published file of the shared history, which the tests of one module may change."""
    own = tmp_path_factory.mktemp("history") / "prices.duckdb"
    shutil.copy(shared_history / "prices.duckdb", own)
    own.chmod(0o644)
    return own
