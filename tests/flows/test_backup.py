"""Backup and restoration: what is restored is equal, a backup that is not as it was written is refused."""

import errno
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kept_data import toy_at
from looks import day
from published import content
from toy_source import Toy

from flows.backup import snapshot
from flows.cli import main
from flows.collect import publisher, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.doctor import checks
from flows.shared import Clock
from warehouse import disk
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.landing.folder import Landing
from warehouse.log import db


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toy]:
    """Return a toy with records of mails and alerts, and a file of the user's own in landing."""
    with toy_at(tmp_path_factory.mktemp("backup") / "data") as toy:
        toy.learn(0, a={"p5.48xlarge": "10"})
        (toy.data_dir / "mail.jsonl").write_text('{"kind": "sent"}\n')
        (toy.data_dir / "alerts.jsonl").write_text('{"what": "baseline"}\n')
        own = Document(source="private", scope="fleet.csv", url="fleet.csv", body=b"own", fetched_at=day(0))
        Landing(toy.data_dir / "landing").store(own, mode=0o600)
        toy.run(150, a={"p5.48xlarge": "11"})
        yield toy


@pytest.fixture(scope="module")
def folder(kept: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a backup that is a folder; copy it."""
    target = tmp_path_factory.mktemp("made") / "folder"
    snapshot.back_up(kept.settings(), target, clock=kept.clock)
    return target


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def landed(root: Path) -> dict[str, bytes]:
    return {name: body for name, body in files(root).items() if name.startswith("landing/")}


def test_the_parts_of_a_journal_are_backed_up_too(kept: Toy, tmp_path: Path) -> None:
    """They are all that there is where a shared warehouse was moved into a file; the doctor reads them as well."""
    moved = kept.settings().replace(data_dir=tmp_path / "moved")
    shutil.copytree(kept.data_dir, moved.data_dir)
    (moved.data_dir / "landing/journal").mkdir()
    (moved.data_dir / "landing/journal.jsonl").rename(moved.data_dir / "landing/journal/w1.jsonl")
    (landing,) = checks._landing(moved.data_dir / "landing")
    assert landing["result"] == "ok"
    assert "landing/journal/w1.jsonl" in {one.path for one in snapshot.back_up(moved, tmp_path / "it").manifest.items}


@pytest.mark.parametrize("name", ["folder", "own.tar.gz", "own.tar.zst"])
def test_a_backup_gives_back_what_was_there(kept: Toy, tmp_path: Path, name: str) -> None:
    """Landing and records byte for byte, the log table by table; nothing that can be made again; private throughout."""
    (tmp_path / "my.toml").write_text("workers = 2\n")
    made = snapshot.back_up(kept.settings(), tmp_path / name, settings_file=tmp_path / "my.toml", clock=kept.clock)
    manifest = snapshot.receive(tmp_path / name, tmp_path / "back")
    back = files(tmp_path / "back")

    assert manifest == made.manifest
    assert {path for path in back if not path.startswith("landing/")} == {
        "build.duckdb", "mail.jsonl", "alerts.jsonl", "chipledger.toml",
    }  # fmt: skip
    assert landed(tmp_path / "back") == landed(kept.data_dir)
    assert back["mail.jsonl"] == (kept.data_dir / "mail.jsonl").read_bytes()
    assert manifest.log["core.price_event"].n_rows == 2
    assert (tmp_path / name).stat().st_mode & 0o077 == 0
    own = hashlib.sha256(b"own").hexdigest()
    assert (tmp_path / f"back/landing/{own[:2]}/{own}.gz").stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["back", "my.toml", name])


def test_backup_deletion_restore_is_equal(kept: Toy, folder: Path, tmp_path: Path) -> None:
    """Restored over a directory that has something else, with --force: all content is equal; the other lies aside.

    A record of mails that went on from the one in the backup stays, so that nobody gets a week twice.
    """
    settings = Settings(data_dir=tmp_path / "data")
    (settings.data_dir / "landing").mkdir(parents=True)
    (settings.data_dir / "landing/journal.jsonl").write_text("another history\n")
    sent = (kept.data_dir / "mail.jsonl").read_bytes() + b'{"kind": "sent", "week": "2026-W02"}\n'
    for name, body in {"mail.jsonl": sent, "alerts.jsonl": b"another\n"}.items():
        (settings.data_dir / name).write_bytes(body)
    with pytest.raises(ChipledgerError, match="not empty"):
        snapshot.restore(settings, folder, clock=kept.clock)
    done = snapshot.restore(settings, folder, force=True, clock=kept.clock)

    assert content(settings.data_dir / "prices.duckdb") == content(kept.data_dir / "prices.duckdb")
    assert landed(settings.data_dir) == landed(kept.data_dir)
    assert done.set_aside
    assert files(done.set_aside) == {
        "landing/journal.jsonl": b"another history\n", "mail.jsonl": sent, "alerts.jsonl": b"another\n",
    }  # fmt: skip
    assert (settings.data_dir / "mail.jsonl").read_bytes() == sent
    assert (settings.data_dir / "alerts.jsonl").read_bytes() == (kept.data_dir / "alerts.jsonl").read_bytes()
    assert sorted(path.name for path in settings.data_dir.iterdir()) == [
        "alerts.jsonl", "build.duckdb", "cache", "landing", "mail.jsonl", "prices.duckdb", "replaced", "writer.lock",
    ]  # fmt: skip


def test_the_pages_are_written_before_another_run_may_begin(
    kept: Toy, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that waited took the lock between the restored files and their pages, and the command ended with an error."""
    settings, open_run, written = Settings(data_dir=tmp_path / "data"), steps.open_run, []

    def opened(chosen: Settings, **how: Any) -> Any:
        if chosen.data_dir == settings.data_dir:
            waited.enter_context(db.locked(chosen.data_dir))
        return open_run(chosen, **how)

    def pages(chosen: Settings, summary: Summary, *, clock: Clock) -> Path:
        with pytest.raises(WriterBusy), db.locked(chosen.data_dir):
            pass
        written.append(summary.file)
        return chosen.data_dir / "reports/index.html"

    monkeypatch.setattr(steps, "open_run", opened)
    monkeypatch.setattr(publisher, "report", pages)
    with ExitStack() as waited:
        snapshot.restore(settings, folder, clock=kept.clock)
    assert written == [settings.data_dir / "prices.duckdb"]


def test_a_disk_that_fills_up_changes_nothing(
    kept: Toy, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is restored is published before it takes the place of what is there, which readers go on reading."""
    settings = Settings(data_dir=Path(shutil.copytree(kept.data_dir, tmp_path / "data")))

    def full(*_: object, **__: object) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(publisher, "publish", full)
    with pytest.raises(disk.DiskFault, match="the disk is full"):
        snapshot.restore(settings, folder, force=True, clock=kept.clock)
    assert files(settings.data_dir) == files(kept.data_dir)


def _change(root: Path) -> None:
    (root / "landing/journal.jsonl").write_bytes((root / "landing/journal.jsonl").read_bytes().replace(b"toy", b"toi"))


def _name(path: str) -> Callable[[Path], None]:
    """Return what gives a file of the backup another name, in the manifest too."""

    def rename(root: Path) -> None:
        text = (root / "manifest.json").read_text()
        (root / "manifest.json").write_text(text.replace('"mail.jsonl"', json.dumps(path)))

    return rename


def _log(root: Path) -> None:
    told = json.loads((root / "manifest.json").read_text())
    told["log"]["core.price_event"]["sha256"] = "0" * 64
    (root / "manifest.json").write_text(json.dumps(told))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte": (_change, "not the one that was backed up"),
    "a byte more": (lambda root: (root / "mail.jsonl").write_text('{"kind": "sent"}\n '), "not the one that was"),
    "a file less": (lambda root: (root / "mail.jsonl").unlink(), "1 file missing"),
    "a file more": (lambda root: (root / "landing/more").write_text(""), "does not name"),
    "a link": (lambda root: (root / "landing/link").symlink_to("/etc/passwd"), "neither a file nor a folder"),
    "no manifest": (lambda root: (root / "manifest.json").unlink(), "does not begin with a manifest"),
    "no JSON": (lambda root: (root / "manifest.json").write_text("["), "manifest cannot be read"),
    "above": (_name("../mail.jsonl"), "a name that no backup has"),
    "above, below": (_name("landing/../../mail.jsonl"), "a name that no backup has"),
    "absolute": (_name("/etc/mail.jsonl"), "a name that no backup has"),
    "elsewhere": (_name("prices.duckdb"), "a name that no backup has"),
    "a line more": (_name("landing/mail\n"), "a name that no backup has"),
    "the log": (_log, "log's content is not what was backed up"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_backup_that_was_changed_is_refused(folder: Path, tmp_path: Path, what: str) -> None:
    """One byte, one file, one name: nothing is restored, and nothing stays behind."""
    damage, words = DAMAGES[what]
    shutil.copytree(folder, tmp_path / "backup")
    damage(tmp_path / "backup")
    settings = Settings(data_dir=tmp_path / "data")

    with pytest.raises(ChipledgerError, match=words):
        snapshot.restore(settings, tmp_path / "backup")
    assert [path.name for path in settings.data_dir.iterdir()] == ["writer.lock"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "data"]


def archive(target: Path, folder: Path, *more: tarfile.TarInfo) -> Path:
    """Write a .tar.gz of a folder's manifest, with members of one's own after it."""
    with tarfile.open(target, "w:gz") as tar:
        tar.add(folder / "manifest.json", "manifest.json")
        for member in more:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return target


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("../../etc/own", tarfile.REGTYPE, "does not name"),
        ("/etc/own", tarfile.REGTYPE, "does not name"),
        ("mail.jsonl", tarfile.SYMTYPE, "not a plain file"),
        ("mail.jsonl", tarfile.LNKTYPE, "not a plain file"),
        ("mail.jsonl", tarfile.FIFOTYPE, "not a plain file"),
        ("mail.jsonl", tarfile.REGTYPE, "not the one that was backed up"),
    ],
)
def test_an_archive_leads_nowhere_else(folder: Path, tmp_path: Path, name: str, kind: bytes, words: str) -> None:
    """Paths that lead out, links, devices, and more bytes than announced are refused before they are written."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/passwd"
    member.size = 1000 if kind == tarfile.REGTYPE else 0

    with pytest.raises(ChipledgerError, match=words):
        snapshot.receive(archive(tmp_path / "own.tar.gz", folder, member), tmp_path / "back")
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("own.tar.gz", "back")] == []


@pytest.mark.parametrize("name", ["own.tar.gz", "own.tar.zst"])
def test_an_archive_cut_short_is_refused(kept: Toy, tmp_path: Path, name: str) -> None:
    """As a full disk or a broken copy leaves it."""
    snapshot.back_up(kept.settings(), tmp_path / name, clock=kept.clock)
    os.truncate(tmp_path / name, (tmp_path / name).stat().st_size // 2)

    with pytest.raises(ChipledgerError):
        snapshot.check(tmp_path / name, tmp_path / "scratch")


def test_a_backup_that_cannot_be_read_back_gets_no_name(
    kept: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What went wrong on its way to the disk is seen before the backup passes for one."""
    write = snapshot.write

    def badly(target: Path, manifest: snapshot.Manifest, files: dict[str, Path]) -> None:
        write(target, manifest, files)
        (target / "mail.jsonl").write_text("")

    monkeypatch.setattr(snapshot, "write", badly)
    with pytest.raises(ChipledgerError, match="not the one that was backed up"):
        snapshot.back_up(kept.settings(), tmp_path / "own", clock=kept.clock)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "words"), [("there", "exists already"), ("own.zip", "no such kind")])
def test_a_wrong_target_is_refused(kept: Toy, tmp_path: Path, name: str, words: str) -> None:
    """Nothing is written over, and no ending is guessed at."""
    (tmp_path / "there").mkdir()
    with pytest.raises(ChipledgerError, match=words):
        snapshot.back_up(kept.settings(), tmp_path / name)


def test_a_file_that_is_none_of_ours_is_named(kept: Toy, tmp_path: Path) -> None:
    """Before anything is written: no backup is damaged by it."""
    other = kept.data_dir / "landing/notes of mine.txt"
    other.write_text("x")
    try:
        with pytest.raises(ChipledgerError, match=r"none of ours .*landing/notes of mine.txt.*Move it elsewhere"):
            snapshot.back_up(kept.settings(), tmp_path / "own")
    finally:
        other.unlink()


def test_a_run_that_writes_is_not_backed_up(kept: Toy, tmp_path: Path) -> None:
    """The writer's lock is held: the backup says by whom."""
    with db.locked(kept.data_dir), pytest.raises(WriterBusy):
        snapshot.back_up(kept.settings(), tmp_path / "own")


def test_the_commands(kept: Toy, tmp_path: Path) -> None:
    """backup, restore --check, and reproduce of a document, as a person calls them; a lost document is named."""
    data_dir = tmp_path / "data"
    shutil.copytree(kept.data_dir, data_dir)

    def call(*words: object, exit_code: int = 0) -> str:
        done = CliRunner().invoke(main.main, ["--data-dir", str(data_dir), *map(str, words)])
        assert done.exit_code == exit_code, done.output
        return done.output

    assert "read back" in call("data", "backup", tmp_path / "own.tar.zst")
    assert json.loads(call("data", "restore", tmp_path / "own.tar.zst", "--check", "--json"))["is_good"] is True
    first = next(Landing(data_dir / "landing").entries()).content["documents"][0]["sha256"]
    assert json.loads(call("reproduce", first))["prices"] == [{"instance_type": "p5.48xlarge", "unit_price": "10"}]
    (data_dir / "landing").joinpath(first[:2], f"{first}.gz").unlink()
    said = call("data", "backup", tmp_path / "poor.tar.zst", exit_code=1)
    assert f"1 document of the journal missing in landing/, the first {first}.gz: keep the older backups" in said
