"""The landing folder: every document as received, by hash, and the journal of what was fetched and decided.

`landing/ab/ab12....gz` holds a body, compressed; its name is the SHA-256 of the body itself. `landing/journal.jsonl`
holds one JSON object a line, appended and flushed to disk before anything is loaded, so that the warehouse can be
rebuilt from this folder alone. A line cut short by a crash is recognised by its missing newline and ignored.

Where several processes write, each has a part of the journal for itself (warehouse/landing/journal.py). Bodies and
journal may lie in a bucket, `s3://bucket/prefix/`, under the same names (warehouse/landing/storage.py). What earlier
versions packed together is unpacked by warehouse/landing/packs.py.
"""

import hashlib
import heapq
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import ChipledgerError
from warehouse.landing.journal import FIRST_PART, Files, Objects, checked
from warehouse.landing.storage import Bucket, Folder, is_bucket

MAX_BODY_BYTES = 1 << 30
"""No document that was landed is larger; what swells to more was made by somebody else."""
GZIP = 16 + zlib.MAX_WBITS
"""zlib's word for gzip's format."""
SHA256 = re.compile(r"[0-9a-f]{64}")

NEEDED = {
    "look": {"run_id", "source", "scope", "observed_at", "documents"},
    "failure": {"run_id", "source", "scope", "observed_at", "error"},
    "decision": {"quarantine_id", "decision", "decided_by"},
    "withdrawal": {"fetches", "reason", "withdrawn_by"},
}
"""The kinds of lines in the journal, and what each must say; another line is none of ours."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the journal: its kind (look, failure, decision or withdrawal), content, part, and the position after.

    A position is a count of bytes in a folder, and the number of an object in a bucket (warehouse/landing/journal.py).
    """

    kind: str
    recorded_at: datetime
    content: Mapping[str, Any]
    end: int
    part: str = ""


