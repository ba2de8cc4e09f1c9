"""Keeping house: old documents are packed and never lost, old pages and replaced files go; most days cost nothing."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pyarrow
import pytest
from kept_data import look, toy_at
from looks import day
from toy_source import Toy

from flows.backup import retention
from flows.config.settings import Settings
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.landing.folder import Landing

STAYS = {"p4d.24xlarge": "20"}
LATE = day(150)
"""The end of May; with 90 days, January and February are old by then."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toy]:
    """Return months of a toy: scope a changes with each look, scope b says the same in January and in April."""
    with toy_at(tmp_path_factory.mktemp("kept") / "data") as toy:
        for at in (0, 3, 6, 35, 100):
            look(toy, at, a={"p5.48xlarge": str(10 + at / 100)}, b=STAYS)
        yield toy


@pytest.fixture
def settings(kept: Toy, tmp_path: Path) -> Settings:
    """Return settings over a copy of the toy's data."""
    shutil.copytree(kept.data_dir, tmp_path / "data")
    return Settings(data_dir=tmp_path / "data")


def landing(settings: Settings) -> Landing:
    return Landing(settings.data_dir / "landing")


def bodies(found: Landing) -> dict[str, bytes]:
    """Return every body that the journal names, by hash."""
    hashes = {document["sha256"] for entry in found.entries() for document in entry.content["documents"]}
    return {sha256: found.body(sha256) for sha256 in hashes}


def months(settings: Settings) -> list[str]:
    return sorted(path.relative_to(settings.data_dir / "landing/packs").as_posix() for path in packs(settings))


def packs(settings: Settings) -> list[Path]:
    return list((settings.data_dir / "landing/packs").glob("*/*.tar.zst"))


def test_documents_of_old_months_are_packed_and_read_as_before(settings: Settings) -> None:
    """Four of six are old; what was seen again in April is not; each body is the same, in a folder opened anew."""
    before = bodies(landing(settings))
    kept = retention.keep_house(settings, LATE)

    assert (kept.n_documents, kept.n_packs, kept.damaged) == (4, 2, [])
    assert months(settings) == ["2026-01/toy.1.tar.zst", "2026-02/toy.1.tar.zst"]
    assert len(list(landing(settings).single_files())) == 2
    assert bodies(landing(settings)) == before
    assert len(before) == 6


def test_a_pack_is_an_archive_that_others_read(settings: Settings, tmp_path: Path) -> None:
    """tar unpacks it, and the list beside it is what sha256sum checks."""
    retention.keep_house(settings, LATE)
    (january,) = (pack for pack in packs(settings) if pack.parent.name == "2026-01")
    if shutil.which("zstd"):
        subprocess.run(["tar", "--zstd", "-xf", january, "-C", tmp_path], check=True)
    else:  # tar asks the program of that name for it
        with pyarrow.input_stream(january, compression="zstd") as plain:
            subprocess.run(["tar", "-xf", "-", "-C", tmp_path], check=True, input=plain.read())
    names = [line.split("  ") for line in january.with_name("toy.1.sha256").read_text().splitlines()]

    assert [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for _, name in names] == [
        sha256 for sha256, _ in names
    ]


def test_a_second_time_does_nothing_and_reads_nothing(settings: Settings) -> None:
    """A month that was packed is noted: the journal is not read again before the next one is old."""
    first = retention.keep_house(settings, LATE)
    second = retention.keep_house(settings, LATE)
    thorough = retention.keep_house(settings, LATE, thoroughly=True)

    assert (first.n_lines_read, second.n_lines_read, thorough.n_lines_read) == (10, 0, 10)
    assert (second.n_documents, thorough.n_documents, thorough.n_packs) == (0, 0, 0)


