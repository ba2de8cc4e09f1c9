"""A small data directory for tests of keeping: months of a toy source, published with as few marts as can be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from few_marts import LEAST_MARTS, undescribed
from toy_source import Toy, installed

from flows.collect import steps


@contextmanager
def toy_at(data_dir: Path) -> Iterator[Toy]:
    """Give a toy that is the only source, over a data directory."""
    with undescribed(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.collect.publisher.MARTS", LEAST_MARTS)
        patch.setattr("flows.collect.publisher.PUBLIC", ())
        patch.setattr("flows.collect.publisher.MACROS", ())
        patch.setattr("flows.collect.publisher.create_formulas", lambda con: None)
        patch.setattr("flows.collect.publisher.audit_tables.TABLES", ())
        yield installed(patch, data_dir)


def look(toy: Toy, at: float, **world: dict[str, str | None] | None) -> None:
    """Collect and load a day, without publishing."""
    toy.at = at
    toy.world |= world
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.collect()
        run.load()
