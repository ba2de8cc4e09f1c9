"""The landing folder: every document as received, by hash, and the journal of what was looked at and decided.

`landing/ab/ab12....gz` holds a body, compressed; its name is the SHA-256 of the body itself. `landing/journal.jsonl`
holds one JSON object a line, appended and flushed to disk before anything is loaded, so that the warehouse can be
rebuilt from this folder alone. A line cut short by a crash is recognised by its missing newline and ignored.

Documents of months long past lie together in `landing/packs/` (warehouse/packs.py); where a document lies in both, the
single file is read. A folder without packs is as good as one with.
"""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.documents import Document, Look, Whole
from warehouse.errors import ChipledgerError
from warehouse.packs import Packs, is_named

MOST_BODY_BYTES = 1 << 30
"""No document that was landed is larger; what swells to more was made by somebody else."""
GZIP = 16 + zlib.MAX_WBITS
"""zlib's word for gzip's format."""
SHA256 = re.compile(r"[0-9a-f]{64}")


NEEDED = {
    "look": {"run_id", "source", "scope", "observed_at", "documents"},
    "failure": {"run_id", "source", "scope", "observed_at", "error"},
    "decision": {"quarantine_id", "decision", "decided_by"},
}
"""The kinds of lines in the journal, and what each must say; another line is none of ours."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the journal: its kind (look, failure or decision), content, and the position after it in bytes."""

    kind: str
    recorded_at: datetime
    content: Mapping[str, Any]
    end: int