def test_packing_broken_off_loses_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed with a pack written and its documents not removed yet: they lie in both places, then in one."""
    before = bodies(landing(settings))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path, **named: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            retention.keep_house(settings, LATE)
    assert len(list(landing(settings).single_files())) == 6
    retention.keep_house(settings, LATE)

    assert months(settings) == ["2026-01/toy.1.tar.zst", "2026-02/toy.1.tar.zst"]
    assert len(list(landing(settings).single_files())) == 2
    assert bodies(landing(settings)) == before


def test_a_pack_without_its_list_counts_for_nothing(settings: Settings) -> None:
    """The list is written last: without it the documents lie in their own files still, and are packed once more."""
    before = bodies(landing(settings))
    half = settings.data_dir / "landing/packs/2026-01/toy.1.tar.zst"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half a pack")
    retention.keep_house(settings, LATE)

    assert bodies(landing(settings)) == before


def test_a_damaged_document_stays_and_is_named(settings: Settings) -> None:
    """Nothing is made of it; the others are packed."""
    (sha256, file) = min(landing(settings).single_files(), key=lambda each: _first_seen(settings, each[0]))
    file.write_bytes(b"")
    kept = retention.keep_house(settings, LATE)

    assert (kept.damaged, kept.n_documents, file.exists()) == ([sha256], 3, True)
    assert any("damaged" in line for line in kept.lines())


def _first_seen(settings: Settings, sha256: str) -> str:
    looks = (entry.content for entry in landing(settings).entries())
    scope, at = min((look["scope"], look["observed_at"]) for look in looks if look["documents"][0]["sha256"] == sha256)
    return f"{scope} {at}"


@pytest.mark.parametrize("damage", [lambda pack: pack.unlink(), lambda pack: pack.write_bytes(b"no pack")])
def test_a_damaged_pack_is_named(settings: Settings, damage: object) -> None:
    """A body that is in no place undamaged raises, and is never given out as another."""
    retention.keep_house(settings, LATE)
    for pack in packs(settings):
        damage(pack)  # type: ignore[operator]

    with pytest.raises(ChipledgerError, match="pack of documents is missing or damaged"):
        bodies(landing(settings))


def test_a_document_that_comes_again_is_kept_again(settings: Settings) -> None:
    """What is seen after it was packed gets a file of its own, and leaves it when that month is old."""
    retention.keep_house(settings, LATE)
    found = landing(settings)
    sha256 = next(iter(set(bodies(found)) - {each for each, _ in found.single_files()}))
    found.store(Document(source="toy", scope="a", url="toy:a", body=found.body(sha256), fetched_at=LATE))

    assert sha256 in dict(found.single_files())
    assert retention.keep_house(settings, LATE, thoroughly=True).n_packs == 0
    assert sha256 not in dict(found.single_files())


def test_own_files_stay(settings: Settings) -> None:
    """What the journal does not name, such as the user's own prices, is not touched, nor are its rights."""
    own = Document(source="private", scope="prices.toml", url="prices.toml", body=b"secret", fetched_at=day(0))
    sha256 = landing(settings).keep(own, mode=0o600)
    retention.keep_house(settings, LATE)

    assert dict(landing(settings).single_files())[sha256].stat().st_mode & 0o777 == 0o600


def test_old_pages_and_replaced_files_go(settings: Settings) -> None:
    """By the day in their names; pages of weeks, the newest page and all else stays."""
    stay = ("reports/daily/2026-05-30.html", "reports/weekly/2026-W01.html", "reports/latest.html", "replaced/own.txt")
    go = (
        "reports/daily/2025-04-01.html",
        "replaced/build-20260401T060000Z.duckdb",
        "replaced/build-20260401T060000Z.duckdb.wal",
    )
    for name in (*stay, *go, "replaced/before-restore-20260401T060000Z/build.duckdb"):
        (settings.data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.data_dir / name).write_text("")
    retention.keep_house(settings, LATE)

    assert [name for name in stay if (settings.data_dir / name).exists()] == list(stay)
    assert [name for name in go if (settings.data_dir / name).exists()] == []
    assert [path.name for path in (settings.data_dir / "replaced").iterdir()] == ["own.txt"]


@pytest.mark.parametrize(("days", "n_documents"), [(0, 0), (20, 6), (90, 4), (140, 0)])
def test_the_settings_say_after_how_long(settings: Settings, days: int, n_documents: int) -> None:
    """Zero means never; a month counts as old when all of it is."""
    chosen = replace(settings, retention={"compact_after_days": days})

    assert retention.keep_house(chosen, LATE).n_documents == n_documents


def test_a_wrong_setting_is_named(settings: Settings) -> None:
    """A name that is unknown, and a number out of its range."""
    for table in ({"compact": 1}, {"compact_after_days": -1}):
        with pytest.raises(SettingsError):
            retention.keep_house(replace(settings, retention=table), LATE)


def test_a_run_keeps_house_and_says_so(tmp_path: Path) -> None:
    """The daily run packs what is old; a fault of it is a note, and the run is good."""
    with toy_at(tmp_path) as toy:
        look(toy, 0, a={"p5.48xlarge": "10"})
        summary = toy.run(150, a={"p5.48xlarge": "11"})
        assert any("1 old documents packed into 1" in note for note in summary.notes)
        (tmp_path / "landing/packs/until").unlink()
        (tmp_path / "landing/packs/until").mkdir()
        again = toy.run(151, a={"p5.48xlarge": "12"})
    assert again.fresh
    assert [note for note in again.notes if note.startswith("retention:")]


def test_moments_are_those_of_the_clock(settings: Settings) -> None:
    """A month is old by the clock of the run."""
    assert retention.keep_house(settings, datetime.fromisoformat("2026-03-01T00:00:00+00:00")).n_documents == 0
