"""Append-only records, one JSON object a line, flushed to disk, each under a lock of its own.

They say what was handed over to somebody outside, so that nothing is handed over twice: by no other machine either that
shares the warehouse, whose records lie with its landing.
"""

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.landing.storage import Bucket


@dataclass(kw_only=True)
class Lines:
    """The lines of one record. `needed`: names that each of them must have.

    `path` is its file, in the data directory; `shared` the folder or bucket where those who share a warehouse have it,
    which begins with what the first of them had alone.
    """

    path: Path
    needed: Collection[str]
    shared: Path | Bucket | None = None
    _seen: bytes = field(default=b"", init=False)

    @contextmanager
    def locked(self, *, who: str) -> Iterator[None]:
        """Hold the record; in a bucket the second to write is refused. Raises WriterBusy: another does `who`."""
        file = self._file().with_suffix(".lock")
        file.parent.mkdir(parents=True, exist_ok=True)
        with disk.lock_file(file) as lock:
            if not disk.try_lock(lock):
                raise WriterBusy(f"another process {who}", source=str(file), hint="Wait for it to end")
            yield

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one line and flush it to disk; what a crash left of a line is closed first."""
        self._append(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def take(self, other: "Lines") -> None:
        """Append what another record has and this one lacks, as what was sent stays sent where a history moves."""
        (self._seen, _), (there, _) = self._read(), other._read()
        known = set(self._seen.split(b"\n"))
        if self._seen or there:
            self._append(b"".join(line + b"\n" for line in there.split(b"\n") if line and line not in known))

    def _append(self, line: bytes) -> None:
        if isinstance(self.shared, Bucket):
            self._put(self.shared, line)
            return
        if self.path.exists() and not (file_path := self._file()).exists():
            shutil.copyfile(self.path, file_path)
        with disk.faults(self._file().parent), self._file().open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = b"\n" * (file.read(1) != b"\n") + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """Yield the lines in order. Raises ChipledgerError for one that is whole and means nothing."""
        self._seen, _ = self._read()
        for number, line in enumerate(self._seen.split(b"\n"), start=1):
            entry = None
            with suppress(ValueError):  # of a line that a crash cut short: the line before holds
                entry = json.loads(line) if line.strip() else None
            if entry is None:
                continue
            if not isinstance(entry, dict) or not set(self.needed) <= entry.keys():
                hint = "Mend it by hand: without it something might be sent twice"
                message = "the record of sendings has an unreadable line"
                raise ChipledgerError(message, source=str(self.path), field="line", value=str(number), hint=hint)
            yield entry

    def _file(self) -> Path:
        return self.shared / self.path.name if isinstance(self.shared, Path) else self.path

    def _read(self) -> tuple[bytes, str]:
        """Return what there is, and the tag of an object; what this machine had alone where nothing is shared yet."""
        if isinstance(self.shared, Bucket):
            with suppress(FileNotFoundError):
                return self.shared.read_tagged(self.path.name)
        found = next((path for path in (self._file(), self.path) if path.exists()), None)
        return (found.read_bytes() if found else b""), ""

    def _put(self, bucket: Bucket, line: bytes) -> None:
        body, tag = self._read()
        if body != self._seen or not bucket.put(self.path.name, body + line, only_new=not tag, only_over=tag):
            message, hint = "another machine writes this record", "Run again: what it sent is not sent again"
            raise WriterBusy(message, source=bucket.where(self.path.name), hint=hint)
        self._seen = body + line
