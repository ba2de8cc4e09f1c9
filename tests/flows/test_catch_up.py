"""A long archive is loaded a few looks at a time, and gives the log that it gives at once."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from looks import day
from toy_source import TOY, installed

from extract.base import Context
from flows import replay, steps
from warehouse import content
from warehouse.batch import ParsedLook
from warehouse.load import LookResult, load

DAYS = 7
"""Past looks at each of two scopes."""


def loaded(
    data_dir: Path, portion: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, content.TableHash], list[int]]:
    """Load an archive whose looks were landed newest first, with a live look; return the log and how many at once."""
    toy = installed(monkeypatch, data_dir)
    sizes: list[int] = []

    def counted(
        con: duckdb.DuckDBPyConnection, looks: Iterable[ParsedLook], *, recorded_at: datetime
    ) -> list[LookResult]:
        given = list(looks)
        sizes.append(len(given))
        return load(con, given, recorded_at=recorded_at)

    monkeypatch.setattr(replay, "load", counted)
    monkeypatch.setattr(replay, "PORTION", portion)
    toy.at = 30
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        for number in reversed(range(DAYS)):
            for scope, price in (("a", number // 3), ("b", number % 2)):
                toy.world[scope] = {f"p5.{scope}": str(price + 1), f"g6.{scope}": "0" if number == 4 else "2"}
                context = Context(web=None, settings={}, now=lambda number=number: day(number))  # type: ignore[arg-type]
                look = replace(toy.fetch(context, scope), archived=True)
                one.land(steps.Fetched(source=TOY, scope=scope, looks=(look,)))
        toy.world["a"] = {"p5.a": "4", "g6.a": "2"}
        live = toy.fetch(Context(web=None, settings={}, now=toy.clock), "a")  # type: ignore[arg-type]
        one.land(steps.Fetched(source=TOY, scope="a", looks=(live,)))
        one.load()
        return content.tables(one.con, ["core"]), sizes


def test_a_long_archive_is_loaded_in_portions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every table of the log is the same: events, coverage, and the zeros that were refused."""
    whole, at_once = loaded(tmp_path / "whole", 1000, monkeypatch)
    parts, few = loaded(tmp_path / "parts", 3, monkeypatch)

    assert (at_once, few) == ([1, 14], [1, 3, 3, 3, 3, 2])
    assert parts == whole
    assert whole["core.quarantine"].n_rows == 2
