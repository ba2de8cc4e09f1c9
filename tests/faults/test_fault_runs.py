"""Whole runs over all sources, half of them harmed, each by a fault of its own: what is published, and what is not."""

import json
import os
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from few_marts import published_with

from extract import SOURCES
from faults.probe import Patience, address, expected, quick
from faults.subject import Subject
from faults.subjects import MOMENT, Lab, lab, subjects
from faults.table import FAULTS, Fault
from flows.collect import importer, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from warehouse.reference.source_terms import terms_of

LATER = MOMENT + timedelta(days=4)
RUNS = 16
PATIENCE = Patience(read=10.0, whole=20.0, attempts=1)
EVER = (
    "select p.source, o.offer_id, p.unit_price::varchar, p.valid_from from core.sku_price as p "
    "join core.offer as o using (offer_id) "
    "union all select 'ecb_rates', pricing_currency, units_per_eur::varchar, rate_date from core.fx_rate order by all"
)
"""All prices that were ever in force, and the rates."""
FAULTS_OF_AN_ARCHIVE = 12
FAST = [fault for fault in FAULTS if fault.way == "answer" and not fault.is_slow]
"""Those that come to an end before a deadline does; the others are in the table."""
PRICES = (
    "select p.source, o.offer_id, p.unit_price::varchar, p.valid_from from core.sku_price as p "
    "join core.offer as o using (offer_id) where p.valid_to is null order by all"
)


@pytest.fixture
def published() -> Iterator[None]:
    """Publish the least, and write no pages."""
    with published_with("source_health", least=()):
        yield


def doors(number: int) -> list[Subject]:
    """Return one way through each source: the API on even numbers, else the bulk files.

    Of these the index is harmed: a version of a file that was landed before is not fetched again.
    """
    left_out = ("(index)", "(file)") if number % 2 == 0 else ("(api)", "(file)")
    return [subject for subject in subjects() if subject.is_daily and not subject.name.endswith(left_out)]


def harms(number: int, asked: list[Subject]) -> dict[str, Fault]:
    """Return a fault for every second subject, another one in every run; the same in every process."""
    chosen = random.Random(number)  # noqa: S311 - nothing is secret
    return {
        subject.name: chosen.choice([fault for fault in FAST if not subject.reason_against(fault)])
        for at, subject in enumerate(asked)
        if (at + number) % 2
    }


def is_documented(subject: Subject) -> bool:
    """Tell whether it is a documented API: a robots.txt that cannot be read forbids nothing there."""
    terms = terms_of(subject.source.name)
    return terms is not None and terms.is_documented_api


