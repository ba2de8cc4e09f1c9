"""The flows under Prefect: its environment is set before it is imported, and flow files are loaded as it loads them."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from few_marts import FEW_MACROS, FEW_MARTS, no_pages, published_with, undescribed

from flows.scheduling import launch

ROOT = Path(__file__).parents[2]


@pytest.fixture
def few_marts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish without the marts of cost, drift and audit, and without pages, which take longer than all else."""
    monkeypatch.setattr("flows.collect.publisher.MARTS", FEW_MARTS)
    monkeypatch.setattr("flows.collect.publisher.PUBLIC", ())
    monkeypatch.setattr("flows.collect.publisher.MACROS", FEW_MACROS)
    monkeypatch.setattr("flows.collect.publisher.audit_tables.TABLES", ())
    monkeypatch.setattr("flows.collect.pages.noted", no_pages)


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


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give Prefect, which reads its environment when it is imported, a home of its own and no server of anybody's."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (name for name in list(os.environ) if name.startswith("PREFECT_")):
            patch.delenv(name)
        environ = dict(os.environ)
        launch.prepare(tmp_path_factory.mktemp("prefect"), environ)
        for name in environ.keys() - os.environ.keys():
            patch.setenv(name, environ[name])
        yield


@pytest.fixture
def daily_file(prefect_home: None, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return flows/daily.py as Prefect loads it: by path, as a module called `daily`."""
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    flow = load_flow_from_entrypoint("flows/daily.py:daily")
    return sys.modules[flow.__module__]
