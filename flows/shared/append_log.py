"""Append-only records of one data directory, one JSON object a line, flushed to disk, each under a lock of its own.

They say what was handed over to somebody outside, so that nothing is handed over twice.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of one file. `needed`: names that each of them must have."""

    path: Path
    needed: Collection[str]

    def add(self, entry: Mapping[str, Any]) -> None:
        """Append one line and flush it to disk; what a crash left of a line is closed first."""
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = b"\n" * (file.read(1) != b"\n") + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """Yield the lines in order. Raises ChipledgerError for one that is whole and means nothing."""
        if not self.path.exists():
            return
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), start=1):
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


@contextmanager
def locked(file: Path, *, who: str) -> Iterator[None]:
    """Hold a lock. Raises WriterBusy where another process has it; `who` says what that one does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with disk.lock_file(file) as lock:
        if not disk.try_lock(lock):
            raise WriterBusy(f"another process {who}", source=str(file), hint="Wait for it to end")
        yield
