"""A long archive is loaded a few looks at a time, and gives the log that it gives at once."""

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

DAYS = 7
"""Past looks at each of two scopes."""


def landed(toy: Toy) -> None:
    """Land an archive of two scopes, newest first, and a live look at one of them."""
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        for number in reversed(range(DAYS)):
            for scope, price in (("a", number // 3), ("b", number % 2)):
                toy.world[scope] = {f"p5.{scope}": str(price + 1), f"g6.{scope}": "0" if number == 4 else "2"}
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


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, content.TableHash]:
    """Return the log of an archive that is loaded at once."""
    monkeypatch.setattr(ingest, "PORTION", 1000)
    toy = installed(monkeypatch, tmp_path / "whole")
    toy.at = 30
    landed(toy)
    return log_of(toy)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, whole: object) -> Toy:
    """Return the same archive, landed, to be loaded by threes."""
    toy = installed(monkeypatch, tmp_path / "parts")
    toy.at = 30
    landed(toy)
    monkeypatch.setattr(ingest, "PORTION", 3)
    return toy


def test_a_long_archive_is_loaded_in_portions(
    whole: dict[str, content.TableHash], sizes: list[int], parts: Toy
) -> None:
    """Every table of the log is the same: events, coverage, and the zeros that were refused."""
    assert log_of(parts) == whole
    assert sizes == [1, 3, 3, 3, 3, 2]
    assert whole["core.quarantine"].n_rows == 2


def test_what_breaks_off_between_portions_goes_on(
    whole: dict[str, content.TableHash], sizes: list[int], parts: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was loaded is known, the rest is loaded by the next run: the log is the same, and nothing is twice."""
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
    assert sizes[3:] == [1, 3, 3, 3, 3, 2]