@contextmanager
def asking(running: Lab, asked: list[Subject], folder: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Give the settings of all sources that lead to the lab."""
    settings: dict[str, dict[str, Any]] = {source.name: {"enabled": False} for source in SOURCES}
    with pytest.MonkeyPatch.context() as patch, quick(patch, PATIENCE):
        for subject in asked:
            base = running.server(subject).url()
            settings[subject.source.name] = {
                **settings[subject.source.name], **subject.settings(base), "enabled": True,
            }  # fmt: skip
            for name, value in subject.environment(base).items():
                patch.setenv(name, value)
            subject.prepare(base, folder, patch)
        yield settings


def go(folder: Path, running: Lab, asked: list[Subject], faults: Mapping[str, Fault], at: datetime) -> Summary:
    """Do a whole run."""
    running.wrong(faults)
    with asking(running, asked, folder) as settings:
        return steps.run(Settings(data_dir=folder, sources=settings, workers=8), clock=lambda: at)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(folder / "prices.duckdb"), read_only=True) as con:
        return con.execute(query).fetchall()


@pytest.mark.parametrize(
    ("n_runs", "part"),
    [(1, slice(7, 14)), pytest.param(RUNS, slice(None), marks=pytest.mark.prove)],
    ids=["short", "long"],
)
@pytest.mark.usefixtures("published")
def test_what_fails_fails_alone_and_publishes_nothing(tmp_path: Path, n_runs: int, part: slice) -> None:
    """No price changes, none is gone; a harmed scope has failed or was read right, and the others are fresh."""
    first: dict[int, Path] = {}
    told: list[dict[str, object]] = []
    with lab() as running:
        for number in range(n_runs):
            asked = doors(number)[part]
            kind = 0 if number % 2 == 0 else 1
            if kind not in first:
                first[kind] = tmp_path / f"first{kind}"
                assert not go(first[kind], running, asked, {}, MOMENT).failed
            folder = tmp_path / f"run{number}"
            shutil.copytree(first[kind], folder)
            faults = harms(number, asked)
            summary = go(folder, running, asked, faults, LATER)
            status = {(each.source, each.scope): each.status for each in summary.results}
            before, after = rows(first[kind], PRICES), rows(folder, PRICES)
            changed = sorted({row[0] for row in {*before} ^ {*after}})
            told.append(
                {"run": number, "harmed": {name: fault.name for name, fault in faults.items()}, "changed": changed}
            )
            assert changed == []
            health = dict(rows(folder, "select source || ' ' || scope, is_current from int.source_health"))
            for subject in asked:
                key = (subject.source.name, subject.scope)
                fault = faults.get(subject.name)
                if fault is None:
                    assert status[key] in ("ok", "known"), (number, subject.name)
                elif not {"ok", "gate"} & {*fault.expected} and not (fault.robots and is_documented(subject)):
                    assert status[key] in ("failed", "refused"), (number, subject.name, fault.name)
                if status[key] == "failed" and subject.source.max_age and subject.source.max_age < LATER - MOMENT:
                    assert health[" ".join(key)] is False, (number, subject.name)
            shutil.rmtree(folder)
    print(f"\nwhole runs: {n_runs}, harmed scopes: {sum(len(each['harmed']) for each in told)}, prices changed: 0")  # type: ignore[arg-type, misc]
    if folder_told := os.environ.get("CHIPLEDGER_PROOF_DIR"):
        (Path(folder_told) / "fault-runs.json").write_text(json.dumps(told, indent=1))


def past(folder: Path, running: Lab, subject: Subject, fault: Fault | None) -> list[tuple[Any, ...]]:
    """Backfill from an archive; return all prices that are published then."""
    running.wrong({} if fault is None else {subject.name: fault})
    assert subject.days is not None
    since, until = (day.replace(tzinfo=None) for day in subject.days)
    with (
        asking(running, [subject], folder) as settings,
        pytest.MonkeyPatch.context() as patch,
        address(running, subject, "answer", patch, folder),
        steps.open_run(Settings(data_dir=folder, sources=settings), clock=lambda: LATER) as one,
    ):
        importer.backfill(one, subject.source, [subject.scope], since=since, until=until)
        one.finish(report=False)
    return rows(folder, EVER)


@pytest.mark.prove
@pytest.mark.usefixtures("published")
def test_a_harmed_archive_publishes_nothing_wrong(tmp_path: Path) -> None:
    """What is published beside what was before is what a good archive says; nothing at all where it failed."""
    n_runs = n_whole = 0
    with lab() as running:
        first = tmp_path / "first"
        today = [subject for subject in subjects() if subject.name == "ecb_rates"]
        assert not go(first, running, today, {}, MOMENT).failed
        before = {*rows(first, EVER)}
        for subject in (each for each in subjects() if each.days is not None):
            good = {*past(shutil.copytree(first, tmp_path / "good"), running, subject, None)}
            assert good > before
            shutil.rmtree(tmp_path / "good")
            fitting = [fault for fault in FAST if not subject.reason_against(fault)]
            for fault in random.Random(subject.name).sample(fitting, FAULTS_OF_AN_ARCHIVE):  # noqa: S311 - no secret
                after = {*past(shutil.copytree(first, tmp_path / "harmed"), running, subject, fault)}
                assert running.server(subject).struck, (subject.name, fault.name)
                assert before <= after <= good, (subject.name, fault.name)
                assert after == before or {"ok", "gate"} & expected(subject.door, fault), (subject.name, fault.name)
                n_runs, n_whole = n_runs + 1, n_whole + (after == good)
                shutil.rmtree(tmp_path / "harmed")
    print(f"\nharmed backfills: {n_runs}, read whole all the same: {n_whole}, published nothing: {n_runs - n_whole}")
