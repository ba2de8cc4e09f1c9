"""Old pages of single days and replaced files are removed; documents never are."""

from pathlib import Path

import pytest
from kept_data import toy_at
from looks import day

from flows.backup import retention
from flows.collect.publisher import Publisher
from flows.config.settings import Settings
from warehouse.errors import SettingsError

LATE = day(150)
"""The end of May."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


def test_old_pages_and_replaced_files_go(settings: Settings) -> None:
    """By the day in their names; pages of weeks, the newest page and all else stays."""
    stay = ("reports/daily/2026-05-30.html", "reports/weeks/2026-W01.html", "reports/latest.html", "replaced/own.txt")
    go = (
        "reports/daily/2025-04-01.html",
        "replaced/build-20260401T060000Z.duckdb",
        "replaced/build-20260401T060000Z.duckdb.wal",
    )
    for name in (*stay, *go, "replaced/before-restore-20260401T060000Z/build.duckdb"):
        (settings.data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.data_dir / name).write_text("")
    retention.remove_old_files(settings, LATE)

    assert [name for name in stay if (settings.data_dir / name).exists()] == list(stay)
    assert [name for name in go if (settings.data_dir / name).exists()] == []
    assert [path.name for path in (settings.data_dir / "replaced").iterdir()] == ["own.txt"]


@pytest.mark.parametrize(("days", "n_removed"), [(0, 0), (30, 1), (200, 0)])
def test_the_settings_have_the_days(settings: Settings, days: int, n_removed: int) -> None:
    """Zero means never."""
    (settings.data_dir / "replaced").mkdir(parents=True)
    (settings.data_dir / "replaced/build-20260401T060000Z.duckdb").touch()
    chosen = settings.replace(retention={"replaced_days": days})

    assert len(retention.remove_old_files(chosen, LATE)) == n_removed


def test_a_wrong_setting_is_named(settings: Settings) -> None:
    """A name that is unknown, and a number out of its range."""
    for table in ({"compact": 1}, {"replaced_days": -1}):
        with pytest.raises(SettingsError):
            retention.remove_old_files(settings.replace(retention=table), LATE)


def test_a_run_removes_them_and_reports_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daily run removes what is old, and no list leads there; a failure is a note, and the run is good."""
    old, page = tmp_path / "replaced/build-20260101T060000Z.duckdb", tmp_path / "reports/daily/2024-01-02.html"
    for path in (old, page):
        path.parent.mkdir(parents=True)
        path.touch()
    listed = []
    with toy_at(tmp_path) as toy:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Publisher, "report", lambda _: listed.append(page.exists()))
            summary = toy.run(150, a={"p5.48xlarge": "11"})
        assert "old pages and replaced files removed: 2" in summary.notes
        assert not old.exists()
        assert listed == [False]
        old.touch()
        monkeypatch.setattr(Path, "unlink", lambda path, **named: (_ for _ in ()).throw(OSError("no right")))
        notes = retention.after_run(toy.settings(), day(151))
    assert notes == ["retention: no right"]
