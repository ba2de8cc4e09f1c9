"""The backfill flow without a server: scope by scope, what fails fails alone, and what was landed is loaded."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
from looks import day
from toy_source import TOY, Toy

import extract
from extract.base import Context, Source
from flows.collect import collector, publisher
from warehouse.documents import ScopeFetch
from warehouse.errors import ChipledgerError, LayoutChanged, SettingsError, Unavailable

ROOT = Path(__file__).parents[2]
P5 = "p5.48xlarge"


@dataclass
class Archive(Toy):
    """A toy with an archive of three days; b breaks off after the first, c cannot be read, d is not in it."""

    asked: list[tuple[str, datetime | None, datetime | None]] = field(default_factory=list)

    def backfill(
        self, ctx: Context, scope: str, since: datetime | None, until: datetime | None
    ) -> Iterator[ScopeFetch]:
        self.asked.append((scope, since, until))
        for number in range(0 if scope == "d" else 3):
            if number and scope == "b":
                raise LayoutChanged("no table", source=TOY)
            self.world[scope] = None if scope == "c" else {P5: str(number + 40)}
            yield replace(self.fetch(replace(ctx, now=lambda number=number: day(number)), scope), archived=True)

    def source(self) -> Source:
        return replace(super().source(), backfill=self.backfill)


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log_alone: None) -> Archive:
    archive = Archive(tmp_path / "data", dict.fromkeys("abcd"))
    settings = tmp_path / "chipledger.toml"
    settings.write_text(f'data_dir = "{archive.data_dir}"\n')
    monkeypatch.setenv("CHIPLEDGER_SETTINGS", str(settings))
    for module in (extract, collector, publisher):
        monkeypatch.setattr(module, "SOURCES", (archive.source(),))
    return archive


@pytest.fixture
def flow_file(prefect_home: None, archive: Archive, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return flows/backfill.py as Prefect loads it; its tasks are called plainly, its pages and tasks kept."""
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    loaded: Any = sys.modules[load_flow_from_entrypoint("flows/backfill.py:backfill").__module__]
    loaded.pages, loaded.tasks, make = [], [], loaded.read_task

    def plain(*arguments: Any) -> Any:
        loaded.tasks.append(make(*arguments))
        return loaded.tasks[-1].fn

    monkeypatch.setattr(loaded, "create_markdown_artifact", lambda **told: loaded.pages.append(told["markdown"]))
    monkeypatch.setattr(loaded, "read_task", plain)
    return loaded


def run(flow_file: Any, **arguments: Any) -> Any:
    from prefect.logging import disable_run_logger

    with disable_run_logger():
        return flow_file.backfill.fn(**{"source": TOY, **arguments})


def prices(archive: Archive) -> list[tuple[str, str]]:
    """Return day and price of the machine in the published file."""
    with duckdb.connect(str(archive.data_dir / "prices.duckdb"), read_only=True) as con:
        return con.execute(
            "select strftime(valid_from, '%d'), unit_price::VARCHAR from core.price_event order by valid_from"
        ).fetchall()


def test_a_scope_that_breaks_off_fails_alone_and_loses_nothing(flow_file: Any, archive: Archive) -> None:
    """Completed, naming what gave nothing; days reach the archive as the first and last moment, UTC; what was read of
    the broken scope is loaded."""
    state = run(flow_file, scopes=["a", "b", "c"], since=date(2026, 1, 1), until=date(2026, 1, 3))

    assert state.message == f"4 fetches fresh, 3 changes; stale: {TOY} b, {TOY} c"
    assert archive.asked[0] == ("a", day(0), datetime(2026, 1, 3, 23, 59, 59, 999999, tzinfo=UTC))
    assert [(at, Decimal(price)) for at, price in prices(archive)] == [("01", 40), ("02", 41), ("03", 42)]
    assert "| toy | b |" in flow_file.pages[0]
    assert "no table" in flow_file.pages[0]


def test_a_scope_that_is_not_in_the_archive_is_named(flow_file: Any, archive: Archive) -> None:
    """An archive that has nothing of a scope is no failure, and no silence either: message and summary name it."""
    state = run(flow_file, scopes=["a", "d"])

    assert state.message == "3 fetches fresh, 3 changes; nothing in the archive: d"
    assert "toy d: the archive has nothing of it in that time" in state.data.notes


def test_nothing_from_any_scope_fails_the_run(flow_file: Any, archive: Archive) -> None:
    """Failed, and nothing is published."""
    with pytest.raises(ChipledgerError, match="nothing was fresh: toy c"):
        run(flow_file, scopes=["c"])

    assert not (archive.data_dir / "prices.duckdb").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"source": "nobody", "scopes": ["a"]}, "Known: toy"),
        ({"scopes": []}, "no scope"),
        ({"scopes": ["a"], "since": date(2026, 2, 1), "until": date(2026, 1, 1)}, "since"),
    ],
)
def test_wrong_parameters_are_named_before_anything_is_read(
    flow_file: Any, archive: Archive, arguments: dict[str, Any], named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        run(flow_file, **arguments)

    assert archive.asked == []


def test_what_passes_is_tried_again(flow_file: Any) -> None:
    """An archive that was unavailable is read again, from where it was; one that is different now is not."""
    from prefect.states import Failed

    run(flow_file, scopes=["a"])
    (task,) = flow_file.tasks

    assert task.retries == 2
    assert task.retry_condition_fn(None, None, Failed(data=Unavailable("503")))
    assert not task.retry_condition_fn(None, None, Failed(data=LayoutChanged("no table")))
