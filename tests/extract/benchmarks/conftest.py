"""The captured result files, one real output of each tool, and the words a user gives with them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from benchmark_words import WORDS

Sample = Callable[[str], bytes]


@pytest.fixture(scope="session")
def sample(shared: Path) -> Sample:
    """Return a reader of the captured files."""
    return lambda name: (shared / "data" / "benchmark_samples" / name).read_bytes()


@pytest.fixture(scope="session")
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the user's words for each capture."""
    return WORDS


@pytest.fixture(scope="session")
def folder(shared: Path) -> frozenset[str]:
    """Return the names of the captured files."""
    return frozenset(path.name for path in (shared / "data" / "benchmark_samples").iterdir())
