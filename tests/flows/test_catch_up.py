"""A long archive is loaded a few looks at a time, and gives the log that it gives at once."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from looks import day
from toy_source import TOY, Toy, installed

from extract.base import Context
from flows.collect import ingest, steps
from flows.collect.collector import FetchResult
from warehouse.log import content
from warehouse.log import load as loading
from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch, ScopeResult

DAYS = 4
"""Past looks at each of two scopes."""


def landed(toy: Toy) -> None:
    """Land an archive of two scopes, newest first, and a live look at one of them."""
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        for number in reversed(range(DAYS)):
            for scope, price in (("a", number // 3), ("b", number % 2)):
                toy.world[scope] = {f"p5.{scope}": str(price + 1), f"g6.{scope}": "0" if number == 2 else "2"}
                look = replace(toy.fetch(at(lambda number=number: day(number)), scope), archived=True)
                one.land(FetchResult(source=TOY, scope=scope, fetches=(look,)))
        toy.world["a"] = {"p5.a": "4", "g6.a": "2"}
        one.land(FetchResult(source=TOY, scope="a", fetches=(toy.fetch(at(toy.clock), "a"),)))


def at(clock: Callable[[], datetime]) -> Context:
    return Context(web=None, settings={}, now=clock)  # type: ignore[arg-type]


def log_of(toy: Toy) -> dict[str, content.TableHash]:
    """Load what is landed, and return what the log holds."""
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        return content.tables(one.con, ["core"])


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of looks that are loaded at once."""
    found: list[int] = []

    def counted(
        con: duckdb.DuckDBPyConnection, looks: Iterable[ParsedFetch], *, recorded_at: datetime
    ) -> list[ScopeResult]:
        given = list(looks)
        found.append(len(given))
        return load(con, given, recorded_at=recorded_at)

    monkeypatch.setattr(loading, "load", counted)
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in which the archive was landed; copy it."""
    with pytest.MonkeyPatch.context() as patch:
        toy = installed(patch, tmp_path_factory.mktemp("archive") / "data")
        toy.at = 30
        landed(toy)
    return toy.data_dir


def copied(archive: Path, patch: pytest.MonkeyPatch, folder: Path, *, portion: int) -> Toy:
    """Return the archive, to be loaded so many looks at a time."""
    shutil.copytree(archive, folder)
    toy = installed(patch, folder)
    toy.at = 30
    patch.setattr(ingest, "PORTION", portion)
    return toy


@pytest.fixture(scope="module")
def whole(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, content.TableHash]:
    """Return the log of an archive that is loaded at once."""
    with pytest.MonkeyPatch.context() as patch:
        return log_of(copied(archive, patch, tmp_path_factory.mktemp("whole") / "data", portion=1000))


@pytest.fixture
def parts(archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return the same archive, to be loaded by threes."""
    return copied(archive, monkeypatch, tmp_path / "parts", portion=3)


@pytest.mark.prove
def test_a_long_archive_is_loaded_in_portions(
    whole: dict[str, content.TableHash], sizes: list[int], parts: Toy
) -> None:
    """Every table of the log is the same: events, coverage, and the zeros that were refused."""
    assert log_of(parts) == whole
    assert sizes == [1, 3, 3, 2]
    assert whole["core.quarantine"].n_rows == 2


def test_what_breaks_off_between_portions_goes_on(
    whole: dict[str, content.TableHash], sizes: list[int], parts: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was loaded is known, the rest is loaded by the next run: the log is that of one that is loaded at once."""
    counted = loading.load

    def broken(*given: Any, **named: Any) -> list[ScopeResult]:
        if len(sizes) == 3:
            raise KeyboardInterrupt
        return counted(*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loading, "load", broken)
        log_of(parts)
    assert sizes == [1, 3, 3]

    assert log_of(parts) == whole
    assert sizes[3:] == [1, 3, 3, 2]
    assert whole["core.quarantine"].n_rows == 2
