"""A writer's file of each test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from purchase import Put, putting


@pytest.fixture
def put(tmp_path: Path) -> Iterator[Put]:
    """Return a function that loads looks in turn, publishes at a day, and returns the file."""
    with putting(tmp_path) as function:
        yield function
