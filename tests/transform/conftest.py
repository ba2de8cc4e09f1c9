"""A writer's file of each test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from purchase import Put, putting


@pytest.fixture
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Put]:
    """Return a function that loads looks in turn, publishes at a day, and returns the file.

    It has the marts and macros that the test's module names in ASKED, or those that most tests need.
    """
    with putting(tmp_path, asked=getattr(request.module, "ASKED", ())) as function:
        yield function
