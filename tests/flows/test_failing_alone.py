"""A fault of one source's own code costs its scope, and nothing else."""

import errno
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
from toy_source import Toy, installed

from extract.base import Context
from flows.collect import importer, steps
from flows.collect.collector import WHOLE_SOURCE, FetchResult
from flows.config.settings import Settings
from warehouse.disk import DiskFault
from warehouse.documents import ScopeFetch
from warehouse.errors import SettingsError


@pytest.mark.usefixtures("least_marts")
def test_a_fault_of_a_source_s_own_code_costs_its_scope_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An error that no source should raise fails the scope, with the kind of it and no word of its content."""
    toy = installed(monkeypatch, tmp_path)

    # What JSON cannot hold: a TypeError within the source's fetch.
    summary = toy.run(0, a={"p5.48xlarge": "10"}, b={"p4d.24xlarge": object()})  # type: ignore[dict-item]

    assert {result.scope: result.status for result in summary.results} == {"a": "ok", "b": "failed"}
    told = str(summary.failed[0].error)
    assert "TypeError" in told
    assert "JSON" not in told


def test_scopes_that_cannot_be_listed_cost_their_source_alone(tmp_path: Path) -> None:
    """A fault in listing fails the source as a whole, told by its kind; the others are planned."""
    good = Toy(tmp_path, world={"a": {}}).source()
    bad = replace(good, name="bad", scopes=lambda ctx: tuple(ctx.settings["regions"]))

    with steps.open_run(Settings(data_dir=tmp_path)) as run:
        assert run.plan([bad, good]) == [(good, "a")]
        run.load()
        (failed,) = run.summary.failed

    assert (failed.source, failed.scope) == ("bad", WHOLE_SOURCE)
    assert "KeyError" in str(failed.error)


def test_a_wrong_setting_still_ends_the_command(tmp_path: Path) -> None:
    """It is a person's to mend, and told in its own words."""

    def listed(ctx: Context) -> tuple[str, ...]:
        raise SettingsError("not a list of regions", field="regions")

    with steps.open_run(Settings(data_dir=tmp_path)) as run, pytest.raises(SettingsError, match="not a list"):
        run.plan([replace(Toy(tmp_path).source(), scopes=listed)])


def test_a_fault_within_an_archive_costs_its_scope_alone(tmp_path: Path) -> None:
    """What it gave before is kept, and the next scope is read."""
    toy = Toy(tmp_path, world={"a": {"p5.48xlarge": "10"}, "b": {"p5.48xlarge": "10"}})

    def archive(ctx: Context, scope: str, since: datetime | None, until: datetime | None) -> Iterator[ScopeFetch]:
        yield toy.fetch(ctx, scope)
        if scope == "a":
            raise ZeroDivisionError(scope)

    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        importer.backfill(run, replace(toy.source(), backfill=archive), ("a", "b"), since=None, until=None)
        lines = run.landing.journal.file(run.landing.part).read_text().splitlines()

    assert [(line["kind"], line["scope"]) for line in map(json.loads, lines)] == [
        ("look", "a"), ("failure", "a"), ("look", "b"),
    ]  # fmt: skip
    assert "ZeroDivisionError" in lines[1]


def test_a_fault_in_landing_is_not_the_source_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A full disk while a look of an archive is landed is told as one, not as a fault of the source."""
    toy = Toy(tmp_path, world={"a": {}})

    def full(run: steps.Run, fetched: FetchResult) -> None:
        raise OSError(errno.ENOSPC, "no space")

    source = replace(toy.source(), backfill=lambda ctx, scope, since, until: iter((toy.fetch(ctx, scope),)))
    with pytest.raises(DiskFault), steps.open_run(toy.settings(), clock=toy.clock) as run:
        monkeypatch.setattr(steps.Run, "land", full)
        importer.backfill_scope(run, source, "a", since=None, until=None)


def test_a_time_that_begins_after_its_end_is_refused(tmp_path: Path) -> None:
    """A backfill of it would say that the archive has nothing."""
    toy = Toy(tmp_path, world={"a": {}})
    source = replace(toy.source(), backfill=lambda ctx, scope, since, until: iter(()))
    with (
        steps.open_run(toy.settings(), clock=toy.clock) as run,
        pytest.raises(SettingsError, match="begins after its end"),
    ):
        importer.backfill(run, source, ("a",), since=date(2025, 2, 1), until=date(2025, 1, 1))


def test_a_named_scope_is_fetched_of_those_that_list_it(tmp_path: Path) -> None:
    """As `run --scope us-east-1` without a source; what nobody lists is for each source to know."""
    one = Toy(tmp_path, world={"a": {}, "b": {}}).source()
    other = replace(one, name="other", scopes=lambda ctx: ("b", "c"))

    with steps.open_run(Settings(data_dir=tmp_path)) as run:
        plans = [run.plan([one, other], scopes) for scopes in (["a"], ["b"], ["d"])]
        alone = run.plan([other], ["a"])

    named = [[(source.name, scope) for source, scope in plan] for plan in (*plans, alone)]
    assert named == [
        [(one.name, "a")],
        [(one.name, "b"), ("other", "b")],
        [(one.name, "d"), ("other", "d")],
        [("other", "a")],
    ]