class Landing:
    """The landing folder or bucket at `place`; a folder is made when it does not exist, a bucket never.

    `part` is the part of the journal that this process writes, whose lock it holds; '' where it is the only writer.
    `journal` is the journal with all of its parts. `endpoint` is the address of another S3 server than AWS's.
    """

    def __init__(self, place: Path | str, *, part: str = "", endpoint: str = "") -> None:
        self.place, self.part = place, checked(part)
        self._store: Folder | Bucket
        self.journal: Files | Objects
        if is_bucket(place):
            self._store = Bucket(str(place), endpoint=endpoint)
            self.journal = Objects(self._store)
        else:
            folder = Path(place)
            folder.mkdir(parents=True, exist_ok=True)
            self._store = Folder(folder, part=part)
            self.journal = Files(folder)

    def store(self, document: Document, *, mode: int | None = None) -> str:
        """Store the body under its hash, unless it is there undamaged, and return the hash.

        `mode` are the rights of the stored file, where others may not read it.
        """
        return self.store_body(document.sha256, document.body, mode=mode)

    def store_body(self, sha256: str, body: bytes, *, mode: int | None = None) -> str:
        """Store a body under its hash, which the caller has checked, unless it is there undamaged; return the hash."""
        name = self._name(sha256)
        is_whole = self._store.is_whole(name)
        if is_whole is False or (is_whole is None and not self._holds(sha256, body)):
            self._store.write_packed(name, body, mode=mode)
        return sha256

    def remove_parts(self) -> None:
        """Remove what killed writers left of files; the caller holds the lock of what it writes."""
        self._store.remove_parts()

    def body(self, sha256: str) -> bytes:
        """Return a stored body. Raises ChipledgerError where it is missing, or not what its hash says."""
        name = self._name(sha256)
        try:
            unpack = zlib.decompressobj(GZIP)
            written = self._store.read(name)
            body = unpack.decompress(written, MAX_BODY_BYTES + 1)
            if written and not unpack.eof and len(body) <= MAX_BODY_BYTES:
                raise EOFError(name)
        except (FileNotFoundError, EOFError, zlib.error) as error:
            raise ChipledgerError(
                "a landed document is missing or damaged",
                source=self._store.where(name),
                field="sha256",
                value=sha256,
                hint="Restore the landing folder from a backup, or fetch the scope again",
            ) from error
        if len(body) > MAX_BODY_BYTES or not is_named(sha256, body):
            message = "a landed document does not match its hash"
            raise ChipledgerError(message, source=self._store.where(name), field="sha256", value=sha256)
        return body

    def record_fetch(self, fetch: ScopeFetch, *, run_id: str, recorded_at: datetime, refused: str = "") -> None:
        """Store the documents of a fetch and write it to the journal, with the reason where it is refused whole."""
        documents = [
            {
                "sha256": self.store(document),
                "url": document.url,
                "parameters": dict(document.parameters),
                "fetched_at": stamp(document.fetched_at),
                "status": document.status,
                "content_type": document.content_type,
                "version_key": document.version_key,
                "published_at": stamp(document.published_at) if document.published_at else None,
                "size": len(document.body),
                "whole": document.whole.entry if document.whole else None,
            }
            for document in fetch.documents
        ]
        self.record(
            "look",
            recorded_at,
            run_id=run_id,
            source=fetch.source,
            scope=fetch.scope,
            observed_at=stamp(fetch.observed_at),
            complete=fetch.complete,
            archived=fetch.archived,
            documents=documents,
            notes=list(fetch.notes),
            **({"refused": refused} if refused else {}),
        )

    def record(self, kind: str, recorded_at: datetime, **content: object) -> None:
        """Write a line to the journal: a failure, a decision or a withdrawal, with what NEEDED names."""
        line = json.dumps({"kind": kind, "recorded_at": stamp(recorded_at), **content}, ensure_ascii=False)
        self.journal.append(self.part, line.encode())

    def history(self) -> tuple[str, datetime] | None:
        """Return the id of this history, the hash of the first line of its journal, and when that was recorded.

        None where there is no such line yet. Of several writers' parts only the first counts, which is there before
        the others and stays: what they land later never changes the id. It goes with the journal wherever that goes.
        """
        firsts = []
        for part in ("", FIRST_PART):
            for line, _ in self.journal.lines(part, 0):
                with suppress(ValueError, KeyError, TypeError):  # of a damaged line, which loading names
                    firsts.append((unstamp(json.loads(line)["recorded_at"]), line))
                break
        if not firsts:
            return None
        recorded_at, line = min(firsts)
        return hashlib.sha256(line.rstrip(b"\n")).hexdigest(), recorded_at

    def entries(self, start: int = 0, part: str | None = None) -> Iterator[Entry]:
        """Yield the journal's complete lines, of all parts in the order in which they were recorded.

        With `part` those of one part, from position `start` on, where a line begins; a position alone is of the part
        without a name. Raises ChipledgerError.
        """
        if part is None and not start:
            return in_order(self._entries(0, each) for each in self.journal.parts())
        return self._entries(start, part or "")

    def _entries(self, start: int, part: str) -> Iterator[Entry]:
        for line, end in self.journal.lines(part, start):
            try:
                content = json.loads(line)
                kind, recorded_at = content.pop("kind"), unstamp(content.pop("recorded_at"))
                if not content.keys() >= NEEDED[kind]:
                    raise KeyError(kind)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise ChipledgerError(
                    "the journal has an unreadable line",
                    source=self.journal.where(part),
                    field=f"line ending at {self.journal.unit}",
                    value=str(end),
                    hint="Restore the journal from a backup; its documents are intact",
                ) from error
            yield Entry(kind=kind, recorded_at=recorded_at, content=content, end=end, part=part)

    def document(self, fetch: Mapping[str, Any], index: int) -> Document:
        """Return the document at `index` of a journalled fetch, with its body."""
        entry = fetch["documents"][index]
        return Document(
            source=fetch["source"],
            scope=fetch["scope"],
            url=entry["url"],
            parameters=entry["parameters"],
            body=self.body(entry["sha256"]),
            fetched_at=unstamp(entry["fetched_at"]),
            status=entry["status"],
            content_type=entry["content_type"],
            version_key=entry["version_key"],
            published_at=unstamp(entry["published_at"]) if entry["published_at"] else None,
            whole=Whole.of(entry["whole"]),
        )

    def _holds(self, sha256: str, body: bytes) -> bool:
        """Return whether a body is stored undamaged."""
        try:
            return self.body(sha256) == body
        except ChipledgerError:
            return False

    def _name(self, sha256: str) -> str:
        if not SHA256.fullmatch(sha256):  # of a journal that somebody else wrote: it leads to no other file
            raise ChipledgerError("not the hash of a document", source=str(self.place), field="sha256", value=sha256)
        return f"{sha256[:2]}/{sha256}.gz"


def in_order(parts: Iterable[Iterator[Entry]]) -> Iterator[Entry]:
    """Yield the entries of several parts by the time of their recording; each part keeps its own order.

    At one moment the parts follow each other as they are given.
    """
    return heapq.merge(*parts, key=lambda entry: entry.recorded_at)


def stamp(moment: datetime) -> str:
    """Return an aware moment as UTC text with microseconds; naive moments are refused."""
    if moment.tzinfo is None:
        raise ValueError(f"a time without a zone: {moment!r}")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unstamp(text: str) -> datetime:
    """Return the aware UTC moment of a text made by `stamp`."""
    return datetime.fromisoformat(text).astimezone(UTC)


def is_named(sha256: str, body: bytes) -> bool:
    """Return whether a body is the one of that hash."""
    return hashlib.sha256(body).hexdigest() == sha256
