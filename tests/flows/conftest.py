"""What the flows' tests publish: few marts, no comments, or the least."""

from collections.abc import Iterator

import pytest
from few_marts import FEW_MACROS, FEW_MARTS, no_pages, published_with, undescribed


@pytest.fixture
def few_marts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish without the marts of cost, drift and audit, and without pages, which take longer than all else."""
    monkeypatch.setattr("flows.collect.publisher.MARTS", FEW_MARTS)
    monkeypatch.setattr("flows.collect.publisher.PUBLIC", ())
    monkeypatch.setattr("flows.collect.publisher.MACROS", FEW_MACROS)
    monkeypatch.setattr("flows.collect.publisher.audit_tables.TABLES", ())
    monkeypatch.setattr("flows.collect.publisher.report", no_pages)


@pytest.fixture
def no_comments() -> Iterator[None]:
    """Publish without comments and data dictionary, where no test reads them."""
    with undescribed():
        yield


@pytest.fixture
def least_marts() -> Iterator[None]:
    """Publish what every check of a published file asks for, and no more."""
    with published_with():
        yield
