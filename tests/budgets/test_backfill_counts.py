"""What a backfill costs, counted: each archived version is fetched once; statements grow as versions do."""

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from counted import Counted

from extract import source_named
from flows.collect import importer, ingest, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings

ROOT = Path(__file__).parents[2]
FEW, MORE, MOST = 2, 4, 6
INDEXES = 2
"""The index of offers, and that of versions."""


@pytest.fixture(scope="module")
def price_archive() -> ModuleType:
    """Return the maker of archives."""
    sys.path.insert(0, str(ROOT))
    from bench import price_archive

    return price_archive


def backfill(archive: ModuleType, folder: Path, versions: int, times: int = 1) -> list[tuple[Summary, Counter[str]]]:
    """Return what became of an archive of so many versions that is read some times, and the counts of each time.

    Counted are requests, by the version asked for too, and statements of landing and loading, with the rows they give.
    """
    archive.make(folder / "archive", archive.Size(versions=versions, copies=1, others=1))
    done = []
    with archive.served(folder / "archive") as standin, pytest.MonkeyPatch.context() as patch:
        settings = Settings(data_dir=folder / "data", sources={"aws_price_list": {"bulk_url": standin.url}})
        catch_up = ingest.catch_up
        for _ in range(times):
            standin.forget()
            counts: Counter[str] = Counter()

            def counted(con: Any, *given: Any, counts: Counter[str] = counts, **how: Any) -> Any:
                return catch_up(Counted(con, counts), *given, **how)  # type: ignore[arg-type]

            patch.setattr(ingest, "catch_up", counted)
            with steps.open_run(settings) as one:
                one.con = Counted(one.con, counts)  # type: ignore[assignment]
                importer.backfill(one, source_named("aws_price_list"), [archive.REGION], since=None, until=None)
                one.load()
                done.append((one.summary, counts))
            counts["requests"] = standin.count()
            for version in archive.names(versions):
                counts[version] = standin.count(f"bulk:{archive.REGION}:{version}")
    return done


def test_each_version_is_fetched_once(price_archive: ModuleType, tmp_path: Path) -> None:
    """A file of each version and two indexes; done again, the indexes alone, and nothing is loaded."""
    (first, asked), (again, asked_again) = backfill(price_archive, tmp_path, FEW, times=2)
    versions = price_archive.names(FEW)

    assert {version: asked[version] for version in versions} == dict.fromkeys(versions, 1)
    assert asked["requests"] == FEW + INDEXES
    assert [result.status for result in first.results] == ["ok"] * FEW
    assert first.n_events > 0
    assert {version: asked_again[version] for version in versions} == dict.fromkeys(versions, 0)
    assert asked_again["requests"] == INDEXES
    assert [result.status for result in again.results] == ["known"] * FEW
    assert again.n_events == 0


def test_statements_grow_with_versions_and_no_faster(price_archive: ModuleType, tmp_path: Path) -> None:
    """One for each version, as many for the sixth as for the third; Python gets rows of prices that moved alone."""
    done = {n: backfill(price_archive, tmp_path / str(n), n)[0] for n in (FEW, MORE, MOST)}
    few, more, most = (counts["statements"] for _, counts in done.values())

    assert most - more <= more - few <= MORE - FEW < few
    for n, (summary, counts) in done.items():
        assert counts["rows"] <= 2 * summary.n_events + 4 * n
