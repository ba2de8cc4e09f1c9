"""One bench for all tests of this folder, and the table when they are done."""

from collections.abc import Iterator

import pytest

from crash.bench import Bench
from crash.tally import TALLY


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Return the bench on which jobs are killed; its table is printed at the end (seen with -s)."""
    made = Bench(tmp_path_factory.mktemp("crash"))
    yield made
    made.close()
    TALLY.write()
