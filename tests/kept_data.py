"""A small data directory for tests of keeping: months of a toy source, published with as few marts as can be."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from few_marts import published_with
from toy_source import Toy, installed


@contextmanager
def toy_at(data_dir: Path, least: Iterable[str] = ()) -> Iterator[Toy]:
    """Give a toy that is the only source, over a data directory; what is published has the marts `least`."""
    with published_with(least=least), pytest.MonkeyPatch.context() as patch:
        yield installed(patch, data_dir)
