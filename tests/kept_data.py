"""A small data directory for tests of keeping: months of a toy source, published with as few marts as can be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from few_marts import undescribed
from toy_source import Toy, installed

from flows import steps
from transform.models import MARTS

NEEDED = {"price_history", "price_move", "repricing", "price_change", "accelerator_hour_price", "focus_sku_price"}
"""The marts that every published file is checked by."""


@contextmanager
def toy_at(data_dir: Path) -> Iterator[Toy]:
    """Give a toy that is the only source, over a data directory."""
    with undescribed(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.steps.MARTS", tuple(mart for mart in MARTS if mart.name in NEEDED))
        patch.setattr("flows.steps.MACROS", ())
        patch.setattr("flows.steps.create_formulas", lambda con: None)
        patch.setattr("flows.steps.audit_tables.TABLES", ())
        yield installed(patch, data_dir)


def look(toy: Toy, at: float, **world: dict[str, str | None] | None) -> None:
    """Collect and load a day, without publishing."""
    toy.at = at
    toy.world |= world
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.fetch_all(run.plan(run.sources()))
        run.load()
