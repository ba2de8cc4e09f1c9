"""Backup of a data directory, and its restoration: what cannot be made again, with the log as it stands.

A backup holds the landing folder, the log, and the records of what was sent. The published file, pages and the private
file are made of these, and made again. The writer's lock is held throughout; the log is copied by DuckDB itself, as a
file that is open must not be copied. What was written is read back before it gets its name.

It is a folder, a .tar.gz or a .tar.zst. Its manifest names every file and its hash, and comes first in an archive, so
that a reader knows what may follow, how large it may be, and refuses anything else: other names, links, paths that lead
out of the folder, more bytes than announced.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import tarfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import duckdb
from pydantic import BaseModel, Field, ValidationError

from flows.alerts import deliver
from flows.backup import retention
from flows.collect import publisher, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.mail import sending
from flows.shared import Clock, folders
from reports import wording
from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing
from warehouse.landing.journal import Files
from warehouse.log import content, db
from warehouse.log.content import TableHash
from warehouse.publish.frame import FOLDER
from warehouse.publish.published_file import FILE_NAME, REPLACED

MANIFEST = "manifest.json"
CHUNK_BYTES = 1 << 20
MAX_CHUNKS = 1000
"""Of a manifest: one that is longer is cut, and then no JSON."""
UNREADABLE = (OSError, EOFError, tarfile.TarError, zlib.error)
ALLOWED = re.compile(
    r"(build\.duckdb|mail\.jsonl|alerts\.jsonl|chipledger\.toml|landing(/(?!\.\.?(/|$))[\w.-]+)+)", re.ASCII
)
"""Names that a backup may hold; none of them leads anywhere but below the folder it is unpacked in."""
RECORDS = (sending.RECORD, deliver.RECORD)
SETTINGS = "chipledger.toml"
OWN = (db.FILE_NAME, f"{db.FILE_NAME}.wal", FILE_NAME, "private.duckdb", "landing", *RECORDS, SETTINGS)
"""What a restoration sets aside where it is there already; pages are made again over the old ones."""
SCRATCH = ".restore"
MAX_BACKUP_S = 2 * 86400
"""No backup is being written for longer than this."""


class Item(BaseModel, frozen=True, extra="forbid"):
    """One file of a backup: its path below the data directory, its size and hash, and whether others may read it."""

    path: str
    size: int
    sha256: str
    is_private: bool = False


class Manifest(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """What a backup holds: when and by which version it was made, its files, and the content of its log by table."""

    format: Literal[1] = 1
    made_at: str
    version: str
    log: dict[str, TableHash]
    items: tuple[Item, ...] = Field(alias="files")

    def text(self) -> bytes:
        return self.model_dump_json(indent=1, by_alias=True).encode()

    @staticmethod
    def parse(text: bytes, source: Path) -> "Manifest":
        """Return the manifest that a text is. Raises ChipledgerError for any other, and for names not allowed."""
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            raise refused(source, "the manifest cannot be read", MANIFEST, str(error)) from error
        for each in manifest.items:
            if not ALLOWED.fullmatch(each.path):
                raise refused(source, "a name that no backup has", "path", each.path)
        if len({each.path for each in manifest.items}) != len(manifest.items):
            raise refused(source, "duplicate name", "path", MANIFEST)
        return manifest


def item(path: str, file: Path) -> Item:
    """Return the entry of a file."""
    with file.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        return Item(path=path, size=stream.tell(), sha256=sha256, is_private=not file.stat().st_mode & 0o044)


def write(target: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
    """Write a backup to a path whose ending says which kind; its owner alone can read it."""
    text = manifest.text()
    if is_folder(target):
        target.mkdir(mode=0o700)
        for path, file in files.items():
            with file.open("rb") as source:
                _copy(iter(lambda: source.read(CHUNK_BYTES), b""), target / path)
        _copy([text], target / MANIFEST)
        return
    target.touch(mode=0o600, exist_ok=False)
    with _archive(target, "w") as tar:
        _add(tar, MANIFEST, io.BytesIO(text), len(text))
        for each in manifest.items:
            with files[each.path].open("rb") as source:
                _add(tar, each.path, source, each.size)


def receive(source: Path, into: Path, *, only: str | None = None) -> Manifest:
    """Read a whole backup, check every hash, and put its files (or one only) into a folder; return its manifest.

    Raises ChipledgerError where a file is missing, changed, too many, or of a name or kind that no backup has.
    """
    members = _folder_members(source) if source.is_dir() else _archive_members(source)
    name, stream = next(members, ("", io.BytesIO()))
    if name != MANIFEST:
        raise refused(source, "it does not begin with a manifest" if name else "it is empty", "path", name)
    manifest = Manifest.parse(b"".join(islice(_chunks(source, stream), MAX_CHUNKS)), source)
    left = {each.path: each for each in manifest.items}
    for name, stream in members:
        expected = left.pop(name, None)
        if expected is None:
            raise refused(source, "a file that the manifest does not name", "path", name)
        _receive_one(source, expected, stream, into / name if only in (None, name) else None)
    if left:
        raise refused(source, f"{wording.count(len(left), 'file')} missing", "path", min(left))
    return manifest


def is_folder(target: Path) -> bool:
    """Return whether a name is that of a folder and not of an archive. Raises ChipledgerError for other archives."""
    if target.name.endswith((".tar.gz", ".tar.zst")):
        return False
    if target.suffix in (".tar", ".gz", ".zst", ".zip", ".tgz", ".xz", ".bz2", ".7z"):
        hint = "Name a folder, or a file that ends in .tar.gz or .tar.zst"
        raise ChipledgerError("no such kind of backup", source="backup", field="target", value=target.name, hint=hint)
    return True


def refused(source: Path, message: str, field: str, value: object) -> ChipledgerError:
    """Return the error of a backup that is not what it should be."""
    hint = "The backup is damaged or not ours; use another one"
    return ChipledgerError(message, source=str(source), field=field, value=value, hint=hint)


def _receive_one(source: Path, expected: Item, stream: IO[bytes], place: Path | None) -> None:
    digest, size = hashlib.sha256(), 0

    def received() -> Iterator[bytes]:
        nonlocal size
        for chunk in _chunks(source, stream):
            size += len(chunk)
            if size > expected.size:
                return
            digest.update(chunk)
            yield chunk

    _copy(received(), place)
    if size != expected.size or digest.hexdigest() != expected.sha256:
        raise refused(source, "a file is not the one that was backed up", "path", expected.path)
    if place is not None and expected.is_private:
        place.chmod(0o600)


def _chunks(source: Path, stream: IO[bytes]) -> Iterator[bytes]:
    try:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk
    except UNREADABLE as error:
        raise refused(source, "the archive cannot be read", "error", str(error)) from error


def _folder_members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    found = (path for path in source.rglob("*") if path.is_symlink() or not path.is_dir())
    for path in sorted(found, key=lambda path: (path != source / MANIFEST, path)):
        name = path.relative_to(source).as_posix()
        if path.is_symlink() or not path.is_file():
            raise refused(source, "neither a file nor a folder", "path", name)
        with path.open("rb") as stream:
            yield name, stream


def _archive_members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if is_folder(source):
        raise refused(source, "there is no such folder", "path", source.name)
    try:
        with _archive(source, "r") as tar:
            for member in tar:
                stream = tar.extractfile(member) if member.isreg() else None
                if stream is None:
                    raise refused(source, "not a plain file", "path", member.name)
                yield member.name, stream
    except UNREADABLE as error:
        raise refused(source, "the archive cannot be read", "error", str(error)) from error


@contextmanager
def _archive(path: Path, mode: Literal["r", "w"]) -> Iterator[tarfile.TarFile]:
    """Open an archive, compressed as its name says, to read or write one member after the other."""
    opened: Any
    if path.name.endswith(".gz"):
        opened = gzip.open(path, f"{mode}b", compresslevel=6)  # noqa: SIM115 (closed below)
    else:
        import pyarrow

        opened = pyarrow.input_stream(str(path)) if mode == "r" else pyarrow.output_stream(str(path))
    with (
        opened as stream,
        tarfile.open(fileobj=stream, mode="r|" if mode == "r" else "w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield tar


def _add(tar: tarfile.TarFile, name: str, stream: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    tar.addfile(member, stream)


def _copy(chunks: Iterable[bytes], place: Path | None) -> None:
    """Write chunks to a new file, flushed to disk; None: read them only."""
    if place is None:
        for _ in chunks:
            pass
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.writelines(chunks)
        file.flush()
        os.fsync(file.fileno())


@dataclass(frozen=True, kw_only=True)
class Backup:
    """A backup that was made and read back: where it lies, its size on disk, its manifest, and documents it lacks."""

    path: Path
    n_bytes: int
    manifest: Manifest
    missing: Sequence[str]

    def lines(self) -> Iterator[str]:
        files = wording.count(len(self.manifest.items), "file")
        n_bytes = sum(item.size for item in self.manifest.items)
        yield f"{self.path}: {files} of {n_bytes / 1e6:.1f} MB in {self.n_bytes / 1e6:.1f} MB, read back"
        yield f"{content.whole(self.manifest.log)}  all tables of the log"

    def notes(self) -> Iterator[str]:
        if self.missing:
            found = f"{wording.count(len(self.missing), 'document')} of the journal missing in landing/"
            yield f"{found}, the first {self.missing[0]}: keep the older backups, which may have it"


@dataclass(frozen=True, kw_only=True)
class Restored:
    """A backup that was put in place: its manifest, what it replaced, and the publication that followed."""

    manifest: Manifest
    set_aside: Path | None
    summary: Summary

    def lines(self) -> Iterator[str]:
        yield f"{wording.count(len(self.manifest.items), 'file')} of {self.manifest.made_at}, every hash as it was"
        yield f"{content.whole(self.manifest.log)}  all tables of the log"
        if self.set_aside:
            yield f"what was there lies in {self.set_aside}"
        yield f"file: {self.summary.file}"
        yield f"report: {self.summary.report}"


def back_up(
    settings: Settings, target: Path, *, settings_file: Path | None = None, clock: Clock = steps.utc_now
) -> Backup:
    """Back a data directory up into a folder, .tar.gz or .tar.zst that does not exist yet. Raises ChipledgerError."""
    data_dir = settings.data_dir
    if target.exists():
        hint = "Name each backup by its day; an old one is never written over"
        raise ChipledgerError("it exists already", source=str(target), field="target", value=target.name, hint=hint)
    if not Files(data_dir / "landing").parts():
        hint = "Name the data directory with --data-dir"
        raise ChipledgerError("nothing to back up", source=str(data_dir), hint=hint)
    is_folder(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".part-{os.getpid()}-{target.name}")
    with (
        disk.faults(target.parent),
        db.writer(data_dir, wait_seconds=settings.wait_seconds) as con,
        folders.as_user(alone=True),  # a backup may hold what the user pays
        scratch_folder(target.with_name(f".log-{os.getpid()}-{target.name}")) as scratch,
    ):
        _remove_old_parts(target, scratch)
        _copy_log(con, scratch / db.FILE_NAME)
        shutil.copymode(data_dir / db.FILE_NAME, scratch / db.FILE_NAME)
        files = {db.FILE_NAME: scratch / db.FILE_NAME}
        landed = sorted(path for path in (data_dir / "landing").rglob("*") if path.is_file())
        files |= {path.relative_to(data_dir).as_posix(): path for path in landed if path.suffix != ".part"}
        entries = Landing(data_dir / "landing").entries()
        named = {f"{one['sha256']}.gz" for entry in entries for one in entry.content.get("documents", ())}
        is_packed = (data_dir / "landing/packs").exists()  # by an earlier version, until a run unpacks them
        missing = [] if is_packed else sorted(named - {path.name for path in landed})
        if other := next((path for path in files if not ALLOWED.fullmatch(path)), None):
            hint = "Move it elsewhere: chipledger writes no such name"
            raise ChipledgerError(
                "a file that is none of ours", source=str(data_dir), field="path", value=other, hint=hint
            )
        for name in RECORDS:
            if (data_dir / name).exists():
                # Another process may append to it meanwhile.
                shutil.copy(data_dir / name, scratch / name)
                files[name] = scratch / name
        if settings_file:
            files[SETTINGS] = settings_file
        made_at = clock().astimezone(UTC).isoformat(timespec="seconds")
        items, log = tuple(item(path, file) for path, file in files.items()), content.tables(con, ("core",))
        manifest = Manifest(made_at=made_at, version=version("chipledger"), items=items, log=log)
        try:
            write(part, manifest, files)
            _read_back(part, manifest, scratch / "again")
            part.rename(target)
        finally:
            retention.remove(part)
    n_bytes = sum(one.stat().st_size for one in ([target] if target.is_file() else target.rglob("*")) if one.is_file())
    return Backup(path=target, n_bytes=n_bytes, manifest=manifest, missing=missing)


def check(source: Path, scratch: Path) -> Manifest:
    """Read a whole backup and return its manifest; raise ChipledgerError where anything in it is not as it was."""
    with folders.as_user(alone=True), scratch_folder(scratch) as folder:
        manifest = receive(source, folder, only=db.FILE_NAME)
        _check_log(folder / db.FILE_NAME, manifest, source)
    return manifest


def restore(settings: Settings, source: Path, *, force: bool = False, clock: Clock = steps.utc_now) -> Restored:
    """Put a backup into a data directory that is empty, or with `force` in place of what is there; publish it.

    Nothing of what is there is touched before every hash was checked and the file published; it is set aside then.
    """
    data_dir = settings.data_dir
    with (
        disk.faults(data_dir),
        db.locked(data_dir, wait_seconds=settings.wait_seconds),
        scratch_folder(data_dir / SCRATCH) as scratch,
    ):
        there = [path for path in sorted(data_dir.iterdir()) if path.name not in (db.LOCK, SCRATCH)]
        if there and not force:
            hint = "Name another one with --data-dir, or pass --force: what is there is set aside"
            raise ChipledgerError(
                "the data directory is not empty", source=str(data_dir), field="path", value=there[0].name, hint=hint
            )
        manifest = receive(source, scratch)
        _check_log(scratch / db.FILE_NAME, manifest, source)
        for here, back in ((data_dir / name, scratch / name) for name in RECORDS):
            # Sent is sent: what is there may have gone on from what was backed up.
            if here.exists() and here.read_bytes().startswith(back.read_bytes() if back.exists() else b""):
                shutil.copy(here, back)
        with steps.open_run(settings.replace(data_dir=scratch), clock=clock) as one:
            one.load()
            one.publisher.publish()
            summary = one.summary
        shutil.copytree(scratch / FOLDER, data_dir / FOLDER, dirs_exist_ok=True)
        retention.remove(scratch / FOLDER)
        (scratch / db.LOCK).unlink()
        set_aside = _swap(scratch, data_dir, [path for path in there if path.name in OWN], clock())
        summary.file = data_dir / FILE_NAME
        publisher.report(settings, summary, clock=clock)
        return Restored(manifest=manifest, set_aside=set_aside, summary=summary)


def _swap(scratch: Path, data_dir: Path, replaced: list[Path], now: datetime) -> Path | None:
    """Set aside what is there and put in its place what was received; return where the first lies, if there was any.

    Broken off at any step, there is a log without its landing folder, which a run refuses, or nothing was changed yet.
    """
    log = data_dir / db.FILE_NAME
    there = {path.name: path for path in replaced}
    stem = data_dir / REPLACED / f"before-restore-{now:%Y%m%dT%H%M%SZ}"
    aside = next(new for n in range(1, 1000) if not (new := stem.with_name(stem.name + f".{n}" * (n > 1))).exists())
    if replaced:
        aside.mkdir(parents=True)
    if log in replaced:
        for name in ("landing", f"{log.name}.wal"):
            if name in there:
                there.pop(name).rename(aside / name)
    for path in sorted(scratch.iterdir(), key=lambda path: path.name != log.name):
        if path.name == "landing":
            continue
        if (old := there.pop(path.name, None)) is not None:
            try:
                os.link(old, aside / old.name)  # so that it is never absent: a record says who had which mail
            except OSError:  # a disk that has no links
                old.rename(aside / old.name)
        path.replace(data_dir / path.name)
    for name, path in there.items():
        path.rename(aside / name)
    (scratch / "landing").rename(data_dir / "landing")
    return aside if replaced else None


def _remove_old_parts(target: Path, but: Path) -> None:
    """Remove what killed backups left beside a target: those of its name, and any that is days old."""
    old = time.time() - MAX_BACKUP_S
    for path in target.parent.glob(".*"):
        kind, number, name = (*path.name.split("-", 2), "", "")[:3]
        ours = path != but and kind in (".part", ".log") and number.isdecimal()
        if ours and (name == target.name or path.stat().st_mtime < old):
            retention.remove(path)


def _copy_log(con: duckdb.DuckDBPyConnection, target: Path) -> None:
    """Copy the log into a new file: its tables as they stand, compact, in one transaction of DuckDB's."""
    ((name,),) = con.execute("select current_database()").fetchall()
    con.execute(f"attach {db.quote(str(target))} as copied")
    try:
        con.execute(f"copy from database {name} to copied")
    finally:
        con.execute("detach copied")


def _read_back(written: Path, manifest: Manifest, scratch: Path) -> None:
    if check(written, scratch) != manifest:
        raise ChipledgerError("the backup's manifest is not the one that was written", source=str(written))


def _check_log(log: Path, manifest: Manifest, source: Path) -> None:
    try:
        found = hashes(log, ("core",))
    except duckdb.Error as error:
        raise refused(source, "the log cannot be opened", "duckdb", str(error)) from error
    differing = content.differing(found, manifest.log)
    if differing:
        raise refused(source, "the log's content is not what was backed up", "table", differing[0])


def hashes(file: Path, schemas: Iterable[str] = content.SCHEMAS) -> dict[str, TableHash]:
    """Return the hash of every table in schemas of a file, times in UTC."""
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set timezone = 'UTC'")
        return content.tables(con, schemas)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that is gone afterwards; what a killed process left in it goes first."""
    retention.remove(path)
    path.mkdir(mode=0o700, parents=True)
    try:
        yield path
    finally:
        retention.remove(path)