class Landing:
    """The landing folder at `path`; it is made when it does not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal.jsonl"
        self.packs = Packs(path / "packs")
        path.mkdir(parents=True, exist_ok=True)

    def keep(self, document: Document, *, mode: int | None = None) -> str:
        """Store the body under its hash, unless it is there undamaged, and return the hash.

        `mode` are the rights of the stored file, where others may not read it.
        """
        sha256 = document.sha256
        target = self._place(sha256)
        if not self._holds(sha256, document.body):
            target.parent.mkdir(exist_ok=True)
            part = self.path / f"{sha256}.{os.getpid()}.part"
            try:
                with part.open("wb") as file:
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    # mtime 0: the same body gives the same file
                    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, compresslevel=6) as packed:
                        packed.write(document.body)
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        return sha256

    def remove_parts(self) -> None:
        """Remove what killed writers left; the caller holds the writer's lock, so nobody is writing them."""
        for left in (*self.path.glob("*.part"), *self.packs.path.glob("*/*.part")):
            left.unlink(missing_ok=True)

    def body(self, sha256: str) -> bytes:
        """Return a stored body; raise where it is absent or no longer what its name says."""
        try:
            return self._single(sha256)
        except ChipledgerError:
            body = self.packs.body(sha256)
            if body is None or not is_named(sha256, body):
                raise
            return body

    def single_files(self) -> Iterator[tuple[str, Path]]:
        """Yield hash and path of each document that lies in a file of its own."""
        for file in sorted(self.path.glob("[0-9a-f][0-9a-f]/*.gz")):
            yield file.name.removesuffix(".gz"), file

    def record_look(self, look: Look, *, run_id: str, recorded_at: datetime) -> None:
        """Keep the documents of a look and write the look to the journal."""
        documents = []
        for document in look.documents:
            documents.append(
                {
                    "sha256": self.keep(document),
                    "url": document.url,
                    "parameters": dict(document.parameters),
                    "fetched_at": stamp(document.fetched_at),
                    "status": document.status,
                    "content_type": document.content_type,
                    "version_key": document.version_key,
                    "published_at": stamp(document.published_at) if document.published_at else None,
                    "size": len(document.body),
                    "whole": [document.whole.size, document.whole.sha256] if document.whole else None,
                }
            )
        self._append(
            "look",
            recorded_at,
            run_id=run_id,
            source=look.source,
            scope=look.scope,
            observed_at=stamp(look.observed_at),
            complete=look.complete,
            archived=look.archived,
            documents=documents,
            notes=list(look.notes),
        )

    def record_failure(
        self, *, source: str, scope: str, observed_at: datetime, error: str, run_id: str, recorded_at: datetime
    ) -> None:
        """Write to the journal that a look was tried and gave nothing."""
        self._append(
            "failure",
            recorded_at,
            run_id=run_id,
            source=source,
            scope=scope,
            observed_at=stamp(observed_at),
            error=error,
        )

    def record_decision(self, *, quarantine_id: int, decision: str, decided_by: str, recorded_at: datetime) -> None:
        """Write a decision on a quarantined row to the journal."""
        self._append("decision", recorded_at, quarantine_id=quarantine_id, decision=decision, decided_by=decided_by)

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """Yield the journal's complete lines from byte `start` on, where a line begins. Raises ChipledgerError."""
        if not start and not self.journal.exists():
            return
        self._refuse_cut(start)
        with self.journal.open("rb") as file:
            file.seek(start)
            for line in file:
                start += len(line)
                if not line.endswith(b"\n"):
                    return
                if not line.strip():
                    continue
                try:
                    content = json.loads(line)
                    kind, recorded_at = content.pop("kind"), unstamp(content.pop("recorded_at"))
                    if not content.keys() >= NEEDED[kind]:
                        raise KeyError(kind)
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                    raise ChipledgerError(
                        "the journal has an unreadable line",
                        source=str(self.journal),
                        field="line ending at byte",
                        value=str(start),
                        hint="Restore the journal from a backup; the documents beside it are intact",
                    ) from error
                yield Entry(kind=kind, recorded_at=recorded_at, content=content, end=start)

    def _refuse_cut(self, start: int) -> None:
        """Raise where no line begins at byte `start`: what is appended to such a journal would never be loaded."""
        if not start:
            return
        end = b""
        if self.journal.exists():
            with self.journal.open("rb") as file:
                file.seek(start - 1)
                end = file.read(1)
        if end != b"\n":
            raise ChipledgerError(
                "the journal is not the one that was loaded: it is missing, cut or changed",
                source=str(self.journal),
                field="loaded up to byte",
                value=str(start),
                hint="`chipledger restore` a backup, or `chipledger rebuild` from what is left",
            )

    def document(self, look: Mapping[str, Any], index: int) -> Document:
        """Return the document at `index` of a journalled look, with its body."""
        entry = look["documents"][index]
        return Document(
            source=look["source"],
            scope=look["scope"],
            url=entry["url"],
            parameters=entry["parameters"],
            body=self.body(entry["sha256"]),
            fetched_at=unstamp(entry["fetched_at"]),
            status=entry["status"],
            content_type=entry["content_type"],
            version_key=entry["version_key"],
            published_at=unstamp(entry["published_at"]) if entry["published_at"] else None,
            whole=Whole(size=entry["whole"][0], sha256=entry["whole"][1]) if entry["whole"] else None,
        )

    def _append(self, kind: str, recorded_at: datetime, **content: object) -> None:
        line = json.dumps({"kind": kind, "recorded_at": stamp(recorded_at), **content}, ensure_ascii=False)
        with self.journal.open("ab") as file:
            self._close_torn_line(file.tell())
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _close_torn_line(self, size: int) -> None:
        """Cut off what a crash left of a line, so that the next one starts clean."""
        if not size:
            return
        with self.journal.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) == b"\n":
                return
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)

    def _holds(self, sha256: str, body: bytes) -> bool:
        """Return whether a body lies undamaged in a file of its own; packs are of the past, and not asked."""
        try:
            return self._single(sha256) == body
        except ChipledgerError:
            return False

    def _single(self, sha256: str) -> bytes:
        target = self._place(sha256)
        try:
            unpack = zlib.decompressobj(GZIP)
            written = target.read_bytes()
            body = unpack.decompress(written, MOST_BODY_BYTES + 1)
            if written and not unpack.eof and len(body) <= MOST_BODY_BYTES:
                raise EOFError(target.name)
        except (FileNotFoundError, EOFError, zlib.error) as error:
            raise ChipledgerError(
                "a landed document is missing or damaged",
                source=str(target),
                field="sha256",
                value=sha256,
                hint="Restore the landing folder from a backup, or fetch the scope again",
            ) from error
        if len(body) > MOST_BODY_BYTES or not is_named(sha256, body):
            raise ChipledgerError(
                "a landed document does not match its hash", source=str(target), field="sha256", value=sha256
            )
        return body

    def _place(self, sha256: str) -> Path:
        if not SHA256.fullmatch(sha256):  # of a journal that somebody else wrote: it leads to no other file
            raise ChipledgerError("not the hash of a document", source=str(self.path), field="sha256", value=sha256)
        return self.path / sha256[:2] / f"{sha256}.gz"


def stamp(moment: datetime) -> str:
    """Return an aware moment as UTC text with microseconds; naive moments are refused."""
    if moment.tzinfo is None:
        raise ValueError(f"a time without a zone: {moment!r}")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unstamp(text: str) -> datetime:
    """Return the aware UTC moment of a text made by `stamp`."""
    return datetime.fromisoformat(text).astimezone(UTC)
