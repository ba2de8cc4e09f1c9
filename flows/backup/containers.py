"""The files of a backup: a folder, a .tar.gz or a .tar.zst, each with a manifest that names every file and its hash.

The manifest comes first, so that a reader knows what may follow, how large it may be, and refuses anything else:
other names, links, paths that lead out of the folder, more bytes than announced.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from warehouse.errors import ChipledgerError
from warehouse.log.content import TableHash

MANIFEST = "manifest.json"
FORMAT = 1
CHUNK_BYTES = 1 << 20
MAX_CHUNKS = 1000
"""Of a manifest: one that is longer is cut, and then no JSON."""
UNREADABLE = (OSError, EOFError, tarfile.TarError, zlib.error)
ALLOWED = re.compile(
    r"(build\.duckdb|mail\.jsonl|alerts\.jsonl|chipledger\.toml|landing(/(?!\.\.?(/|$))[\w.-]+)+)", re.ASCII
)
"""Names that a backup may hold; none of them leads anywhere but below the folder it is unpacked in."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One file of a backup: its path below the data directory, its size and hash, and whether others may read it."""

    path: str
    size: int
    sha256: str
    is_private: bool = False


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup holds: when and by which version it was made, its files, and the content of its log by table."""

    made_at: str
    version: str
    items: tuple[Item, ...]
    log: Mapping[str, TableHash]

    def text(self) -> bytes:
        """Return the manifest as it is written."""
        size = {"format": FORMAT, "made_at": self.made_at, "version": self.version}
        size |= {"log": {name: asdict(table) for name, table in self.log.items()}}
        return json.dumps(size | {"files": [asdict(item) for item in self.items]}, indent=1).encode()

    @staticmethod
    def parse(text: bytes, source: Path) -> "Manifest":
        """Return the manifest that a text is. Raises ChipledgerError for any other, and for names not allowed."""
        try:
            size = json.loads(text)
            if size["format"] != FORMAT:
                raise ValueError(f"format {size['format']}")
            manifest = Manifest(
                made_at=str(size["made_at"]),
                version=str(size["version"]),
                items=tuple(Item(**each) for each in size["files"]),
                log={name: TableHash(**each) for name, each in size["log"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise refused(source, "the manifest cannot be read", MANIFEST, str(error)) from error
        for item in manifest.items:
            if not isinstance(item.path, str) or not ALLOWED.fullmatch(item.path):
                raise refused(source, "a name that no backup has", "path", item.path)
        if len({item.path for item in manifest.items}) != len(manifest.items):
            raise refused(source, "duplicate name", "path", MANIFEST)
        return manifest


def item(path: str, file: Path) -> Item:
    """Return the entry of a file."""
    digest = hashlib.sha256()
    size = 0
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return Item(path=path, size=size, sha256=digest.hexdigest(), is_private=not file.stat().st_mode & 0o044)


def write(target: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
    """Write a backup to a path whose ending says which kind; its owner alone can read it."""
    if is_folder(target):
        target.mkdir(mode=0o700)
        for path, file in files.items():
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with file.open("rb") as source, place.open("wb") as copy:
                _copy(source, copy)
        with (target / MANIFEST).open("wb") as copy:
            _copy(io.BytesIO(manifest.text()), copy)
        return
    with _compressor(target) as stream, tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, MANIFEST, io.BytesIO(manifest.text()), len(manifest.text()))
        for each in manifest.items:
            with files[each.path].open("rb") as source:
                _add(tar, each.path, source, each.size)


def receive(source: Path, into: Path, *, only: str | None = None) -> Manifest:
    """Read a whole backup, check every hash, and put its files (or one only) into a folder; return its manifest.

    Raises ChipledgerError where a file is missing, changed, too many, or of a name or kind that no backup has.
    """
    members = _folder_members(source) if source.is_dir() else _archive_members(source)
    manifest: Manifest | None = None
    left: dict[str, Item] = {}
    for name, stream in members:
        if manifest is None:
            if name != MANIFEST:
                raise refused(source, "it does not begin with a manifest", "path", name)
            manifest = Manifest.parse(b"".join(islice(_chunks(source, stream), MAX_CHUNKS)), source)
            left = {each.path: each for each in manifest.items}
            continue
        expected = left.pop(name, None)
        if expected is None:
            raise refused(source, "a file that the manifest does not name", "path", name)
        _receive_one(source, expected, stream, into / name if only in (None, name) else None)
    if manifest is None:
        raise refused(source, "it is empty", "path", source.name)
    if left:
        raise refused(source, f"{len(left)} files are missing", "path", min(left))
    return manifest


def is_folder(target: Path) -> bool:
    """Return whether a name is that of a folder and not of an archive. Raises ChipledgerError for other archives."""
    if target.name.endswith((".tar.gz", ".tar.zst")):
        return False
    if target.suffix in (".tar", ".gz", ".zst", ".zip", ".tgz", ".xz", ".bz2", ".7z"):
        raise ChipledgerError(
            "no such kind of backup",
            source="backup",
            field="target",
            value=target.name,
            hint="Name a folder, or a file that ends in .tar.gz or .tar.zst",
        )
    return True


def refused(source: Path, message: str, field: str, value: object) -> ChipledgerError:
    """Return the error of a backup that is not what it should be."""
    return ChipledgerError(
        message, source=str(source), field=field, value=value, hint="The backup is damaged or not ours; use another one"
    )


def _receive_one(source: Path, expected: Item, stream: IO[bytes], place: Path | None) -> None:
    digest = hashlib.sha256()
    size = 0
    with ExitStack() as opened:
        copy = None
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = opened.enter_context(place.open("xb"))
        for chunk in _chunks(source, stream):
            size += len(chunk)
            if size > expected.size:
                break
            digest.update(chunk)
            if copy:
                copy.write(chunk)
        if copy:
            copy.flush()
            os.fsync(copy.fileno())
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
    found = sorted(path for path in source.rglob("*") if path.is_symlink() or not path.is_dir())
    names = [path.relative_to(source).as_posix() for path in found]
    for name in sorted(names, key=lambda name: (name != MANIFEST, name)):
        path = source / name
        if path.is_symlink() or not path.is_file():
            raise refused(source, "neither a file nor a folder", "path", name)
        with path.open("rb") as stream:
            yield name, stream


def _archive_members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if is_folder(source):
        raise refused(source, "there is no such folder", "path", source.name)
    try:
        with _decompressor(source) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() else None
                if content is None:
                    raise refused(source, "not a plain file", "path", member.name)
                yield member.name, content
    except UNREADABLE as error:
        raise refused(source, "the archive cannot be read", "error", str(error)) from error


@contextmanager
def _compressor(target: Path) -> Iterator[IO[bytes]]:
    with ExitStack() as opened:
        file = opened.enter_context(target.open("xb"))
        target.chmod(0o600)
        stream: Any
        if target.name.endswith(".zst"):
            import pyarrow

            stream = opened.enter_context(pyarrow.CompressedOutputStream(pyarrow.PythonFile(file, "w"), "zstd"))
        else:
            stream = opened.enter_context(gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6))
        yield cast("IO[bytes]", stream)


@contextmanager
def _decompressor(source: Path) -> Iterator[IO[bytes]]:
    with ExitStack() as opened:
        stream: Any
        if source.name.endswith(".zst"):
            import pyarrow

            file = opened.enter_context(pyarrow.OSFile(str(source)))
            stream = opened.enter_context(pyarrow.CompressedInputStream(file, "zstd"))
        else:
            stream = opened.enter_context(gzip.open(source, "rb"))
        yield cast("IO[bytes]", stream)


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    tar.addfile(member, content)


def _copy(source: IO[bytes], copy: IO[bytes]) -> None:
    while chunk := source.read(CHUNK_BYTES):
        copy.write(chunk)
    copy.flush()
    os.fsync(copy.fileno())
